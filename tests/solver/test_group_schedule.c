/* Executes the schedules of the members of a group (gpu/schedule.h) on the host in the simplest
 * way: each member has its own memory, and receives from others exactly what a round sends. Random
 * plans of small tiles, compared with the oracle. */
#include "gpu/schedule.h"
#include "tests/lib/test.h"
#include "tests/solver/oracle.h"
#include "tests/solver/random_plan.h"
#include "tests/solver/shapes.h"

#include <math.h>

#define TILE 6
#define ELEMENTS (TILE * TILE)
#define SLAB 2
#define MEMBERS_MOST 8
/* Smaller than any distance, so that reading an unwritten or unsent element is detected. */
#define GARBAGE (-1e15)

struct member {
    struct tile_rows rows;
    struct schedule *schedule;
    double *matrix; /* tiles are contiguous */
    double *closed; /* indexed by slot */
    double *left;
    double *right; /* in the layout of the matrix, not of the kernels */
};

struct group {
    const struct plan *plan;
    uint32_t packing;
    uint32_t count;
    uint32_t slots; /* in each array */
    struct member members[MEMBERS_MOST];
};

static double *make_tiles(uint64_t count)
{
    double *tiles = malloc((count > 0 ? count : 1) * ELEMENTS * sizeof(*tiles));
    assert_non_null(tiles);
    for (uint64_t i = 0; i < count * ELEMENTS; ++i) {
        tiles[i] = GARBAGE;
    }
    return tiles;
}

static double *tile_of(const struct group *group, const struct member *member, uint32_t row,
                       uint32_t column)
{
    assert_true(row < tile_rows_count(member->rows, group->plan->tile_count));
    return member->matrix + ((uint64_t)row * group->plan->tile_count + column) * ELEMENTS;
}

static double *slot_of(const struct group *group, double *tiles, uint32_t slot)
{
    assert_true(slot < group->slots);
    return tiles + (uint64_t)slot * ELEMENTS;
}

/* to = min(to, left x right); the operands may be the same memory. */
static void relax(double *to, const double *left, const double *right, uint32_t depth)
{
    double made[ELEMENTS];
    memcpy(made, to, sizeof(made));
    for (uint32_t i = 0; i < ELEMENTS; ++i) {
        for (uint32_t k = 0; k < depth; ++k) {
            made[i] = fmin(made[i], left[i / TILE * TILE + k] + right[k * TILE + i % TILE]);
        }
    }
    memcpy(to, made, sizeof(made));
}

static void copy(double *to, const double *from, bool transposed)
{
    for (uint32_t i = 0; i < ELEMENTS; ++i) {
        to[i] = from[transposed ? i % TILE * TILE + i / TILE : i];
    }
}

static void fill(const struct group *group, const struct edge_list *list)
{
    for (uint32_t m = 0; m < group->count; ++m) {
        const struct member *member = &group->members[m];
        for (uint32_t i = 0; i < member->schedule->fill_count; ++i) {
            const struct schedule_tile fill = member->schedule->fills[i];
            const bool diagonal = tile_rows_global(member->rows, fill.row) == fill.column;
            double *const tile = tile_of(group, member, fill.row, fill.column);
            for (uint32_t j = 0; j < ELEMENTS; ++j) {
                tile[j] = diagonal && j / TILE == j % TILE ? 0 : INFINITY;
            }
        }
        for (size_t i = 0; i < 2 * list->count; ++i) {
            const struct edge *edge = &list->edges[i / 2];
            const uint32_t *position = member->schedule->position;
            const uint32_t from = position[i % 2 == 0 ? edge->source : edge->target];
            const uint32_t to = position[i % 2 == 0 ? edge->target : edge->source];
            if ((i % 2 == 1 && list->directed) || !tile_rows_owns(member->rows, from / TILE)) {
                continue;
            }
            double *const home =
                tile_of(group, member, tile_rows_local(member->rows, from / TILE), to / TILE) +
                from % TILE * TILE + to % TILE;
            *home = fmin(*home, edge->weight);
        }
    }
}

static void forget(const struct group *group)
{
    for (uint32_t m = 0; m < group->count; ++m) {
        for (uint64_t i = 0; i < (uint64_t)group->slots * ELEMENTS; ++i) {
            group->members[m].closed[i] = GARBAGE;
            group->members[m].left[i] = GARBAGE;
            group->members[m].right[i] = GARBAGE;
        }
    }
}

/* Copies from one member's array to those of all others. */
static void send(const struct group *group, uint32_t sender, size_t array, uint32_t first,
                 uint32_t count)
{
    for (uint32_t m = 0; m < group->count; ++m) {
        double *const from = *(double *const *)((const char *)&group->members[sender] + array);
        double *const to = *(double *const *)((const char *)&group->members[m] + array);
        for (uint32_t slot = first; slot < first + count && m != sender; ++slot) {
            copy(slot_of(group, to, slot), slot_of(group, from, slot), false);
        }
    }
}

