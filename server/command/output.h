/* Output files of a command, and the matrix of a solve in such a file. A regular file is written as
 * NAME.tmp and renamed when complete. Standard output ("-"), pipes and devices are written in
 * place. The caller zeroes both structs before open, so that finish may always be called. Main
 * thread. */
#pragma once

#include "proto/matrix.h"
#include "proto/text.h"
#include "server/command/command.h"

struct output_file {
    int file;         /* descriptor; -1 when closed */
    const char *path; /* borrowed for the life of the struct */
    char *draft_path; /* NULL when written in place */
};

/* Sets the problem for the errno of a failed write to the path, and returns its status. */
enum status output_refuse(const char *path, int error, struct problem *reterr);

/* Writes all bytes. Returns false with errno on failure; errno is EINTR after SIGINT or SIGTERM. */
bool output_write(int file, const char *bytes, size_t size);

MUST_CHECK enum status output_file_open(struct output_file *output, const char *path,
                                        struct problem *reterr);
/* Writes and clears the text if it has at least `least` bytes. STATUS_CANCELLED after a signal. */
MUST_CHECK enum status output_file_flush(struct output_file *output, struct text *text,
                                         size_t least, struct problem *reterr);
/* Renames the complete file to its final name. */
MUST_CHECK enum status output_file_commit(struct output_file *output, struct problem *reterr);
/* Closes the file, and removes a draft that was not committed. */
void output_file_finish(struct output_file *output);

/* The matrix of a solve as an output file. In npy, raw and nthu the solver writes into the mapped
 * file. For text formats, and for outputs that cannot be mapped, it writes into memory that is
 * written to the file at the end. */
struct output_matrix {
    struct output_file file;
    enum format format;
    struct matrix matrix; /* its elements lie inside the mapping */
    char *mapping;
    size_t mapping_size;
};

MUST_CHECK enum status output_matrix_open(struct output_matrix *output, const char *path,
                                          enum format format, enum kind kind, uint32_t vertex_count,
                                          struct problem *reterr);
/* Writes the part of the matrix that is not in the file yet, and commits the file. */
MUST_CHECK enum status output_matrix_commit(struct output_matrix *output, const struct graph *graph,
                                            struct problem *reterr);
void output_matrix_finish(struct output_matrix *output);
