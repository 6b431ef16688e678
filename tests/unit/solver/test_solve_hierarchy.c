#include "tests/lib/hierarchy_fixture.h"

#include "server/solver/hierarchy/shape.h"
#include "server/solver/order/separator.h"
#include "server/solver/solve.h"
#include "server/solver/solve_hierarchy.h"

static enum status solve(const struct graph *graph, enum kind kind, struct solve_outcome *outcome,
                         struct problem *problem)
{
    void *bytes = NULL;
    uint64_t size = 0;
    struct hierarchy *hierarchy = NULL;
    const enum status status =
        solve_hierarchy(graph, &(struct solve_request){.kind = kind, .threads = 1}, &bytes, &size,
                        outcome, problem);
    if (status == STATUS_OK) {
        assert_int_equal(hierarchy_open(bytes, size, &hierarchy), STATUS_OK);
        assert_int_equal(hierarchy->summary.arc_count, outcome->arc_count);
    }
    hierarchy_close(hierarchy);
    free(bytes);
    return status;
}

TEST(a_solve_reports_its_plan_and_its_number_of_arcs)
{
    struct graph *graph = make_grid(true);
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    assert_int_equal(solve(graph, KIND_I4, &outcome, &problem), STATUS_OK);
    assert_int_equal(outcome.plan.kind, PLAN_NESTED_DISSECTION);
    assert_true(outcome.plan.parts > 1 && outcome.plan.largest_separator >= GRID_WIDTH / 2);
    assert_true(outcome.arc_count > 2 * GRID_VERTICES);
    solve_outcome_finish(&outcome);
    graph_destroy(graph);
}

TEST(the_error_for_a_negative_cycle_describes_the_cycle)
{
    static const struct range_edge edges[] = {{0, 1, 4}, {1, 2, -3}, {2, 0, -2}, {2, 3, 9}};
    static const struct range_edge loop[] = {{0, 1, 4}, {1, 1, -3}};
    struct graph *graphs[] = {range_build(4, edges, 4, true), range_build(2, loop, 2, true)};
    static const char *const details[] = {"has length -1", "Vertex 2 has an edge to itself"};
    for (int i = 0; i < 2; ++i) {
        struct solve_outcome outcome = {0};
        struct problem problem = {0};
        assert_int_equal(solve(graphs[i], KIND_F8, &outcome, &problem), STATUS_NEGATIVE_CYCLE);
        assert_int_equal(outcome.cycle_length, i == 0 ? 3 : 1);
        assert_non_null(strstr(problem.detail, details[i]));
        solve_outcome_finish(&outcome);
        graph_destroy(graphs[i]);
    }
}

/* The weights sum to 0, but some orders of addition give less, as 1e16 + 1 is rounded to 1e16. */
TEST(a_cycle_of_length_0_is_not_negative_in_floats)
{
    static const struct range_edge edges[] = {{0, 1, 1e16}, {1, 2, 1}, {2, 3, -1e16}, {3, 0, -1}};
    struct graph *graph = range_build(4, edges, 4, true);
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    assert_int_equal(solve(graph, KIND_F8, &outcome, &problem), STATUS_OK);
    solve_outcome_finish(&outcome);
    graph_destroy(graph);
}

TEST(a_stored_order_is_reused)
{
    struct graph *graph = make_grid(true);
    struct order_record record = {0};
    void *first = NULL;
    uint64_t size = 0;
    /* The turns use no order, the stored order, an order that contains a vertex twice, and an order
     * of another size. */
    for (int turn = 0; turn < 4; ++turn) {
        struct solve_outcome outcome = {0};
        struct problem problem = {0};
        void *bytes = NULL;
        if (turn == 2) {
            record.words[10] = record.words[11];
        }
        record.count -= turn == 3;
        assert_int_equal(
            solve_hierarchy(
                graph, &(struct solve_request){.kind = KIND_I4, .threads = 1, .record = &record},
                &bytes, &size, &outcome, &problem),
            STATUS_OK);
        assert_int_equal(outcome.plan.cached, turn == 1);
        assert_int_equal(record.fresh, turn != 1);
        assert_in_range(record.count, GRID_VERTICES, order_record_limit(GRID_VERTICES));
        record.fresh = false;
        first = turn == 0 ? bytes : first;
        assert_memory_equal(bytes, first, size);
        if (turn > 0) {
            free(bytes);
        }
    }
    free(first);
    free(record.words);
    graph_destroy(graph);
}

/* The second solve gets the shape, but neither solve gets a record of the order. */
TEST(a_known_shape_gives_the_same_hierarchy)
{
    struct graph *graph = make_grid(true);
    struct hierarchy_size measured;
    void *bytes[2] = {NULL};
    uint64_t size[2] = {0};
    struct solve_request request = {.kind = KIND_I4, .threads = 1};
    struct order_record record = {0};
    request.record = &record;
    assert_int_equal(solve_measure_hierarchy(graph, &request, UINT64_MAX, &measured), STATUS_OK);
    struct hierarchy_shape *shape = measured.shape;
    assert_non_null(shape);
    free(record.words);
    for (int turn = 0; turn < 2; turn++) {
        struct solve_outcome outcome = {0};
        struct problem problem = {0};
        struct order_record none = {0};
        request.record = &none;
        request.shape = turn == 0 ? NULL : shape;
        assert_int_equal(
            solve_hierarchy(graph, &request, &bytes[turn], &size[turn], &outcome, &problem),
            STATUS_OK);
        assert_int_equal(none.fresh, turn == 0);
        assert_int_equal(outcome.plan.cached, turn == 1);
        assert_int_equal(outcome.plan.parts, shape->supernode_count);
        free(none.words);
    }
    assert_int_equal(size[0], size[1]);
    assert_int_equal(size[0], measured.bytes);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    hierarchy_destroy_shape(shape);
    graph_destroy(graph);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

TEST(a_cancellation_ends_the_solve)
{
    const struct observer observer = {.cancelled = always};
    struct graph *graph = make_grid(false);
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    void *bytes = NULL;
    uint64_t size = 0;
    assert_int_equal(
        solve_hierarchy(
            graph, &(struct solve_request){.kind = KIND_I4, .threads = 1, .observer = &observer},
            &bytes, &size, &outcome, &problem),
        STATUS_CANCELLED);
    assert_null(bytes);
    graph_destroy(graph);
}

/* Cliques that share one vertex: the level of that vertex is not thin, because it has all other
 * vertices on one side, but the vertex is a separator. */
TEST(a_small_graph_is_measured_although_it_has_no_thin_level)
{
    enum { CLIQUES = 100, SIZE = 5 };
    struct range_edge edges[CLIQUES * SIZE * SIZE];
    uint32_t count = 0;
    for (uint32_t clique = 0; clique < CLIQUES; clique++) {
        for (uint32_t i = 0; i < SIZE * SIZE; i++) {
            const uint32_t first = 1 + clique * SIZE;
            const uint32_t a = first + i / SIZE;
            const uint32_t b = i / SIZE == i % SIZE ? 0 : first + i % SIZE;
            edges[count++] = (struct range_edge){a, b, 1};
        }
    }
    struct graph *graph = range_build(CLIQUES * SIZE + 1, edges, count, true);
    struct order_record record = {0};
    const struct solve_request request = {.kind = KIND_I4, .threads = 1, .record = &record};
    struct hierarchy_size measured = {0};
    assert_int_equal(solve_measure_hierarchy(graph, &request, 100000, &measured), STATUS_OK);
    assert_int_equal(measured.shape != NULL, separator_present());
    hierarchy_destroy_shape(measured.shape);
    free(record.words);
    graph_destroy(graph);
}
