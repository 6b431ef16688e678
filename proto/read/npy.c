/* NumPy's .npy with a square matrix: entry (i, j) is the weight of the edge from vertex i to vertex
 * j, counted from 0, also when it is 0. No edge: inf and nan in floats; in integers what this
 * service writes for unreachable, 1073741823 in int32 and the largest value in the other types. */
#include "proto/npy_header.h"
#include "proto/read/reader.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct npy {
    struct reader reader;
    struct npy_header header;
    bool headed;
    char *pending; /* the header, or an item cut by the end of a piece */
    size_t pending_size;
    size_t wanted;  /* so many bytes are pending before the next step */
    uint64_t items; /* read */
    uint32_t row;   /* of the next item */
    uint32_t column;
};

struct item {
    bool is_edge;
    bool is_real;
    int64_t integer;
    double real;
};

static uint32_t get_u4(const char *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return le32toh(value);
}

static uint64_t get_u8(const char *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return le64toh(value);
}

static struct item item_of_integer(int64_t value, int64_t unreachable)
{
    return (struct item){.is_edge = value != unreachable, .integer = value};
}

static struct item item_of_real(double value)
{
    return (struct item){
        .is_edge = !isnan(value) && !(isinf(value) && value > 0), .is_real = true, .real = value};
}

static struct item get_item(enum npy_type type, const char *bytes)
{
    uint64_t bits = 0;
    float single;
    double real;

    switch (type) {
    case NPY_F4:
        bits = get_u4(bytes);
        memcpy(&single, &(uint32_t){(uint32_t)bits}, sizeof(single));
        return item_of_real((double)single);
    case NPY_F8:
        bits = get_u8(bytes);
        memcpy(&real, &bits, sizeof(real));
        return item_of_real(real);
    case NPY_I4:
        return item_of_integer((int32_t)get_u4(bytes), UNREACHABLE_I4);
    case NPY_I8:
        return item_of_integer((int64_t)get_u8(bytes), INT64_MAX);
    case NPY_U2:
        bits = (unsigned char)bytes[0] | (uint64_t)(unsigned char)bytes[1] << 8;
        return item_of_integer((int64_t)bits, UINT16_MAX);
    case NPY_U4:
        break;
    }
    return item_of_integer(get_u4(bytes), UINT32_MAX);
}

static enum status add_item(struct npy *npy, struct item item, struct problem *reterr)
{
    enum status status;
    bool is_edge;

    if (!item.is_edge) {
        return STATUS_OK;
    }
    if (item.is_real && isinf(item.real)) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The entry at row %u, column %u is minus infinity.",
                    npy->row, npy->column);
        problem_hint(reterr, "No edge is inf or nan.");
        return STATUS_BAD_GRAPH;
    }
    STATUS_TRY(reader_judge_value(&npy->reader, item.is_real ? item.real : (double)item.integer,
                                  &is_edge, reterr));
    if (!is_edge) {
        return STATUS_OK;
    }
    if (item.is_real) {
        status = graph_builder_add_real(npy->reader.builder, npy->row, npy->column, item.real);
    } else {
        status =
            graph_builder_add_integer(npy->reader.builder, npy->row, npy->column, item.integer);
    }
    (void)reader_add_failed(&npy->reader, status, reterr);
    return status;
}

static uint64_t items_left(const struct npy *npy)
{
    return npy->header.rows * npy->header.rows - npy->items;
}

/* As many whole items as there are, of those announced. */
static enum status parse_items(struct npy *npy, const char **bytes, size_t *size,
                               struct problem *reterr)
{
    const size_t item_size = npy->header.item_size;
    uint32_t *inner = npy->header.fortran ? &npy->row : &npy->column;
    uint32_t *outer = npy->header.fortran ? &npy->column : &npy->row;
    enum status status = STATUS_OK;

    while (*size >= item_size && items_left(npy) > 0 && status == STATUS_OK) {
        status = add_item(npy, get_item(npy->header.type, *bytes), reterr);
        npy->items++;
        if (++*inner == npy->header.rows) {
            *inner = 0;
            ++*outer;
        }
        *bytes += item_size;
        *size -= item_size;
    }
    return status;
}

/* Consumes the pending bytes, which are as many as were wanted. */
static enum status parse_pending(struct npy *npy, struct problem *reterr)
{
    struct reader_notes *notes = &npy->reader.notes;
    const char *item = npy->pending;
    size_t item_size = npy->pending_size;
    enum status status;

    if (npy->headed) {
        npy->pending_size = 0;
        return parse_items(npy, &item, &item_size, reterr);
    }
    status = npy_header_read((const unsigned char *)npy->pending, npy->pending_size, &npy->header,
                             &npy->wanted, reterr);
    if (status != STATUS_OK || npy->wanted > npy->pending_size) {
        return status;
    }
    if (npy->header.rows != npy->header.columns) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "The array has %llu rows and %llu columns, but a graph as many of each.",
                           (unsigned long long)npy->header.rows,
                           (unsigned long long)npy->header.columns);
    }
    status = reader_announce(&npy->reader, npy->header.rows, 0, reterr);
    npy->headed = true;
    npy->pending_size = 0;
    npy->wanted = npy->header.item_size;
    snprintf(notes->variant, sizeof(notes->variant), "%s, %s order",
             npy_header_type_name(npy->header.type), npy->header.fortran ? "Fortran" : "C");
    snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    return status;
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    struct npy *npy = (struct npy *)reader;
    enum status status = STATUS_OK;

    while (size > 0 && status == STATUS_OK) {
        if (npy->headed && items_left(npy) == 0) {
            return problem_set(reterr, STATUS_BAD_GRAPH,
                               "There are bytes after the last of %llu entries.",
                               (unsigned long long)npy->items);
        }
        if (npy->headed && npy->pending_size == 0 && size >= npy->header.item_size) {
            status = parse_items(npy, &bytes, &size, reterr);
        } else {
            const size_t missing = npy->wanted - npy->pending_size;
            const size_t part = missing < size ? missing : size;

            memcpy(npy->pending + npy->pending_size, bytes, part);
            npy->pending_size += part;
            bytes += part;
            size -= part;
            if (npy->pending_size == npy->wanted) {
                status = parse_pending(npy, reterr);
            }
        }
    }
    return status;
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct npy *npy = (struct npy *)reader;

    if (!npy->headed) {
        return problem_set(reterr, STATUS_TRUNCATED, "The .npy file ends within its header.");
    }
    if (items_left(npy) > 0) {
        return problem_set(reterr, STATUS_TRUNCATED,
                           "The header announces %llu entries, but the file ends in entry %llu.",
                           (unsigned long long)(npy->header.rows * npy->header.rows),
                           (unsigned long long)npy->items);
    }
    return reader_finish_range(reader, (uint32_t)npy->header.rows, 0, true, ret_graph, reterr);
}

static void cleanup(struct reader *reader)
{
    free(((struct npy *)reader)->pending);
}

static enum status init(struct reader *reader)
{
    struct npy *npy = (struct npy *)reader;

    npy->wanted = 8;
    npy->pending = malloc(NPY_HEADER_LIMIT);
    return npy->pending != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

const struct reader_class reader_npy_class = {
    .size = sizeof(struct npy),
    .init = init,
    .feed = feed,
    .finish = finish,
    .cleanup = cleanup,
};
