/* Checks matrices and hierarchies of graphs with decimal weights against exact sums of integers:
 * every distance must be the double to which its decimal text is parsed.
 *
 *   test_decimals          a sample of the jobs
 *   test_decimals --all    all 3,360 jobs
 *   test_decimals --gpu    a sample with the GPU solver; exit 77 without a device */
#include "proto/hierarchy_search.h"
#include "server/solver/solve_hierarchy.h"
#include "tests/solver/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define NO_WAY INT64_MAX
#define DIGITS 3
#define SEEDS 28

static const uint32_t sizes[] = {2, 3, 5, 9, 17, 40, 77, 130, 200, 300};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct job {
    uint32_t n;
    int digits;
    bool slack; /* edges are longer than the difference between the heights of their endpoints */
    uint64_t seed;
};

static int64_t draw(uint64_t *seed, int64_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((*seed >> 33) % (uint64_t)limit);
}

/* Returns the double to which the text of the decimal is parsed. */
static double decimal_of(int64_t units, int digits)
{
    char text[40];
    snprintf(text, sizeof(text), "%llde-%d", (long long)units, digits);
    return strtod(text, NULL);
}

/* Makes a ring and random edges, each as long as the height difference of its ends plus a slack.
 * Heights cancel out along a cycle, so its length is the sum of its slacks. */
static struct edge_list make_edges(const struct job *job, int64_t *distances)
{
    const uint32_t n = job->n;
    struct edge_list list = {.vertex_count = n, .directed = true};
    int64_t *heights = calloc(n, sizeof(*heights));
    uint64_t seed = job->seed;
    CHECK(heights != NULL);
    for (uint32_t v = 0; v < n; ++v) {
        heights[v] = draw(&seed, 100000);
    }
    for (size_t i = 0; i < (size_t)n * n; ++i) {
        distances[i] = i % (n + 1) == 0 ? 0 : NO_WAY;
    }
    for (uint32_t i = 0; i < 4 * n; ++i) {
        const uint32_t u = i < n ? i : (uint32_t)draw(&seed, n);
        const uint32_t v = i < n ? (i + 1) % n : (uint32_t)draw(&seed, n);
        const int64_t slack = job->slack && draw(&seed, 3) > 0 ? draw(&seed, 2000) : 0;
        const int64_t units = heights[v] - heights[u] + slack;
        int64_t *distance = &distances[(size_t)u * n + v];
        if (u != v) {
            edge_list_add(&list, u, v, decimal_of(units, job->digits));
            *distance = units < *distance ? units : *distance;
        }
    }
    free(heights);
    for (uint32_t k = 0; k < n; ++k) {
        for (uint32_t i = 0; i < n; ++i) {
            const int64_t first = distances[(size_t)i * n + k];
            for (uint32_t j = 0; j < n && first != NO_WAY; ++j) {
                const int64_t second = distances[(size_t)k * n + j];
                int64_t *distance = &distances[(size_t)i * n + j];
                if (second != NO_WAY && first + second < *distance) {
                    *distance = first + second;
                }
            }
        }
    }
    return list;
}

static bool equals(const struct job *job, const double *row, uint32_t source,
                   const int64_t *distances, const char *form)
{
    for (uint32_t target = 0; target < job->n; ++target) {
        const int64_t units = distances[(size_t)source * job->n + target];
        const double expected = units == NO_WAY ? (double)INFINITY : decimal_of(units, job->digits);
        if (row[target] != expected) {
            fprintf(stderr, "%s n=%u digits=%d %s seed=%llu: (%u, %u) is %.17g, should be %.17g\n",
                    form, job->n, job->digits, job->slack ? "slack" : "skew",
                    (unsigned long long)job->seed, source, target, row[target], expected);
            return false;
        }
    }
    return true;
}

static bool solves_matrix(struct solver *solver, const struct job *job, const struct graph *graph,
                          const int64_t *distances)
{
    struct trial trial = trial_run_graph(solver, graph, KIND_F8, true);
    bool right = trial.status == STATUS_OK && trial.statistics_same;
    if (!right) {
        fprintf(stderr, "matrix n=%u: %s\n", job->n,
                trial.status != STATUS_OK ? trial.problem.detail : "other statistics");
    }
    for (uint32_t source = 0; right && source < job->n; ++source) {
        right = equals(job, (const double *)trial.matrix.elements + (size_t)source * job->n, source,
                       distances, "matrix");
    }
    trial_finish(&trial);
    return right;
}

