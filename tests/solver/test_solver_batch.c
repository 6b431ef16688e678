/* Batches of small graphs on every back end that is here: each item against the oracle. Depends on
 * nothing but the C library and jansson, so that it runs where only these are.
 *
 *   test_solver_batch                    the table of cases on all, the GPU when there is one
 *   test_solver_batch --gpu              on the GPU alone; exit 77 without one
 *   test_solver_batch --bench COUNT N    COUNT graphs of N vertices: milliseconds, each back end */
#include "proto/check.h"
#include "server/solver/cpu_kernel.h"
#include "tests/solver/oracle.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define LARGEST_IN_BATCH 128
#define CASE_LIMIT 4096
#define BENCH_ROUNDS 5
#define BENCH_EDGES_PER_VERTEX 8

struct kind_case {
    enum kind kind;
    double relative; /* the part of a distance by which decimals may be wrong */
};

static const struct kind_case kind_cases[] = {
    {KIND_I4, 0},
    {KIND_F4, 1e-5},
    {KIND_F8, 1e-13},
};

/* One graph of a batch, and what must come of it. */
struct case_ {
    const struct shape *shape;
    struct edge_list list;
    struct graph *graph;
    struct trial trial;
    double *distances; /* NULL: it has a negative cycle */
    double relative;
};

struct case_list {
    struct case_ cases[CASE_LIMIT];
    uint32_t count;
};

static void *make_storage(uint32_t vertex_count, enum kind kind)
{
    size_t bytes = 0;
    CHECK(matrix_size(vertex_count, kind, &bytes) == STATUS_OK);
    void *elements = malloc(bytes > 0 ? bytes : 1);
    CHECK(elements != NULL);
    return elements;
}

static void add_case(struct case_list *list, const struct shape *shape, uint32_t n, uint64_t seed,
                     struct kind_case kind, bool negative)
{
    CHECK(list->count < CASE_LIMIT);
    struct case_ *case_ = &list->cases[list->count++];
    *case_ = (struct case_){.shape = shape, .list = shapes_make(shape, n, seed)};
    if (negative) {
        shapes_add_negative_cycle(&case_->list, n);
    } else {
        case_->distances = calloc((size_t)n * n + 1, sizeof(*case_->distances));
        CHECK(case_->distances != NULL && oracle_solve(&case_->list, case_->distances));
    }
    case_->relative = shape->integral ? 0 : kind.relative;
    case_->graph = edge_list_build(&case_->list);
    case_->trial.matrix =
        (struct matrix){case_->graph->vertex_count, kind.kind, make_storage(n, kind.kind)};
}

static void finish_cases(struct case_list *list)
{
    for (uint32_t index = 0; index < list->count; ++index) {
        struct case_ *case_ = &list->cases[index];
        trial_finish(&case_->trial);
        free(case_->distances);
        graph_destroy(case_->graph);
        edge_list_finish(&case_->list);
    }
    list->count = 0;
}

/* Every shape in every kind that the solver has, and each with a negative cycle. */
static void add_size(struct case_list *list, struct solver *solver, uint32_t n)
{
    for (size_t kind = 0; kind < sizeof(kind_cases) / sizeof(kind_cases[0]); ++kind) {
        for (size_t shape = 0; shape < shape_count; ++shape) {
            const bool fits = shapes[shape].integral || kind_cases[kind].kind != KIND_I4;
            if (!fits || !solver_supports(solver, kind_cases[kind].kind)) {
                continue;
            }
            add_case(list, &shapes[shape], n, 7 * shape, kind_cases[kind], false);
            if (n > 0) {
                add_case(list, &shapes[shape], n, 7 * shape, kind_cases[kind], true);
            }
        }
    }
}

