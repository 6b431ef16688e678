/* Forces every variant of the GPU solve by tuning values, and compares the results with the oracle,
 * or on large graphs with the CPU solver. Exit 77 without a device.
 *
 *   test_gpu_variants              every size up to 300
 *   test_gpu_variants --edges-of N sizes up to N around multiples of the tile
 *   test_gpu_variants --few        three sizes, for a run under compute-sanitizer
 *   test_gpu_variants --fewest     one size and one graph, for the slowest tool
 *   test_gpu_variants --cancels N  N solves that are cancelled midway
 *   test_gpu_variants --large N    random graphs of N vertices, compared with the CPU bit for bit
 */
#include "server/solver/plan/planner.h"
#include "tests/lib/matrix_fixture.h"
#include "tests/solver/gpu_trial.h"
#include "tests/solver/oracle.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define LARGEST_ORACLE 300
#define LARGEST_OF_FEW (2 * GPU_TILE + 60)
/* Index of an undirected shape, to which every variant applies. */
#define FEWEST_SHAPE 2
#define CANCELS 50

static const struct gpu_variant variants[] = {
    {"small i4", {GPU_NEVER, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_I4, false, false},
    {"small u2", {GPU_NEVER, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_U2, false, false},
    {"small f4", {GPU_NEVER, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_F4, false, false},
    {"small f8", {GPU_NEVER, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_F8, false, false},
    {"single i4", {0, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_I4, false, false},
    {"single f4", {0, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_F4, false, false},
    {"single f8", {0, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_F8, false, false},
    {"single i4 symmetric", {0, GPU_NEVER, GPU_NEVER, GPU_NEVER}, KIND_I4, false, true},
    {"single i4 in 16 bits", {0, 0, GPU_NEVER, GPU_NEVER}, KIND_I4, true, false},
    {"single i4 in 16 bits symmetric", {0, 0, GPU_NEVER, GPU_NEVER}, KIND_I4, true, true},
    {"pair i4", {0, GPU_NEVER, 0, GPU_NEVER}, KIND_I4, false, false},
    {"pair u2", {0, GPU_NEVER, 0, GPU_NEVER}, KIND_U2, false, false},
    {"pair f4", {0, GPU_NEVER, 0, GPU_NEVER}, KIND_F4, false, false},
    {"pair f8", {0, GPU_NEVER, 0, GPU_NEVER}, KIND_F8, false, false},
    {"pair i4 symmetric", {0, GPU_NEVER, 0, GPU_NEVER}, KIND_I4, false, true},
    {"pair f4 symmetric", {0, GPU_NEVER, 0, GPU_NEVER}, KIND_F4, false, true},
    {"pair f8 symmetric", {0, GPU_NEVER, 0, GPU_NEVER}, KIND_F8, false, true},
    {"pair i4 in 16 bits", {0, 0, 0, GPU_NEVER}, KIND_I4, true, false},
    {"pair u2 in 16 bits", {0, 0, 0, GPU_NEVER}, KIND_U2, true, false},
    {"pair i4 in 16 bits symmetric", {0, 0, 0, GPU_NEVER}, KIND_I4, true, true},
    {"pair u2 in 16 bits symmetric", {0, 0, 0, GPU_NEVER}, KIND_U2, true, true},
};
#define VARIANT_COUNT (sizeof(variants) / sizeof(variants[0]))

static bool try_variants(struct gpu *gpu, const struct gpu_subject *subject,
                         const double *distances, struct matrix *matrix, uint64_t *solves)
{
    for (size_t index = 0; index < VARIANT_COUNT; ++index) {
        struct solve_account account = {0};
        if (!gpu_trial_applies(&variants[index], subject)) {
            continue;
        }
        const enum status status =
            gpu_trial_solve(gpu, &variants[index], subject, NULL, matrix, &account);
        if (status != STATUS_OK ||
            !trial_matrix_equals(matrix, distances,
                                 gpu_trial_tolerance(variants[index].kind, subject))) {
            fprintf(stderr, "%s: %s\n", variants[index].name, status_info(status)->code);
            return false;
        }
        ++*solves;
    }
    return true;
}

/* Adds a negative cycle. Every variant that accepts negative weights must report it. */
static bool try_negative_cycle(struct gpu *gpu, const struct shape *shape, struct edge_list *list,
                               const struct plan *plan, struct matrix *matrix)
{
    shapes_add_negative_cycle(list, list->vertex_count);
    struct graph *graph = edge_list_build(list);
    const struct gpu_subject subject = {graph, plan, NULL, INFINITY, shape->integral};
    bool right = true;
    for (size_t index = 0; index < VARIANT_COUNT && right; ++index) {
        struct solve_account account = {0};
        if (graph->summary.negative_loop == NO_VERTEX &&
            gpu_trial_applies(&variants[index], &subject)) {
            const enum status status =
                gpu_trial_solve(gpu, &variants[index], &subject, NULL, matrix, &account);
            right = status == STATUS_NEGATIVE_CYCLE;
            if (!right) {
                fprintf(stderr, "%s, a negative cycle: %s\n", variants[index].name,
                        status_info(status)->code);
            }
        }
    }
    graph_destroy(graph);
    return right;
}

static bool try_shape(struct gpu *gpu, const struct shape *shape, uint32_t n, double *distances,
                      struct matrix *matrix, uint64_t *solves)
{
    struct edge_list list = shapes_make(shape, n, 3);
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    CHECK(planner_dense(n, GPU_TILE, &plan) == STATUS_OK);
    CHECK(oracle_solve(&list, distances));
    const struct gpu_subject subject = {
        graph, plan, distances, gpu_trial_longest(distances, (size_t)n * n), shape->integral};
    const bool right = try_variants(gpu, &subject, distances, matrix, solves) &&
                       try_negative_cycle(gpu, shape, &list, plan, matrix);
    if (!right) {
        fprintf(stderr, "  shape %s, n=%u\n", shape->name, n);
    }
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

enum sizes { SIZES_ALL, SIZES_EDGES, SIZES_FEW, SIZES_FEWEST };

static bool is_tried(uint32_t n, enum sizes sizes)
{
    switch (sizes) {
    case SIZES_ALL:
        return true;
    case SIZES_EDGES:
        return n <= 8 || n % GPU_TILE <= 1 || n % GPU_TILE == GPU_TILE - 1 || n % 61 == 0;
    case SIZES_FEWEST:
        return n == LARGEST_OF_FEW;
    case SIZES_FEW:
        /* The sizes give a partial tile, two tiles, and three tiles (a round with two pivot tiles,
         * then a round with one). */
        return n == 3 || n == GPU_TILE + 2 || n == LARGEST_OF_FEW;
    }
    return false;
}

static bool run_sizes(struct gpu *gpu, uint32_t largest, enum sizes sizes)
{
    double *distances = malloc((size_t)largest * largest * sizeof(double));
    struct matrix matrix = {.elements = malloc((size_t)largest * largest * sizeof(double))};
    uint64_t solves = 0;
    bool right = true;
    CHECK(distances != NULL && matrix.elements != NULL);
    for (uint32_t n = 1; n <= largest && right; ++n) {
        matrix.vertex_count = n;
        for (size_t index = 0; index < shape_count && right && is_tried(n, sizes); ++index) {
            if (sizes != SIZES_FEWEST || index == FEWEST_SHAPE) {
                right = try_shape(gpu, &shapes[index], n, distances, &matrix, &solves);
            }
        }
    }
    printf("%llu solves of 1 to %u vertices equal the oracle\n", (unsigned long long)solves,
           largest);
    free(matrix.elements);
    free(distances);
    return right;
}

static void add_parts(struct edge_list *list)
{
    uint64_t seed = 7;
    const uint32_t half = list->vertex_count / 2;
    for (uint32_t vertex = 0; vertex < list->vertex_count; ++vertex) {
        const uint32_t first = vertex / half * half;
        for (int edge = 0; edge < 4; ++edge) {
            edge_list_add(list, vertex, first + (uint32_t)shapes_random(&seed, half),
                          (double)shapes_random(&seed, 100));
        }
    }
}

/* Cancels solves while kernels are running. The kernels must end, whatever they were computing. */
static bool run_cancels(struct gpu *gpu, const struct gpu_variant *variant, uint32_t n,
                        uint32_t count)
{
    struct edge_list list = {.vertex_count = n, .directed = true};
    add_parts(&list);
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    uint64_t seed = 1;
    struct matrix matrix = {n, variant->kind, malloc((size_t)n * n * kind_size(variant->kind))};
    CHECK(matrix.elements != NULL && planner_dense(n, GPU_TILE, &plan) == STATUS_OK);
    const struct solve_options options = {.narrow = variant->narrow};
    const uint32_t rounds = plan->tile_count / 2;
    bool right = true;
    gpu_set_tuning(gpu, &variant->tuning);
    for (uint32_t solve = 0; solve < count && right; ++solve) {
        struct patience patience = {.rounds = 1 + (uint32_t)shapes_random(&seed, rounds - 1)};
        const struct observer observer = patience_observe(&patience);
        struct solve_account account = {0};
        right =
            gpu_solve(gpu, graph, plan, &options, &observer, &matrix, &account) == STATUS_CANCELLED;
    }
    printf("%u solves of %u vertices, %s: %s\n", count, n, variant->name,
           right ? "cancelled" : "NOT CANCELLED");
    plan_destroy(plan);
    free(matrix.elements);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool run_all_cancels(struct gpu *gpu, uint32_t count)
{
    bool right = true;
    for (size_t index = 0; index < VARIANT_COUNT && right; ++index) {
        const struct gpu_variant *variant = &variants[index];
        if (variant->tuning.small_vertices == 0 && !variant->symmetric) {
            right = run_cancels(gpu, variant, 3000, count);
        }
    }
    return right;
}

static bool same_values(const struct matrix *left, const struct matrix *right)
{
    const size_t n = left->vertex_count;
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            double a = INFINITY;
            double b = INFINITY;
            const bool reached = matrix_distance(left, row, column, &a);
            if (reached != matrix_distance(right, row, column, &b) || (reached && a != b)) {
                fprintf(stderr, "(%u, %u): %.17g and %.17g\n", row, column, a, b);
                return false;
            }
        }
    }
    return true;
}

static bool run_large(struct gpu *gpu, uint32_t n, bool directed)
{
    struct solver *cpu = trial_open_cpu("auto", 0);
    struct edge_list list = {.vertex_count = n, .directed = directed};
    gpu_trial_connect(&list, 1000, 1000);
    struct graph *graph = edge_list_build(&list);
    struct trial expected = trial_run_graph(cpu, graph, KIND_I4, false);
    struct plan *plan = NULL;
    CHECK(planner_dense(n, GPU_TILE, &plan) == STATUS_OK);
    struct matrix matrix = {.vertex_count = n, .elements = malloc((size_t)n * n * sizeof(double))};
    CHECK(matrix.elements != NULL && expected.status == STATUS_OK);
    const struct gpu_subject subject = {graph, plan, NULL, 20000, true};
    bool right = true;
    for (size_t index = 0; index < VARIANT_COUNT && right; ++index) {
        struct solve_account account = {0};
        if (!gpu_trial_applies(&variants[index], &subject)) {
            continue;
        }
        const enum status status =
            gpu_trial_solve(gpu, &variants[index], &subject, NULL, &matrix, &account);
        right = status == STATUS_OK && same_values(&matrix, &expected.matrix);
        printf("n=%u %s %s: %.3f ms: %s\n", n, directed ? "directed" : "undirected",
               variants[index].name, account.timings.compute_s * 1e3,
               right ? "as on the CPU" : status_info(status)->code);
    }
    free(matrix.elements);
    plan_destroy(plan);
    trial_finish(&expected);
    graph_destroy(graph);
    edge_list_finish(&list);
    solver_close(cpu);
    return right;
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_SIZE];
    const uint32_t first = 0;
    struct gpu *gpu = NULL;
    if (gpu_count(reason) == 0 || gpu_open(&first, 1, &gpu) != STATUS_OK) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    bool right = false;
    if (argc == 3 && strcmp(argv[1], "--large") == 0) {
        const uint32_t n = (uint32_t)strtoul(argv[2], NULL, 10);
        right = run_large(gpu, n, true) && run_large(gpu, n, false);
    } else if (argc == 3 && strcmp(argv[1], "--edges-of") == 0) {
        right = run_sizes(gpu, (uint32_t)strtoul(argv[2], NULL, 10), SIZES_EDGES);
    } else if (argc == 2 && strcmp(argv[1], "--few") == 0) {
        right = run_sizes(gpu, LARGEST_OF_FEW, SIZES_FEW);
    } else if (argc == 2 && strcmp(argv[1], "--fewest") == 0) {
        right = run_sizes(gpu, LARGEST_OF_FEW, SIZES_FEWEST);
    } else if (argc == 3 && strcmp(argv[1], "--cancels") == 0) {
        right = run_all_cancels(gpu, (uint32_t)strtoul(argv[2], NULL, 10));
    } else {
        right = run_sizes(gpu, LARGEST_ORACLE, SIZES_ALL) && run_all_cancels(gpu, CANCELS);
    }
    gpu_close(gpu);
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
