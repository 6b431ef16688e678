#include "tests/lib/worker_fixture.h"

#include "server/worker/estimate.h"

#include <math.h>

static int set_up_thread(void **state)
{
    struct fixture *fixture = make_fixture();
    start(fixture, WORKER_THREAD);
    *state = fixture;
    return 0;
}

static int set_up_process(void **state)
{
    struct fixture *fixture = make_fixture();
    start(fixture, WORKER_PROCESS);
    *state = fixture;
    return 0;
}

/* A test function that runs with a worker in a thread and with one in a process. */
#define FIXTURE_TEST(name)                                                                         \
    static void name(struct fixture *fixture);                                                     \
    static void run_##name(void **state)                                                           \
    {                                                                                              \
        name(*state);                                                                              \
    }                                                                                              \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        test_add(#name, run_##name, set_up_thread, tear_down);                                     \
        test_add(#name " in a process", run_##name, set_up_process, tear_down);                    \
    }                                                                                              \
    static void name(struct fixture *fixture)

FIXTURE_TEST(an_opened_worker_tells_its_device_and_limits)
{
    assert_int_equal(fixture->opening.facts.status, STATUS_OK);
    assert_string_equal(fixture->opening.facts.device.solver, "cpu");
    assert_true(fixture->opening.facts.vertex_limit[KIND_I4] > 1000);
    assert_true(fixture->opening.facts.vertex_limit[KIND_F8] <
                fixture->opening.facts.vertex_limit[KIND_I4]);
    /* Computed as i4, in memory beside its own. */
    assert_true(fixture->opening.facts.vertex_limit[KIND_U2] <
                fixture->opening.facts.vertex_limit[KIND_I4]);
}

FIXTURE_TEST(task_comes_home_solved)
{
    struct task task = {.graph = read_ring()};
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_null(task.graph);
    assert_int_equal(vertex_names_count(task.names), 3);
    struct matrix matrix = result_file_matrix(task.file);
    double distance;
    assert_true(matrix_distance(&matrix, 0, 2, &distance));
    assert_true(distance == 3);
    assert_true(atomic_load(&task.signal->rounds_done) > 0);
    task_finish(&task);
}

FIXTURE_TEST(cancelled_work_comes_home_at_once)
{
    struct task task = {.graph = read_ring(), .signal = &fixture->signal};
    atomic_store(&fixture->signal.cancelled, true);
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_CANCELLED);
    assert_null(task.file);
    task_finish(&task);
}

FIXTURE_TEST(a_missing_graph_file_is_told)
{
    struct task task = {.graph_id = "g_absent"};
    carry_out(fixture, &task);
    assert_int_not_equal(task.status, STATUS_OK);
    assert_non_null(strstr(task.problem.detail, "g_absent"));
    task_finish(&task);
}

FIXTURE_TEST(a_graph_is_read_from_its_file)
{
    struct task task = {0};
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_true(task.parse_s > 0);
    assert_int_equal(vertex_names_count(task.names), 3);
    task_finish(&task);
}

FIXTURE_TEST(a_negative_cycle_comes_home_with_its_vertices)
{
    struct graph *graph = read_ring();
    graph->weight_i4[2] = -9;
    graph->summary.negative = true;
    graph->summary.min_weight = -9;
    fixture_put_graph(fixture->folder, "g_cycle", graph);
    graph_destroy(graph);
    struct task task = {.graph_id = "g_cycle"};
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(task.outcome.cycle_length, 3);
    assert_true(task.outcome.cycle_weight == -6);
    assert_null(task.file);
    assert_non_null(task.names);
    task_finish(&task);
}

FIXTURE_TEST(the_cost_of_a_solve_is_estimated)
{
    struct solver_estimate small;
    struct solver_estimate large;
    struct solver_estimate planned;
    struct plan_summary plan;
    struct graph *graph = read_ring();
    estimate_solve(worker_solver(fixture->worker), 1000, 4000, KIND_I4, &small);
    estimate_solve(worker_solver(fixture->worker), 2000, 4000, KIND_I4, &large);
    assert_true(small.seconds > 0 && fabs(large.seconds / small.seconds - 8) < 1e-9);
    assert_true(large.host_bytes > small.host_bytes);
    assert_int_equal(
        estimate_planned(worker_solver(fixture->worker), graph, KIND_I4, &planned, &plan),
        STATUS_OK);
    assert_int_equal(plan.parts, 1);
    graph_destroy(graph);
}

FIXTURE_TEST(a_healthy_worker_is_ready_and_was_never_lost)
{
    const struct worker_health *health = worker_health_of(fixture->worker);
    assert_int_equal(atomic_load(&health->state), WORKER_READY);
    assert_int_equal(atomic_load(&health->restarts), 0);
}

int main(int argc, char **argv)
{
    WORKER_MAIN(argc, argv);
    return test_run();
}
