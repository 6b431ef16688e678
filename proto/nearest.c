#include "proto/nearest.h"

#include "proto/matrix.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_nearer(const struct neighbour *a, const struct neighbour *b)
{
    return a->distance < b->distance || (!(a->distance > b->distance) && a->row < b->row);
}

static int compare(const void *a, const void *b)
{
    return is_nearer(a, b) ? -1 : 1;
}

static void swap(struct neighbour *a, struct neighbour *b)
{
    const struct neighbour kept = *a;

    *a = *b;
    *b = kept;
}

/* The farthest is on top. */
static void sift_down(struct neighbour *heap, size_t count)
{
    for (size_t at = 0, child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_nearer(&heap[child], &heap[child + 1])) {
            child++;
        }
        if (is_nearer(&heap[child], &heap[at])) {
            return;
        }
        swap(&heap[child], &heap[at]);
        at = child;
    }
}

static void sift_up(struct neighbour *heap, size_t at)
{
    while (at > 0 && is_nearer(&heap[(at - 1) / 2], &heap[at])) {
        swap(&heap[(at - 1) / 2], &heap[at]);
        at = (at - 1) / 2;
    }
}

static void consider(struct neighbour *heap, size_t capacity, struct neighbour one, size_t *count)
{
    if (*count < capacity) {
        heap[(*count)++] = one;
        sift_up(heap, *count - 1);
    } else if (is_nearer(&one, &heap[0])) {
        heap[0] = one;
        sift_down(heap, *count);
    }
}

enum status nearest_find(const struct nearest_query *query, struct neighbour **ret_neighbours,
                         size_t *ret_count)
{
    const struct matrix row = {query->vertex_count, query->kind, (void *)query->distances};
    const size_t capacity = query->count < query->vertex_count ? query->count : query->vertex_count;
    struct neighbour *heap;
    size_t count = 0;

    if (capacity == 0) {
        *ret_neighbours = NULL;
        *ret_count = 0;
        return STATUS_OK;
    }
    heap = malloc(capacity * sizeof *heap);
    if (heap == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t vertex = 0; vertex < query->vertex_count; vertex++) {
        struct neighbour one = {.row = vertex};

        if (vertex != query->source && matrix_distance(&row, 0, vertex, &one.distance) &&
            one.distance <= query->within) {
            consider(heap, capacity, one, &count);
        }
    }
    qsort(heap, count, sizeof *heap, compare);
    *ret_neighbours = heap;
    *ret_count = count;
    return STATUS_OK;
}
