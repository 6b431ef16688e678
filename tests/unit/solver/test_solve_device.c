#include "proto/job_document.h"
#include "tests/lib/solve_fixture.h"

#include <math.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

/* A stand-in for a device that computes in 16 bits if the range of distances is proven. */
struct short_solver {
    struct stand_in stand_in;
    bool told_narrow;
};

static enum status solve_short(struct solver *solver, const struct graph *graph,
                               const struct plan *plan, const struct solve_options *options,
                               const struct observer *observer, struct matrix *matrix,
                               struct solve_account *account)
{
    struct short_solver *self = (struct short_solver *)solver;
    self->told_narrow = options->narrow;
    return cpu->class_->solve(cpu, graph, plan, options, observer, matrix, account);
}

static void estimate_hour(const struct solver *solver, uint32_t vertex_count, uint64_t edge_count,
                          enum kind kind, const struct solve_options *options,
                          struct solver_estimate *ret_estimate)
{
    (void)options;
    (void)solver;
    (void)vertex_count;
    (void)edge_count;
    (void)kind;
    *ret_estimate = (struct solver_estimate){.seconds = 3600};
}

static struct attempt run_short(struct short_solver *device, const struct range_edge *edges,
                                uint32_t narrow_vertices, enum kind kind)
{
    stand_in_init(&device->stand_in);
    device->stand_in.class_.solve = solve_short;
    device->stand_in.class_.estimate = estimate_hour;
    device->stand_in.solver.narrow_vertices = narrow_vertices;
    struct graph *graph = range_build(3, edges, 2, true);
    struct attempt attempt = run(&device->stand_in.solver, graph, kind);
    solve_outcome_finish(&attempt.outcome);
    graph_destroy(graph);
    return attempt;
}

TEST(a_solver_uses_16_bits_if_they_are_proven_to_suffice)
{
    static const struct range_edge long_path[] = {{0, 1, 32000}, {1, 2, 767}};
    struct short_solver device;
    assert_int_equal(run_short(&device, short_path, 3, KIND_I4).status, STATUS_OK);
    assert_true(device.told_narrow);
    assert_int_equal(run_short(&device, short_path, 3, KIND_U2).status, STATUS_OK);
    assert_true(device.told_narrow);
    assert_int_equal(run_short(&device, short_path, 4, KIND_I4).status, STATUS_OK);
    assert_false(device.told_narrow);
    assert_int_equal(run_short(&device, short_path, 0, KIND_I4).status, STATUS_OK);
    assert_false(device.told_narrow);
    assert_int_equal(run_short(&device, long_path, 3, KIND_I4).status, STATUS_OK);
    assert_false(device.told_narrow);
}

#define LARGE_VERTICES 2100

/* Waits until another thread has made every page of the matrix resident, and then solves. */
static enum status solve_when_warm(struct solver *solver, const struct graph *graph,
                                   const struct plan *plan, const struct solve_options *options,
                                   const struct observer *observer, struct matrix *matrix,
                                   struct solve_account *account)
{
    (void)solver;
    (void)plan;
    (void)options;
    (void)observer;
    (void)account;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = (size_t)graph->vertex_count * graph->vertex_count * sizeof(int32_t);
    for (size_t offset = 0; offset < size; offset += page) {
        unsigned char resident = 0;
        while ((resident & 1) == 0) {
            assert_int_equal(mincore((char *)matrix->elements + offset, 1, &resident), 0);
            sched_yield();
        }
    }
    return STATUS_OK;
}

TEST(matrix_pages_are_faulted_in_during_the_solve)
{
    struct stand_in device;
    stand_in_init(&device);
    device.class_.solve = solve_when_warm;
    device.solver.warm_threads = 2;
    const size_t size = (size_t)LARGE_VERTICES * LARGE_VERTICES * sizeof(int32_t);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    struct graph *graph = range_build(LARGE_VERTICES, short_path, 2, true);
    struct matrix matrix = {LARGE_VERTICES, KIND_I4, memory};
    const struct solve_request request = {.kind = KIND_I4};
    struct solve_outcome outcome = {0};
    struct problem problem = {0};
    assert_int_equal(solve_graph(&device.solver, graph, &request, &matrix, &outcome, &problem),
                     STATUS_OK);
    solve_outcome_finish(&outcome);
    graph_destroy(graph);
    munmap(memory, size);
}

static bool say_cancelled(void *context)
{
    (void)context;
    return true;
}

static void note_solving(void *context, const double seconds[PHASE_COUNT])
{
    *(double *)context = seconds[PHASE_SOLVING];
}

static double expected_to_solve(struct solver *solver, const struct graph *graph, enum kind kind)
{
    double elements[4];
    double seconds = 0;
    const struct observer observer = {
        .context = &seconds, .cancelled = say_cancelled, .expect = note_solving};
    const struct solve_request request = {.kind = kind, .observer = &observer};
    struct matrix matrix = {.kind = kind, .vertex_count = graph->vertex_count};
    struct solve_outcome outcome = {0};
    struct problem problem;
    matrix.elements = elements;
    assert_int_equal(solve_graph(solver, graph, &request, &matrix, &outcome, &problem),
                     STATUS_CANCELLED);
    solve_outcome_finish(&outcome);
    return seconds;
}

TEST(the_expected_time_equals_the_estimate_of_the_solver)
{
    struct stand_in device;
    stand_in_init(&device);
    device.class_.estimate = estimate_hour;
    struct graph *graph = range_build(2, short_path, 1, true);
    assert_true(expected_to_solve(&device.solver, graph, KIND_U2) == 3600);
    assert_true(expected_to_solve(&device.solver, graph, KIND_F8) == 3600);
    graph_destroy(graph);
}

struct told {
    double expected_fill_s;
    enum solve_phase phases[3]; /* in the order in which the phases began */
    uint32_t count;
};

static void note_fill(void *context, const double seconds[PHASE_COUNT])
{
    ((struct told *)context)->expected_fill_s = seconds[PHASE_FILLING];
}

static void note_begin(void *context, enum solve_phase phase, double share)
{
    struct told *told = context;
    if (share <= 0 && told->count < 3) {
        told->phases[told->count++] = phase;
    }
}

static bool say_go_on(void *context)
{
    (void)context;
    return false;
}

/* Filling the matrix is not a round. If its time counted as the time of a round, the estimated
 * remaining time would be many times too long. */
TEST(filling_the_tiles_is_a_phase_separate_from_the_rounds)
{
    int32_t elements[9];
    struct told told = {0};
    struct graph *graph = range_build(3, short_path, 2, true);
    const struct observer observer = {
        .context = &told, .cancelled = say_go_on, .tell = note_begin, .expect = note_fill};
    const struct solve_request request = {.kind = KIND_I4, .observer = &observer};
    struct matrix matrix = {3, KIND_I4, elements};
    struct solve_outcome outcome = {0};
    struct problem problem;
    assert_int_equal(solve_graph(cpu, graph, &request, &matrix, &outcome, &problem), STATUS_OK);
    assert_true(told.expected_fill_s > 0);
    assert_int_equal(told.count, 3);
    assert_int_equal(told.phases[1], PHASE_FILLING);
    assert_int_equal(told.phases[2], PHASE_SOLVING);
    assert_string_equal(job_phase_name(PHASE_FILLING), "solving");
    solve_outcome_finish(&outcome);
    graph_destroy(graph);
}

TEST_GROUP(open_cpu, close_cpu)
