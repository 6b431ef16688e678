/* Tests plans that omit tiles, on the GPU. Random plans of every shape and in every number format
 * are compared with the oracle, and larger graphs with the dense plan. Exit 77 without a device.
 *
 *   test_gpu_plans                   sizes up to 300, some up to 3600, and cancellation
 *   test_gpu_plans --few             three sizes, for a run under compute-sanitizer
 *   test_gpu_plans --fewest          one size, for the slow tool racecheck
 *   test_gpu_plans --graphs FILE...  measures the solve time of graphs with the planner's plan
 *
 * Run racecheck on a build without machine code for Hopper, because it reports bulk copies as
 * races. */
#include "proto/graph.h"
#include "server/solver/plan/planner.h"
#include "server/solver/solver.h"
#include "tests/solver/gpu_trial.h"
#include "tests/solver/graph_source.h"
#include "tests/solver/halved_grid.h"
#include "tests/solver/oracle.h"
#include "tests/solver/random_plan.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define LARGEST_ORACLE 300
#define CANCELS 40
#define CANCEL_SIDE 60
#define TIMES 5
/* Peak rate of an H200: additions and minima per second, with 32-bit operands in registers. */
#define LIMIT 16.7e12
/* Number of vertices from which only one kind is measured, because each matrix takes gigabytes. */
#define TIMED_IN_ALL_WAYS 20000

static const struct gpu_variant ways[] = {
    {.name = "i4", .kind = KIND_I4},
    {.name = "u2", .kind = KIND_U2},
    {.name = "f4", .kind = KIND_F4},
    {.name = "f8", .kind = KIND_F8},
    {.name = "i4 in 16 bits", .kind = KIND_I4, .narrow = true},
    {.name = "u2 in 16 bits", .kind = KIND_U2, .narrow = true},
};
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))

static struct trial run(struct gpu *gpu, const struct gpu_variant *way, const struct graph *graph,
                        const struct plan *plan, const struct observer *observer)
{
    const struct solve_options options = {.narrow = way->narrow};
    struct trial trial = {.matrix = {graph->vertex_count, way->kind, NULL}};
    size_t bytes = 0;
    CHECK(matrix_size(graph->vertex_count, way->kind, &bytes) == STATUS_OK);
    trial.matrix.elements = malloc(bytes);
    CHECK(trial.matrix.elements != NULL);
    /* Unwritten elements must not look correct by chance. */
    memset(trial.matrix.elements, 0x5A, bytes);
    struct statistics statistics = trial_make_statistics(&trial);
    trial.outcome.account.statistics = &statistics;
    trial.status =
        gpu_solve(gpu, graph, plan, &options, observer, &trial.matrix, &trial.outcome.account);
    trial_compare_statistics(&trial);
    return trial;
}

static bool try_plan(struct gpu *gpu, const struct gpu_subject *subject, const struct plan *plan,
                     const double *distances, uint64_t *solves)
{
    bool right = true;
    for (size_t index = 0; index < WAY_COUNT && right; ++index) {
        if (!gpu_trial_applies(&ways[index], subject)) {
            continue;
        }
        struct trial trial = run(gpu, &ways[index], subject->graph, plan, NULL);
        right = trial_equals(&trial, distances, gpu_trial_tolerance(ways[index].kind, subject));
        if (!right) {
            fprintf(stderr, "%s, %s: %s\n", ways[index].name,
                    plan->symmetric ? "symmetric" : "directed", status_info(trial.status)->code);
        }
        trial_finish(&trial);
        ++*solves;
    }
    return right;
}

/* Solves with random plans of each tile width, and undirected graphs also with symmetric plans. */
static bool try_plans(struct gpu *gpu, const struct gpu_subject *subject, uint64_t seed,
                      const double *distances, uint64_t *solves)
{
    static const uint32_t widths[] = {GPU_TILE, 40, 7};
    const int symmetries = subject->graph->directed ? 1 : 2;
    bool right = true;
    for (int symmetric = 0; symmetric < symmetries; ++symmetric) {
        for (size_t width = 0; width < sizeof(widths) / sizeof(widths[0]) && right; ++width) {
            struct plan *plan =
                gpu_trial_plan(subject->graph, widths[width], symmetric != 0, seed + width);
            right = try_plan(gpu, subject, plan, distances, solves);
            plan_destroy(plan);
        }
    }
    return right;
}

