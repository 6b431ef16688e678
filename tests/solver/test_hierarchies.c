/* Compares rows and pairs of hierarchies with the matrix of the CPU solver, for all shapes. */
#include "proto/hierarchy.h"
#include "proto/hierarchy_search.h"
#include "server/solver/hierarchy/update.h"
#include "server/solver/solve_hierarchy.h"
#include "tests/lib/hierarchy_fixture.h"
#include "tests/lib/matrix_fixture.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <math.h>

static struct solver *cpu;

static double entry(enum kind kind, const void *elements, size_t index)
{
    double distance;
    const struct matrix one = {1, kind, (char *)(uintptr_t)elements + index * kind_size(kind)};
    return matrix_distance(&one, 0, 0, &distance) ? distance : INFINITY;
}

/* Returns whether two distances are equal except for rounding, which differs because the sums are
 * computed in different orders. */
static bool is_same(enum kind kind, double a, double b)
{
    const double tolerance = kind == KIND_I4 ? 0 : kind == KIND_F4 ? 1e-4 : 1e-12;
    return a == b || fabs(a - b) <= tolerance * fmax(fmax(fabs(a), fabs(b)), 1000);
}

static void compare_rows(const struct hierarchy *hierarchy, const struct matrix *matrix,
                         const char *shape)
{
    const uint32_t n = matrix->vertex_count;
    const enum kind kind = matrix->kind;
    struct hierarchy_search *search = NULL;
    double *rows = calloc((size_t)n * HIERARCHY_LANES + 1, sizeof(*rows));
    assert_non_null(rows);
    assert_int_equal(hierarchy_search_create(hierarchy, false, &search), STATUS_OK);
    for (uint32_t first = 0, count = 1; first < n; first += count, count = count % 16 + 1) {
        uint32_t sources[HIERARCHY_LANES];
        for (uint32_t i = 0; i < count; ++i) {
            sources[i] = (first + i) % n;
        }
        compute_rows(search, sources, count, rows);
        for (uint32_t i = 0; i < count; ++i) {
            for (uint32_t target = 0; target < n; ++target) {
                double pair;
                const size_t at = (size_t)sources[i] * n + target;
                const double wanted = entry(kind, matrix->elements, at);
                const bool is_pair = (sources[i] + target) % 4 == 0;
                if (is_pair) {
                    compute_pair(hierarchy, sources[i], target, &pair);
                }
                if (!is_same(kind, entry(kind, rows, (size_t)i * n + target), wanted) ||
                    (is_pair && !is_same(kind, entry(kind, &pair, 0), wanted))) {
                    print_error("%s n=%u kind %s, %u to %u\n", shape, n, kind_name(kind),
                                sources[i], target);
                    fail();
                }
            }
        }
    }
    hierarchy_search_destroy(search);
    free(rows);
}

static void compare(const struct graph *graph, enum kind kind, uint32_t threads, const char *shape)
{
    struct trial trial = trial_run_graph(cpu, graph, kind, false);
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    struct hierarchy *hierarchy = NULL;
    void *bytes = NULL;
    uint64_t size = 0;
    assert_int_equal(solve_hierarchy(graph,
                                     &(struct solve_request){.kind = kind, .threads = threads},
                                     &bytes, &size, &outcome, &problem),
                     trial.status);
    if (trial.status == STATUS_OK) {
        assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
        compare_rows(hierarchy, &trial.matrix, shape);
    } else {
        assert_int_equal(outcome.cycle_length > 0, trial.outcome.cycle_length > 0);
    }
    hierarchy_close(hierarchy);
    free(bytes);
    solve_outcome_finish(&outcome);
    trial_finish(&trial);
}

static void compare_kinds(const struct graph *graph, uint32_t threads, const char *shape)
{
    if (graph->summary.decimals == 0) {
        compare(graph, KIND_I4, threads, shape);
    }
    compare(graph, KIND_F4, threads, shape);
    compare(graph, KIND_F8, threads, shape);
}

TEST(hierarchies_of_every_size_give_the_exact_distances)
{
    for (size_t shape = 0; shape < shape_count; ++shape) {
        for (uint32_t n = 1; n <= (trial_is_quick() ? 110 : 300); n += n < 8              ? 1
                                                                       : trial_is_quick() ? 51
                                                                                          : 43) {
            struct edge_list list = shapes_make(&shapes[shape], n, n);
            struct graph *graph = edge_list_build(&list);
            compare_kinds(graph, 1 + n % 2, shapes[shape].name);
            graph_destroy(graph);
            edge_list_finish(&list);
        }
    }
}

TEST(a_negative_cycle_is_detected)
{
    for (size_t shape = 0; shape < shape_count; ++shape) {
        struct edge_list list = shapes_make(&shapes[shape], trial_is_quick() ? 40 : 120, 1);
        shapes_add_negative_cycle(&list, 1);
        struct graph *graph = edge_list_build(&list);
        compare_kinds(graph, 2, shapes[shape].name);
        graph_destroy(graph);
        edge_list_finish(&list);
    }
}

