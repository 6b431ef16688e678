#include "server/solver/solve_hierarchy.h"

#include "server/solver/hierarchy/customize.h"
#include "server/solver/hierarchy/shape.h"
#include "server/solver/host_memory.h"
#include "server/solver/solve.h"
#include "server/solver/stopwatch.h"

#include <stdlib.h>

/* Limits of a hierarchy: 2 GiB of i4 entries, and half an hour of one thread. A road network of 10
 * million vertices needs a tenth of both. */
static const struct hierarchy_limits limits = {.entries = UINT64_C(1) << 29, .steps = 2e12};

/* A graph with a dense core may have separators although none of its levels is thin. If it has at
 * most this number of vertices and this average degree, separators are found in a few percent of
 * the time of its matrix. */
#define ORDERED_VERTICES_MAX 8192
#define ORDERED_DEGREE_MAX 24

/* Finds the shape from the stored order if it is suitable for hierarchies, else from a new order.
 * The new order is stored instead of a missing or partial order. A complete order that suits only
 * plans stays stored, because a later plan would take as long to compute it again. *ret_shape is
 * NULL if the shape exceeds the limits, or if options->thin_only has left a part undivided. */
static enum status find_shape(const struct graph *graph, const struct order_options *options,
                              const struct hierarchy_limits *most, struct order_record *record,
                              bool *ret_kept, struct hierarchy_shape **ret_shape)
{
    struct order *order = NULL;
    enum status status = STATUS_OK;
    *ret_shape = NULL;
    STATUS_TRY(order_record_get(record, graph->vertex_count, &order));
    *ret_kept = order != NULL && !order->strong && (options->thin_only || !order->partial);
    if (!*ret_kept) {
        const bool replaces = order == NULL || order->partial;
        order_destroy(order);
        order = NULL;
        status = order_make(graph, options, &order);
        if (status == STATUS_OK && replaces) {
            order_record_put(record, order);
        }
    }
    if (status == STATUS_OK && !order->partial) {
        status = hierarchy_make_shape(graph, order->vertex_at, most, ret_shape);
    }
    order_destroy(order);
    return status == STATUS_TOO_LARGE ? STATUS_OK : status;
}

static void summarize_shape(const struct hierarchy_shape *shape, bool is_kept,
                            struct plan_summary *ret_plan)
{
    *ret_plan = (struct plan_summary){
        .kind = PLAN_NESTED_DISSECTION, .parts = shape->supernode_count, .cached = is_kept};
    for (uint32_t s = 0; s < shape->supernode_count; s++) {
        const uint32_t columns = hierarchy_columns(shape, s);
        ret_plan->largest_separator =
            columns > ret_plan->largest_separator ? columns : ret_plan->largest_separator;
    }
}

enum status solve_measure_hierarchy(const struct graph *graph, const struct solve_request *request,
                                    uint64_t byte_limit, struct hierarchy_size *ret_size)
{
    struct graph *folded = NULL;
    STATUS_TRY(graph_fold(graph, &folded));
    const struct graph *solved = folded != NULL ? folded : graph;
    const uint64_t cell = kind_size(request->kind);
    const uint64_t most = byte_limit / (solved->directed ? 2 * cell : cell);
    const uint64_t n = solved->vertex_count;
    const bool is_small =
        n <= ORDERED_VERTICES_MAX && 2 * solved->edge_count <= ORDERED_DEGREE_MAX * n;
    const struct order_options options = {.threads = request->threads > 0 ? request->threads
                                                                          : cpu_pool_cores(),
                                          .thin_only = byte_limit < UINT64_MAX && !is_small,
                                          .observer = request->observer};
    const struct hierarchy_limits sought = {
        .entries = most < limits.entries ? most : limits.entries, .steps = limits.steps};
    struct hierarchy_shape *shape = NULL;
    bool is_kept;
    const enum status status =
        find_shape(solved, &options, &sought, request->record, &is_kept, &shape);
    if (status == STATUS_OK) {
        *ret_size = (struct hierarchy_size){.shape = shape};
    }
    if (shape != NULL) {
        ret_size->bytes = hierarchy_bytes(shape, request->kind, solved->directed);
        ret_size->label_bytes = 2 * shape->label_entries * cell;
    }
    graph_destroy_copy(folded);
    return status;
}

