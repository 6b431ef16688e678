/* Relaxations per second (n^3 / seconds of computing) of the CPU solver on dense random i4 graphs:
 * every kernel that this machine runs, on one and on two threads, best of three, beside the plain
 * triple loop of this program.
 *
 *   bench_solver [N ...]     default 1024 2048 4096 */
#include "server/solver/cpu/kernel.h"
#include "server/solver/stopwatch.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <stdio.h>
#include <stdlib.h>

#define REPEATS 3
#define PLAIN_VERTICES 1024

static double giga_relaxations(uint32_t vertex_count, double seconds)
{
    const double n = vertex_count;
    return n * n * n / seconds / 1e9;
}

static struct graph *make_graph(uint32_t vertex_count)
{
    struct edge_list list = {.vertex_count = vertex_count, .directed = true};
    shapes_make_dense(&list, vertex_count);
    struct graph *graph = edge_list_build(&list);
    edge_list_finish(&list);
    return graph;
}

static void relax_row(int32_t *restrict row, const int32_t *restrict pivot, int32_t to, uint32_t n)
{
    for (uint32_t j = 0; j < n; ++j) {
        row[j] = to + pivot[j] < row[j] ? to + pivot[j] : row[j];
    }
}

/* The loop that everybody writes first, compiled with this program's flags. */
static double time_plain_loop(uint32_t n)
{
    int32_t *d = calloc((size_t)n * n, sizeof(*d));
    uint64_t seed = 1;
    CHECK(d != NULL);
    for (size_t index = 0; index < (size_t)n * n; ++index) {
        d[index] = index % (n + 1) == 0 ? 0 : (int32_t)(1 + shapes_random(&seed, 1000));
    }
    const double begin_s = stopwatch_now_s();
    for (size_t k = 0; k < n; ++k) {
        for (size_t i = 0; i < n; ++i) {
            if (i != k) {
                relax_row(d + i * n, d + k * n, d[i * n + k], n);
            }
        }
    }
    const double seconds = stopwatch_now_s() - begin_s;
    free(d);
    return seconds;
}

static double time_solver(const struct graph *graph, const char *isa, uint32_t threads)
{
    struct solver *solver = trial_open_cpu(isa, threads);
    double best_s = 0;
    for (uint32_t repeat = 0; repeat < REPEATS; ++repeat) {
        struct trial trial = trial_run_graph(solver, graph, KIND_I4, false);
        CHECK(trial.status == STATUS_OK);
        const double seconds = trial.outcome.account.timings.compute_s;
        best_s = repeat == 0 || seconds < best_s ? seconds : best_s;
        trial_finish(&trial);
    }
    solver_close(solver);
    return best_s;
}

static void run(uint32_t vertex_count, double plain_rate)
{
    struct graph *graph = make_graph(vertex_count);
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; ++index) {
        for (uint32_t threads = 1; threads <= 2; ++threads) {
            const char *isa = cpu_kernel_usable(index)->isa;
            const double seconds = time_solver(graph, isa, threads);
            const double rate = giga_relaxations(vertex_count, seconds);
            printf("n=%-5u %-8s %u thread%s %8.4f s %6.1f Grelax/s %6.1f x plain loop\n",
                   vertex_count, isa, threads, threads == 1 ? " " : "s", seconds, rate,
                   rate / plain_rate);
            fflush(stdout);
        }
    }
    graph_destroy(graph);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {1024, 2048, 4096};
    const double plain_s = time_plain_loop(PLAIN_VERTICES);
    const double plain_rate = giga_relaxations(PLAIN_VERTICES, plain_s);
    printf("n=%-5u plain loop, 1 thread %8.4f s %6.1f Grelax/s\n", PLAIN_VERTICES, plain_s,
           plain_rate);
    for (int index = 1; index < argc; ++index) {
        run((uint32_t)strtoul(argv[index], NULL, 10), plain_rate);
    }
    for (size_t index = 0; argc == 1 && index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        run(sizes[index], plain_rate);
    }
    return 0;
}
