/* Compares the GPU solver with the oracle, and with the CPU solver where the oracle takes too long.
 * The program needs only the C library and jansson, so that it runs on hosts without other
 * libraries.
 *
 *   test_solver_gpu                        the table of cases; exit 77 without a device
 *   test_solver_gpu --dense N              a random dense graph, compared with the CPU bit for bit
 *   test_solver_gpu --graph FILE --rows K  K random rows of a graph, compared with Dijkstra */
#include "tests/lib/matrix_fixture.h"
#include "tests/solver/dijkstra.h"
#include "tests/solver/graph_source.h"
#include "tests/solver/laws.h"
#include "tests/solver/shapes.h"
#include "tests/solver/table.h"
#include "tests/solver/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define LARGEST_ORACLE 300

static bool run_table(struct solver *gpu)
{
    for (uint32_t n = 0; n <= LARGEST_ORACLE; ++n) {
        if (!table_run(&gpu, 1, n)) {
            return false;
        }
    }
    return true;
}

static bool run_laws(struct solver *gpu)
{
    struct edge_list list = shapes_make(&shapes[1], LARGEST_ORACLE, 1);
    const bool hold = laws_diagonal_is_zero(gpu, &list) && laws_triangle_inequality(gpu, &list) &&
                      laws_relabelling_permutes(gpu, &list) &&
                      laws_reversing_transposes(gpu, &list) &&
                      laws_useless_edge_changes_nothing(gpu, &list);
    edge_list_finish(&list);
    return hold;
}

static bool same_on_both(struct solver *gpu, struct solver *cpu, const struct edge_list *list,
                         enum kind kind)
{
    struct graph *graph = edge_list_build(list);
    struct trial on_gpu = trial_run_graph(gpu, graph, kind, false);
    struct trial on_cpu = trial_run_graph(cpu, graph, kind, false);
    const bool same = trial_same(&on_gpu, &on_cpu);
    printf("n=%u m=%llu %s: gpu %.4f s, cpu %.4f s of computing: %s\n", graph->vertex_count,
           (unsigned long long)graph->edge_count, kind_name(kind),
           on_gpu.outcome.account.timings.compute_s, on_cpu.outcome.account.timings.compute_s,
           same ? "the same" : "DIFFERENT");
    trial_finish(&on_cpu);
    trial_finish(&on_gpu);
    graph_destroy(graph);
    return same;
}

static bool run_dense(struct solver *gpu, uint32_t vertex_count)
{
    struct solver *cpu = trial_open_cpu("auto", 0);
    struct edge_list list = {.vertex_count = vertex_count, .directed = true};
    shapes_make_dense(&list, vertex_count);
    const bool same =
        same_on_both(gpu, cpu, &list, KIND_I4) && same_on_both(gpu, cpu, &list, KIND_F4);
    edge_list_finish(&list);
    solver_close(cpu);
    return same;
}

/* Tests sizes from 1000 on, which give several tiles and a last tile of various widths. */
static bool run_sampled_sizes(struct solver *gpu)
{
    struct solver *cpu = trial_open_cpu("auto", 0);
    bool same = true;
    for (uint32_t n = 1000; n <= 1100 && same; n += 6) {
        for (size_t index = 0; index < shape_count && same; ++index) {
            if (shapes[index].integral) {
                struct edge_list list = shapes_make(&shapes[index], n, index);
                same = same_on_both(gpu, cpu, &list, KIND_I4);
                edge_list_finish(&list);
            }
        }
    }
    solver_close(cpu);
    return same;
}

struct watch {
    uint32_t cancel_after; /* number of rounds; UINT32_MAX = never */
    uint32_t rounds_done;
    uint32_t rounds_total;
    bool in_order;
};

static void note_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct watch *watch = context;
    /* The count advances by the pivot tiles of a round on the device, one or two. */
    watch->in_order = watch->in_order && rounds_done > watch->rounds_done &&
                      rounds_done <= watch->rounds_done + 2;
    watch->rounds_done = rounds_done;
    watch->rounds_total = rounds_total;
}

static bool call_cancelled(void *context)
{
    const struct watch *watch = context;
    return watch->rounds_done >= watch->cancel_after;
}

/* Solves with the dense plan, which has a known number of rounds, and checks the progress. */
static bool watched_solve(struct solver *gpu, const struct graph *graph, uint32_t cancel_after)
{
    struct watch watch = {.cancel_after = cancel_after, .in_order = true};
    const struct observer observer = {
        .context = &watch, .progress = note_progress, .cancelled = call_cancelled};
    const struct solve_request request = {.kind = KIND_I4, .verify = true, .observer = &observer};
    struct matrix matrix = {graph->vertex_count, KIND_I4, NULL};
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    matrix.elements = malloc((size_t)graph->vertex_count * graph->vertex_count * sizeof(int32_t));
    CHECK(matrix.elements != NULL);
    const enum status status = solve_graph(gpu, graph, &request, &matrix, &outcome, &problem);
    const bool cancelled = cancel_after != UINT32_MAX;
    const bool right =
        watch.in_order && status == (cancelled ? STATUS_CANCELLED : STATUS_OK) &&
        watch.rounds_done >= (cancelled ? cancel_after : watch.rounds_total) &&
        watch.rounds_done <= (cancelled ? cancel_after + 1 : watch.rounds_total) &&
        watch.rounds_total == (graph->vertex_count + gpu->class_->tile - 1) / gpu->class_->tile;
    if (!right) {
        fprintf(stderr, "cancel after %u: %s after round %u of %u\n", cancel_after,
                status_info(status)->code, watch.rounds_done, watch.rounds_total);
    }
    solve_outcome_finish(&outcome);
    free(matrix.elements);
    return right;
}