static void solve_cases(struct solver *solver, struct case_list *list)
{
    struct solve_task *tasks = calloc(list->count, sizeof(*tasks));
    struct statistics *statistics = calloc(list->count, sizeof(*statistics));
    CHECK(tasks != NULL && statistics != NULL);
    for (uint32_t index = 0; index < list->count; ++index) {
        struct case_ *case_ = &list->cases[index];
        statistics[index] = trial_make_statistics(&case_->trial);
        tasks[index].outcome.account.statistics = &statistics[index];
        tasks[index].graph = case_->graph;
        tasks[index].request.kind = case_->trial.matrix.kind;
        tasks[index].matrix = case_->trial.matrix;
    }
    solve_graphs(solver, NULL, tasks, list->count);
    for (uint32_t index = 0; index < list->count; ++index) {
        struct trial *trial = &list->cases[index].trial;
        trial->status = tasks[index].status;
        trial->outcome = tasks[index].outcome;
        trial->problem = tasks[index].problem;
        trial_compare_statistics(trial);
    }
    free(statistics);
    free(tasks);
}

static bool judge(const struct case_ *case_)
{
    const bool right = case_->distances != NULL
                           ? trial_equals(&case_->trial, case_->distances, case_->relative)
                           : trial_names_negative_cycle(&case_->trial, &case_->list);
    if (!right) {
        fprintf(stderr, "  shape %s%s, n=%u, kind %s, in a batch\n", case_->shape->name,
                case_->distances != NULL ? "" : " with a negative cycle",
                case_->graph->vertex_count, kind_name(case_->trial.matrix.kind));
    }
    return right;
}

static bool run_cases(struct solver *solver, struct case_list *list)
{
    bool right = true;
    solve_cases(solver, list);
    for (uint32_t index = 0; index < list->count && right; ++index) {
        right = judge(&list->cases[index]);
    }
    finish_cases(list);
    return right;
}

/* Eight sizes to a batch, far apart, so that every class of sizes is in each. */
static bool run_table(struct solver *solver, struct case_list *list)
{
    const uint32_t stride = getenv("APSPD_TEST_QUICK") != NULL ? 9 : 1;
    for (uint32_t first = 0; first < 17; first += stride) {
        for (uint32_t n = first; n <= LARGEST_IN_BATCH; n += 17) {
            add_size(list, solver, n);
        }
        if (!run_cases(solver, list)) {
            return false;
        }
    }
    add_size(list, solver, LARGEST_IN_BATCH);
    add_size(list, solver, LARGEST_IN_BATCH - 1);
    return run_cases(solver, list);
}

/* A cycle whose length is 0 in doubles and below it in floats: solved with the diagonal held. */
static bool run_zero_cycle(struct solver *solver, struct case_list *list)
{
    add_size(list, solver, 20);
    struct case_ *case_ = &list->cases[list->count++];
    *case_ = (struct case_){.shape = &shapes[0]};
    case_->list = (struct edge_list){.vertex_count = 32, .directed = true};
    double last = 0;
    for (uint32_t vertex = 0; vertex < 31; ++vertex) {
        const double weight = 0.1 * (1 + vertex % 7);
        edge_list_add(&case_->list, vertex, vertex + 1, weight);
        last -= weight;
    }
    edge_list_add(&case_->list, 31, 0, last);
    case_->graph = edge_list_build(&case_->list);
    case_->trial.matrix = (struct matrix){32, KIND_F4, make_storage(32, KIND_F4)};
    solve_cases(solver, list);
    const float *elements = case_->trial.matrix.elements;
    bool right = case_->trial.status == STATUS_OK;
    for (uint32_t vertex = 0; vertex < 32 && right; ++vertex) {
        right = elements[vertex * 33] == 0;
    }
    for (uint32_t index = 0; index + 1 < list->count && right; ++index) {
        right = judge(&list->cases[index]);
    }
    if (!right) {
        fprintf(stderr, "a cycle of length 0: %s\n", case_->trial.problem.detail);
    }
    finish_cases(list);
    return right;
}

static bool run_solver(struct solver *solver, struct case_list *list)
{
    return run_table(solver, list) && run_zero_cycle(solver, list);
}

/* ---- The bench ---- */

