/* Where a solve puts its matrix: npy, raw and nthu are mapped files that the solver writes into;
 * text, and what cannot be mapped, is memory written out at the end. */
#pragma once

#include "proto/format.h"
#include "proto/graph.h"
#include "proto/matrix.h"
#include "server/command/output_file.h"

struct matrix_output {
    struct output_file file;
    enum format format;
    struct matrix matrix; /* its elements are inside the mapping */
    char *mapping;
    size_t mapping_size;
};

/* Zeroed by the caller before. */
MUST_CHECK enum status matrix_output_open(struct matrix_output *output, const char *path,
                                          enum format format, enum kind kind, uint32_t vertex_count,
                                          struct problem *reterr);
/* Solved: writes what is not in the file yet, and gives the file its name. */
MUST_CHECK enum status matrix_output_commit(struct matrix_output *output, const struct graph *graph,
                                            struct problem *reterr);
void matrix_output_finish(struct matrix_output *output);
