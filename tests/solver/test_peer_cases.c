/* Runs test cases from other projects on every back end. The environment variable APSPD_TEST_DATA
 * names the folder of the cases; without it, the exit code is 77 (skipped). */
#include "server/solver/cpu/kernel.h"
#include "tests/solver/graph_source.h"
#include "tests/solver/trial.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define TOLERANCE_F8 1e-12

/* Converts the case to compact JSON, and returns the graph that the product's reader reads from
 * this JSON. */
static struct graph *read_graph(const json_t *peer_case)
{
    const struct graph_options options = {0};
    json_t *body = json_pack("{s:O,s:O,s:O}", "n", json_object_get(peer_case, "n"), "edges",
                             json_object_get(peer_case, "edges"), "directed",
                             json_object_get(peer_case, "directed"));
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (text == NULL) {
        return NULL;
    }
    struct graph *graph = graph_source_read(FORMAT_JSON, &options, text, strlen(text));
    free(text);
    return graph;
}

/* Reads the edges without the product's reader, so that a reported negative cycle is checked
 * independently. */
static struct edge_list read_edges(const json_t *peer_case)
{
    struct edge_list list = {
        .vertex_count = (uint32_t)json_integer_value(json_object_get(peer_case, "n")),
        .directed = json_is_true(json_object_get(peer_case, "directed")),
    };
    size_t index;
    json_t *edge;
    json_array_foreach(json_object_get(peer_case, "edges"), index, edge)
    {
        edge_list_add(&list, (uint32_t)json_integer_value(json_array_get(edge, 0)),
                      (uint32_t)json_integer_value(json_array_get(edge, 1)),
                      json_number_value(json_array_get(edge, 2)));
    }
    return list;
}

static double *read_expected(const json_t *peer_case, size_t n)
{
    double *distances = calloc(n * n + 1, sizeof(*distances));
    const json_t *rows = json_object_get(peer_case, "expected");
    for (size_t index = 0; distances != NULL && index < n * n; ++index) {
        const json_t *entry = json_array_get(json_array_get(rows, index / n), index % n);
        distances[index] = json_is_null(entry) ? INFINITY : json_number_value(entry);
    }
    return distances;
}

static bool equals_expected(struct solver *solver, const struct graph *graph, enum kind kind,
                            const json_t *peer_case)
{
    double *distances = read_expected(peer_case, graph->vertex_count);
    struct trial trial = trial_run_graph(solver, graph, kind, true);
    const bool right =
        distances != NULL && trial_equals(&trial, distances, kind == KIND_F8 ? TOLERANCE_F8 : 0);
    trial_finish(&trial);
    free(distances);
    return right;
}

static bool ends_with_cycle(struct solver *solver, const struct graph *graph, enum kind kind,
                            const json_t *peer_case)
{
    struct edge_list list = read_edges(peer_case);
    struct trial trial = trial_run_graph(solver, graph, kind, false);
    const bool right = trial_names_negative_cycle(&trial, &list);
    trial_finish(&trial);
    edge_list_finish(&list);
    return right;
}

static bool run_case(struct solver *solver, const json_t *peer_case)
{
    struct graph *graph = read_graph(peer_case);
    bool right = false;
    if (graph != NULL) {
        const enum kind kind = graph->summary.decimals == 0 ? KIND_I4 : KIND_F8;
        right = json_object_get(peer_case, "error") != NULL
                    ? ends_with_cycle(solver, graph, kind, peer_case)
                    : equals_expected(solver, graph, kind, peer_case);
    }
    graph_destroy(graph);
    return right;
}

static size_t run_cases(struct solver *solver, const json_t *cases)
{
    struct solver_device device;
    solver->class_->describe(solver, &device);
    size_t failed = 0;
    size_t index;
    json_t *peer_case;
    json_array_foreach(cases, index, peer_case)
    {
        if (!run_case(solver, peer_case)) {
            fprintf(stderr, "  case %s\n", json_string_value(json_object_get(peer_case, "name")));
            ++failed;
        }
    }
    printf("%s %s: %zu cases, %zu failed\n", device.solver, device.detail, json_array_size(cases),
           failed);
    return failed;
}

static size_t run_solvers(const json_t *cases)
{
    size_t failed = 0;
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; ++index) {
        struct solver *cpu = trial_open_cpu(cpu_kernel_usable(index)->isa, 2);
        failed += run_cases(cpu, cases);
        solver_close(cpu);
    }
    char reason[SOLVER_REASON_SIZE];
    struct solver *gpu = NULL;
    if (solver_gpu_count(reason) > 0) {
        if (solver_gpu_open(0, 1, &gpu, NULL) != STATUS_OK) {
            return failed + 1;
        }
        failed += run_cases(gpu, cases);
        solver_close(gpu);
    }
    return failed;
}

int main(void)
{
    const char *folder = getenv("APSPD_TEST_DATA");
    char path[4096];
    if (folder == NULL || snprintf(path, sizeof(path), "%s/peer_cases.json", folder) < 0) {
        puts("skipped: APSPD_TEST_DATA is not set");
        return EXIT_SKIPPED;
    }
    json_error_t error;
    json_t *cases = json_load_file(path, 0, &error);
    if (cases == NULL) {
        printf("skipped: %s: %s\n", path, error.text);
        return EXIT_SKIPPED;
    }
    const bool empty = json_array_size(cases) == 0;
    const size_t failed = run_solvers(cases);
    json_decref(cases);
    return failed == 0 && !empty ? EXIT_SUCCESS : EXIT_FAILURE;
}
