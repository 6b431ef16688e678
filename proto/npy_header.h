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
/* The longest header that is read. NumPy reads dictionaries of up to 10,000 bytes by default. */
#define NPY_HEADER_LIMIT (12 + 65536)

/* All element types that are read. Matrices are written only in the kinds. */
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
 * where the elements start. If ret_size is above size, the header was not parsed, and ret_size is
 * the number of bytes needed to continue. STATUS_BAD_GRAPH, with a hint, if the bytes are not a
 * little-endian matrix of a known type. */
MUST_CHECK enum status npy_header_read(const unsigned char *bytes, size_t size,
                                       struct npy_header *ret_header, size_t *ret_size,
                                       struct problem *reterr);
/* Returns NumPy's name of the type: "float32". */
const char *npy_header_type_name(enum npy_type type);
/* Returns the kind with the same element type; KIND_AUTO if there is none. */
enum kind npy_header_kind(enum npy_type type);