static void close_pivots(const struct group *group, uint32_t index)
{
    for (uint32_t m = 0; m < group->count; ++m) {
        const struct member *member = &group->members[m];
        const struct schedule_round *round = &member->schedule->rounds[index];
        for (uint32_t i = 0; i < round->pivots.count; ++i) {
            const struct schedule_pivot pivot = member->schedule->pivots[round->pivots.begin + i];
            double *const tile = tile_of(group, member, pivot.row, pivot.tile);
            for (uint32_t k = 0; k < pivot.depth; ++k) {
                for (uint32_t j = 0; j < ELEMENTS; ++j) {
                    tile[j] = fmin(tile[j], tile[j / TILE * TILE + k] + tile[k * TILE + j % TILE]);
                }
            }
            copy(slot_of(group, member->closed, round->first_pivot + i), tile, false);
        }
        send(group, m, offsetof(struct member, closed), round->first_pivot, round->pivots.count);
    }
}

static void make_panel(const struct group *group, const struct member *member,
                       const struct schedule_panel *panel, bool in_row, uint32_t slot)
{
    const double *const diagonal = slot_of(group, member->closed, panel->closed);
    double *const tile = tile_of(group, member, panel->row, in_row ? panel->tile : panel->pivot);
    relax(tile, in_row ? diagonal : tile, in_row ? tile : diagonal, panel->depth);
    if (in_row || member->schedule->symmetric) {
        copy(slot_of(group, member->right, slot), tile, !in_row);
    }
    if (!in_row || member->schedule->symmetric) {
        copy(slot_of(group, member->left, slot), tile, in_row);
    }
}

static void make_panels(const struct group *group, uint32_t index)
{
    for (uint32_t m = 0; m < group->count; ++m) {
        const struct member *member = &group->members[m];
        const struct schedule *schedule = member->schedule;
        const struct schedule_round *round = &schedule->rounds[index];
        for (uint32_t i = 0; i < round->rights.count; ++i) {
            make_panel(group, member, &schedule->panels[round->rights.begin + i], true,
                       round->first_right + i);
        }
        for (uint32_t i = 0; i < round->lefts.count; ++i) {
            const struct schedule_panel *panel = &schedule->panels[round->lefts.begin + i];
            make_panel(group, member, panel, schedule->symmetric && panel->tile < panel->pivot,
                       round->first_left + i);
        }
        if (schedule->symmetric) {
            send(group, m, offsetof(struct member, left), round->first_left, round->lefts.count);
        }
        send(group, m, offsetof(struct member, right),
             schedule->symmetric ? round->first_left : round->first_right,
             schedule->symmetric ? round->lefts.count : round->rights.count);
    }
}

static void compute_target(const struct group *group, const struct member *member,
                           const struct schedule_target *target)
{
    for (uint32_t half = 0; half < group->packing; ++half) {
        if (half == 1 && target->words[1] == 0) {
            continue;
        }
        const struct schedule_product *product = member->schedule->products + target->product_begin;
        double *const tile = tile_of(group, member, target->row, target->columns[half]);
        for (uint32_t i = 0; i < ELEMENTS && (target->flags & SCHEDULE_FRESH_FIRST << half) != 0;
             ++i) {
            tile[i] = INFINITY;
        }
        for (uint32_t slab = 0; slab < target->slabs; ++product) {
            relax(tile, slot_of(group, member->left, product->left),
                  slot_of(group, member->right, product->right[half]), product->depth);
            slab += (product->depth + SLAB - 1) / SLAB;
        }
    }
}

static void run(const struct group *group)
{
    for (uint32_t index = 0; index < group->plan->round_count; ++index) {
        forget(group);
        close_pivots(group, index);
        make_panels(group, index);
        for (uint32_t m = 0; m < group->count; ++m) {
            const struct member *member = &group->members[m];
            const struct schedule_range targets = member->schedule->rounds[index].targets;
            for (uint32_t i = 0; i < targets.count; ++i) {
                compute_target(group, member, &member->schedule->targets[targets.begin + i]);
            }
        }
    }
}

/* In a symmetric plan, an entry below the diagonal represents both halves. */
static double entry(const struct group *group, uint32_t row, uint32_t column)
{
    const uint64_t bit = (uint64_t)(row / TILE) * group->plan->tile_count + column / TILE;
    if ((group->plan->reached_tiles[bit / 64] >> bit % 64 & 1) == 0) {
        return INFINITY;
    }
    if (group->plan->symmetric && row / TILE < column / TILE) {
        return entry(group, column, row);
    }
    uint32_t m = 0;
    while (!tile_rows_owns(group->members[m].rows, row / TILE)) {
        ++m;
    }
    const struct member *owner = &group->members[m];
    return tile_of(group, owner, tile_rows_local(owner->rows, row / TILE),
                   column / TILE)[row % TILE * TILE + column % TILE];
}

