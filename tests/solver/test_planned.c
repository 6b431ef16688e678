/* Executes the planner's plans with the reference executor. For every shape, the result must equal
 * the oracle's matrix. If APSPD_TEST_DATA is set, also checks what fraction of the dense plan's
 * work the plans of its real graphs need. APSPD_TEST_QUICK skips the largest size. */
#include "server/solver/order/separator.h"
#include "server/solver/plan/planner.h"
#include "tests/lib/test.h"
#include "tests/solver/graph_source.h"
#include "tests/solver/oracle.h"
#include "tests/solver/plan_reference.h"
#include "tests/solver/shapes.h"

#define TILE 8

/* Returns a cost model with small tiles and cheap rounds, so that the planner chooses plans of
 * every kind for small graphs. */
static struct plan_cost figures(void)
{
    return (struct plan_cost){.tile = TILE,
                              .threads = 2,
                              .units = 2,
                              .granule = 4,
                              .edge_granule = 4,
                              .round_s = 1e-9,
                              .product_s = 1e-6,
                              .touch_s = 1e-9};
}

static bool solve_one(const struct edge_list *list)
{
    const size_t n = list->vertex_count;
    const struct plan_cost cost = figures();
    struct graph *graph = edge_list_build(list);
    struct plan *plan = NULL;
    double *expected = calloc(n * n + 1, sizeof(*expected));
    double *solved = calloc(n * n + 1, sizeof(*solved));
    assert_true(expected != NULL && solved != NULL);
    assert_int_equal(planner_make(graph, &cost, NULL, &plan), STATUS_OK);
    const bool planned = plan->summary.kind != PLAN_DENSE;
    const bool good = oracle_solve(list, expected);
    if (planned) {
        assert_true(plan_reference_judge(plan, list->vertex_count));
        assert_int_equal(plan_reference_solve(list, plan, solved),
                         good ? PLAN_SOLVED : PLAN_NEGATIVE_CYCLE);
    }
    if (planned && good) {
        assert_memory_equal(solved, expected, n * n * sizeof(*solved));
    }
    free(expected);
    free(solved);
    plan_destroy(plan);
    graph_destroy(graph);
    return planned;
}

/* Solves the shape with three seeds. Returns for how many of them the planner chose a plan other
 * than the dense plan. */
static uint32_t solve_shape(const struct shape *shape, uint32_t vertex_count, bool negative_cycle)
{
    uint32_t planned = 0;
    for (uint64_t seed = 0; seed < 3; ++seed) {
        struct edge_list list = shapes_make(shape, vertex_count, seed);
        if (negative_cycle) {
            shapes_add_negative_cycle(&list, seed);
        }
        planned += solve_one(&list);
        edge_list_finish(&list);
    }
    return planned;
}

TEST(solves_with_plans_match_the_oracle)
{
    static const uint32_t sizes[] = {0, 1, 7, 8, 33, 40, 41, 64, 100, 150, 250};
    const size_t count = getenv("APSPD_TEST_QUICK") != NULL ? 10 : sizeof(sizes) / sizeof(sizes[0]);
    for (size_t shape = 0; shape < shape_count; ++shape) {
        uint32_t planned = 0;
        for (size_t size = 0; shapes[shape].integral && size < count; ++size) {
            planned += solve_shape(&shapes[shape], sizes[size], false);
        }
        const bool easy = strcmp(shapes[shape].name, "layers") == 0 ||
                          strcmp(shapes[shape].name, "cliques") == 0 ||
                          (separator_present() && (strcmp(shapes[shape].name, "grid") == 0 ||
                                                   strcmp(shapes[shape].name, "path") == 0 ||
                                                   strcmp(shapes[shape].name, "star") == 0));
        assert_true(planned > 0 || !easy);
        assert_true(planned == 0 || strcmp(shapes[shape].name, "dense") != 0);
    }
}

TEST(solves_with_plans_detect_a_negative_cycle)
{
    uint32_t planned = 0;
    for (size_t shape = 0; shape < shape_count; ++shape) {
        planned += shapes[shape].integral ? solve_shape(&shapes[shape], 120, true) : 0;
    }
    assert_true(planned > 0);
}

struct real {
    const char *name;
    double work_fraction_max;
};

static const struct real reals[] = {
    {"DE.gr", 0.001},         {"rome99.gr", 0.03},
    {"CA-GrQc.txt", 0.05},    {"facebook_combined.txt", 0.04},
    {"wiki-Vote.txt", 0.055}, {"openflights.gr", 0.06},
};

TEST(plans_skip_most_of_the_work_on_real_graphs)
{
    const char *folder = getenv("APSPD_TEST_DATA");
    if (folder == NULL || !separator_present()) {
        skip();
    }
    for (size_t index = 0; index < sizeof(reals) / sizeof(reals[0]); ++index) {
        static const struct plan_cost costs[] = {{128, 2, 2, 1, 16, 10e-6, 42e-6, 4e-6, 0, 0},
                                                 {128, 2, 132, 16, 128, 20e-6, 17e-6, 4e-6, 0, 0}};
        char path[4096];
        snprintf(path, sizeof(path), "%s/graphs/%s", folder, reals[index].name);
        struct graph *graph = graph_source_open(path);
        assert_non_null(graph);
        for (size_t which = 0; which < 2; ++which) {
            struct plan *plan = NULL;
            assert_int_equal(planner_make(graph, &costs[which], NULL, &plan), STATUS_OK);
            assert_true(plan->summary.work_fraction <= reals[index].work_fraction_max);
            assert_true(plan->summary.kind == PLAN_DENSE ||
                        plan_reference_judge(plan, graph->vertex_count));
            plan_destroy(plan);
        }
        graph_destroy(graph);
    }
}
