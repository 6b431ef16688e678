#include "server/solver/hierarchy/update.h"

#include "proto/matrix.h"
#include "server/solver/stopwatch.h"

#include <math.h>
#include <stdlib.h>

/* The weight of an arc is the minimum of its edge and of the paths through its lower triangles,
 * which join both endpoints with an earlier vertex. Columns are processed in order, so both legs of
 * a triangle are final before its arc. A leg that became shorter lowers the arc. If a leg that may
 * have determined the arc's weight became longer, the arc is recomputed from all of its triangles
 * (Dibbelt et al. 2014, partial updates). */

/* An update is abandoned at half the cost of a complete customization. One step of an update, the
 * check of one triangle, costs as much as UPDATE_STEP_TRIANGLES triangles of a customization, which
 * also takes UPDATE_SUPERNODE_STEPS steps per supernode. */
#define UPDATE_STEP_TRIANGLES 128
#define UPDATE_SUPERNODE_STEPS 20
#define UPDATE_STEPS_MIN 10000
#define WORD_BITS 64

/* The direction of an arc. UPWARD: from the column's vertex to the later vertex. */
enum direction { UPWARD, DOWNWARD };

struct hierarchy_update {
    const struct hierarchy *base;
    const struct graph *graph;
    const struct observer *observer;
    unsigned char *bytes; /* the new hierarchy, which contains the weights */
    void *weights[2];     /* indexed by direction; the same array twice for an undirected graph */
    uint64_t *pieces;     /* one bit per HIERARCHY_ALIGNMENT bytes; 1 = a weight was written */
    uint64_t *columns;    /* a bit per position: an arc of the column is changed or in doubt */
    uint64_t *doubts[2];  /* indexed by direction, one bit per slot: the arc must be recomputed */
    uint32_t *stack;      /* stack of supernodes */
    uint32_t *changed;    /* places of the changed arcs in the current column */
    double *fresh[2];     /* new weights of the arcs at these places */
    double above;         /* integers above this are unreachable */
    double steps;
    double steps_most;
};

static void set_bit(uint64_t *bits, uint64_t at)
{
    bits[at / WORD_BITS] |= UINT64_C(1) << at % WORD_BITS;
}

static bool has_bit(const uint64_t *bits, uint64_t at)
{
    return (bits[at / WORD_BITS] >> at % WORD_BITS & 1) != 0;
}

/* Returns the weight of an arc; infinity if it is unreachable. */
static double get(const struct hierarchy_update *update, const void *weights, uint64_t slot)
{
    return kind_element(update->base->summary.kind, weights, slot);
}

static void put(const struct hierarchy_update *update, enum direction direction, uint64_t slot,
                double weight)
{
    const enum kind kind = update->base->summary.kind;
    unsigned char *weights = update->weights[direction];
    kind_put_element(kind, weights, slot, weight);
    set_bit(update->pieces,
            ((uint64_t)(weights - update->bytes) + slot * kind_size(kind)) / HIERARCHY_ALIGNMENT);
}

/* Adds two weights with the rounding of the element type: the sum of two floats in double, rounded
 * to float, equals their sum in float. */
static double add(const struct hierarchy_update *update, double a, double b)
{
    const double sum = a + b;
    return update->base->summary.kind == KIND_I4   ? (sum > update->above ? INFINITY : sum)
           : update->base->summary.kind == KIND_F4 ? (double)(float)sum
                                                   : sum;
}

/* Returns the position at a place of supernode s: its columns come first, then its rows. */
static uint32_t position_at(const struct hierarchy_shape *shape, uint32_t s, uint32_t place)
{
    const uint32_t columns = hierarchy_columns(shape, s);
    return place < columns ? shape->first[s] + place
                           : shape->row[shape->row_begin[s] + place - columns];
}

/* Finds the slot of the arc between two positions, and the arc's direction. */
static uint64_t find_arc(const struct hierarchy_update *update, uint32_t from, uint32_t to,
                         enum direction *ret_direction)
{
    const struct hierarchy *base = update->base;
    const uint32_t low = from < to ? from : to;
    *ret_direction = from < to || !base->summary.directed ? UPWARD : DOWNWARD;
    return hierarchy_slot(&base->shape, base->supernode_of[low], low, from ^ to ^ low);
}

