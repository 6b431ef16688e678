/* Executes schedules (gpu/schedule.h) on the host in the simplest way. The schedules of random
 * plans of small tiles must give the oracle's distances. */
#include "gpu/schedule.h"
#include "tests/lib/test.h"
#include "tests/solver/oracle.h"
#include "tests/solver/random_plan.h"
#include "tests/solver/shapes.h"

#include <math.h>

#define TILE 6
#define ELEMENTS (TILE * TILE)
#define SLAB 2
/* Value of unwritten elements. It is less than any distance, so a schedule that reads one gives
 * wrong distances. */
#define GARBAGE (-1e15)

struct execution {
    const struct plan *plan;
    uint32_t packing;
    uint32_t slots; /* number of tiles that `left` and `right` each hold */
    struct schedule *schedule;
    double *matrix; /* tiles are contiguous */
    double *left;   /* indexed by slot */
    double *right;  /* in the layout of the matrix, which differs from that of the kernels */
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

static double *tile_of(const struct execution *execution, uint32_t row, uint32_t column)
{
    return execution->matrix + ((uint64_t)row * execution->plan->tile_count + column) * ELEMENTS;
}

static double *slot_of(const struct execution *execution, double *tiles, uint32_t slot)
{
    assert_true(slot < execution->slots);
    return tiles + (uint64_t)slot * ELEMENTS;
}

/* Computes to = min(to, left x right); the operands may be the same memory. */
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

static void fill(const struct execution *execution, const struct edge_list *list)
{
    const struct schedule *schedule = execution->schedule;
    for (uint32_t i = 0; i < schedule->fill_count; ++i) {
        const struct schedule_tile fill = schedule->fills[i];
        double *const tile = tile_of(execution, fill.row, fill.column);
        for (uint32_t j = 0; j < ELEMENTS; ++j) {
            tile[j] = fill.row == fill.column && j / TILE == j % TILE ? 0 : INFINITY;
        }
    }
    for (size_t i = 0; i < 2 * list->count; ++i) {
        const struct edge *edge = &list->edges[i / 2];
        const uint32_t from = schedule->position[i % 2 == 0 ? edge->source : edge->target];
        const uint32_t to = schedule->position[i % 2 == 0 ? edge->target : edge->source];
        if (i % 2 == 0 || !list->directed) {
            double *const home =
                tile_of(execution, from / TILE, to / TILE) + from % TILE * TILE + to % TILE;
            *home = fmin(*home, edge->weight);
        }
    }
}

static void forget_operands(const struct execution *execution)
{
    for (uint64_t i = 0; i < (uint64_t)execution->slots * ELEMENTS; ++i) {
        execution->left[i] = GARBAGE;
        execution->right[i] = GARBAGE;
    }
}

static void close_pivots(const struct execution *execution, const struct schedule_round *round)
{
    for (uint32_t i = 0; i < round->pivots.count; ++i) {
        const struct schedule_pivot pivot = execution->schedule->pivots[round->pivots.begin + i];
        double *const tile = tile_of(execution, pivot.tile, pivot.tile);
        for (uint32_t k = 0; k < pivot.depth; ++k) {
            for (uint32_t j = 0; j < ELEMENTS; ++j) {
                tile[j] = fmin(tile[j], tile[j / TILE * TILE + k] + tile[k * TILE + j % TILE]);
            }
        }
    }
}

static void make_panel(const struct execution *execution, const struct schedule_panel *panel,
                       bool in_row, uint32_t slot)
{
    const double *const diagonal = tile_of(execution, panel->pivot, panel->pivot);
    double *const tile = tile_of(execution, in_row ? panel->pivot : panel->tile,
                                 in_row ? panel->tile : panel->pivot);
    relax(tile, in_row ? diagonal : tile, in_row ? tile : diagonal, panel->depth);
    if (in_row || execution->plan->symmetric) {
        copy(slot_of(execution, execution->right, slot), tile, !in_row);
    }
    if (!in_row || execution->plan->symmetric) {
        copy(slot_of(execution, execution->left, slot), tile, in_row);
    }
}

static void make_panels(const struct execution *execution, const struct schedule_round *round)
{
    const struct schedule *schedule = execution->schedule;
    for (uint32_t i = 0; i < round->rights.count; ++i) {
        make_panel(execution, &schedule->panels[round->rights.begin + i], true, i);
    }
    for (uint32_t i = 0; i < round->lefts.count; ++i) {
        const struct schedule_panel *panel = &schedule->panels[round->lefts.begin + i];
        make_panel(execution, panel, execution->plan->symmetric && panel->tile < panel->pivot, i);
    }
}

static void compute_target(const struct execution *execution, const struct schedule_target *target)
{
    for (uint32_t half = 0; half < execution->packing; ++half) {
        if (half == 1 && target->words[1] == 0) {
            continue;
        }
        const struct schedule_product *product =
            execution->schedule->products + target->product_begin;
        double *const tile = tile_of(execution, target->row, target->columns[half]);
        for (uint32_t i = 0; i < ELEMENTS && (target->flags & SCHEDULE_FRESH_FIRST << half) != 0;
             ++i) {
            tile[i] = INFINITY;
        }
        for (uint32_t slab = 0; slab < target->slabs; ++product) {
            relax(tile, slot_of(execution, execution->left, product->left),
                  slot_of(execution, execution->right, product->right[half]), product->depth);
            slab += (product->depth + SLAB - 1) / SLAB;
        }
    }
}

static void run(const struct execution *execution)
{
    for (uint32_t index = 0; index < execution->plan->round_count; ++index) {
        const struct schedule_round *round = &execution->schedule->rounds[index];
        forget_operands(execution);
        close_pivots(execution, round);
        make_panels(execution, round);
        for (uint32_t i = 0; i < round->targets.count; ++i) {
            compute_target(execution, &execution->schedule->targets[round->targets.begin + i]);
        }
    }
}

/* Returns an entry of the matrix. In a symmetric plan, an entry below the diagonal also gives the
 * mirrored entry. */
static double entry(const struct execution *execution, uint32_t row, uint32_t column)
{
    const struct plan *plan = execution->plan;
    const uint64_t bit = (uint64_t)(row / TILE) * plan->tile_count + column / TILE;
    if ((plan->reached_tiles[bit / 64] >> bit % 64 & 1) == 0) {
        return INFINITY;
    }
    if (plan->symmetric && row / TILE < column / TILE) {
        return entry(execution, column, row);
    }
    return tile_of(execution, row / TILE, column / TILE)[row % TILE * TILE + column % TILE];
}

static void judge(const struct execution *execution, const double *distances, bool integral)
{
    const uint32_t n = execution->plan->vertex_count;
    const uint32_t *position = execution->schedule->position;
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            const double expected = distances[(size_t)row * n + column];
            const double found = entry(execution, position[row], position[column]);
            const double slack = integral ? 0 : 1e-12 * fabs(expected);
            assert_true(found == expected || fabs(found - expected) <= slack);
        }
    }
}

