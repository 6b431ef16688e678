#include "server/solver/plan/planner.h"

#include "server/solver/cpu/pool.h"
#include "server/solver/plan/layout.h"
#include "server/solver/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Graphs of fewer tiles are not worth a look. */
#define TILES_MIN 5

/* A plan is taken when it costs less than this part of the dense one: the model is only a model. */
#define GAIN_FRACTION 0.9

/* Separators are looked for only when those of all levels are predicted to take less than this
 * fraction of the dense solve: who waits for the answer waits for both. As if by one thread: on 16
 * cores several take 0.6 to 0.9 of its time. */
#define LOOK_FRACTION 0.5

/* When the first separator alone takes more than this fraction, and would be lost if it is bad,
 * then only where a breadth-first search finds a thin level. */
#define LOSS_FRACTION 0.03

/* Bad separators are those of graphs with many neighbours at each vertex, and take METIS longer
 * than others once the graph leaves the caches: 1.5 times for 50,000 vertices and entries, 3 times
 * from 200,000 on. */
#define BAD_DEGREE 6
#define BAD_SIZE 1e5
#define BAD_FACTOR_MAX 3

/* The second way of taking a directed graph apart may save most of what the first one's
 * plan costs: it is tried when the look takes less. */
#define LIKELY_GAIN 0.9

/* That looking did not pay is believed for solves whose dense one takes no longer than this times
 * the one that was recorded: a slower kind may be worth a longer look. */
#define LOOK_AGAIN 1.5

/* Leaves from one tile to LEAF_TILES_MAX of them, clumps of up to CLUMP_LEAVES_MAX leaves, by
 * doubling. */
#define LEAF_TILES_MAX 16
#define CLUMP_LEAVES_MAX 16
#define TRIALS_MAX 25

/* Layouts of fewer vertices are tried sooner than threads for them begin. */
#define SHARED_VERTICES 8192

enum status planner_dense(uint32_t vertex_count, uint32_t tile, struct plan **ret_plan)
{
    CHECK(tile > 0);
    const double begin_s = stopwatch_now_s();
    struct plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return STATUS_NO_MEMORY;
    }
    plan->summary.kind = PLAN_DENSE;
    plan->vertex_count = vertex_count;
    plan->tile = tile;
    plan->tile_count = (uint32_t)(((uint64_t)vertex_count + tile - 1) / tile);
    plan->summary.parts = vertex_count > 0 ? 1 : 0;
    plan->summary.work_fraction = 1;
    plan->round_count = plan->tile_count;
    plan->summary.planning_s = stopwatch_now_s() - begin_s;
    *ret_plan = plan;
    return STATUS_OK;
}

/* ---- Any other plan ---- */

/* The best layout so far. */
struct choice {
    const struct graph *graph;
    const struct plan_cost *cost;
    const struct observer *observer;
    struct plan_layout layout; /* owned; empty while none is better than the dense plan */
    uint32_t largest_separator;
    double seconds; /* of the solve by it */
};

/* Layouts of one dissection, tried side by side. */
struct trials {
    const struct dissection *dissection;
    struct choice *best; /* of each thread */
    uint64_t *number;    /* of its trial, the lower of equal ones */
    enum status *status;
    struct plan_layout_options options[TRIALS_MAX];
};

static void try_layout(void *context, uint32_t thread, uint64_t task)
{
    struct trials *trials = context;
    struct choice *choice = &trials->best[thread];
    const struct plan_cost *cost = choice->cost;
    struct plan_layout layout = {0};
    double seconds = INFINITY;
    if (trials->status[thread] != STATUS_OK) {
        return;
    }
    enum status status =
        observer_is_cancelled(choice->observer)
            ? STATUS_CANCELLED
            : plan_layout_make(trials->dissection, &trials->options[task], &layout);
    if (status == STATUS_OK && layout.tile_count <= PLAN_TILES_MAX) {
        const struct plan_outline outline =
            plan_layout_outline(&layout, cost->tile, !choice->graph->directed);
        status = plan_cost_outline(cost, choice->graph, &outline, layout.tile_of, choice->seconds,
                                   &seconds);
    }
    if (status == STATUS_OK && seconds < choice->seconds) {
        const struct plan_layout better = layout;
        layout = choice->layout;
        choice->layout = better;
        choice->largest_separator = trials->dissection->largest_separator;
        choice->seconds = seconds;
        trials->number[thread] = task;
    }
    trials->status[thread] = status;
    plan_layout_finish(&layout);
}

