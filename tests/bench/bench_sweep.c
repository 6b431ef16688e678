/* Sweeps on a GPU: the min-plus product by its form, and whole solves by the way that they are
 * forced to go. One JSON object per line, for bench_charts.py. Exit 77 without a device.
 *
 *   bench_sweep [N]     the products are over N x N, default 16384; the solves have 256 to N
 *                       vertices */
#include "gpu/gpu.h"
#include "server/solver/plan/planner.h"
#include "tests/bench/sweep.h"
#include "tests/solver/edge_list.h"
#include "tests/solver/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define RUNS 3
#define DEGREE 10
#define WEIGHT_MAX 1000
#define NEVER UINT32_MAX
/* Beyond these sizes the whole solve as one launch takes long and says nothing new. */
#define SMALL_MAX 4096

static const struct {
    const char *name;
    struct gpu_tuning tuning;
    uint32_t largest;
} ways[] = {
    {"one launch", {NEVER, NEVER, NEVER, NEVER}, SMALL_MAX},
    {"a pivot tile per round", {0, NEVER, NEVER, NEVER}, NEVER},
    {"two pivot tiles per round", {0, NEVER, 0, NEVER}, NEVER},
};

static bool sweep_products(uint32_t n)
{
    struct sweep *sweep = NULL;
    enum status status = sweep_open(n, &sweep);
    for (size_t i = 0; i < sweep_form_count() && status == STATUS_OK; i++) {
        const struct sweep_form form = sweep_form_at(i);
        double seconds = 0;
        status = sweep_check(sweep, i);
        if (status == STATUS_OK) {
            status = sweep_measure(sweep, i, &seconds);
        }
        if (status == STATUS_OK) {
            printf("{\"what\":\"product\",\"n\":%u,\"tile_rows\":%u,\"tile_columns\":%u,"
                   "\"thread_rows\":%u,\"thread_columns\":%u,\"slab\":%u,\"depth\":%u,"
                   "\"seconds\":%.9g,\"relaxations_per_s\":%.9g}\n",
                   n, form.tile_rows, form.tile_columns, form.thread_rows, form.thread_columns,
                   form.slab, form.depth, seconds, (double)n * n * form.depth / seconds);
            fflush(stdout);
        }
    }
    sweep_close(sweep);
    if (status != STATUS_OK) {
        fprintf(stderr, "products: %s\n", status_info(status)->title);
    }
    return status == STATUS_OK;
}

static struct graph *make_graph(uint32_t n)
{
    struct edge_list list = {.vertex_count = n, .directed = true};
    uint64_t seed = n;
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        edge_list_add(&list, vertex, (vertex + 1) % n, WEIGHT_MAX);
        for (int edge = 0; edge < DEGREE; edge++) {
            edge_list_add(&list, vertex, (uint32_t)shapes_random(&seed, n),
                          1 + (double)shapes_random(&seed, WEIGHT_MAX));
        }
    }
    struct graph *graph = edge_list_build(&list);
    edge_list_finish(&list);
    return graph;
}

/* The fastest of RUNS solves, after one that warms up. */
static bool time_way(struct gpu *gpu, size_t way, const struct graph *graph,
                     const struct plan *plan, struct matrix *matrix)
{
    const struct solve_options options = {0};
    double best_s = 0;
    gpu_set_tuning(gpu, &ways[way].tuning);
    for (int run = 0; run <= RUNS; run++) {
        struct solve_account account = {0};
        const enum status status = gpu_solve(gpu, graph, plan, &options, NULL, matrix, &account);
        if (status != STATUS_OK) {
            fprintf(stderr, "%s: %s\n", ways[way].name, status_info(status)->title);
            return false;
        }
        const double seconds = account.timings.compute_s;
        best_s = run > 0 && (best_s == 0 || seconds < best_s) ? seconds : best_s;
    }
    const double n = graph->vertex_count;
    printf("{\"what\":\"solve\",\"way\":\"%s\",\"n\":%u,\"seconds\":%.9g,"
           "\"relaxations_per_s\":%.9g}\n",
           ways[way].name, graph->vertex_count, best_s, n * n * n / best_s);
    fflush(stdout);
    return true;
}

static bool sweep_ways(struct gpu *gpu, uint32_t largest)
{
    bool right = true;
    for (uint32_t n = 256; n <= largest && right; n *= 2) {
        struct graph *graph = make_graph(n);
        struct plan *plan = NULL;
        struct matrix matrix = {n, KIND_I4, malloc((size_t)n * n * sizeof(int32_t))};
        CHECK(matrix.elements != NULL && planner_dense(n, GPU_TILE, &plan) == STATUS_OK);
        for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]) && right; way++) {
            right = n > ways[way].largest || time_way(gpu, way, graph, plan, &matrix);
        }
        free(matrix.elements);
        plan_destroy(plan);
        graph_destroy(graph);
    }
    return right;
}

int main(int argc, char **argv)
{
    const unsigned long asked = argc > 1 ? strtoul(argv[1], NULL, 10) : 16384;
    const uint32_t n =
        asked < SWEEP_N_MIN ? SWEEP_N_MIN : (uint32_t)asked / SWEEP_MULTIPLE * SWEEP_MULTIPLE;
    char reason[GPU_REASON_SIZE];
    const uint32_t first = 0;
    struct gpu *gpu = NULL;
    if (gpu_count(reason) == 0) {
        fprintf(stderr, "skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    if (gpu_open(&first, 1, &gpu) != STATUS_OK) {
        return EXIT_FAILURE;
    }
    const bool right = sweep_products(n) && sweep_ways(gpu, n);
    gpu_close(gpu);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
