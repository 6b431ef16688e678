#include "proto/growing_rows.h"

#include "proto/components.h"
#include "proto/edge_array.h"
#include "proto/row_filling.h"

#include <stdlib.h>

#define FIRST_CAPACITY 4096
/* More edges than MANY are soon a lot more: large arrays at once, of which nothing is touched
 * before it is needed. */
#define MANY (1u << 19)
#define ROOM_FOR_MANY (9u << 20)

struct growing_rows {
    struct graph graph; /* its rows and summary; with a stream, its arrays are those of the block */
    uint64_t capacity;  /* of target and weight_i4 */
    struct row_filling filling;
    struct row_stream *stream; /* NULL: in memory */
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
    if (rows->stream == NULL) {
        free(rows->graph.target);
        free(rows->graph.weight_i4);
    }
    free(rows);
}

/* ---- In memory ---- */

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

/* ---- To a stream ---- */

static void begin_block(struct growing_rows *rows, struct row_block *block, uint64_t base)
{
    rows->graph.target = block->target;
    rows->graph.weight_i4 = block->weight;
    rows->filling.base = base;
}

static uint64_t edges_in_block(const struct growing_rows *rows)
{
    return rows->filling.kept - rows->filling.base;
}

/* What the row has in the block is noted first, as that is gone then. */
static bool pass_block(struct growing_rows *rows)
{
    struct row_block *next;

    note_row(&rows->filling, &rows->graph, false);
    next = rows->stream->class_->next(rows->stream);
    if (next == NULL) {
        return false;
    }
    begin_block(rows, next, rows->filling.kept);
    return true;
}

/* No loop, and not parallel to the last one: the other cases need no place. */
static bool needs_place(const struct growing_rows *rows, const struct edge_i4 *edge)
{
    const uint64_t key = final_key(&rows->graph, NULL, edge_at(edge, 0, false).key);

    return !is_loop(key) && key > rows->filling.last;
}

/* A full block stays until a further edge needs a place: its last one may yet meet a shorter one.
 */
static uint64_t take_to_stream(struct growing_rows *rows, const struct edge_i4 *edges,
                               uint64_t count)
{
    uint64_t taken = 0;

    while (taken < count) {
        uint64_t room = ROW_BLOCK_EDGES - edges_in_block(rows);

        if (room == 0 && needs_place(rows, &edges[taken])) {
            if (!pass_block(rows)) {
                return taken;
            }
            room = ROW_BLOCK_EDGES;
        }
        room = room == 0 ? 1 : room;
        const uint64_t part = count - taken < room ? count - taken : room;
        const uint64_t filled =
            fill_rows(&rows->filling, edges + taken, part, NULL, &rows->graph, false);

        taken += filled;
        if (filled < part) {
            return taken;
        }
    }
    return taken;
}

static void copy_edges(struct row_block *block, const struct graph *graph, uint64_t first,
                       uint64_t count)
{
    memcpy(block->target, graph->target + first, count * sizeof block->target[0]);
    memcpy(block->weight, graph->weight_i4 + first, count * sizeof block->weight[0]);
}

bool growing_rows_may_stream(const struct growing_rows *rows)
{
    return rows->stream == NULL && rows->graph.directed && rows->filling.kept > 0;
}

bool growing_rows_stream(struct growing_rows *rows, struct row_stream *stream)
{
    struct row_filling *filling = &rows->filling;
    const uint64_t kept = filling->kept;
    struct row_block *block = NULL;
    uint64_t base = 0;

    CHECK(growing_rows_may_stream(rows));
    for (;;) {
        const uint64_t left = kept - base;
        const size_t part = row_block_edges(left);

        block = stream->class_->next(stream);
        if (block == NULL) {
            return false;
        }
        copy_edges(block, &rows->graph, base, part);
        if (left <= ROW_BLOCK_EDGES) {
            break;
        }
        base += part;
    }
    if (base > rows->graph.row_offset[filling->row]) {
        filling->kept = base;
        note_row(filling, &rows->graph, false);
        filling->kept = kept;
    }
    free(rows->graph.target);
    free(rows->graph.weight_i4);
    rows->stream = stream;
    begin_block(rows, block, base);
    return true;
}

/* ---- Either ---- */

enum status growing_rows_take(struct growing_rows *rows, const struct edge_i4 *edges,
                              uint64_t count, uint64_t *ret_taken)
{
    enum status status;

    if (rows->stream != NULL) {
        *ret_taken = take_to_stream(rows, edges, count);
        return STATUS_OK;
    }
    status = make_room(rows, count);
    if (status == STATUS_OK) {
        *ret_taken = fill_rows(&rows->filling, edges, count, NULL, &rows->graph, false);
    }
    return status;
}

void growing_rows_stop(const struct growing_rows *rows)
{
    if (rows->stream != NULL) {
        rows->stream->class_->stop(rows->stream);
    }
}

uint64_t growing_rows_count(const struct growing_rows *rows)
{
    return rows->filling.kept;
}

/* The edges from `first` on, which is where a block begins, as many as it has; weights may be NULL.
 */
