#include "tests/lib/worker_fixture.h"

#include "server/store/graph_file.h"

#include <signal.h>

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)

FIXTURE_TEST(a_process_receives_the_file_even_if_the_graph_is_in_memory)
{
    const struct task_folders folders = {fixture->folder, fixture->folder, -1, 0};
    struct task task = {
        .graph_id = RING_ID, .vertex_count = 3, .kind = KIND_I4, .signal = &fixture->signal};
    task_open_files(&folders, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_true(task.graph_descriptor > 2);
    graph_destroy(task.graph);
    task.graph = NULL;
    assert_int_equal(graph_file_read_open(task.graph_descriptor, task.graph_id, &task.graph),
                     STATUS_OK);
    assert_int_equal(task.graph->vertex_count, 3);
    task_finish(&task);
}

/* The task's graph differs from that in the file, so the test would notice a second read. */
FIXTURE_TEST(a_graph_that_comes_with_the_task_is_not_read_again)
{
    const struct task_folders folders = {fixture->folder, fixture->folder, -1, 0};
    struct graph *graph = NULL;
    assert_int_equal(graph_file_read(fixture->folder, RING_ID, &graph), STATUS_OK);
    graph->weight_i4[0] += 5;
    const int32_t given = graph->weight_i4[0];
    struct task task = {.graph_id = RING_ID,
                        .vertex_count = 3,
                        .kind = KIND_I4,
                        .graph = graph,
                        .signal = &fixture->signal};
    task_open_files(&folders, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_ptr_equal(task.graph, graph);
    assert_int_equal(task.graph->weight_i4[0], given);
    assert_true(task.parse_s == 0 && task.graph_descriptor > 2);
    task_finish(&task);
}

TEST(progress_and_cancellation_are_passed_through_the_task_signal)
{
    struct task_signal signal = {0};
    const struct observer observer = task_signal_observer(&signal);
    assert_false(observer.cancelled(observer.context));
    atomic_store(&signal.cancelled, true);
    assert_true(observer.cancelled(observer.context));
    observer_tell_rounds(&observer, 3, 8);
    assert_int_equal(atomic_load(&signal.rounds_done), 3);
    assert_int_equal(atomic_load(&signal.rounds_total), 8);
    assert_int_equal(signal.progress.phase, PHASE_SOLVING);
    assert_true(signal.progress.share == 0.375);
    const double seconds[PHASE_COUNT] = {[PHASE_WRITING] = 7};
    observer.expect(observer.context, seconds);
    assert_true(signal.progress.begun_at_s > 0);
    assert_true(signal.progress.expected_s[PHASE_WRITING] == 7);
}

TEST(the_message_about_a_lost_worker_names_the_cause)
{
    char text[TASK_LOSS_TEXT_SIZE];
    task_loss_describe(TASK_LOSS_EXIT, 80, text);
    assert_string_equal(text, "the solver exited with code 80");
    task_loss_describe(TASK_LOSS_SIGNAL, SIGSEGV, text);
    assert_string_equal(text, "the solver was killed by signal 11 (SEGV)");
    task_loss_describe(TASK_LOSS_STALLED, 0, text);
    assert_non_null(strstr(text, "no progress"));
    task_loss_describe(TASK_LOSS_SILENT, 0, text);
    assert_non_null(strstr(text, "no heartbeat"));
    task_loss_describe(TASK_LOSS_PROTOCOL, 0, text);
    assert_non_null(strstr(text, "invalid message"));
}