static enum status refuse_size(const char *words, struct problem *reterr)
{
    return problem_refuse(
        reterr, STATUS_TOO_LARGE,
        "Solve a part of the graph, or use a machine with enough memory for its matrix.",
        "The hierarchy of this graph would be too large%s.", words);
}

/* Computes the weights of all arcs, and writes the hierarchy to newly allocated memory. */
static enum status customize_shape(const struct hierarchy_shape *shape, const struct graph *graph,
                                   const struct hierarchy_options *options, uint32_t threads,
                                   void **ret_bytes, uint64_t *ret_size, struct problem *reterr)
{
    const uint64_t available = host_memory_available();
    const uint64_t size = hierarchy_bytes(shape, options->kind, graph->directed);
    struct cpu_pool *pool = NULL;
    if (available > 0 && size > available / 2) {
        return refuse_size(" for the free memory", reterr);
    }
    void *bytes = aligned_alloc(HIERARCHY_ALIGNMENT, size);
    if (bytes != NULL) {
        host_memory_use_huge_pages(bytes, size);
    }
    enum status status = bytes != NULL ? cpu_pool_create(threads, &pool) : STATUS_NO_MEMORY;
    STATUS_THEN(status, hierarchy_customize(shape, graph, pool, options, bytes));
    cpu_pool_destroy(pool);
    if (status != STATUS_OK) {
        free(bytes);
        return status == STATUS_TOO_LARGE ? refuse_size(" for the free memory", reterr) : status;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return STATUS_OK;
}

enum status solve_hierarchy(const struct graph *graph, const struct solve_request *request,
                            void **ret_bytes, uint64_t *ret_size, struct solve_outcome *outcome,
                            struct problem *reterr)
{
    struct hierarchy_shape *own_shape = NULL;
    bool is_kept = true;
    const struct hierarchy_shape *shape = request->shape;
    struct solve_subject subject;
    struct order_record own = {0};
    struct order_record *record = request->record != NULL ? request->record : &own;
    const struct observer *observer = request->observer;
    const uint32_t threads = request->threads > 0 ? request->threads : cpu_pool_cores();
    record->observer = observer;
    enum status status = solve_subject_init(graph, request->kind, true, &subject);
    STATUS_THEN(status, solve_refuse_unsolvable(graph, &subject, observer, outcome, reterr));
    const double began_s = stopwatch_now_s();
    if (status == STATUS_OK && shape == NULL) {
        const struct order_options order = {.threads = threads, .observer = observer};
        status = find_shape(subject.graph, &order, &limits, record, &is_kept, &own_shape);
        shape = own_shape;
    }
    if (status == STATUS_OK && shape != NULL) {
        CHECK(shape->vertex_count == subject.graph->vertex_count);
        summarize_shape(shape, is_kept, &outcome->plan);
        outcome->plan.planning_s = request->shape == NULL ? stopwatch_now_s() - began_s : 0;
    }
    if (status == STATUS_OK && shape == NULL) {
        status = refuse_size(": the graph has no small separators", reterr);
    }
    if (status == STATUS_OK) {
        const double begin_s = stopwatch_now_s();
        const struct hierarchy_options options = {.kind = subject.scaling.kind,
                                                  .decimals = subject.scaling.decimals,
                                                  .observer = observer};
        observer_tell(observer, PHASE_SOLVING, 0);
        status =
            customize_shape(shape, subject.graph, &options, threads, ret_bytes, ret_size, reterr);
        /* A shape that was made from this graph has arcs for all its edges. */
        CHECK(status != STATUS_NOT_VERIFIED || request->shape != NULL);
        status = solve_judge(graph, &subject, observer, status, outcome, reterr);
        outcome->account.timings.compute_s = stopwatch_now_s() - begin_s;
        outcome->arc_count = shape->arc_count;
    }
    free(own.words);
    hierarchy_destroy_shape(own_shape);
    solve_subject_finish(&subject);
    if (status != STATUS_OK && reterr->status != status) {
        problem_set(reterr, status, "The hierarchy cannot be computed: %s.",
                    status_info(status)->title);
    }
    observer_tell(observer, PHASE_PUBLISHING, 0);
    return status;
}