static struct graph *make_random(uint32_t n, uint64_t seed)
{
    struct edge_list list = {.vertex_count = n, .directed = true};
    for (uint32_t edge = 0; n > 1 && edge < BENCH_EDGES_PER_VERTEX * n; ++edge) {
        const uint32_t source = (uint32_t)shapes_random(&seed, n);
        const uint32_t step = 1 + (uint32_t)shapes_random(&seed, n - 1);
        edge_list_add(&list, source, (source + step) % n, 1 + (double)shapes_random(&seed, 999));
    }
    struct graph *graph = edge_list_build(&list);
    edge_list_finish(&list);
    return graph;
}

static struct timings sum_timings(const struct solve_task *tasks, uint32_t count)
{
    struct timings sum = {0};
    for (uint32_t index = 0; index < count; ++index) {
        const struct timings *timings = &tasks[index].outcome.account.timings;
        CHECK(tasks[index].status == STATUS_OK);
        sum.compute_s += timings->compute_s;
        sum.h2d_s += timings->h2d_s;
        sum.d2h_s += timings->d2h_s;
    }
    return sum;
}

static void bench_round(struct solver *solver, struct solve_task *tasks, uint32_t count, double n)
{
    for (uint32_t index = 0; index < count; ++index) {
        tasks[index].outcome = (struct solve_outcome){0};
    }
    solve_graphs(solver, NULL, tasks, count);
    const struct timings sum = sum_timings(tasks, count);
    printf("%s: %u x n=%.0f: compute %.3f ms, %.2f T relaxations/s, in %.2f ms, out %.2f ms\n",
           solver->class_->name, count, n, sum.compute_s * 1e3,
           count * n * n * n / sum.compute_s * 1e-12, sum.h2d_s * 1e3, sum.d2h_s * 1e3);
}

/* Several rounds: the first touches its memory for the first time. */
static bool bench(struct solver *solver, uint32_t count, uint32_t n)
{
    struct solve_task *tasks = calloc(count, sizeof(*tasks));
    CHECK(tasks != NULL);
    for (uint32_t index = 0; index < count; ++index) {
        tasks[index].graph = make_random(n, index + 1);
        tasks[index].request.kind = KIND_I4;
        tasks[index].matrix = (struct matrix){n, KIND_I4, make_storage(n, KIND_I4)};
    }
    for (uint32_t round = 0; round < BENCH_ROUNDS; ++round) {
        bench_round(solver, tasks, count, n);
    }
    for (uint32_t index = 0; index < count; ++index) {
        graph_destroy((struct graph *)tasks[index].graph);
        free(tasks[index].matrix.elements);
    }
    free(tasks);
    return true;
}

/* ---- The back ends ---- */

static uint32_t number(const char *text)
{
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    CHECK(*text != '\0' && *end == '\0' && value <= UINT32_MAX);
    return (uint32_t)value;
}

static bool run(struct solver *solver, int argc, char **argv, struct case_list *list)
{
    const bool benches = argc == 4 && strcmp(argv[1], "--bench") == 0;
    const bool right =
        benches ? bench(solver, number(argv[2]), number(argv[3])) : run_solver(solver, list);
    solver_close(solver);
    return right;
}

static bool run_cpu(int argc, char **argv, struct case_list *list)
{
    bool right = true;
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL && right; ++index) {
        right = run(trial_open_cpu(cpu_kernel_usable(index)->isa, 2), argc, argv, list);
    }
    return right;
}

static int run_gpu(int argc, char **argv, struct case_list *list)
{
    char reason[SOLVER_REASON_SIZE];
    struct solver *gpu = NULL;
    struct problem problem = {0};
    if (solver_gpu_count(reason) == 0) {
        printf("gpu skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    if (solver_gpu_open(0, &gpu, &problem) != STATUS_OK) {
        fprintf(stderr, "%s\n", problem.detail);
        return EXIT_FAILURE;
    }
    return run(gpu, argc, argv, list) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static struct case_list list;
    const int on_gpu = run_gpu(argc, argv, &list);
    if (argc == 2 && strcmp(argv[1], "--gpu") == 0) {
        return on_gpu;
    }
    const bool right = on_gpu != EXIT_FAILURE && run_cpu(argc, argv, &list);
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
