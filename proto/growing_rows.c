#include "proto/growing_rows.h"

#include "proto/edge_array.h"
#include "proto/row_filling.h"

#include <stdlib.h>

#define FIRST_CAPACITY 4096
/* More edges than MANY are soon a lot more: large arrays at once, of which nothing is touched
 * before it is needed. */
#define MANY (1u << 19)
#define ROOM_FOR_MANY (9u << 20)

struct growing_rows {
    struct graph graph; /* its rows and summary */
    uint64_t capacity;  /* of target and weight_i4 */
    struct row_filling filling;
};

enum status growing_rows_create(uint32_t vertex_count, bool directed,
                                struct growing_rows **ret_rows)
{
    struct growing_rows *rows = calloc(1, sizeof *rows);
    uint64_t *offsets = calloc((size_t)vertex_count + 1, sizeof *offsets);

    if (rows == NULL || offsets == NULL) {
        free(rows);
        free(offsets);
        return STATUS_NO_MEMORY;
    }
    rows->graph.vertex_count = vertex_count;
    rows->graph.directed = directed;
    rows->graph.weight_type = WEIGHT_INTEGER;
    rows->graph.row_offset = offsets;
    rows->graph.summary.negative_loop = NO_VERTEX;
    rows->filling = row_filling_begin();
    *ret_rows = rows;
    return STATUS_OK;
}

void growing_rows_destroy(struct growing_rows *rows)
{
    if (rows == NULL) {
        return;
    }
    free(rows->graph.row_offset);
    free(rows->graph.target);
    free(rows->graph.weight_i4);
    free(rows);
}

/* For so many edges more. */
static enum status make_room(struct growing_rows *rows, uint64_t count)
{
    struct graph *graph = &rows->graph;
    const uint64_t needed = rows->filling.kept + count;
    uint64_t capacity = rows->capacity + rows->capacity / 2;

    if (needed <= rows->capacity) {
        return STATUS_OK;
    }
    capacity = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : capacity;
    capacity = capacity >= MANY && capacity < ROOM_FOR_MANY ? ROOM_FOR_MANY : capacity;
    capacity = capacity < needed ? needed : capacity;
    if (!edge_array_resize(&graph->target, capacity, sizeof *graph->target) ||
        !edge_array_resize(&graph->weight_i4, capacity, sizeof *graph->weight_i4)) {
        return STATUS_NO_MEMORY;
    }
    rows->capacity = capacity;
    return STATUS_OK;
}

enum status growing_rows_take(struct growing_rows *rows, const struct edge_i4 *edges,
                              uint64_t count, uint64_t *ret_taken)
{
    enum status status = make_room(rows, count);

    if (status == STATUS_OK) {
        *ret_taken = fill_rows(&rows->filling, edges, count, NULL, &rows->graph, false);
    }
    return status;
}

struct settled_edges growing_rows_settled(const struct growing_rows *rows)
{
    const uint64_t kept = rows->filling.kept;

    /* The last may yet meet a shorter one. */
    return (struct settled_edges){rows->graph.target, rows->graph.weight_i4,
                                  kept > 0 ? kept - 1 : 0};
}

enum status growing_rows_end(struct growing_rows *rows, struct graph *graph)
{
    enum status status = make_room(rows, 1); /* what is empty is a valid pointer */

    if (status == STATUS_OK) {
        end_rows(&rows->filling, &rows->graph, false);
        *graph = rows->graph;
        rows->graph = (struct graph){0};
        status = graph_rows_complete(graph);
    }
    growing_rows_destroy(rows);
    return status;
}

enum status growing_rows_undo(const struct growing_rows *rows, uint64_t room,
                              struct edge_list *ret_list, struct graph_summary *ret_summary)
{
    const struct graph *graph = &rows->graph;
    const struct row_filling *filling = &rows->filling;
    struct edge_i4 *edges = NULL;
    uint32_t row = 0;

    if (!edge_array_resize(&edges, filling->kept + room, sizeof *edges)) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t i = 0; i < filling->kept; i++) {
        while (row < filling->row && graph->row_offset[row + 1] <= i) {
            row++;
        }
        edges[i] = (struct edge_i4){row, graph->target[i], graph->weight_i4[i]};
    }
    *ret_list = (struct edge_list){filling->kept, false, edges};
    *ret_summary = graph->summary;
    return STATUS_OK;
}