struct solved {
    struct graph *graph;
    struct hierarchy *hierarchy; /* NULL if the graph has a negative cycle */
    void *bytes;
};

static void finish_solved(struct solved *solved)
{
    hierarchy_close(solved->hierarchy);
    free(solved->bytes);
    graph_destroy(solved->graph);
}

/* Solves the graph as a hierarchy. record: if empty, receives the order of the vertices; otherwise
 * it has the order to use. */
static struct solved solve_list(const struct edge_list *list, enum kind kind,
                                struct order_record *record)
{
    struct solved solved = {.graph = edge_list_build(list)};
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    uint64_t size = 0;
    const enum status status = solve_hierarchy(
        solved.graph, &(struct solve_request){.kind = kind, .threads = 1, .record = record},
        &solved.bytes, &size, &outcome, &problem);
    assert_true(status == STATUS_OK || status == STATUS_NEGATIVE_CYCLE);
    if (status == STATUS_OK) {
        assert_int_equal(hierarchy_open(solved.bytes, size, &solved.hierarchy), STATUS_OK);
    }
    solve_outcome_finish(&outcome);
    return solved;
}

/* Gives some edges of the list a random weight, a very large weight, or their original weight.
 * Returns the number of changed arcs. */
static size_t change_edges(struct edge_list *list, const struct edge_list *first, bool both_ways,
                           bool below_0, uint64_t *random, struct solve_arc *ret_arcs)
{
    const size_t count = 1 + shapes_random(random, 4);
    size_t arcs = 0;
    for (size_t i = 0; i < count; ++i) {
        struct edge *edge = &list->edges[shapes_random(random, list->count)];
        const struct edge *other = &first->edges[edge - list->edges];
        const uint64_t choice = shapes_random(random, 5);
        const double drawn = (double)shapes_random(random, 1000) - (below_0 ? 30 : 0);
        const double weight = choice == 0 ? 1e6 : choice == 1 ? other->weight : drawn;
        for (size_t k = 0; k < list->count; ++k) {
            struct edge *back = &list->edges[k];
            const bool is_same = back->source == edge->source && back->target == edge->target;
            const bool is_back = back->source == edge->target && back->target == edge->source;
            if (k != (size_t)(edge - list->edges) && (is_same || (both_ways && is_back))) {
                back->weight = weight;
            }
        }
        edge->weight = weight;
        if (edge->source != edge->target) {
            ret_arcs[arcs++] = (struct solve_arc){edge->source, edge->target, weight};
            ret_arcs[arcs++] = (struct solve_arc){edge->target, edge->source, weight};
        }
    }
    return arcs;
}

/* Expects that a solve that reuses the shape of `before` gives the same bytes as the complete solve
 * `after`. Both graphs have the same edges, with different weights. */
static void expect_customized(const struct hierarchy *before, enum kind kind,
                              const struct solved *after)
{
    const struct solve_request request = {.kind = kind, .threads = 1, .shape = &before->shape};
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    void *bytes = NULL;
    uint64_t size = 0;
    if (solve_hierarchy(after->graph, &request, &bytes, &size, &outcome, &problem) == STATUS_OK) {
        assert_non_null(after->hierarchy);
        assert_int_equal(size, after->hierarchy->size);
        assert_memory_equal(bytes, after->bytes, size);
        assert_true(outcome.plan.cached);
    } else {
        assert_null(after->hierarchy);
    }
    free(bytes);
    solve_outcome_finish(&outcome);
}

static bool has_numbers_of(const struct hierarchy *hierarchy, const struct graph *graph,
                           enum kind kind)
{
    const struct scaling scaling = graph_scaling(&graph->summary, kind);
    return hierarchy != NULL && hierarchy->summary.kind == scaling.kind &&
           hierarchy->summary.decimals == scaling.decimals;
}

/* Every piece in which the bytes differ is marked. */
static void check_pieces(const uint64_t *pieces, const char *bytes, const char *before,
                         uint64_t size)
{
    for (uint64_t i = 0; i < size / HIERARCHY_ALIGNMENT; ++i) {
        const uint64_t at = i * HIERARCHY_ALIGNMENT;
        assert_true((pieces[i / 64] >> i % 64 & 1) != 0 ||
                    memcmp(bytes + at, before + at, HIERARCHY_ALIGNMENT) == 0);
    }
}