static void try_schedule(const struct edge_list *list, const struct plan *plan, uint32_t packing,
                         const double *distances, bool integral)
{
    struct execution execution = {.plan = plan, .packing = packing};
    uint32_t left = 0;
    uint32_t right = 0;
    schedule_slots(plan, &left, &right);
    execution.slots = left > right ? left : right;
    assert_int_equal(
        schedule_create(plan, (struct schedule_grain){packing, SLAB}, &execution.schedule),
        STATUS_OK);
    execution.matrix = make_tiles((uint64_t)plan->tile_count * plan->tile_count);
    execution.left = make_tiles(execution.slots);
    execution.right = make_tiles(execution.slots);
    fill(&execution, list);
    run(&execution);
    judge(&execution, distances, integral);
    schedule_destroy(execution.schedule);
    free(execution.matrix);
    free(execution.left);
    free(execution.right);
}

static void try_plan(const struct edge_list *list, const struct graph *graph, bool symmetric,
                     uint32_t width, const double *distances, bool integral)
{
    struct plan *plan = random_plan_make(graph, width, symmetric, width + graph->vertex_count);
    plan->tile = TILE;
    for (uint32_t packing = 1; packing <= 2; ++packing) {
        try_schedule(list, plan, packing, distances, integral);
    }
    plan_destroy(plan);
}

TEST(a_schedule_computes_the_correct_matrix)
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
