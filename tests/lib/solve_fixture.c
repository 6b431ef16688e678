#include "tests/lib/solve_fixture.h"

struct solver *cpu;

int open_cpu(void **state)
{
    const struct solver_config config = {
        .choice = SOLVER_AUTO, .cpu_threads = 1, .cpu_isa = "portable"};
    return solver_cpu_open(&config, &cpu, NULL) == STATUS_OK ? 0 : 1;
}

int close_cpu(void **state)
{
    solver_close(cpu);
    return 0;
}

struct attempt run(struct solver *solver, const struct graph *graph, enum kind kind)
{
    struct attempt attempt = {0};
    struct matrix matrix = {graph->vertex_count, kind, &attempt.entries};
    const struct solve_request request = {.kind = kind, .verify = true};
    attempt.status =
        solve_graph(solver, graph, &request, &matrix, &attempt.outcome, &attempt.problem);
    return attempt;
}

struct attempt run_edges(uint32_t vertex_count, const struct range_edge *edges, size_t count,
                         bool directed, enum kind kind)
{
    struct graph *graph = range_build(vertex_count, edges, count, directed);
    struct attempt attempt = run(cpu, graph, kind);
    graph_destroy(graph);
    return attempt;
}

static void describe_cpu(const struct solver *solver, struct solver_device *ret_device)
{
    (void)solver;
    cpu->class_->describe(cpu, ret_device);
}

static void estimate_cpu(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                         enum kind kind, const struct solve_options *options,
                         struct solver_estimate *ret_estimate)
{
    (void)solver;
    cpu->class_->estimate(cpu, vertex_count, edge_count, kind, options, ret_estimate);
}

void stand_in_init(struct stand_in *device)
{
    *device = (struct stand_in){.class_ = *cpu->class_};
    device->class_.describe = describe_cpu;
    device->class_.estimate = estimate_cpu;
    device->solver.dense_only = true;
    device->solver.class_ = &device->class_;
}
