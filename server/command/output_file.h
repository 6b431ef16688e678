/* A file that appears under its name only when it is complete: written beside it as NAME.tmp and
 * renamed. Standard output ("-") and what is no regular file (a pipe, /dev/null) are written as
 * they are. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

struct output_file {
    int file;         /* -1 when closed */
    const char *path; /* borrowed for the life of the struct */
    char *draft_path; /* NULL when written in place */
};

MUST_CHECK enum status output_file_open(struct output_file *output, const char *path,
                                        struct problem *reterr);
/* True when it has a size and can be mapped. */
bool output_file_is_draft(const struct output_file *output);
MUST_CHECK enum status output_file_write(struct output_file *output, const void *bytes, size_t size,
                                         struct problem *reterr);
/* errno as a status, about this output. */
enum status output_file_refuse(const struct output_file *output, int error, struct problem *reterr);
/* Complete: gets its name. */
MUST_CHECK enum status output_file_commit(struct output_file *output, struct problem *reterr);
/* The whole of it at once: opened, written, committed and finished. */
MUST_CHECK enum status output_file_save(const char *path, const void *bytes, size_t size,
                                        struct problem *reterr);
/* Closes; a draft that was not committed is removed. Zeroed by the caller before open, so that
 * this is always allowed. */
void output_file_finish(struct output_file *output);
