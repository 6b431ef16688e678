/* The header of an .npy file (numpy.lib.format): "\x93NUMPY", the version, the length of a Python
 * dictionary, and the dictionary, such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 3),
 * }. The elements follow. Pure functions for any thread. */
#pragma once

#include "proto/kind.h"
#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of every header written, so that the matrix in a result file, which is downloaded
 * unchanged, starts on a cache line. Headers have version 1.0 and are padded with spaces. */
#define NPY_HEADER_SIZE 128
/* The longest header accepted. By default NumPy accepts dictionaries of up to 10,000 bytes. */
#define NPY_HEADER_LIMIT (12 + 65536)

/* All element types accepted in files. Matrices are written only as elements of an enum kind. */
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
    size_t item_size; /* size of an element in bytes */
    bool fortran;     /* the elements are stored column by column */
    uint64_t rows;
    uint64_t columns;
};

void npy_header_write(enum kind kind, uint64_t rows, uint64_t columns,
                      unsigned char header[NPY_HEADER_SIZE]);
/* Parses the header of a matrix at the beginning of the bytes. ret_size: the length of the header,
 * where the elements start. If ret_size is above size, the header was not parsed, because that many
 * bytes are needed. STATUS_BAD_GRAPH, with a hint, unless it is a little-endian matrix of a known
 * type. */
MUST_CHECK enum status npy_header_read(const unsigned char *bytes, size_t size,
                                       struct npy_header *ret_header, size_t *ret_size,
                                       struct problem *reterr);
/* Returns NumPy's name of the type, such as "float32". */
const char *npy_header_type_name(enum npy_type type);
/* Returns the kind with the same element type; KIND_AUTO if there is none. */
enum kind npy_header_kind(enum npy_type type);