/* Returns the weight of an edge; INFINITY if there is no such edge. */
static double edge_weight(const struct graph *graph, uint32_t source, uint32_t target)
{
    const bool swaps = !graph->directed && source > target;
    const uint64_t edge = graph_find_edge(graph, swaps ? target : source, swaps ? source : target);
    return edge != NO_EDGE ? graph_weight(graph, edge) : (double)INFINITY;
}

/* Lowers the weight of an arc whose changed edge is shorter. Otherwise marks the arc in `doubts`,
 * because its weight may have risen. */
static enum update_result set_edges(struct hierarchy_update *update, const struct solve_arc *arcs,
                                    size_t count)
{
    const struct hierarchy *base = update->base;
    const struct graph *graph = update->graph;
    const bool folded = graph->directed && !base->summary.directed;
    for (size_t i = 0; i < count; i++) {
        const uint32_t source = arcs[i].source;
        const uint32_t target = arcs[i].target;
        const uint32_t from = base->shape.position_of[source];
        const uint32_t to = base->shape.position_of[target];
        const double weight = edge_weight(graph, source, target);
        enum direction direction;
        const uint64_t slot = find_arc(update, from, to, &direction);
        if (slot == NO_SLOT && weight < INFINITY) {
            return UPDATE_SOLVE_ANEW;
        }
        if (folded && edge_weight(graph, target, source) != weight) {
            return UPDATE_ALL_WEIGHTS;
        }
        if (slot == NO_SLOT) {
            continue;
        }
        if (weight < get(update, update->weights[direction], slot)) {
            put(update, direction, slot, weight);
        } else {
            set_bit(update->doubts[direction], slot);
        }
        set_bit(update->columns, from < to ? from : to);
    }
    return UPDATE_DONE;
}

struct column {
    uint32_t position;
    uint32_t supernode;
    uint32_t place;
    uint32_t size;  /* columns and rows of the supernode */
    uint64_t slots; /* first slot of the supernode */
};

/* Adds the paths through the vertices of supernode d. place: the column's position in d. */
static void add_triangles(struct hierarchy_update *update, const struct column *column, uint32_t d,
                          uint32_t place, uint32_t count)
{
    double *fresh_up = update->fresh[UPWARD];
    double *fresh_down = update->fresh[DOWNWARD];
    const struct hierarchy_shape *shape = &update->base->shape;
    const uint32_t columns = hierarchy_columns(shape, d);
    const uint32_t size = columns + hierarchy_rows_below(shape, d);
    const uint32_t end = place < columns ? place : columns;
    uint32_t at = place + 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t wanted = position_at(shape, column->supernode, update->changed[i]);
        while (at < size && position_at(shape, d, at) < wanted) {
            at++;
        }
        update->steps += end;
        for (uint32_t k = 0; k < end && at < size && position_at(shape, d, at) == wanted; k++) {
            const uint64_t slots = shape->weight_begin[d] + (uint64_t)k * size;
            const void *up = update->weights[UPWARD];
            const void *down = update->weights[DOWNWARD];
            const double way_up =
                add(update, get(update, down, slots + place), get(update, up, slots + at));
            const double way_down =
                add(update, get(update, down, slots + at), get(update, up, slots + place));
            fresh_up[i] = way_up < fresh_up[i] ? way_up : fresh_up[i];
            fresh_down[i] = way_down < fresh_down[i] ? way_down : fresh_down[i];
        }
    }
}

/* Adds the triangles from descendant supernodes that have the column's position as a row. If a
 * supernode lacks that row, so do its descendants. */
static void add_triangles_below(struct hierarchy_update *update, const struct column *column,
                                uint32_t count)
{
    const struct hierarchy_shape *shape = &update->base->shape;
    uint32_t depth = 0;
    uint32_t d = column->supernode;
    for (;;) {
        for (uint32_t child = update->base->child[d]; child != NO_SUPERNODE;
             child = update->base->sibling[child]) {
            const uint64_t slot =
                hierarchy_slot(shape, child, shape->first[child], column->position);
            update->steps++;
            if (slot != NO_SLOT) {
                const uint64_t place = slot - shape->weight_begin[child];
                add_triangles(update, column, child, (uint32_t)place, count);
                update->stack[depth++] = child;
            }
        }
        if (depth == 0) {
            return;
        }
        d = update->stack[--depth];
    }
}

