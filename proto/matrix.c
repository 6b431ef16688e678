#include "proto/matrix.h"

#include <math.h>
#include <stdlib.h>

enum status matrix_size(uint32_t vertex_count, enum kind kind, size_t *ret_bytes)
{
    size_t bytes;

    CHECK(kind != KIND_AUTO);
    if (__builtin_mul_overflow((size_t)vertex_count, (size_t)vertex_count, &bytes) ||
        __builtin_mul_overflow(bytes, kind_size(kind), &bytes)) {
        return STATUS_TOO_LARGE;
    }
    *ret_bytes = bytes;
    return STATUS_OK;
}

bool matrix_distance(const struct matrix *matrix, uint32_t row, uint32_t column,
                     double *ret_distance)
{
    size_t index = (size_t)row * matrix->vertex_count + column;
    double distance = INFINITY;

    CHECK(matrix->kind != KIND_AUTO && matrix->kind != KIND_COUNT);
    CHECK(row < matrix->vertex_count && column < matrix->vertex_count);
    switch (matrix->kind) {
    case KIND_I4:
        if (((const int32_t *)matrix->elements)[index] != UNREACHABLE_I4) {
            distance = ((const int32_t *)matrix->elements)[index];
        }
        break;
    case KIND_U2:
        if (((const uint16_t *)matrix->elements)[index] != UNREACHABLE_U2) {
            distance = ((const uint16_t *)matrix->elements)[index];
        }
        break;
    case KIND_F4:
        distance = (double)((const float *)matrix->elements)[index];
        break;
    case KIND_F8:
        distance = ((const double *)matrix->elements)[index];
        break;
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
    if (isinf(distance)) {
        return false;
    }
    *ret_distance = distance;
    return true;
}

enum status matrix_narrow(const struct matrix *from, struct matrix *to)
{
    const int32_t *wide = from->elements;
    uint16_t *narrow = to->elements;
    size_t count = (size_t)from->vertex_count * from->vertex_count;

    CHECK(from->kind == KIND_I4 && to->kind == KIND_U2);
    CHECK(from->vertex_count == to->vertex_count);
    for (size_t i = 0; i < count; i++) {
        if (wide[i] == UNREACHABLE_I4) {
            narrow[i] = UNREACHABLE_U2;
        } else if (wide[i] >= 0 && wide[i] < UNREACHABLE_U2) {
            narrow[i] = (uint16_t)wide[i];
        } else {
            return STATUS_WEIGHT_RANGE;
        }
    }
    return STATUS_OK;
}

/* The farthest is on top. Rows alone: their distances are looked up. */
struct heap {
    struct matrix row; /* the source's, as the first of a matrix */
    uint32_t *rows;
    size_t count;
};

/* Distance to a reachable row. Leaves out the checks of matrix_distance, which would slow down the
 * sort. */
static inline double distance_of(const struct heap *heap, uint32_t row)
{
    const void *elements = heap->row.elements;

    switch (heap->row.kind) {
    case KIND_I4:
        return ((const int32_t *)elements)[row];
    case KIND_U2:
        return ((const uint16_t *)elements)[row];
    case KIND_F4:
        return (double)((const float *)elements)[row];
    case KIND_F8:
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
    return ((const double *)elements)[row];
}

static inline bool is_nearer(const struct heap *heap, uint32_t a, uint32_t b)
{
    const double left = distance_of(heap, a);
    const double right = distance_of(heap, b);

    return left < right || (!(left > right) && a < b);
}

/* The row sinks from the top of the first count. */
static void sift_down(struct heap *heap, size_t count, uint32_t row)
{
    uint32_t *rows = heap->rows;
    size_t at = 0;

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && is_nearer(heap, rows[child], rows[child + 1]);
        if (is_nearer(heap, rows[child], row)) {
            break;
        }
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

enum status matrix_nearest(const struct nearest_query *query, uint32_t **ret_rows,
                           size_t *ret_count)
{
    const size_t capacity = query->count < query->vertex_count ? query->count : query->vertex_count;
    struct heap heap = {
        .row = {query->vertex_count, query->kind, (void *)query->distances},
        .rows = capacity == 0 ? NULL : malloc(capacity * sizeof(*heap.rows)),
    };
    double distance;

    if (capacity > 0 && heap.rows == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t vertex = 0; capacity > 0 && vertex < query->vertex_count; vertex++) {
        if (vertex == query->source || !matrix_distance(&heap.row, 0, vertex, &distance) ||
            !(distance <= query->within)) {
            continue;
        }
        if (heap.count < capacity) {
            size_t at = heap.count++;

            for (; at > 0 && is_nearer(&heap, heap.rows[(at - 1) / 2], vertex); at = (at - 1) / 2) {
                heap.rows[at] = heap.rows[(at - 1) / 2];
            }
            heap.rows[at] = vertex;
        } else if (is_nearer(&heap, vertex, heap.rows[0])) {
            sift_down(&heap, heap.count, vertex);
        }
    }
    /* Heapsort in place: the farthest goes behind the others, again and again. */
    for (size_t left = heap.count; left > 1; left--) {
        const uint32_t last = heap.rows[left - 1];

        heap.rows[left - 1] = heap.rows[0];
        sift_down(&heap, left - 1, last);
    }
    *ret_rows = heap.rows;
    *ret_count = heap.count;
    return STATUS_OK;
}
