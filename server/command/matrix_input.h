/* A matrix file of distances, mapped: npy, raw or nthu. Zeroed by the caller before; closing is
 * always allowed. */
#pragma once

#include "proto/format.h"
#include "proto/matrix.h"
#include "proto/problem.h"

/* The vertices, where only the file says how many: npy. */
#define MATRIX_INPUT_ANY UINT32_MAX

struct matrix_input {
    unsigned char *bytes;
    size_t size;
    struct matrix matrix; /* its elements are inside the mapping, and not to be written */
};

/* kind: of raw and nthu; an npy says it. STATUS_BAD_GRAPH when it is no such matrix. */
MUST_CHECK enum status matrix_input_open(struct matrix_input *input, const char *path,
                                         enum format format, enum kind kind, uint32_t vertex_count,
                                         struct problem *reterr);
void matrix_input_close(struct matrix_input *input);