/* Recomputes the column's arcs that are marked in `doubts`. */
static void settle_doubts(struct hierarchy_update *update, const struct column *column)
{
    const struct hierarchy_shape *shape = &update->base->shape;
    const uint32_t vertex = shape->vertex_at[column->position];
    uint32_t count = 0;
    for (uint32_t i = column->place + 1; i < column->size; i++) {
        if (has_bit(update->doubts[UPWARD], column->slots + i) ||
            has_bit(update->doubts[DOWNWARD], column->slots + i)) {
            const uint32_t other = shape->vertex_at[position_at(shape, column->supernode, i)];
            update->fresh[UPWARD][count] = edge_weight(update->graph, vertex, other);
            update->fresh[DOWNWARD][count] = edge_weight(update->graph, other, vertex);
            update->changed[count++] = i;
        }
    }
    if (count == 0) {
        return;
    }
    add_triangles(update, column, column->supernode, column->place, count);
    add_triangles_below(update, column, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t slot = column->slots + update->changed[i];
        for (enum direction direction = UPWARD; direction <= DOWNWARD; direction++) {
            if (has_bit(update->doubts[direction], slot)) {
                put(update, direction, slot, update->fresh[direction][i]);
            }
        }
    }
}

/* Updates the arc between two places if the path between them through the column's vertex has
 * changed: lowers the weight of the arc, or marks the arc in `doubts`. */
static void pass_on(struct hierarchy_update *update, const struct column *column, uint32_t from,
                    uint32_t to)
{
    const struct hierarchy *base = update->base;
    const uint64_t in = column->slots + from;
    const uint64_t out = column->slots + to;
    const double was = add(update, get(update, base->down, in), get(update, base->up, out));
    const double way = add(update, get(update, update->weights[DOWNWARD], in),
                           get(update, update->weights[UPWARD], out));
    update->steps++;
    if (way == was) {
        return;
    }
    enum direction direction;
    const uint32_t source = position_at(&base->shape, column->supernode, from);
    const uint32_t target = position_at(&base->shape, column->supernode, to);
    const uint64_t slot = find_arc(update, source, target, &direction);
    CHECK(slot != NO_SLOT);
    if (way < get(update, update->weights[direction], slot)) {
        put(update, direction, slot, way);
    } else if (way > was && was == get(update, direction == UPWARD ? base->up : base->down, slot)) {
        set_bit(update->doubts[direction], slot);
    } else {
        return;
    }
    set_bit(update->columns, source < target ? source : target);
}

/* Updates one column. UPDATE_SOLVE_ANEW: the two directions of a changed arc have a negative sum,
 * because of a negative cycle or rounding. */
