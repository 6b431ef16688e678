#include "tests/solver/trial.h"

#include "server/solver/cpu/finish.h"
#include "server/solver/cpu/kernel.h"
#include "tests/lib/matrix_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns a new matrix of scaled integers: the distances multiplied by 10^decimals. */
static struct matrix integers_of(const struct matrix *matrix, struct scaling scaling)
{
    const size_t count = (size_t)matrix->vertex_count * matrix->vertex_count;
    const double *distances = matrix->elements;
    struct matrix integers = {matrix->vertex_count, scaling.kind,
                              malloc(count * kind_size(scaling.kind) + 1)};
    CHECK(integers.elements != NULL);
    for (size_t i = 0; i < count; ++i) {
        const double integer = decimals_multiply(distances[i], scaling.decimals);
        if (scaling.kind == KIND_F8) {
            ((double *)integers.elements)[i] = integer;
        } else {
            ((int32_t *)integers.elements)[i] = isinf(integer) ? UNREACHABLE_I4 : (int32_t)integer;
        }
    }
    return integers;
}

static bool statistics_are_those_of(const struct matrix *matrix, struct scaling scaling,
                                    const void *storage)
{
    const bool is_scaled = scaling.decimals > 0;
    struct matrix reduced = is_scaled ? integers_of(matrix, scaling) : *matrix;
    const size_t size = statistics_size(matrix->vertex_count);
    void *expected = malloc(size);
    struct cpu_pool *pool = NULL;
    CHECK(expected != NULL && cpu_pool_create(1, &pool) == STATUS_OK);
    struct statistics statistics = statistics_init(expected, matrix->vertex_count, matrix->kind);
    statistics.kind = reduced.kind;
    cpu_finish_statistics(pool, &reduced, NULL, &statistics);
    if (is_scaled) {
        statistics.decimals = scaling.decimals;
        statistics_divide(&statistics);
        free(reduced.elements);
    }
    const bool same = memcmp(storage, expected, size) == 0;
    cpu_pool_destroy(pool);
    free(expected);
    return same;
}

struct statistics trial_make_statistics(struct trial *trial)
{
    trial->statistics = malloc(statistics_size(trial->matrix.vertex_count));
    CHECK(trial->statistics != NULL);
    return statistics_init(trial->statistics, trial->matrix.vertex_count, trial->matrix.kind);
}

void trial_compare_statistics(struct trial *trial)
{
    trial->outcome.account.statistics = NULL;
    trial->statistics_same =
        trial->status == STATUS_OK && trial->outcome.account.statistics_filled &&
        statistics_are_those_of(&trial->matrix, trial->scaling, trial->statistics);
}

struct trial trial_run_graph(struct solver *solver, const struct graph *graph, enum kind kind,
                             bool verify)
{
    struct trial trial = {.matrix = {graph->vertex_count, kind, NULL},
                          .scaling = graph_scaling(&graph->summary, kind)};
    const struct solve_request request = {.kind = kind, .verify = verify};
    size_t bytes = 0;
    CHECK(matrix_size(graph->vertex_count, kind, &bytes) == STATUS_OK);
    trial.matrix.elements = malloc(bytes > 0 ? bytes : 1);
    CHECK(trial.matrix.elements != NULL);
    struct statistics statistics = trial_make_statistics(&trial);
    trial.outcome.account.statistics = &statistics;
    trial.status =
        solve_graph(solver, graph, &request, &trial.matrix, &trial.outcome, &trial.problem);
    trial_compare_statistics(&trial);
    return trial;
}

struct trial trial_run(struct solver *solver, const struct edge_list *list, enum kind kind,
                       bool verify)
{
    struct graph *graph = edge_list_build(list);
    struct trial trial = trial_run_graph(solver, graph, kind, verify);
    graph_destroy(graph);
    return trial;
}

void trial_finish(struct trial *trial)
{
    free(trial->matrix.elements);
    free(trial->statistics);
    trial->statistics = NULL;
    trial->matrix.elements = NULL;
    solve_outcome_finish(&trial->outcome);
}

static bool ended_well(const struct trial *trial)
{
    if (trial->status != STATUS_OK) {
        fprintf(stderr, "not solved: %s: %s\n", status_info(trial->status)->code,
                trial->problem.detail);
    } else if (!trial->statistics_same) {
        fprintf(stderr, "n=%u: the statistics are not those of the matrix\n",
                trial->matrix.vertex_count);
    }
    return trial->status == STATUS_OK && trial->statistics_same;
}

/* Returns the distance, +infinity if unreachable. matrix_distance counts an integer as unreachable
 * only if it has exactly the reserved value. */
