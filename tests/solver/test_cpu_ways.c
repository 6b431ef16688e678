/* Compares each kernel of the CPU solver, with one and two threads, with the oracle. The cases are
 * every element type, the dense plan in 16 bits and for half matrices, and random plans. */
#include "server/solver/cpu/kernel.h"
#include "server/solver/plan/planner.h"
#include "tests/lib/matrix_fixture.h"
#include "tests/lib/test.h"
#include "tests/solver/oracle.h"
#include "tests/solver/random_plan.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <math.h>

/* Races do not depend on the shape of a graph. */
#ifdef __SANITIZE_THREAD__
#define SHAPE_STEP 2
#else
#define SHAPE_STEP 1
#endif

#define SMALL_VERTICES 200

struct problem_case {
    const char *shape;
    struct graph *graph;
    double *distances; /* NULL: the graph has a negative cycle */
    bool integral;
    bool narrow; /* the distances fit 16 bits */
};

static struct problem_case make_case(const struct shape *shape, uint32_t n, uint64_t seed,
                                     bool negative_cycle)
{
    struct edge_list list = shapes_make(shape, n, seed);
    struct problem_case made = {.shape = shape->name, .integral = shape->integral};
    const size_t entries = (size_t)n * n;
    if (negative_cycle) {
        shapes_add_negative_cycle(&list, seed);
    }
    made.graph = edge_list_build(&list);
    made.distances = calloc(entries + 1, sizeof(*made.distances));
    assert_non_null(made.distances);
    if (!oracle_solve(&list, made.distances)) {
        free(made.distances);
        made.distances = NULL;
    }
    made.narrow = shape->integral && !negative_cycle && !made.graph->summary.negative;
    for (size_t index = 0; made.narrow && index < entries; ++index) {
        made.narrow = isinf(made.distances[index]) || made.distances[index] <= NARROW_DISTANCE_MAX;
    }
    edge_list_finish(&list);
    return made;
}

static void finish_case(struct problem_case *made)
{
    graph_destroy(made->graph);
    free(made->distances);
}

static void check_entries(const struct problem_case *made, const struct matrix *matrix,
                          const struct solver *solver, double relative)
{
    const uint32_t n = matrix->vertex_count;
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            const double expected = made->distances[(size_t)row * n + column];
            double found = INFINITY;
            if (!matrix_distance(matrix, row, column, &found)) {
                found = INFINITY;
            }
            if (found != expected && !(fabs(found - expected) <= relative * fabs(expected))) {
                struct solver_device device;
                solver->class_->describe(solver, &device);
                print_error("%s n=%u kind %s %s: (%u, %u) is %.17g, not %.17g\n", made->shape, n,
                            kind_name(matrix->kind), device.detail, row, column, found, expected);
                fail();
            }
        }
    }
}

static void solve(const struct problem_case *made, struct solver *solver, const struct plan *plan,
                  enum kind kind, const struct solve_options *options)
{
    static const double relative[KIND_COUNT] = {[KIND_F4] = 1e-5, [KIND_F8] = 1e-13};
    const uint32_t n = made->graph->vertex_count;
    struct matrix matrix = {n, kind, malloc((size_t)n * n * kind_size(kind) + 1)};
    struct solve_account account = {0};
    assert_non_null(matrix.elements);
    memset(matrix.elements, 1, (size_t)n * n * kind_size(kind));
    const enum status status =
        solver->class_->solve(solver, made->graph, plan, options, NULL, &matrix, &account);
    assert_int_equal(status, made->distances != NULL ? STATUS_OK : STATUS_NEGATIVE_CYCLE);
    if (made->distances != NULL) {
        check_entries(made, &matrix, solver, made->integral ? 0 : relative[kind]);
    }
    free(matrix.elements);
}

static void solve_narrow(const struct problem_case *made, const struct plan *plan)
{
    const struct solve_options options = {.symmetric = !made->graph->directed, .narrow = true};
    for (size_t index = 0; made->narrow && index < trial_cpu_count; ++index) {
        solve(made, trial_cpus[index], plan, KIND_I4, &options);
    }
}

static void solve_wide(const struct problem_case *made, const struct plan *plan)
{
    const struct solve_options options = {.symmetric = !made->graph->directed};
    for (size_t index = 0; index < trial_cpu_count; ++index) {
        solve(made, trial_cpus[index], plan, KIND_F4, &options);
        solve(made, trial_cpus[index], plan, KIND_F8, &options);
        if (made->integral) {
            solve(made, trial_cpus[index], plan, KIND_I4, &options);
        }
    }
}