/* Each thread begins with the best so far, but for its layout. */
static enum status run_trials(struct trials *trials, uint64_t count, struct cpu_pool *pool,
                              struct choice *choice)
{
    const uint32_t threads = cpu_pool_threads(pool);
    enum status status = STATUS_NO_MEMORY;
    trials->best = calloc(threads, sizeof(*trials->best));
    trials->number = calloc(threads, sizeof(*trials->number));
    trials->status = calloc(threads, sizeof(*trials->status));
    if (trials->best != NULL && trials->number != NULL && trials->status != NULL) {
        for (uint32_t thread = 0; thread < threads; thread++) {
            trials->best[thread] = *choice;
            trials->best[thread].layout = (struct plan_layout){0};
        }
        cpu_pool_run(pool, count, try_layout, trials);
        status = STATUS_OK;
        uint64_t number = UINT64_MAX;
        for (uint32_t thread = 0; thread < threads; thread++) {
            struct choice *best = &trials->best[thread];
            const bool is_better =
                best->layout.vertex_at != NULL &&
                (best->seconds < choice->seconds ||
                 (best->seconds == choice->seconds && trials->number[thread] < number));
            if (is_better) {
                const struct plan_layout former = choice->layout;
                *choice = *best;
                best->layout = former;
                number = trials->number[thread];
            }
            plan_layout_finish(&best->layout);
            status = status == STATUS_OK ? trials->status[thread] : status;
        }
    }
    free(trials->best);
    free(trials->number);
    free(trials->status);
    return status;
}

static enum status try_layouts(struct choice *choice, const struct dissection *dissection)
{
    const struct plan_cost *cost = choice->cost;
    const uint64_t tile = cost->tile;
    const uint64_t n = dissection->vertex_count;
    /* A graph of which nothing was taken apart has one layout. */
    const bool is_whole = dissection->node_count == dissection->root_count;
    struct trials trials = {.dissection = dissection};
    struct cpu_pool *pool = NULL;
    uint64_t count = 0;
    for (uint64_t leaf = tile; leaf <= tile * LEAF_TILES_MAX && leaf < n; leaf *= 2) {
        for (uint64_t clump = leaf; clump <= leaf * CLUMP_LEAVES_MAX && clump < 2 * n; clump *= 2) {
            trials.options[count++] = (struct plan_layout_options){.tile = cost->tile,
                                                                   .granule = cost->granule,
                                                                   .leaf = (uint32_t)leaf,
                                                                   .clump = (uint32_t)clump};
        }
    }
    count = is_whole && count > 1 ? 1 : count;
    const uint64_t most = n < SHARED_VERTICES || count == 0 ? 1 : count;
    const uint32_t threads = cost->threads < most ? cost->threads : (uint32_t)most;
    enum status status = cpu_pool_create(threads > 0 ? threads : 1, &pool);
    if (status != STATUS_OK) {
        status = cpu_pool_create(1, &pool); /* the system gives no more threads */
    }
    if (status == STATUS_OK) {
        status = run_trials(&trials, count, pool, choice);
    }
    cpu_pool_destroy(pool);
    return status;
}