/* Adds a negative cycle. Every variant that accepts negative weights must report it. */
static bool try_negative_cycle(struct gpu *gpu, const struct shape *shape, struct edge_list *list,
                               uint64_t seed)
{
    shapes_add_negative_cycle(list, seed);
    struct graph *graph = edge_list_build(list);
    const struct gpu_subject subject = {
        .graph = graph, .longest = INFINITY, .integral = shape->integral};
    bool right = true;
    if (graph->summary.negative_loop == NO_VERTEX) {
        struct plan *plan = gpu_trial_plan(graph, 40, !graph->directed, seed);
        for (size_t index = 0; index < WAY_COUNT && right; ++index) {
            if (!gpu_trial_applies(&ways[index], &subject)) {
                continue;
            }
            struct trial trial = run(gpu, &ways[index], graph, plan, NULL);
            right = trial.status == STATUS_NEGATIVE_CYCLE;
            if (!right) {
                fprintf(stderr, "%s, a negative cycle: %s\n", ways[index].name,
                        status_info(trial.status)->code);
            }
            trial_finish(&trial);
        }
        plan_destroy(plan);
    }
    graph_destroy(graph);
    return right;
}

static bool try_shape(struct gpu *gpu, const struct shape *shape, uint32_t n, double *distances,
                      uint64_t *solves)
{
    struct edge_list list = shapes_make(shape, n, 3);
    struct graph *graph = edge_list_build(&list);
    CHECK(oracle_solve(&list, distances));
    const struct gpu_subject subject = {.graph = graph,
                                        .longest = gpu_trial_longest(distances, (size_t)n * n),
                                        .integral = shape->integral};
    const bool right =
        try_plans(gpu, &subject, n, distances, solves) && try_negative_cycle(gpu, shape, &list, n);
    if (!right) {
        fprintf(stderr, "  shape %s, n=%u\n", shape->name, n);
    }
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

enum extent { EXTENT_ALL, EXTENT_FEW, EXTENT_FEWEST };

static bool is_tried(uint32_t n, size_t shape, enum extent extent)
{
    if (extent == EXTENT_FEWEST) {
        return n == GPU_TILE + 2 && shape % 6 == 1;
    }
    if (extent == EXTENT_FEW) {
        return n == 3 || n == 40 || n == GPU_TILE + 2;
    }
    return n <= 8 || n % 25 == 0 || n % GPU_TILE <= 1 || n % GPU_TILE == GPU_TILE - 1;
}

static bool run_sizes(struct gpu *gpu, enum extent extent)
{
    double *distances = malloc((size_t)LARGEST_ORACLE * LARGEST_ORACLE * sizeof(double));
    uint64_t solves = 0;
    bool right = true;
    CHECK(distances != NULL);
    for (uint32_t n = 1; n <= LARGEST_ORACLE && right; ++n) {
        for (size_t index = 0; index < shape_count && right && is_tried(n, index, extent);
             ++index) {
            right = try_shape(gpu, &shapes[index], n, distances, &solves);
        }
    }
    printf("%llu planned solves of 1 to %u vertices %s the oracle\n", (unsigned long long)solves,
           LARGEST_ORACLE, right ? "equal" : "DIFFER from");
    free(distances);
    return right;
}

/* Expects that a plan whose tiles have one vertex each is refused: it needs (3000 x 128)^2 elements
 * of 4 bytes, which are 0.6 TB. */
static bool run_too_large(struct gpu *gpu)
{
    const uint32_t n = 3000;
    struct edge_list list = {.vertex_count = n, .directed = true};
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = random_plan_make(graph, 1, false, 1);
    plan->tile = GPU_TILE;
    struct trial refused = run(gpu, &ways[0], graph, plan, NULL);
    const bool foreseen = gpu_plan_bytes(plan, 0, KIND_I4) > gpu_free_bytes(gpu);
    plan_destroy(plan);
    plan = random_plan_make(graph, GPU_TILE, false, 1);
    struct trial solved = run(gpu, &ways[0], graph, plan, NULL);
    const bool right = foreseen && refused.status == STATUS_NO_DEVICE_MEMORY &&
                       solved.status == STATUS_OK &&
                       gpu_plan_bytes(plan, 0, KIND_I4) <= gpu_free_bytes(gpu);
    printf("a plan that is too large %s\n", right ? "is refused" : "IS NOT REFUSED");
    plan_destroy(plan);
    trial_finish(&refused);
    trial_finish(&solved);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static double *solve_dense(struct gpu *gpu, const struct graph *graph)
{
    const size_t n = graph->vertex_count;
    struct plan *plan = NULL;
    double *distances = malloc(n * n * sizeof(*distances));
    CHECK(distances != NULL && planner_dense(graph->vertex_count, GPU_TILE, &plan) == STATUS_OK);
    struct matrix matrix = {graph->vertex_count, KIND_F8, distances};
    const struct solve_options options = {0};
    struct solve_account account = {0};
    CHECK(gpu_solve(gpu, graph, plan, &options, NULL, &matrix, &account) == STATUS_OK);
    plan_destroy(plan);
    return distances;
}

static bool try_large(struct gpu *gpu, const struct shape *shape, uint32_t n, uint64_t *solves)
{
    struct edge_list list = shapes_make(shape, n, n);
    struct graph *graph = edge_list_build(&list);
    double *distances = solve_dense(gpu, graph);
    const struct gpu_subject subject = {.graph = graph,
                                        .longest = gpu_trial_longest(distances, (size_t)n * n),
                                        .integral = shape->integral};
    bool right = true;
    for (uint64_t seed = 0; seed < 2 && right; ++seed) {
        right = try_plans(gpu, &subject, n + seed, distances, solves);
    }
    if (!right) {
        fprintf(stderr, "  shape %s, n=%u\n", shape->name, n);
    }
    free(distances);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

/* Solves a grid with a plan that resembles the planner's plans: it has many leaf tiles, and their
 * products update the same few tiles. */
static bool try_grid(struct gpu *gpu, uint32_t side, bool directed, uint64_t *solves)
{
    struct halved_grid grid = halved_grid_make(side, directed, GPU_TILE);
    const size_t n = grid.plan->vertex_count;
    double *distances = solve_dense(gpu, grid.graph);
    const struct gpu_subject subject = {
        .graph = grid.graph, .longest = gpu_trial_longest(distances, n * n), .integral = true};
    const bool right = try_plan(gpu, &subject, grid.plan, distances, solves);
    if (!right) {
        fprintf(stderr, "  a grid of %u x %u\n", side, side);
    }
    free(distances);
    halved_grid_finish(&grid);
    return right;
}

static bool run_large(struct gpu *gpu)
{
    static const uint32_t sizes[] = {517, 900, 1500};
    uint64_t solves = 0;
    bool right = true;
    for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); ++size) {
        for (size_t index = 0; index < shape_count && right; ++index) {
            right = try_large(gpu, &shapes[index], sizes[size], &solves);
        }
    }
    right = right && try_grid(gpu, 31, true, &solves) && try_grid(gpu, 45, false, &solves) &&
            try_grid(gpu, 60, true, &solves);
    printf("%llu planned solves to 3600 vertices %s the dense ones\n", (unsigned long long)solves,
           right ? "equal" : "DIFFER from");
    return right;
}

static bool run_cancels(struct gpu *gpu, const struct gpu_variant *way)
{
    struct halved_grid grid = halved_grid_make(CANCEL_SIDE, 0, GPU_TILE);
    uint64_t seed = 1;
    bool right = grid.plan->round_count > 3;
    for (uint32_t solve = 0; solve < CANCELS && right; ++solve) {
        struct patience patience = {
            .rounds = 1 + (uint32_t)shapes_random(&seed, grid.plan->round_count - 1)};
        const struct observer observer = patience_observe(&patience);
        struct trial trial = run(gpu, way, grid.graph, grid.plan, &observer);
        right = trial.status == STATUS_CANCELLED;
        trial_finish(&trial);
    }
    printf("%u planned solves, %s: %s\n", CANCELS, way->name,
           right ? "cancelled" : "NOT CANCELLED");
    halved_grid_finish(&grid);
    return right;
}

static bool run_all_cancels(struct gpu *gpu)
{
    bool right = true;
    for (size_t index = 0; index < WAY_COUNT && right; ++index) {
        right = run_cancels(gpu, &ways[index]);
    }
    return right;
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct course {
    const char *name;
    const struct graph *graph;
    const struct plan *plan;
    double expected_s; /* time that the planner's model predicts; 0 = unknown */
};

/* Returns the number of additions in a solve. A symmetric plan needs only half of them. */
static double additions(const struct plan *plan)
{
    const double n = plan->vertex_count;
    return plan->summary.work_fraction * n * n * n * (plan->symmetric ? 0.5 : 1);
}

/* Measures the solve several times and prints the median time. */
static void time_way(struct gpu *gpu, const struct gpu_variant *way, const struct course *course)
{
    const struct plan *plan = course->plan;
    double times[TIMES];
    struct matrix matrix = {plan->vertex_count, way->kind, NULL};
    size_t bytes = 0;
    CHECK(matrix_size(plan->vertex_count, way->kind, &bytes) == STATUS_OK);
    matrix.elements = malloc(bytes);
    CHECK(matrix.elements != NULL);
    for (uint32_t time = 0; time < TIMES; ++time) {
        struct solve_account account = {0};
        const struct solve_options options = {
            .narrow = way->narrow,
            .symmetric = !course->graph->directed,
        };
        const enum status status =
            gpu_solve(gpu, course->graph, plan, &options, NULL, &matrix, &account);
        if (status != STATUS_OK) {
            printf("%-24s %s\n", course->name, status_info(status)->code);
            free(matrix.elements);
            return;
        }
        times[time] = account.timings.compute_s;
    }
    qsort(times, TIMES, sizeof(times[0]), by_size);
    const double rate = additions(plan) / times[TIMES / 2];
    printf("%-24s %-14s %7u %5u %6u %9.4f %9.3f %9.3f %7.2f %6.1f %9.1f\n", course->name, way->name,
           plan->vertex_count, plan->tile_count, plan->round_count,
           100 * plan->summary.work_fraction, course->expected_s * 1e3, times[TIMES / 2] * 1e3,
           rate * 1e-12, 100 * rate / LIMIT, plan->summary.planning_s * 1e3);
    free(matrix.elements);
}

static void print_head(void)
{
    printf("%-24s %-14s %7s %5s %6s %9s %9s %9s %7s %6s %9s\n", "graph", "kind", "n", "tiles",
           "rounds", "work %", "model ms", "ms", "T", "limit%", "plan ms");
}

static struct plan_cost cost_of(const struct graph *graph)
{
    const struct solve_options options = {.symmetric = !graph->directed};
    struct solver *solver = NULL;
    struct problem problem;
    struct plan_cost cost;
    CHECK(solver_gpu_open(0, 1, &solver, &problem) == STATUS_OK);
    solver->class_->plan_cost(solver, graph, KIND_I4, &options, &cost);
    solver_close(solver);
    return cost;
}

/* Measures the solve time with the planner's plan and, if it is short, with the dense plan. */
static void time_file(struct gpu *gpu, const char *path)
{
    struct graph *read = graph_source_open(path);
    struct graph *folded = NULL;
    if (read == NULL) {
        return;
    }
    CHECK(graph_fold(read, &folded) == STATUS_OK);
    const struct graph *graph = folded != NULL ? folded : read;
    const struct plan_cost cost = cost_of(graph);
    struct plan *plan = NULL;
    struct plan *dense = NULL;
    CHECK(planner_make(graph, &cost, NULL, &plan) == STATUS_OK &&
          planner_dense(graph->vertex_count, GPU_TILE, &dense) == STATUS_OK);
    const char *slash = strrchr(path, '/');
    const double dense_s = plan_cost_dense(&cost, graph->vertex_count, !graph->directed);
    const struct course planned = {slash != NULL ? slash + 1 : path, graph, plan,
                                   plan->expected_s > 0 ? plan->expected_s : dense_s};
    const struct course plain = {"  dense", graph, dense, dense_s};
    const struct gpu_variant *way = &ways[graph->weight_type == WEIGHT_INTEGER ? 0 : 2];
    time_way(gpu, way, &planned);
    if (plan->summary.kind != PLAN_DENSE && graph->vertex_count <= TIMED_IN_ALL_WAYS) {
        time_way(gpu, way, &plain);
    }
    plan_destroy(dense);
    plan_destroy(plan);
    graph_destroy_copy(folded);
    graph_destroy(read);
}

static void time_files(struct gpu *gpu, int count, char **paths)
{
    print_head();
    for (int index = 0; index < count; ++index) {
        time_file(gpu, paths[index]);
    }
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_SIZE];
    struct gpu *gpu = NULL;
    const struct gpu_tuning tuning = {GPU_SMALL_VERTICES, 0, GPU_PAIR_VERTICES, GPU_GROUP_VERTICES};
    const uint32_t first = 0;
    if (gpu_count(reason) == 0 || gpu_open(&first, 1, &gpu) != STATUS_OK) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    gpu_set_tuning(gpu, &tuning);
    bool right = true;
    if (argc >= 3 && strcmp(argv[1], "--graphs") == 0) {
        time_files(gpu, argc - 2, argv + 2);
    } else if (argc == 2 && strcmp(argv[1], "--few") == 0) {
        right = run_sizes(gpu, EXTENT_FEW) && run_too_large(gpu);
    } else if (argc == 2 && strcmp(argv[1], "--fewest") == 0) {
        right = run_sizes(gpu, EXTENT_FEWEST);
    } else {
        right = run_sizes(gpu, EXTENT_ALL) && run_too_large(gpu) && run_large(gpu) &&
                run_all_cancels(gpu);
    }
    gpu_close(gpu);
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
