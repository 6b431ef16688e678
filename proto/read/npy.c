/* A square matrix in NumPy's .npy format: entry (i, j) is the weight of the edge from vertex i to
 * vertex j, counted from 0, even if it is 0. Missing edges are inf or nan in matrices of floats. In
 * matrices of integers they are marked by the value that this service writes for unreachable:
 * 1073741823 in int32, and the largest value in other types. */
#include "proto/npy_header.h"
#include "proto/read/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Number of bytes that npy_header_read needs to determine the length of the header. */
#define HEADER_START 8
#define AS_TEXT                                                                                    \
    "Upload edges as text: numpy.savetxt('g.csv', a, '%.17g', ','), with a.T for the edge_index "  \
    "of PyTorch Geometric, and format=edges."

struct npy {
    struct reader reader;
    struct text head; /* header bytes read so far */
    struct npy_header header;
    uint32_t row; /* row of the next item */
    uint32_t column;
    bool has_loops; /* whether any entry on the diagonal is not 0 */
};

static enum status add_integer(struct npy *npy, int64_t value, int64_t unreachable,
                               struct problem *reterr)
{
    const uint32_t ends[2] = {npy->row, npy->column};
    npy->has_loops |= ends[0] == ends[1] && value != 0 && value != unreachable;
    return value == unreachable ? STATUS_OK : reader_add_integer(&npy->reader, ends, value, reterr);
}

static enum status add_real(struct npy *npy, double value, struct problem *reterr)
{
    const uint32_t ends[2] = {npy->row, npy->column};
    if (isnan(value) || (isinf(value) && value > 0)) {
        return STATUS_OK;
    }
    npy->has_loops |= ends[0] == ends[1] && value != 0;
    if (!isinf(value)) {
        return reader_add_real(&npy->reader, ends, value, reterr);
    }
    return problem_bad_graph_hint(reterr, 0, 0, "Mark missing edges with inf or nan.",
                                  "The entry at row %u, column %u is minus infinity.", npy->row,
                                  npy->column);
}

static enum status add_item(struct npy *npy, const char *bytes, struct problem *reterr)
{
    uint16_t narrow;
    int64_t integer;
    float single;
    double real;
    switch (npy->header.type) {
    case NPY_F4:
        memcpy(&single, bytes, sizeof(single));
        return add_real(npy, (double)single, reterr);
    case NPY_F8:
        memcpy(&real, bytes, sizeof(real));
        return add_real(npy, real, reterr);
    case NPY_I4:
        return add_integer(npy, (int32_t)record_u4(bytes), UNREACHABLE_I4, reterr);
    case NPY_I8:
        memcpy(&integer, bytes, sizeof(integer));
        return add_integer(npy, integer, INT64_MAX, reterr);
    case NPY_U2:
        memcpy(&narrow, bytes, sizeof(narrow));
        return add_integer(npy, narrow, UINT16_MAX, reterr);
    case NPY_U4:
        break;
    }
    return add_integer(npy, record_u4(bytes), UINT32_MAX, reterr);
}

static enum status parse_header(struct npy *npy, const char *bytes, struct problem *reterr)
{
    struct reader *reader = &npy->reader;
    struct npy_header *header = &npy->header;
    size_t wanted;
    text_append(&npy->head, bytes, reader->records.size);
    STATUS_TRY(text_status(&npy->head));
    STATUS_TRY(npy_header_read((const unsigned char *)npy->head.bytes, npy->head.size, header,
                               &wanted, reterr));
    if (wanted > npy->head.size) {
        record_splitter_expect_header(&reader->records, wanted - npy->head.size);
        return STATUS_OK;
    }
    if (header->rows != header->columns) {
        const bool may_be_edges = header->rows == 2 || header->columns == 2 || header->columns == 3;
        return problem_bad_graph_hint(
            reterr, 0, 0, may_be_edges ? AS_TEXT : "",
            "The array has %llu rows and %llu columns, but the matrix of a graph must be square.",
            (unsigned long long)header->rows, (unsigned long long)header->columns);
    }
    STATUS_TRY(reader_announce(reader, header->rows, 0, reterr));
    record_splitter_expect(&reader->records, header->item_size, header->rows * header->rows);
    snprintf(reader->notes.variant, sizeof(reader->notes.variant), "%s, %s order",
             npy_header_type_name(header->type), header->fortran ? "Fortran" : "C");
    return STATUS_OK;
}

static enum status take_records(void *context, const char *records, uint64_t count,
                                struct problem *reterr)
{
    struct npy *npy = context;
    uint32_t *inner = npy->header.fortran ? &npy->row : &npy->column;
    uint32_t *outer = npy->header.fortran ? &npy->column : &npy->row;
    if (npy->reader.records.is_header) {
        return parse_header(npy, records, reterr);
    }
    for (uint64_t i = 0; i < count; i++, records += npy->header.item_size) {
        STATUS_TRY(add_item(npy, records, reterr));
        if (++*inner == npy->header.rows) {
            *inner = 0;
            ++*outer;
        }
    }
    return STATUS_OK;
}

static enum status finish_npy(struct reader *reader, struct graph **ret_graph,
                              struct problem *reterr)
{
    const struct npy *npy = (const struct npy *)reader;
    if (npy->has_loops && reader->options.format_guessed &&
        (npy->header.rows == 2 || npy->header.rows == 3)) {
        return problem_bad_graph_hint(
            reterr, 0, 0, "format=npy reads the array as a matrix. " AS_TEXT,
            "The array may be a matrix whose diagonal is not 0, or a list of edges.");
    }
    return reader_finish_range(reader, (uint32_t)npy->header.rows, 0, NULL, true, ret_graph,
                               reterr);
}

static void cleanup_npy(struct reader *reader)
{
    text_finish(&((struct npy *)reader)->head);
}

const struct reader_class reader_npy_class = {
    .size = sizeof(struct npy),
    .header_size = HEADER_START,
    .take_records = take_records,
    .finish = finish_npy,
    .has_weights = true,
    .cleanup = cleanup_npy,
};