/* Cancels solves with one and with two pivot tiles per round. The device must remain usable. */
static bool run_cancels(struct solver *gpu)
{
    static const uint32_t sizes[] = {3000, 8300};
    bool right = true;
    gpu->dense_only = true;
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]) && right; ++index) {
        struct edge_list list = shapes_make(&shapes[1], sizes[index], 1);
        struct graph *graph = edge_list_build(&list);
        right = watched_solve(gpu, graph, 1) && watched_solve(gpu, graph, 7) &&
                watched_solve(gpu, graph, UINT32_MAX);
        graph_destroy(graph);
        edge_list_finish(&list);
    }
    gpu->dense_only = false;
    return right;
}

/* Expects a refusal if a cycle has length 0 in doubles but a negative length in floats. */
static bool run_zero_cycle(struct solver *gpu, uint32_t vertex_count)
{
    struct edge_list list = {.vertex_count = vertex_count, .directed = true};
    double last = 0;
    for (uint32_t vertex = 0; vertex + 1 < vertex_count; ++vertex) {
        const double weight = 0.1 * (1 + vertex % 7);
        edge_list_add(&list, vertex, vertex + 1, weight);
        last -= weight;
    }
    edge_list_add(&list, vertex_count - 1, 0, last);
    struct trial trial = trial_run(gpu, &list, KIND_F4, false);
    const bool right = trial.status == STATUS_WEIGHT_RANGE;
    if (!right) {
        fprintf(stderr, "a cycle of %u edges and length 0: %s\n", vertex_count,
                trial.problem.detail);
    }
    trial_finish(&trial);
    edge_list_finish(&list);
    return right;
}

static bool row_equals(const struct matrix *matrix, uint32_t row, const double *distances)
{
    for (uint32_t column = 0; column < matrix->vertex_count; ++column) {
        double actual = INFINITY;
        if (!matrix_distance(matrix, row, column, &actual)) {
            actual = INFINITY;
        }
        if (actual != distances[column]) {
            fprintf(stderr, "(%u, %u) is %.17g, should be %.17g\n", row, column, actual,
                    distances[column]);
            return false;
        }
    }
    return true;
}

static bool compare_rows(const struct graph *graph, const struct matrix *matrix, uint32_t rows)
{
    struct dijkstra *dijkstra = dijkstra_create(graph);
    uint64_t seed = 1;
    bool equal = true;
    for (uint32_t index = 0; index < rows && equal; ++index) {
        const uint32_t row = (uint32_t)shapes_random(&seed, graph->vertex_count);
        equal = row_equals(matrix, row, dijkstra_run(dijkstra, row));
    }
    dijkstra_destroy(dijkstra);
    return equal;
}

static bool run_file(struct solver *solver, const char *path, uint32_t rows)
{
    struct graph *graph = graph_source_open(path);
    if (graph == NULL) {
        return false;
    }
    struct trial trial = trial_run_graph(solver, graph, KIND_I4, false);
    const bool equal = trial.status == STATUS_OK && compare_rows(graph, &trial.matrix, rows);
    const struct timings *timings = &trial.outcome.account.timings;
    printf("%s: n=%u m=%llu %s: fill %.3f h2d %.3f compute %.3f d2h %.3f s; %u rows: %s\n", path,
           graph->vertex_count, (unsigned long long)graph->edge_count,
           status_info(trial.status)->code, timings->fill_s, timings->h2d_s, timings->compute_s,
           timings->d2h_s, rows, equal ? "as by Dijkstra" : "DIFFERENT");
    trial_finish(&trial);
    graph_destroy(graph);
    return equal;
}

static uint32_t number(const char *text)
{
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    CHECK(*text != '\0' && *end == '\0' && value <= UINT32_MAX);
    return (uint32_t)value;
}

static bool run(struct solver *gpu, int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--dense") == 0) {
        return run_dense(gpu, number(argv[2]));
    }
    if (argc == 5 && strcmp(argv[1], "--graph") == 0 && strcmp(argv[3], "--rows") == 0) {
        return run_file(gpu, argv[2], number(argv[4]));
    }
    if (argc > 1) {
        fprintf(stderr, "usage: %s [--dense N | --graph FILE --rows K]\n", argv[0]);
        return false;
    }
    return run_table(gpu) && run_laws(gpu) && run_cancels(gpu) && run_zero_cycle(gpu, 32) &&
           run_zero_cycle(gpu, 300) && run_sampled_sizes(gpu);
}

int main(int argc, char **argv)
{
    char reason[SOLVER_REASON_SIZE];
    if (solver_gpu_count(reason) == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    struct solver *gpu = NULL;
    struct problem problem = {0};
    if (solver_gpu_open(0, 1, &gpu, &problem) != STATUS_OK) {
        fprintf(stderr, "%s\n", problem.detail);
        return EXIT_FAILURE;
    }
    const bool right = run(gpu, argc, argv);
    solver_close(gpu);
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