static double entry(const struct matrix *matrix, size_t row, size_t column)
{
    double distance = INFINITY;
    return matrix_distance(matrix, (uint32_t)row, (uint32_t)column, &distance) ? distance
                                                                               : INFINITY;
}

static bool is_close(double actual, double expected, double relative)
{
    return actual == expected || fabs(actual - expected) <= relative * fabs(expected);
}

bool trial_matrix_equals(const struct matrix *matrix, const double *distances, double relative)
{
    const size_t n = matrix->vertex_count;
    for (size_t row = 0; row < n; ++row) {
        for (size_t column = 0; column < n; ++column) {
            const double actual = entry(matrix, row, column);
            if (!is_close(actual, distances[row * n + column], relative)) {
                fprintf(stderr, "n=%zu kind %s: (%zu, %zu) is %.17g, should be %.17g\n", n,
                        kind_name(matrix->kind), row, column, actual, distances[row * n + column]);
                return false;
            }
        }
    }
    return true;
}

bool trial_equals(const struct trial *trial, const double *distances, double relative)
{
    return ended_well(trial) && trial_matrix_equals(&trial->matrix, distances, relative);
}

/* Returns the least weight of an edge from source to target, or +infinity if there is none. */
static double lightest(const struct edge_list *list, uint32_t source, uint32_t target)
{
    double weight = INFINITY;
    for (size_t index = 0; index < list->count; ++index) {
        const struct edge edge = list->edges[index];
        const bool there = edge.source == source && edge.target == target;
        const bool back = !list->directed && edge.source == target && edge.target == source;
        if ((there || back) && edge.weight < weight) {
            weight = edge.weight;
        }
    }
    return weight;
}

bool trial_names_negative_cycle(const struct trial *trial, const struct edge_list *list)
{
    const struct solve_outcome *outcome = &trial->outcome;
    if (trial->status != STATUS_NEGATIVE_CYCLE || outcome->cycle_length == 0) {
        fprintf(stderr, "n=%u: should end with a negative cycle, not %s\n", list->vertex_count,
                status_info(trial->status)->code);
        return false;
    }
    double length = 0;
    for (size_t place = 0; place < outcome->cycle_length; ++place) {
        length += lightest(list, outcome->cycle[place],
                           outcome->cycle[(place + 1) % outcome->cycle_length]);
    }
    if (!(length < 0)) {
        fprintf(stderr, "n=%u: the cycle named has length %.17g\n", list->vertex_count, length);
    }
    return length < 0;
}

bool trial_same(const struct trial *trial, const struct trial *other)
{
    if (!ended_well(trial) || !ended_well(other)) {
        return false;
    }
    const size_t n = trial->matrix.vertex_count;
    const size_t size = kind_size(trial->matrix.kind);
    const unsigned char *mine = trial->matrix.elements;
    const unsigned char *theirs = other->matrix.elements;
    for (size_t index = 0; index < n * n; ++index) {
        if (memcmp(mine + index * size, theirs + index * size, size) != 0) {
            fprintf(stderr, "n=%zu: (%zu, %zu) is %.17g here and %.17g there\n", n, index / n,
                    index % n, entry(&trial->matrix, index / n, index % n),
                    entry(&other->matrix, index / n, index % n));
            return false;
        }
    }
    return true;
}

bool trial_is_quick(void)
{
    return getenv("APSPD_TEST_QUICK") != NULL;
}

uint32_t trial_next_size(uint32_t n)
{
    do {
        n += trial_is_quick() && n >= 10 ? 61 : 1;
    } while (n > 70 && !trial_is_quick() && (n + 1) % 16 > 2);
    return n;
}

struct solver *trial_open_cpu(const char *isa, uint32_t threads)
{
    struct solver_config config = {.choice = SOLVER_CPU, .cpu_threads = threads};
    struct solver *solver = NULL;
    struct problem problem;
    snprintf(config.cpu_isa, sizeof(config.cpu_isa), "%s", isa);
    CHECK(solver_open(&config, NULL, &solver, &problem) == STATUS_OK);
    return solver;
}

struct solver *trial_cpus[TRIAL_CPUS_MAX];
size_t trial_cpu_count;

int trial_open_cpus(void **state)
{
    (void)state;
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; ++index) {
        for (uint32_t threads = 1; threads <= 2; ++threads) {
            CHECK(trial_cpu_count < TRIAL_CPUS_MAX);
            trial_cpus[trial_cpu_count++] = trial_open_cpu(cpu_kernel_usable(index)->isa, threads);
        }
    }
    return 0;
}

int trial_close_cpus(void **state)
{
    (void)state;
    while (trial_cpu_count > 0) {
        solver_close(trial_cpus[--trial_cpu_count]);
    }
    return 0;
}
