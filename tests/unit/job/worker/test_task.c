#include "tests/unit/worker_fixture.h"

#include "server/store/graph_file.h"

#include <signal.h>

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

/* Its matrix is right. */
static struct task solved_ring(const struct fixture *fixture, struct task_signal *signal)
{
    static const int32_t distances[] = {0, 1, 3, 6, 0, 2, 4, 5, 0};
    const struct task_folders folders = {fixture->folder, fixture->folder, false};
    struct task task = {.graph = read_ring(), .kind = KIND_I4, .signal = signal};
    task_open_files(&folders, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_int_equal(task.graph_descriptor, 0);
    const struct matrix matrix = result_file_matrix(task.file);
    memcpy(matrix.elements, distances, sizeof(distances));
    return task;
}

static void a_right_result_is_sealed_and_its_names_kept(void **state)
{
    struct fixture *fixture = *state;
    struct task task = solved_ring(fixture, &fixture->signal);
    task_judge(16, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_int_equal(vertex_names_count(task.names), 3);
    task_finish(&task);
}

static void a_wrong_one_is_refused_unless_nothing_is_checked(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t rows = 0; rows < 2; rows++) {
        struct task task = solved_ring(fixture, &fixture->signal);
        const struct matrix matrix = result_file_matrix(task.file);
        for (size_t row = 0; row < 3; row++) {
            ((int32_t *)matrix.elements)[4 * row] = 1;
        }
        task_judge(rows, &task);
        assert_int_equal(task.status, rows > 0 ? STATUS_NOT_VERIFIED : STATUS_OK);
        task_finish(&task);
    }
}

/* One row of three is looked at, and each has its turn. */
static void no_row_is_spared_or_safe(void **state)
{
    struct fixture *fixture = *state;
    for (size_t row = 0; row < 3; row++) {
        bool refused = false;
        bool passed = false;
        for (int i = 0; i < 1000 && !(refused && passed); i++) {
            struct task task = solved_ring(fixture, &fixture->signal);
            const struct matrix matrix = result_file_matrix(task.file);
            ((int32_t *)matrix.elements)[4 * row] = 1;
            task_judge(16, &task);
            refused = refused || task.status == STATUS_NOT_VERIFIED;
            passed = passed || task.status == STATUS_OK;
            task_finish(&task);
        }
        assert_true(refused && passed);
    }
}

static void headers_that_were_touched_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct task task = solved_ring(fixture, &fixture->signal);
    const struct matrix matrix = result_file_matrix(task.file);
    ((unsigned char *)matrix.elements)[-1] ^= 1;
    task_judge(16, &task);
    assert_int_equal(task.status, STATUS_CORRUPT);
    task_finish(&task);
}

static void a_process_gets_the_file_of_a_graph_that_is_in_memory_too(void **state)
{
    struct fixture *fixture = *state;
    const struct task_folders folders = {fixture->folder, fixture->folder, true};
    struct task task = {
        .graph = read_ring(), .graph_id = RING_ID, .kind = KIND_I4, .signal = &fixture->signal};
    task_open_files(&folders, &task);
    assert_int_equal(task.status, STATUS_OK);
    assert_true(task.graph_descriptor > 2);
    graph_destroy(task.graph);
    task.graph = NULL;
    assert_int_equal(graph_file_read_open(task.graph_descriptor, &task.graph), STATUS_OK);
    assert_int_equal(task.graph->vertex_count, 3);
    task_finish(&task);
}

static void the_sample_grows_with_the_solve(void **state)
{
    (void)state;
    assert_int_equal(task_sample_rows(0, 1000, 5000), 0);
    assert_int_equal(task_sample_rows(16, 10, 50), 1);
    assert_int_equal(task_sample_rows(16, 10000, 50000), 16);
    const uint32_t middle = task_sample_rows(16, 300, 1500);
    assert_in_range(middle, 2, 15);
    assert_int_equal(task_sample_rows(16, 0, 0), 1);
}

static void progress_and_cancel_pass_through_the_signal(void **state)
{
    (void)state;
    struct task_signal signal = {0};
    const struct observer observer = task_signal_observer(&signal);
    assert_false(observer.cancelled(observer.context));
    atomic_store(&signal.cancelled, true);
    assert_true(observer.cancelled(observer.context));
    observer.progress(observer.context, 2, 8);
    observer.progress(observer.context, 3, 8);
    assert_int_equal(atomic_load(&signal.first_round), 2);
    assert_int_equal(atomic_load(&signal.rounds_done), 3);
    assert_int_equal(atomic_load(&signal.rounds_total), 8);
    assert_true(atomic_load(&signal.first_round_at_s) > 0);
    /* Begun anew: a new pace. */
    observer.progress(observer.context, 1, 8);
    assert_int_equal(atomic_load(&signal.first_round), 1);
}

static void a_signal_is_copied_whole_and_reset_to_nothing(void **state)
{
    (void)state;
    struct task_signal from = {true, true, 1, 2, 3, 4, 5, 6, 7, 8};
    struct task_signal to = {0};
    task_signal_copy(&from, &to);
    assert_true(atomic_load(&to.cancelled));
    assert_true(atomic_load(&to.placed));
    assert_int_equal(atomic_load(&to.rounds_done), 1);
    assert_int_equal(atomic_load(&to.rounds_total), 2);
    assert_int_equal(atomic_load(&to.first_round), 3);
    assert_true(atomic_load(&to.first_round_at_s) == 4);
    assert_true(atomic_load(&to.round_at_s) == 5);
    assert_true(atomic_load(&to.expected_s) == 6);
    assert_true(atomic_load(&to.finish_s) == 7);
    assert_true(atomic_load(&to.begun_at_s) == 8);
    task_signal_reset(&to);
    assert_false(atomic_load(&to.cancelled));
    assert_false(atomic_load(&to.placed));
    assert_int_equal(atomic_load(&to.rounds_done), 0);
    assert_true(atomic_load(&to.begun_at_s) == 0);
}

static void a_loss_is_told_in_words(void **state)
{
    (void)state;
    char text[TASK_LOSS_TEXT_SIZE];
    task_loss_describe(TASK_LOSS_EXIT, 80, text);
    assert_string_equal(text, "it left with code 80");
    task_loss_describe(TASK_LOSS_SIGNAL, SIGSEGV, text);
    assert_string_equal(text, "it was ended by signal 11 (SEGV)");
    task_loss_describe(TASK_LOSS_STALLED, 0, text);
    assert_non_null(strstr(text, "no progress"));
    task_loss_describe(TASK_LOSS_SILENT, 0, text);
    assert_non_null(strstr(text, "no sign of life"));
    task_loss_describe(TASK_LOSS_PROTOCOL, 0, text);
    assert_non_null(strstr(text, "no sense"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_right_result_is_sealed_and_its_names_kept),
        TEST(a_wrong_one_is_refused_unless_nothing_is_checked),
        TEST(no_row_is_spared_or_safe),
        TEST(headers_that_were_touched_are_refused),
        TEST(a_process_gets_the_file_of_a_graph_that_is_in_memory_too),
        cmocka_unit_test(the_sample_grows_with_the_solve),
        cmocka_unit_test(progress_and_cancel_pass_through_the_signal),
        cmocka_unit_test(a_signal_is_copied_whole_and_reset_to_nothing),
        cmocka_unit_test(a_loss_is_told_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
