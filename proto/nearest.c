#include "proto/nearest.h"

#include <math.h>
#include <stdlib.h>

/* Number of vertices examined or rows sorted in one step. Either takes about a millisecond. */
#define STEP_VERTICES 65536
#define STEP_ROWS 4096

static inline double distance_of(const struct nearest *nearest, uint32_t row)
{
    return kind_element(nearest->query.kind, nearest->query.distances, row);
}

static inline bool is_nearer(const struct nearest *nearest, uint32_t a, uint32_t b)
{
    const double left = distance_of(nearest, a);
    const double right = distance_of(nearest, b);

    return left < right || (!(left > right) && a < b);
}

/* Puts a row at the top of the heap of the first `count` rows, then moves it down to its place. */
static void sift_down(struct nearest *nearest, size_t count, uint32_t row)
{
    uint32_t *rows = nearest->rows;
    size_t at = 0;

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && is_nearer(nearest, rows[child], rows[child + 1]);
        if (is_nearer(nearest, rows[child], row)) {
            break;
        }
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

static void push_vertex(struct nearest *nearest, uint32_t vertex)
{
    uint32_t *rows = nearest->rows;
    size_t at = nearest->count++;

    for (; at > 0 && is_nearer(nearest, rows[(at - 1) / 2], vertex); at = (at - 1) / 2) {
        rows[at] = rows[(at - 1) / 2];
    }
    rows[at] = vertex;
}

enum status nearest_begin(struct nearest *nearest, const struct nearest_query *query)
{
    const uint32_t n = query->vertex_count;

    *nearest = (struct nearest){
        .query = *query,
        .capacity = query->count < n ? query->count : n,
    };
    if (nearest->capacity > 0) {
        nearest->rows = malloc(nearest->capacity * sizeof(*nearest->rows));
    }
    return nearest->capacity > 0 && nearest->rows == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

static void look_at_vertices(struct nearest *nearest)
{
    const struct nearest_query *query = &nearest->query;
    const uint32_t left = query->vertex_count - nearest->seen;
    const uint32_t stop = nearest->seen + (left < STEP_VERTICES ? left : STEP_VERTICES);

    for (uint32_t vertex = nearest->seen; nearest->capacity > 0 && vertex < stop; vertex++) {
        const double distance = distance_of(nearest, vertex);

        if (vertex == query->source || isinf(distance) || !(distance <= query->within)) {
            continue;
        }
        if (nearest->count < nearest->capacity) {
            push_vertex(nearest, vertex);
        } else if (is_nearer(nearest, vertex, nearest->rows[0])) {
            sift_down(nearest, nearest->count, vertex);
        }
    }
    nearest->seen = stop;
    nearest->unsorted = nearest->count;
}

bool nearest_step(struct nearest *nearest)
{
    uint32_t *rows = nearest->rows;

    if (nearest->seen < nearest->query.vertex_count) {
        look_at_vertices(nearest);
        return false;
    }
    /* Heapsort in place: moves the farthest remaining row to the end. */
    for (int i = 0; i < STEP_ROWS && nearest->unsorted > 1; i++) {
        const uint32_t last = rows[--nearest->unsorted];

        rows[nearest->unsorted] = rows[0];
        sift_down(nearest, nearest->unsorted, last);
    }
    return nearest->unsorted <= 1;
}

void nearest_finish(struct nearest *nearest)
{
    free(nearest->rows);
    *nearest = (struct nearest){0};
}
