/* Files that a command writes, and the matrix of a solve in one of them. A regular file appears
 * under its name only when it is complete: it is written beside it as NAME.tmp and renamed.
 * Standard output ("-"), pipes and devices are written as they are. Both structs are zeroed by the
 * caller before open, so that finishing is always allowed. */
#pragma once

#include "proto/matrix.h"
#include "proto/text.h"
#include "server/command/command.h"

struct output_file {
    int file;         /* -1 when closed */
    const char *path; /* borrowed for the life of the struct */
    char *draft_path; /* NULL when written in place */
};

/* Sets the problem of a write to the path that failed with this error, and returns its status. */
enum status output_refuse(const char *path, int error, struct problem *reterr);

MUST_CHECK enum status output_file_open(struct output_file *output, const char *path,
                                        struct problem *reterr);
/* Writes the text and empties it, once it has at least this many bytes. STATUS_CANCELLED after a
 * signal. */
MUST_CHECK enum status output_file_flush(struct output_file *output, struct text *text,
                                         size_t least, struct problem *reterr);
/* Gives the complete file its name. */
MUST_CHECK enum status output_file_commit(struct output_file *output, struct problem *reterr);
/* Closes; a draft that was not committed is removed. */
void output_file_finish(struct output_file *output);

/* npy, raw and nthu are mapped files that the solver writes into; text formats, and outputs that
 * cannot be mapped, are memory that is written at the end. */
struct output_matrix {
    struct output_file file;
    enum format format;
    struct matrix matrix; /* its elements are inside the mapping */
    char *mapping;
    size_t mapping_size;
};

MUST_CHECK enum status output_matrix_open(struct output_matrix *output, const char *path,
                                          enum format format, enum kind kind, uint32_t vertex_count,
                                          struct problem *reterr);
/* Writes what is not in the file yet, and commits it. */
MUST_CHECK enum status output_matrix_commit(struct output_matrix *output, const struct graph *graph,
                                            struct problem *reterr);
void output_matrix_finish(struct output_matrix *output);