static enum status read_block(const struct growing_rows *rows, uint64_t first, uint32_t *targets,
                              int32_t *weights, size_t *ret_edges)
{
    const size_t edges = row_block_edges(rows->filling.kept - first);

    *ret_edges = edges;
    if (rows->stream != NULL) {
        return rows->stream->class_->read(rows->stream, first / ROW_BLOCK_EDGES, edges, targets,
                                          weights);
    }
    memcpy(targets, rows->graph.target + first, edges * sizeof *targets);
    if (weights != NULL) {
        memcpy(weights, rows->graph.weight_i4 + first, edges * sizeof *weights);
    }
    return STATUS_OK;
}

/* Most of it need not be looked at again when the first rows are one component. */
static enum status count_components(const struct growing_rows *rows, struct graph *graph)
{
    struct row_block *block = malloc(sizeof *block);
    struct components *components = NULL;
    enum status status =
        block == NULL ? STATUS_NO_MEMORY : components_create(graph->vertex_count, &components);
    bool more = true;
    size_t edges = 0;

    for (uint64_t first = 0; first < graph->edge_count && more && status == STATUS_OK;
         first += edges) {
        status = read_block(rows, first, block->target, NULL, &edges);
        if (status == STATUS_OK) {
            more = components_unite(components, graph->row_offset, block->target, first, edges);
        }
    }
    if (status == STATUS_OK) {
        graph->summary.components = components_count(components);
    }
    components_destroy(components);
    free(block);
    return status;
}

/* All edges, from the stream to memory. */
static enum status take_back(const struct growing_rows *rows, struct graph *graph)
{
    enum status status = STATUS_OK;
    size_t edges = 0;

    if (!edge_array_resize(&graph->target, graph->edge_count + 1, sizeof *graph->target) ||
        !edge_array_resize(&graph->weight_i4, graph->edge_count + 1, sizeof *graph->weight_i4)) {
        return STATUS_NO_MEMORY;
    }
    for (uint64_t first = 0; first < graph->edge_count && status == STATUS_OK; first += edges) {
        status = read_block(rows, first, graph->target + first, graph->weight_i4 + first, &edges);
    }
    return status;
}

static enum status end_stream(const struct growing_rows *rows, struct graph *graph,
                              bool *ret_streamed)
{
    enum status status;

    graph->target = NULL;
    graph->weight_i4 = NULL;
    *ret_streamed = rows->stream->class_->end(rows->stream, edges_in_block(rows)) == STATUS_OK;
    if (*ret_streamed) {
        return count_components(rows, graph);
    }
    status = take_back(rows, graph);
    return status == STATUS_OK ? graph_rows_complete(graph) : status;
}

enum status growing_rows_end(struct growing_rows *rows, struct graph *graph, bool *ret_streamed)
{
    /* What is empty is a valid pointer. */
    enum status status = rows->stream == NULL ? make_room(rows, 1) : STATUS_OK;

    *ret_streamed = false;
    if (status == STATUS_OK) {
        end_rows(&rows->filling, &rows->graph, false);
        *graph = rows->graph;
        rows->graph = (struct graph){0};
        status = rows->stream != NULL ? end_stream(rows, graph, ret_streamed)
                                      : graph_rows_complete(graph);
    }
    growing_rows_destroy(rows);
    return status;
}

static void put_edges(const struct edge_list *list, const struct growing_rows *rows, uint64_t first,
                      const struct row_block *block, size_t edges, uint32_t *row)
{
    const uint64_t *row_offset = rows->graph.row_offset;

    for (size_t i = 0; i < edges; i++) {
        while (*row < rows->filling.row && row_offset[*row + 1] <= first + i) {
            ++*row;
        }
        if (list->real) {
            ((struct edge_f8 *)list->edges)[first + i] =
                (struct edge_f8){*row, block->target[i], block->weight[i]};
        } else {
            ((struct edge_i4 *)list->edges)[first + i] =
                (struct edge_i4){*row, block->target[i], block->weight[i]};
        }
    }
}

enum status growing_rows_undo(struct growing_rows *rows, struct edge_list *list,
                              struct graph_summary *ret_summary)
{
    const size_t edge_size = list->real ? sizeof(struct edge_f8) : sizeof(struct edge_i4);
    const uint64_t kept = rows->filling.kept;
    struct row_block *block = malloc(sizeof *block);
    enum status status = STATUS_OK;
    uint32_t row = 0;
    size_t edges = 0;

    if (block == NULL || !edge_array_resize(&list->edges, list->count + kept + 1, edge_size)) {
        free(block);
        return STATUS_NO_MEMORY;
    }
    memmove((char *)list->edges + kept * edge_size, list->edges, list->count * edge_size);
    list->count += kept;
    for (uint64_t first = 0; first < kept && status == STATUS_OK; first += edges) {
        status = read_block(rows, first, block->target, block->weight, &edges);
        if (status == STATUS_OK) {
            put_edges(list, rows, first, block, edges, &row);
        }
    }
    free(block);
    if (status == STATUS_OK) {
        *ret_summary = rows->graph.summary;
        growing_rows_destroy(rows);
    }
    return status;
}