static void judge(const struct group *group, const double *distances, bool integral)
{
    const uint32_t n = group->plan->vertex_count;
    const uint32_t *position = group->members[0].schedule->position;
    uint32_t rows = 0;
    for (uint32_t m = 0; m < group->count; ++m) {
        const struct schedule *schedule = group->members[m].schedule;
        for (uint32_t i = 0; i < schedule->vertex_count; ++i) {
            assert_true(
                tile_rows_owns(group->members[m].rows, position[schedule->vertices[i]] / TILE));
            assert_true(i == 0 || schedule->vertices[i - 1] < schedule->vertices[i]);
        }
        rows += schedule->vertex_count;
    }
    assert_int_equal(rows, n);
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            const double expected = distances[(size_t)row * n + column];
            const double found = entry(group, position[row], position[column]);
            const double slack = integral ? 0 : 1e-12 * fabs(expected);
            assert_true(found == expected || fabs(found - expected) <= slack);
        }
    }
}

/* Counts the entries of all lists of all members. */
static void count_entries(const struct group *group, uint64_t counts[5])
{
    memset(counts, 0, 5 * sizeof(*counts));
    for (uint32_t m = 0; m < group->count; ++m) {
        const struct schedule *schedule = group->members[m].schedule;
        counts[0] += schedule->fill_count;
        counts[1] += schedule->pivot_count;
        counts[2] += schedule->panel_count;
        counts[3] += schedule->target_count;
        counts[4] += schedule->product_count;
    }
}

/* units: with 1 no target is split; with 1000 targets are split as far as possible. */
static void try_group(const struct edge_list *list, const struct plan *plan, uint32_t packing,
                      uint32_t members, uint32_t units, const double *distances, bool integral,
                      uint64_t counts[5])
{
    struct group group = {.plan = plan, .packing = packing, .count = members};
    uint32_t left = 0;
    uint32_t right = 0;
    uint32_t closed = 0;
    schedule_slots(plan, &left, &right, &closed);
    group.slots = left + right + closed;
    for (uint32_t m = 0; m < group.count; ++m) {
        struct member *member = &group.members[m];
        member->rows = tile_rows_deal(members, m, plan->tile_count);
        assert_int_equal(schedule_create(plan, (struct schedule_grain){packing, SLAB, units},
                                         member->rows, &member->schedule),
                         STATUS_OK);
        member->matrix = make_tiles((uint64_t)plan->tile_count *
                                    tile_rows_count(member->rows, plan->tile_count));
        member->closed = make_tiles(group.slots);
        member->left = make_tiles(group.slots);
        member->right = make_tiles(group.slots);
    }
    fill(&group, list);
    run(&group);
    judge(&group, distances, integral);
    count_entries(&group, counts);
    for (uint32_t m = 0; m < group.count; ++m) {
        schedule_destroy(group.members[m].schedule);
        free(group.members[m].matrix);
        free(group.members[m].closed);
        free(group.members[m].left);
        free(group.members[m].right);
    }
}

static void try_plan(const struct edge_list *list, const struct graph *graph, bool symmetric,
                     uint32_t width, const double *distances, bool integral)
{
    static const uint32_t members[] = {1, 2, 3, 4, 8};
    struct plan *plan = random_plan_make(graph, width, symmetric, width + graph->vertex_count);
    plan->tile = TILE;
    for (uint32_t packing = 1; packing <= 2; ++packing) {
        uint64_t alone[5] = {0};
        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); ++i) {
            uint64_t counts[5];
            try_group(list, plan, packing, members[i], 1, distances, integral, counts);
            try_group(list, plan, packing, members[i], 1000, distances, integral, counts);
            memcpy(alone, i == 0 ? counts : alone, sizeof(alone));
            assert_memory_equal(alone, counts, sizeof(alone));
        }
    }
    plan_destroy(plan);
}

TEST(a_group_of_devices_computes_the_correct_matrix)
{
    static const uint32_t sizes[] = {1, 5, 13, 24, 25, 50};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        for (size_t shape = 0; shape < shape_count; ++shape) {
            const uint32_t n = sizes[i];
            struct edge_list list = shapes_make(&shapes[shape], n, 3);
            struct graph *graph = edge_list_build(&list);
            double *distances = malloc((size_t)n * n * sizeof(*distances));
            assert_non_null(distances);
            assert_true(oracle_solve(&list, distances));
            for (int symmetric = 0; symmetric < (list.directed ? 1 : 2); ++symmetric) {
                try_plan(&list, graph, symmetric != 0, TILE, distances, shapes[shape].integral);
                try_plan(&list, graph, symmetric != 0, 2, distances, shapes[shape].integral);
            }
            free(distances);
            graph_destroy(graph);
            edge_list_finish(&list);
        }
    }
}