static void solve_dense(const struct shape *shape, uint32_t n)
{
    if (!shape->integral) {
        return; /* the distances do not fit 16 bits */
    }
    struct problem_case made = make_case(shape, n, n, false);
    struct plan *plan = NULL;
    assert_int_equal(planner_dense(n, CPU_TILE, &plan), STATUS_OK);
    solve_narrow(&made, plan);
    plan_destroy(plan);
    finish_case(&made);
}

TEST(matrices_of_up_to_200_vertices_are_correct_in_16_bits)
{
    for (size_t shape = 0; shape < shape_count; shape += SHAPE_STEP) {
        for (uint32_t n = 1; n <= SMALL_VERTICES; n = trial_next_size(n)) {
            solve_dense(&shapes[shape], n);
        }
    }
}

TEST(matrices_of_several_tiles_are_correct_in_16_bits)
{
    static const uint32_t sizes[] = {255, 256, 257, 400};
    const size_t count = trial_is_quick() ? 1 : sizeof(sizes) / sizeof(sizes[0]);
    for (size_t shape = 0; shape < shape_count; shape += SHAPE_STEP) {
        for (size_t index = 0; index < count; ++index) {
            solve_dense(&shapes[shape], sizes[index]);
        }
    }
}

static void run_plans(const struct problem_case *made, uint64_t seed)
{
    static const uint32_t tiles[] = {1, 5, 16, 33, 64, CPU_TILE};
    /* With the smallest tiles, a large graph would have too many tiles for a short test. */
    const size_t first = made->graph->vertex_count > 60 ? 2 : 0;
    const uint32_t tile = tiles[first + seed % (sizeof(tiles) / sizeof(tiles[0]) - first)];
    struct plan *plan = random_plan_make(made->graph, tile, !made->graph->directed, seed);
    solve_wide(made, plan);
    solve_narrow(made, plan);
    plan_destroy(plan);
}

TEST(any_plan_gives_the_same_matrix)
{
    static const uint32_t sizes[] = {1, 2, 3, 17, 60, 129, 200};
    const size_t count = sizeof(sizes) / sizeof(sizes[0]) - (trial_is_quick() ? 1 : 0);
    const uint64_t seeds = trial_is_quick() ? 1 : 3;
    for (size_t shape = 0; shape < shape_count; ++shape) {
        for (size_t index = 0; index < count; ++index) {
            for (uint64_t seed = 0; seed < seeds; ++seed) {
                struct problem_case made = make_case(&shapes[shape], sizes[index], seed, false);
                run_plans(&made, seed + index);
                finish_case(&made);
            }
        }
    }
}

TEST(any_plan_detects_a_negative_cycle)
{
    const uint64_t seeds = trial_is_quick() ? 1 : 4;
    for (size_t shape = 0; shape < shape_count; ++shape) {
        for (uint64_t seed = 0; seed < seeds; ++seed) {
            struct problem_case made = make_case(&shapes[shape], 150, seed, true);
            assert_null(made.distances);
            run_plans(&made, seed);
            finish_case(&made);
        }
    }
}

/* Random plans must differ from the dense plan, which has one pivot per round and all tiles. */
TEST(random_plans_merge_pivots_and_omit_tiles)
{
    struct edge_list list = {.vertex_count = 300};
    for (uint32_t vertex = 1; vertex < list.vertex_count; ++vertex) {
        edge_list_add(&list, vertex - 1, vertex, 1);
    }
    struct graph *graph = edge_list_build(&list);
    uint32_t merged = 0;
    uint32_t sparse = 0;
    uint32_t fresh = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
        struct plan *plan = random_plan_make(graph, 8, true, seed);
        merged += plan->round_count < plan->tile_count;
        sparse += plan->summary.work_fraction < 0.5;
        for (size_t target = 0; target < plan->target_count; ++target) {
            fresh += plan->targets[target].fresh;
        }
        plan_destroy(plan);
    }
    assert_in_range(merged, 10, 49);
    assert_in_range(sparse, 5, 49);
    assert_true(fresh > 50);
    graph_destroy(graph);
    edge_list_finish(&list);
}

TEST_GROUP(trial_open_cpus, trial_close_cpus)