/* directed: by strong components. ret_whole: one of the components is most of the graph. */
static enum status try_dissection(struct choice *choice, bool directed, bool thin_only,
                                  bool *ret_whole)
{
    const struct dissection_options options = {.leaf = choice->cost->tile,
                                               .threads = choice->cost->threads,
                                               .directed = directed,
                                               .thin_only = thin_only,
                                               .observer = choice->observer};
    struct dissection *dissection = NULL;
    enum status status = dissection_make(choice->graph, &options, &dissection);
    if (status == STATUS_OK) {
        *ret_whole = false;
        for (uint32_t root = 0; root < dissection->root_count; root++) {
            const struct dissection_node *node = &dissection->nodes[dissection->roots[root].node];
            *ret_whole = *ret_whole || node->end - node->begin >= dissection->vertex_count / 2;
        }
        status = try_layouts(choice, dissection);
    }
    dissection_destroy(dissection);
    return status;
}

/* The layout's parts are moved to the plan. */
static enum status make_chosen(struct choice *choice, struct plan **ret_plan)
{
    struct plan_layout *layout = &choice->layout;
    const struct plan_outline outline =
        plan_layout_outline(layout, choice->cost->tile, !choice->graph->directed);
    const enum status status = plan_symbolic_make(choice->graph, &outline, ret_plan);
    if (status == STATUS_OK) {
        (*ret_plan)->summary.parts = layout->part_count;
        (*ret_plan)->summary.largest_separator = choice->largest_separator;
        (*ret_plan)->parts = layout->parts;
        layout->parts = NULL;
    }
    return status;
}

/* ---- Records ---- */

/* The first words of a record; then come the vertices in their order, where the tiles begin, and
 * the pivots. */
struct record_head {
    uint32_t tile;
    uint32_t granule;
    uint32_t vertex_count;
    uint32_t tile_count; /* 0 = looking did not pay */
    uint32_t parts;
    uint32_t largest_separator;
    uint32_t dense_us; /* the dense solve that a plan had to beat */
};
#define HEAD_WORDS (sizeof(struct record_head) / sizeof(uint32_t))

size_t planner_record_limit(uint32_t vertex_count)
{
    return HEAD_WORDS + 3 * (size_t)vertex_count + 1;
}

/* Without memory there is none. */
static void make_record(const struct choice *choice, double dense_s, struct plan_record *record)
{
    const struct plan_layout *layout = &choice->layout;
    const size_t n = choice->graph->vertex_count;
    const size_t tiles = layout->tile_count;
    const size_t count = HEAD_WORDS + (tiles > 0 ? n + 2 * tiles + 1 : 0);
    uint32_t *words = malloc(count * sizeof(*words));
    if (words == NULL) {
        return;
    }
    *(struct record_head *)words =
        (struct record_head){.tile = choice->cost->tile,
                             .granule = choice->cost->granule,
                             .vertex_count = choice->graph->vertex_count,
                             .tile_count = layout->tile_count,
                             .parts = layout->part_count,
                             .largest_separator = choice->largest_separator,
                             .dense_us = (uint32_t)fmin(dense_s * 1e6, UINT32_MAX)};
    if (tiles > 0) {
        uint32_t *order = words + HEAD_WORDS;
        memcpy(order, layout->vertex_at, n * sizeof(*order));
        memcpy(order + n, layout->tile_begin, (tiles + 1) * sizeof(*order));
        memcpy(order + n + tiles + 1, layout->pivot, tiles * sizeof(*order));
    }
    free(record->words);
    record->words = words;
    record->count = count;
    record->fresh = true;
}

