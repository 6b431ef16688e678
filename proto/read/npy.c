/* NumPy's .npy with a square matrix: entry (i, j) is the weight of the edge from vertex i to vertex
 * j, counted from 0, also when it is 0. No edge: inf and nan in floats; in integers what this
 * service writes for unreachable, 1073741823 in int32 and the largest value in the other types. */
#include "proto/npy_head.h"
#include "proto/read/reader.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNREACHABLE_I4 1073741823

struct npy {
    struct reader reader;
    struct graph_options options;
    struct graph_builder *builder;
    struct npy_head head;
    size_t head_size;       /* before the dictionary; 0 = not known yet */
    size_t dictionary_size; /* likewise, once has_length */
    bool has_length;
    bool headed;
    char *pending; /* the head, or an item cut by the end of a piece */
    size_t pending_size;
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

static enum status refuse_infinite(const struct npy *npy, struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_GRAPH, "The entry at row %u, column %u is minus infinity.",
                npy->row, npy->column);
    problem_hint(reterr, "No edge is inf or nan.");
    return STATUS_BAD_GRAPH;
}

static enum status add_item(struct npy *npy, struct item item, struct problem *reterr)
{
    enum status status;

    if (!item.is_edge) {
        return STATUS_OK;
    }
    if (item.is_real && isinf(item.real)) {
        return refuse_infinite(npy, reterr);
    }
    if (item.is_real) {
        status = graph_builder_add_real(npy->builder, npy->row, npy->column, item.real);
    } else {
        status = graph_builder_add_integer(npy->builder, npy->row, npy->column, item.integer);
    }
    (void)reader_add_failed(status, &npy->options, reterr);
    return status;
}

static void advance(struct npy *npy)
{
    uint32_t *inner = npy->head.fortran ? &npy->row : &npy->column;
    uint32_t *outer = npy->head.fortran ? &npy->column : &npy->row;

    npy->items++;
    if (++*inner == npy->head.count) {
        *inner = 0;
        ++*outer;
    }
}

static uint64_t items_left(const struct npy *npy)
{
    return npy->head.count * npy->head.count - npy->items;
}

/* As many whole items as there are, of those announced. */
static enum status take_items(struct npy *npy, const char **bytes, size_t *size,
                              struct problem *reterr)
{
    size_t item_size = npy->head.item_size;
    enum status status = STATUS_OK;

    while (*size >= item_size && items_left(npy) > 0 && status == STATUS_OK) {
        status = add_item(npy, get_item(npy->head.type, *bytes), reterr);
        advance(npy);
        *bytes += item_size;
        *size -= item_size;
    }
    return status;
}

static enum status settle(struct npy *npy, struct problem *reterr)
{
    struct reader_notes *notes = &npy->reader.notes;
    enum status status = reader_admit_weight_name(&npy->options, reterr);

    if (status == STATUS_OK) {
        status = reader_admit_count(&npy->options, npy->head.count, reterr);
    }
    if (status == STATUS_OK) {
        status = graph_builder_admit(npy->builder, npy->head.count, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    npy->headed = true;
    snprintf(notes->variant, sizeof(notes->variant), "%s, %s order",
             npy_head_type_name(npy->head.type), npy->head.fortran ? "Fortran" : "C");
    snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    return STATUS_OK;
}

/* How many bytes are wanted before the next step can be taken. */
static size_t wanted(const struct npy *npy)
{
    if (npy->headed) {
        return npy->head.item_size;
    }
    if (npy->head_size == 0) {
        return 8;
    }
    return npy->has_length ? npy->head_size + npy->dictionary_size : npy->head_size;
}

/* Consumes the pending bytes, which are as many as were wanted. */
static enum status take_pending(struct npy *npy, struct problem *reterr)
{
    const unsigned char *head = (const unsigned char *)npy->pending;
    const char *item = npy->pending;
    size_t item_size = npy->pending_size;
    enum status status;

    if (npy->headed) {
        npy->pending_size = 0;
        return take_items(npy, &item, &item_size, reterr);
    }
    if (npy->head_size == 0) {
        return npy_head_size(head, &npy->head_size, reterr);
    }
    if (!npy->has_length) {
        npy->has_length = true;
        return npy_head_dictionary_size(head, &npy->dictionary_size, reterr);
    }
    npy->pending_size = 0;
    status =
        npy_head_parse(npy->pending + npy->head_size, npy->dictionary_size, &npy->head, reterr);
    return status == STATUS_OK ? settle(npy, reterr) : status;
}

static enum status fill_pending(struct npy *npy, const char **bytes, size_t *size,
                                struct problem *reterr)
{
    size_t part = wanted(npy) - npy->pending_size;

    part = part > *size ? *size : part;
    memcpy(npy->pending + npy->pending_size, *bytes, part);
    npy->pending_size += part;
    *bytes += part;
    *size -= part;
    return npy->pending_size == wanted(npy) ? take_pending(npy, reterr) : STATUS_OK;
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
        if (npy->headed && npy->pending_size == 0 && size >= npy->head.item_size) {
            status = take_items(npy, &bytes, &size, reterr);
        } else {
            status = fill_pending(npy, &bytes, &size, reterr);
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
                           (unsigned long long)(npy->head.count * npy->head.count),
                           (unsigned long long)npy->items);
    }
    return reader_finish_range(npy->builder, (uint32_t)npy->head.count, 0, true, ret_graph, reterr);
}

static void destroy(struct reader *reader)
{
    struct npy *npy = (struct npy *)reader;

    graph_builder_destroy(npy->builder);
    free(npy->pending);
    free(npy);
}

static enum status create(const struct graph_options *options, struct reader **ret_reader)
{
    struct npy *npy = calloc(1, sizeof(*npy));

    if (npy == NULL) {
        return STATUS_NO_MEMORY;
    }
    npy->options = *options;
    npy->pending = malloc(NPY_HEAD_SIZE + NPY_DICTIONARY_LIMIT);
    if (npy->pending == NULL || graph_builder_create(options, &npy->builder) != STATUS_OK) {
        destroy(&npy->reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = &npy->reader;
    return STATUS_OK;
}

const struct reader_class reader_npy_class = {
    .format = FORMAT_NPY,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
