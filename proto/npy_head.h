/* The head of an .npy file of any NumPy, as far as its first array is a square matrix of weights.
 * numpy.lib.format: "\x93NUMPY", version, the length of the dictionary that follows, the data. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Magic, version and the longest field for the length. */
#define NPY_HEAD_SIZE 12
/* The longest dictionary; NumPy reads 10,000 bytes by default. */
#define NPY_DICTIONARY_LIMIT 65536

enum npy_type {
    NPY_F4,
    NPY_F8,
    NPY_I4,
    NPY_I8,
    NPY_U2,
    NPY_U4,
};

struct npy_head {
    enum npy_type type;
    size_t item_size; /* bytes */
    bool fortran;     /* column by column */
    uint64_t count;   /* of rows, and of columns */
};

/* How many bytes come before the dictionary, told by the first 8: magic and version. */
MUST_CHECK enum status npy_head_size(const unsigned char *bytes, size_t *ret_size,
                                     struct problem *reterr);
/* How many bytes the dictionary has, told by all of those. */
MUST_CHECK enum status npy_head_dictionary_size(const unsigned char *bytes, size_t *ret_size,
                                                struct problem *reterr);
/* {'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }: STATUS_BAD_GRAPH, with what to do,
 * for what is no little-endian square matrix of a known type. */
MUST_CHECK enum status npy_head_parse(const char *dictionary, size_t size,
                                      struct npy_head *ret_head, struct problem *reterr);
const char *npy_head_type_name(enum npy_type type);
