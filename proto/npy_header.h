/* The header of an .npy file (numpy.lib.format): "\x93NUMPY", version, the length of a Python
 * dictionary, and that, such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }. Then
 * come the elements. */
#pragma once

#include "proto/kind.h"
#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every header that we write has this length, so that a result file is the download and its matrix
 * starts on a cache line: format 1.0 padded with blanks. */
#define NPY_HEADER_SIZE 128
/* The longest header that is read; NumPy reads dictionaries of 10,000 bytes by default. */
#define NPY_HEADER_LIMIT (12 + 65536)

/* All types that are read; kinds are written. */
enum npy_type {
    NPY_F4,
    NPY_F8,
    NPY_I4,
    NPY_I8,
    NPY_U2,
    NPY_U4,
};

struct npy_header {
    enum npy_type type;
    size_t item_size; /* bytes */
    bool fortran;     /* column by column */
    uint64_t rows;
    uint64_t columns;
};

void npy_header_write(enum kind kind, uint64_t rows, uint64_t columns,
                      unsigned char header[NPY_HEADER_SIZE]);
/* Reads the header of a matrix at the begin of the bytes. ret_size: its length, where the elements
 * start; or, while that is above size and the header unread, how many bytes are wanted to go on.
 * STATUS_BAD_GRAPH, with what to do, for what is no little-endian matrix of a known type. */
MUST_CHECK enum status npy_header_read(const unsigned char *bytes, size_t size,
                                       struct npy_header *ret_header, size_t *ret_size,
                                       struct problem *reterr);
/* As NumPy calls it: "float32". */
const char *npy_header_type_name(enum npy_type type);
/* The kind of such elements; KIND_AUTO where there is none. */
enum kind npy_header_kind(enum npy_type type);