/* Updates a hierarchy many times, and returns how many updates needed no complete solve. */
static uint32_t update_often(struct edge_list *list, enum kind kind, bool both_ways, bool below_0,
                             uint64_t seed)
{
    struct edge_list first = *list;
    first.edges = malloc(list->count * sizeof(*first.edges) + 1);
    assert_non_null(first.edges);
    memcpy(first.edges, list->edges, list->count * sizeof(*first.edges));
    struct order_record record = {0};
    struct solved before = solve_list(list, kind, &record);
    uint32_t updates = 0;
    for (int round = 0; round < (trial_is_quick() ? 6 : 40) && list->count > 0; ++round) {
        struct solve_arc arcs[8];
        const size_t count = change_edges(list, &first, both_ways, below_0, &seed, arcs);
        struct solved after = solve_list(list, kind, &record);
        struct solve_outcome outcome = {0};
        const uint64_t size = before.hierarchy != NULL ? before.hierarchy->size : 0;
        void *bytes = malloc(size + 1);
        uint64_t *pieces = calloc(size / HIERARCHY_ALIGNMENT / 64 + 1, sizeof(*pieces));
        assert_non_null(bytes);
        assert_non_null(pieces);
        if (size > 0) {
            memcpy(bytes, before.bytes, size);
        }
        struct graph *scaled = NULL;
        const bool is_alike = has_numbers_of(before.hierarchy, after.graph, kind);
        assert_int_equal(
            graph_scale(after.graph, is_alike ? before.hierarchy->summary.decimals : 0, &scaled),
            STATUS_OK);
        const struct graph *graph = scaled != NULL ? scaled : after.graph;
        const enum update_result result =
            is_alike ? solve_update_hierarchy(before.hierarchy, graph, arcs, count, NULL, bytes,
                                              pieces, &outcome)
                     : UPDATE_SOLVE_ANEW;
        assert_true(result == UPDATE_DONE || result == UPDATE_SOLVE_ANEW ||
                    result == UPDATE_ALL_WEIGHTS);
        if (result == UPDATE_DONE) {
            assert_non_null(after.hierarchy);
            assert_int_equal(size, after.hierarchy->size);
            assert_memory_equal(bytes, after.bytes, size);
            check_pieces(pieces, bytes, before.bytes, size);
            updates++;
        }
        if (is_alike && (round % 4 == 0 || result == UPDATE_SOLVE_ANEW)) {
            expect_customized(before.hierarchy, kind, &after);
            assert_true(result != UPDATE_SOLVE_ANEW || after.hierarchy == NULL ||
                        kind_is_float(before.hierarchy->summary.kind));
        }
        graph_destroy_copy(scaled);
        free(pieces);
        free(bytes);
        finish_solved(&before);
        before = after;
    }
    finish_solved(&before);
    free(record.words);
    free(first.edges);
    return updates;
}

/* The graphs have several paths of equal length, and the changes raise and lower weights. */
TEST(an_update_gives_the_same_result_as_solving_the_changed_graph)
{
    uint32_t updates = 0;
    for (size_t shape = 0; shape < shape_count; ++shape) {
        for (uint32_t round = 0; round < (trial_is_quick() ? 6 : 14); ++round) {
            static const enum kind kinds[] = {KIND_I4, KIND_F4, KIND_F8};
            struct edge_list list =
                shapes_make(&shapes[shape], 20 + (trial_is_quick() ? 13 : 22) * round, round);
            const enum kind kind = shapes[shape].integral ? kinds[round % 3] : kinds[1 + round % 2];
            updates += update_often(&list, kind, round % 2 == 0, round % 4 == 3, round);
            edge_list_finish(&list);
        }
    }
    assert_true(updates > (trial_is_quick() ? 100 : 1000));
    print_message("%u updates\n", updates);
}

/* The shape was made from a path. The graph also has an edge between the path's ends, which the
 * shape does not contain. */
TEST(a_shape_without_one_of_the_edges_is_refused)
{
    struct edge_list list = {.vertex_count = 100};
    struct order_record record = {0};
    for (uint32_t v = 0; v < 99; ++v) {
        edge_list_add(&list, v, v + 1, 1);
    }
    struct solved path = solve_list(&list, KIND_I4, &record);
    struct solve_outcome outcome = {0};
    void *bytes = NULL;
    uint64_t size = 0;
    edge_list_add(&list, 99, 0, 1);
    struct graph *ring = edge_list_build(&list);
    const struct solve_request request = {
        .kind = KIND_I4, .threads = 1, .shape = &path.hierarchy->shape};
    struct problem problem = {0};
    assert_int_equal(solve_hierarchy(ring, &request, &bytes, &size, &outcome, &problem),
                     STATUS_NOT_VERIFIED);
    assert_null(bytes);
    const struct solve_arc closing = {99, 0, 1};
    uint64_t pieces[1000] = {0};
    assert_int_equal(solve_update_hierarchy(path.hierarchy, ring, &closing, 1, NULL, path.bytes,
                                            pieces, &outcome),
                     UPDATE_SOLVE_ANEW);
    graph_destroy(ring);
    finish_solved(&path);
    edge_list_finish(&list);
    free(record.words);
}

static int open_cpu(void **state)
{
    cpu = trial_open_cpu("auto", 1);
    return 0;
}

static int close_cpu(void **state)
{
    solver_close(cpu);
    return 0;
}

TEST_GROUP(open_cpu, close_cpu)