/* ret_plan stays NULL where no plan is known to pay, or the recorded one does not pay by now. */
static enum status recall_plan(const struct choice *choice, double dense_s,
                               const struct plan_record *record, bool *ret_found,
                               struct plan **ret_plan)
{
    const struct plan_cost *cost = choice->cost;
    const struct record_head *head = (const struct record_head *)record->words;
    const uint32_t n = choice->graph->vertex_count;
    double seconds = INFINITY;
    *ret_found = false;
    if (record->count < HEAD_WORDS || head->tile != cost->tile || head->granule != cost->granule ||
        head->vertex_count != n || head->tile_count > PLAN_TILES_MAX) {
        return STATUS_OK;
    }
    const size_t tiles = head->tile_count;
    if (tiles == 0 || record->count != HEAD_WORDS + n + 2 * tiles + 1) {
        *ret_found = tiles == 0 && dense_s * 1e6 <= LOOK_AGAIN * (head->dense_us + 1.0);
        return STATUS_OK;
    }
    const uint32_t *order = record->words + HEAD_WORDS;
    const struct plan_outline outline = {.vertex_at = order,
                                         .tile_begin = order + n,
                                         .tile_count = head->tile_count,
                                         .tile = cost->tile,
                                         .pivot = order + n + tiles + 1,
                                         .symmetric = !choice->graph->directed};
    uint32_t *tile_of = malloc((n + tiles) * sizeof(*tile_of));
    if (tile_of == NULL) {
        return STATUS_NO_MEMORY;
    }
    enum status status = STATUS_OK;
    *ret_found = plan_outline_is_sound(&outline, n, tile_of);
    if (*ret_found) {
        status =
            plan_cost_outline(cost, choice->graph, &outline, tile_of, choice->seconds, &seconds);
    }
    free(tile_of);
    if (status == STATUS_OK && seconds < choice->seconds) {
        status = plan_symbolic_make(choice->graph, &outline, ret_plan);
    }
    if (*ret_plan != NULL) {
        (*ret_plan)->summary.parts = head->parts;
        (*ret_plan)->summary.largest_separator = head->largest_separator;
    }
    return status;
}

enum status planner_make(const struct graph *graph, const struct plan_cost *cost,
                         struct plan_record *record, struct plan **ret_plan)
{
    const double begin_s = stopwatch_now_s();
    const double dense_s = plan_cost_dense(cost, graph->vertex_count, !graph->directed);
    struct choice choice = {.graph = graph,
                            .cost = cost,
                            .observer = record != NULL ? record->observer : NULL,
                            .seconds = GAIN_FRACTION * dense_s};
    struct plan *plan = NULL;
    bool recalled = false;
    enum status status = STATUS_OK;
    if (record != NULL && record->words != NULL) {
        status = recall_plan(&choice, dense_s, record, &recalled, &plan);
    }
    /* Separators of one level and of all, as far as they can be told from n and m. */
    const double size = (double)graph->vertex_count + 2 * (double)graph->edge_count;
    const double level_s = cost->separator_s * size;
    const double look_s = level_s * fmax(1, log2((double)graph->vertex_count / cost->tile));
    const bool is_bad = 2 * graph->edge_count >= BAD_DEGREE * (uint64_t)graph->vertex_count;
    const double loss_s = level_s * (is_bad ? fmin(1 + size / BAD_SIZE, BAD_FACTOR_MAX) : 1);
    const bool thin_only = loss_s > LOSS_FRACTION * dense_s;
    if (status == STATUS_OK && !recalled &&
        graph->vertex_count > (uint64_t)cost->tile * (TILES_MIN - 1) &&
        graph->vertex_count <= INT32_MAX && graph->edge_count <= INT32_MAX / 2 &&
        look_s < LOOK_FRACTION * dense_s) {
        bool whole = false;
        status = try_dissection(&choice, graph->directed, thin_only, &whole);
        /* Small strong components leave pivots without targets, and forget what lies near to what,
         * which connected ones keep: where that may pay they are tried too. */
        if (status == STATUS_OK && graph->directed && !whole &&
            look_s < LIKELY_GAIN * choice.seconds) {
            status = try_dissection(&choice, false, thin_only, &whole);
        }
        if (status == STATUS_OK && record != NULL) {
            make_record(&choice, dense_s, record);
        }
    }
    if (status == STATUS_OK && plan == NULL) {
        status = choice.layout.vertex_at != NULL
                     ? make_chosen(&choice, &plan)
                     : planner_dense(graph->vertex_count, cost->tile, &plan);
    }
    plan_layout_finish(&choice.layout);
    if (status == STATUS_OK) {
        plan->summary.planning_s = stopwatch_now_s() - begin_s;
        plan->summary.cached = recalled;
        *ret_plan = plan;
    }
    return status;
}
