/* How edges in order become rows, one after the other: of a whole list (graph_rows.c), or while
 * more still come (growing_rows.c), which alone include this. */
#pragma once

#include "proto/check.h"
#include "proto/graph_rows.h"

#include <math.h>
#include <string.h>

/* The loops over all edges below are written once, for either type of weight, and compiled for
 * each. */
#define FOR_EACH_TYPE inline __attribute__((always_inline))

/* An edge on its way, its ends as one number, by which rows are in order. */
struct edge {
    uint64_t key;
    int32_t integer; /* its weight */
    double decimal;  /* or this, when real */
};

static FOR_EACH_TYPE struct edge edge_at(const void *edges, uint64_t index, bool real)
{
    if (real) {
        const struct edge_f8 *edge = (const struct edge_f8 *)edges + index;

        return (struct edge){(uint64_t)edge->source << 32 | edge->target, 0, edge->weight};
    }
    const struct edge_i4 *edge = (const struct edge_i4 *)edges + index;

    return (struct edge){(uint64_t)edge->source << 32 | edge->target, edge->weight, 0};
}

static FOR_EACH_TYPE uint32_t source_of(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

static FOR_EACH_TYPE uint32_t target_of(uint64_t key)
{
    return (uint32_t)key;
}

/* Final rows, smaller end first when undirected. */
static FOR_EACH_TYPE uint64_t final_key(const struct graph *graph, const uint32_t *row_of,
                                        uint64_t key)
{
    uint32_t source = row_of == NULL ? source_of(key) : row_of[source_of(key)];
    uint32_t target = row_of == NULL ? target_of(key) : row_of[target_of(key)];

    CHECK(source < graph->vertex_count && target < graph->vertex_count);
    return !graph->directed && source > target ? (uint64_t)target << 32 | source
                                               : (uint64_t)source << 32 | target;
}

/* ---- Loops leave ---- */

static void note_negative_loop(struct graph_summary *summary, uint32_t vertex, double weight)
{
    summary->negative = true;
    if (vertex > summary->negative_loop ||
        (vertex == summary->negative_loop && weight >= summary->negative_loop_weight)) {
        return;
    }
    summary->negative_loop = vertex;
    summary->negative_loop_weight = weight;
}

static FOR_EACH_TYPE void settle_loop(struct graph_summary *summary, struct edge loop, bool real)
{
    const double weight = real ? loop.decimal : (double)loop.integer;

    if (weight < 0) {
        note_negative_loop(summary, source_of(loop.key), weight);
    } else {
        summary->loops_dropped++;
    }
}

static FOR_EACH_TYPE bool is_loop(uint64_t key)
{
    return source_of(key) == target_of(key);
}

/* ---- Rows ---- */

/* Where the rows have been filled up to, and the weights of the rows before: integers are doubles
 * here. */
struct row_filling {
    uint64_t kept;
    uint64_t last; /* key of the edge kept last; 0: none, as no loop is kept */
    uint64_t base; /* the edge with which the graph's arrays begin */
    uint32_t row;
    double row_least; /* of the weights of the row before base */
    double row_most;
    double least;
    double most;
    double bound; /* the sum of the largest |weight| of each row */
    bool integral;
};

static inline struct row_filling row_filling_begin(void)
{
    return (struct row_filling){.row_least = INFINITY,
                                .row_most = -INFINITY,
                                .least = INFINITY,
                                .most = -INFINITY,
                                .integral = true};
}

static inline void note_range(struct row_filling *filling, double least, double most)
{
    filling->row_least = least < filling->row_least ? least : filling->row_least;
    filling->row_most = most > filling->row_most ? most : filling->row_most;
}

static inline void note_integers(struct row_filling *filling, const int32_t *weight, uint64_t count)
{
    int32_t least = weight[0];
    int32_t most = weight[0];

    for (uint64_t i = 1; i < count; i++) {
        least = weight[i] < least ? weight[i] : least;
        most = weight[i] > most ? weight[i] : most;
    }
    note_range(filling, least, most);
}

static inline void note_decimals(struct row_filling *filling, const double *weight, uint64_t count)
{
    double least = weight[0];
    double most = weight[0];

    for (uint64_t i = 0; i < count; i++) {
        least = weight[i] < least ? weight[i] : least;
        most = weight[i] > most ? weight[i] : most;
        filling->integral = filling->integral && weight[i] == trunc(weight[i]);
    }
    note_range(filling, least, most);
}

/* The weights of the row that are there. */
static FOR_EACH_TYPE void note_row(struct row_filling *filling, const struct graph *graph,
                                   bool real)
{
    const uint64_t row_begin = graph->row_offset[filling->row];
    const uint64_t first = row_begin > filling->base ? row_begin : filling->base;
    const uint64_t count = filling->kept - first;

    if (count > 0 && real) {
        note_decimals(filling, graph->weight_f8 + (first - filling->base), count);
    } else if (count > 0) {
        note_integers(filling, graph->weight_i4 + (first - filling->base), count);
    }
}

static FOR_EACH_TYPE void end_row(struct row_filling *filling, struct graph *graph, bool real)
{
    note_row(filling, graph, real);
    if (filling->kept > graph->row_offset[filling->row]) {
        filling->least = fmin(filling->least, filling->row_least);
        filling->most = fmax(filling->most, filling->row_most);
        filling->bound += fmax(-filling->row_least, filling->row_most);
        filling->row_least = INFINITY;
        filling->row_most = -INFINITY;
    }
    graph->row_offset[++filling->row] = filling->kept;
}

static FOR_EACH_TYPE void put_weight(struct graph *graph, uint64_t place, struct edge edge,
                                     bool real)
{
    if (real) {
        memcpy(&graph->weight_f8[place], &edge.decimal, sizeof edge.decimal);
    } else {
        graph->weight_i4[place] = edge.integer;
    }
}

static FOR_EACH_TYPE void merge(struct graph *graph, uint64_t place, struct edge edge, bool real)
{
    const double kept = real ? graph->weight_f8[place] : graph->weight_i4[place];

    graph->summary.parallel_merged++;
    if ((real ? edge.decimal : edge.integer) < kept) {
        put_weight(graph, place, edge, real);
    }
}

/* Edges that go on where the last one was: of the same row, each with a larger target, and no loop.
 * Most are. Returns the index of the first that does not. */
static FOR_EACH_TYPE uint64_t fill_run(struct row_filling *filling, const void *edges, uint64_t i,
                                       uint64_t count, struct graph *graph, bool real)
{
    uint32_t *target = graph->target;
    const uint32_t source = source_of(filling->last);
    uint32_t last = target_of(filling->last);
    uint64_t place = filling->kept - filling->base;

    for (; i < count; i++, place++) {
        const struct edge edge = edge_at(edges, i, real);
        const uint32_t next = target_of(edge.key);

        if (source_of(edge.key) != source || next <= last || next == source) {
            break;
        }
        target[place] = next;
        put_weight(graph, place, edge, real);
        last = next;
    }
    CHECK(last < graph->vertex_count);
    filling->kept = filling->base + place;
    filling->last = (uint64_t)source << 32 | last;
    return i;
}

/* How many were taken: all, or those before the first that is out of order. Parallel edges are
 * neighbours: the shortest stays. Integers need room in the graph for all of them; decimals go into
 * the first half of the memory of the edges themselves, whose ends have left by then: each is moved
 * to where an edge before it, or its own ends, were. */
static FOR_EACH_TYPE uint64_t fill_rows(struct row_filling *filling, const void *edges,
                                        uint64_t count, const uint32_t *row_of, struct graph *graph,
                                        bool real)
{
    uint64_t i = 0;

    while (i < count) {
        struct edge edge = edge_at(edges, i, real);

        edge.key = final_key(graph, row_of, edge.key);
        if (is_loop(edge.key)) {
            settle_loop(&graph->summary, edge, real);
        } else if (edge.key > filling->last) {
            const uint64_t place = filling->kept - filling->base;

            while (filling->row < source_of(edge.key)) {
                end_row(filling, graph, real);
            }
            graph->target[place] = target_of(edge.key);
            put_weight(graph, place, edge, real);
            filling->kept++;
            filling->last = edge.key;
            if (row_of == NULL) {
                i = fill_run(filling, edges, i + 1, count, graph, real);
                continue;
            }
        } else if (edge.key == filling->last) {
            merge(graph, filling->kept - 1 - filling->base, edge, real);
        } else {
            break;
        }
        i++;
    }
    return i;
}

static FOR_EACH_TYPE void end_rows(struct row_filling *filling, struct graph *graph, bool real)
{
    struct graph_summary *summary = &graph->summary;

    while (filling->row < graph->vertex_count) {
        end_row(filling, graph, real);
    }
    graph->edge_count = filling->kept;
    summary->distance_bound = filling->bound;
    summary->integral = filling->integral;
    if (filling->kept > 0) {
        summary->min_weight = filling->least;
        summary->max_weight = filling->most;
        summary->negative = summary->negative || summary->min_weight < 0;
    }
}