static bool solves_hierarchy(const struct job *job, const struct graph *graph,
                             const int64_t *distances)
{
    const struct solve_request request = {.kind = KIND_F8, .threads = 1};
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    struct hierarchy *hierarchy = NULL;
    struct hierarchy_search *search = NULL;
    double *row = calloc(job->n, sizeof(*row));
    void *bytes = NULL;
    uint64_t size;
    CHECK(row != NULL);
    bool right = solve_hierarchy(graph, &request, &bytes, &size, &outcome, &problem) == STATUS_OK &&
                 hierarchy_open(bytes, size, &hierarchy) == STATUS_OK &&
                 hierarchy_search_create(hierarchy, false, &search) == STATUS_OK;
    if (!right) {
        fprintf(stderr, "hierarchy n=%u: %s\n", job->n, problem.detail);
    }
    for (uint32_t source = 0; right && source < job->n; ++source) {
        hierarchy_rows_begin(search, &source, 1, row);
        while (!hierarchy_rows_step(search)) {
        }
        right = equals(job, row, source, distances, "hierarchy");
    }
    hierarchy_search_destroy(search);
    hierarchy_close(hierarchy);
    free(bytes);
    free(row);
    solve_outcome_finish(&outcome);
    return right;
}

/* Runs the jobs, one matrix and one hierarchy per graph, and counts them. */
static bool run_jobs(struct solver *solver, int seeds, bool is_gpu)
{
    uint32_t jobs = 0;
    for (size_t i = 0; i < SIZES * DIGITS * 2 * (size_t)seeds; ++i) {
        const struct job job = {.n = sizes[i % SIZES],
                                .digits = 1 + (int)(i / SIZES % DIGITS),
                                .slack = i / SIZES / DIGITS % 2 == 1,
                                .seed = i};
        int64_t *distances = malloc((size_t)job.n * job.n * sizeof(*distances));
        CHECK(distances != NULL);
        struct edge_list list = make_edges(&job, distances);
        struct graph *graph = edge_list_build(&list);
        const bool right = solves_matrix(solver, &job, graph, distances) &&
                           (is_gpu || solves_hierarchy(&job, graph, distances));
        graph_destroy(graph);
        edge_list_finish(&list);
        free(distances);
        if (!right) {
            return false;
        }
        jobs += is_gpu ? 1 : 2;
    }
    printf("%u jobs are exact\n", jobs);
    return true;
}

/* Solves rings of several tiles in each element type that decimals use: 16 bits, i4, and f8 if sums
 * exceed i4. Undirected rings are solved as half matrices. The tiles are stored in the matrix
 * itself, or separately if the solver uses a plan. */
static bool run_rings(struct solver *solver)
{
    static const int64_t units[] = {25, 1 << 20, 1 << 22};
    const struct job job = {.n = 300, .digits = 2};
    int64_t *distances = malloc((size_t)job.n * job.n * sizeof(*distances));
    bool right = true;
    CHECK(distances != NULL);
    for (size_t i = 0; i < 12 && right; ++i) {
        const int64_t step = units[i / 4];
        struct edge_list list = {.vertex_count = job.n, .directed = i % 2 == 0};
        for (uint32_t u = 0; u < job.n; ++u) {
            edge_list_add(&list, u, (u + 1) % job.n, decimal_of(step, job.digits));
            for (uint32_t v = 0; v < job.n; ++v) {
                const uint32_t ahead = (v + job.n - u) % job.n;
                const bool back = !list.directed && ahead > job.n / 2;
                distances[(size_t)u * job.n + v] = step * (back ? job.n - ahead : ahead);
            }
        }
        struct graph *graph = edge_list_build(&list);
        solver->dense_only = i / 2 % 2 == 0;
        right = solves_matrix(solver, &job, graph, distances);
        graph_destroy(graph);
        edge_list_finish(&list);
    }
    solver->dense_only = false;
    free(distances);
    return right;
}

int main(int count, char **arguments)
{
    const bool is_gpu = count > 1 && strcmp(arguments[1], "--gpu") == 0;
    const bool is_all = count > 1 && strcmp(arguments[1], "--all") == 0;
    char reason[SOLVER_REASON_SIZE];
    struct solver *solver = NULL;
    struct problem problem;
    if (is_gpu && solver_gpu_count(reason) == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    if (is_gpu) {
        CHECK(solver_gpu_open(0, 1, &solver, &problem) == STATUS_OK);
    } else {
        solver = trial_open_cpu("auto", 1);
    }
    const bool right = run_rings(solver) && run_jobs(solver, is_all ? SEEDS : 1, is_gpu);
    solver_close(solver);
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