static enum update_result update_column(struct hierarchy_update *update,
                                        const struct column *column)
{
    const struct hierarchy *base = update->base;
    uint32_t count = 0;
    settle_doubts(update, column);
    for (uint32_t i = column->place + 1; i < column->size; i++) {
        const uint64_t slot = column->slots + i;
        const double up = get(update, update->weights[UPWARD], slot);
        const double down = get(update, update->weights[DOWNWARD], slot);
        if (up != get(update, base->up, slot) || down != get(update, base->down, slot)) {
            update->changed[count++] = i;
            if (up + down < 0) {
                return UPDATE_SOLVE_ANEW;
            }
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t i = update->changed[at];
        for (uint32_t j = column->place + 1; j < column->size; j++) {
            if (j != i) {
                pass_on(update, column, i, j);
            }
            if (j != i && base->summary.directed) {
                pass_on(update, column, j, i);
            }
        }
    }
    return UPDATE_DONE;
}

static enum update_result update_columns(struct hierarchy_update *update)
{
    const struct hierarchy *base = update->base;
    const struct hierarchy_shape *shape = &base->shape;
    const struct observer *observer = update->observer;
    for (uint32_t at = 0; at < shape->vertex_count; at++) {
        if (update->columns[at / WORD_BITS] == 0) {
            at |= WORD_BITS - 1;
            continue;
        }
        if (!has_bit(update->columns, at)) {
            continue;
        }
        if (observer_is_cancelled(observer)) {
            return UPDATE_CANCELLED;
        }
        const uint32_t s = base->supernode_of[at];
        const uint32_t size = hierarchy_columns(shape, s) + hierarchy_rows_below(shape, s);
        const uint32_t place = at - shape->first[s];
        const uint64_t slots = shape->weight_begin[s] + (uint64_t)place * size;
        const struct column column = {at, s, place, size, slots};
        const enum update_result result = update_column(update, &column);
        if (result != UPDATE_DONE || update->steps > update->steps_most) {
            return result != UPDATE_DONE ? result : UPDATE_ALL_WEIGHTS;
        }
    }
    return UPDATE_DONE;
}

static enum update_result open_hierarchy_update(struct hierarchy_update *update)
{
    const struct hierarchy *base = update->base;
    const struct hierarchy_shape *shape = &base->shape;
    const size_t supernodes = shape->supernode_count;
    const size_t column_words = shape->vertex_count / WORD_BITS + 1;
    const size_t doubt_words = shape->weight_begin[supernodes] / WORD_BITS + 1;
    const unsigned char *before_bytes = base->bytes;
    update->weights[UPWARD] = update->bytes + ((const unsigned char *)base->up - before_bytes);
    update->weights[DOWNWARD] = update->bytes + ((const unsigned char *)base->down - before_bytes);
    update->columns = calloc(column_words + 2 * doubt_words, sizeof(*update->columns));
    update->stack = malloc((supernodes + base->largest + 1) * sizeof(*update->stack));
    update->fresh[UPWARD] = malloc((2 * (size_t)base->largest + 1) * sizeof(double));
    if (update->columns == NULL || update->stack == NULL || update->fresh[UPWARD] == NULL) {
        return UPDATE_ALL_WEIGHTS;
    }
    update->doubts[UPWARD] = update->columns + column_words;
    update->doubts[DOWNWARD] = update->doubts[UPWARD] + doubt_words;
    update->changed = update->stack + supernodes;
    update->fresh[DOWNWARD] = update->fresh[UPWARD] + base->largest;
    update->steps_most = UPDATE_STEPS_MIN + UPDATE_SUPERNODE_STEPS * (double)supernodes +
                         base->triangles / UPDATE_STEP_TRIANGLES;
    return UPDATE_DONE;
}

enum update_result solve_update_hierarchy(const struct hierarchy *base, const struct graph *graph,
                                          const struct solve_arc *arcs, size_t arc_count,
                                          const struct observer *observer, void *bytes,
                                          uint64_t *pieces, struct solve_outcome *outcome)
{
    const double begin_s = stopwatch_now_s();
    struct hierarchy_update update = {
        .base = base,
        .graph = graph,
        .observer = observer,
        .bytes = bytes,
        .pieces = pieces,
        .above = base->summary.negative ? UNREACHABLE_I4_DRIFT : UNREACHABLE_I4 - 1,
    };
    if (graph->vertex_count != base->summary.vertex_count ||
        graph->summary.negative_loop != NO_VERTEX) {
        return UPDATE_SOLVE_ANEW;
    }
    if (graph->summary.negative != base->summary.negative ||
        (!graph->directed && base->summary.directed)) {
        return UPDATE_ALL_WEIGHTS;
    }
    enum update_result result = open_hierarchy_update(&update);
    if (result == UPDATE_DONE) {
        result = set_edges(&update, arcs, arc_count);
    }
    if (result == UPDATE_DONE) {
        result = update_columns(&update);
    }
    free(update.columns);
    free(update.stack);
    free(update.fresh[UPWARD]);
    if (result != UPDATE_DONE) {
        return result;
    }
    outcome->arc_count = base->summary.arc_count;
    outcome->plan = (struct plan_summary){.kind = PLAN_NESTED_DISSECTION,
                                          .parts = base->shape.supernode_count,
                                          .largest_separator = base->largest_separator,
                                          .cached = true};
    outcome->account.timings.compute_s = stopwatch_now_s() - begin_s;
    return UPDATE_DONE;
}
