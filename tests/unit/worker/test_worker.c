#include "tests/lib/worker_fixture.h"

#include "server/worker/estimate.h"
#include "tests/lib/matrix_fixture.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>

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

/* Defines a test function that runs twice, with a worker in a process and in a thread. */
#define FIXTURE_TEST(name)                                                                         \
    static void name(struct fixture *fixture);                                                     \
    TEST_FIXTURE(name##_in_a_process, struct fixture *fixture, set_up_process, tear_down)          \
    {                                                                                              \
        name(fixture);                                                                             \
    }                                                                                              \
    TEST_FIXTURE(name, struct fixture *fixture, set_up_thread, tear_down)

FIXTURE_TEST(an_opened_worker_reports_its_device_and_limits)
{
    assert_int_equal(fixture->facts->status, STATUS_OK);
    assert_string_equal(fixture->facts->device.solver, "cpu");
    assert_true(fixture->facts->vertex_limit[KIND_I4] > 1000);
    assert_true(fixture->facts->vertex_limit[KIND_F8] < fixture->facts->vertex_limit[KIND_I4]);
    /* Decimals use i4 tiles and an f8 matrix, so their limit is between those of i4 and f8. */
    assert_true(
        fixture->facts->vertex_limit[COST_DECIMALS] >= fixture->facts->vertex_limit[KIND_F8] &&
        fixture->facts->vertex_limit[COST_DECIMALS] < fixture->facts->vertex_limit[KIND_I4]);
    assert_true(fixture->facts->pace_s[COST_DECIMALS] == fixture->facts->pace_s[KIND_I4]);
    /* A u2 matrix is computed as i4 and needs memory for both, so it has a lower limit than i4. */
    assert_true(fixture->facts->vertex_limit[KIND_U2] < fixture->facts->vertex_limit[KIND_I4]);
}

FIXTURE_TEST(a_solved_task_is_returned)
{
    struct task task = {0};
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

FIXTURE_TEST(a_cancelled_task_is_returned_immediately)
{
    struct task task = {.signal = &fixture->signal}; /* cancelled before its submission */
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_CANCELLED);
    assert_null(task.file);
    task_finish(&task);
}

FIXTURE_TEST(a_missing_graph_file_is_reported)
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

FIXTURE_TEST(a_healthy_worker_is_ready_and_reports_no_losses)
{
    const struct worker_health *health = worker_health_of(fixture->worker);
    assert_int_equal(atomic_load(&health->state), WORKER_READY);
    assert_int_equal(atomic_load(&health->restarts), 0);
}

/* Environment variable that makes every start of a worker process fail. */
#define FAILING_START "TEST_WORKER_FAILING_START"

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

/* Returns the process ID of a child process that this thread started, or 0 if there is none. */
static pid_t child_of(const char *thread)
{
    char path[300];
    long pid = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%s/children", thread);
    FILE *stream = fopen(path, "re");
    if (stream != NULL) {
        if (fscanf(stream, "%ld", &pid) != 1) {
            pid = 0;
        }
        fclose(stream);
    }
    return (pid_t)pid;
}

/* Returns the process ID of a child process of any thread of this process, or 0 if none exists. */
static pid_t find_child(void)
{
    pid_t pid = 0;
    DIR *threads = opendir("/proc/self/task");
    assert_non_null(threads);
    for (struct dirent *thread = readdir(threads); thread != NULL && pid == 0;
         thread = readdir(threads)) {
        pid = child_of(thread->d_name);
    }
    closedir(threads);
    return pid;
}

#define PROCESS_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)

PROCESS_TEST(an_idle_process_that_dies_is_replaced_and_reported)
{
    start(fixture, WORKER_PROCESS);
    const struct worker_health *health = worker_health_of(fixture->worker);
    const pid_t first = find_child();
    assert_true(first > 0);
    assert_int_equal(kill(first, SIGKILL), 0);
    while (atomic_load(&health->restarts) == 0) {
        assert_int_equal(sem_wait(&fixture->woken), 0);
    }
    assert_int_equal(atomic_load(&health->state), WORKER_READY);
    assert_true(find_child() != first);
    struct task task = {0};
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_OK);
    task_finish(&task);
}

PROCESS_TEST(a_task_submitted_during_a_restart_waits_for_the_next_process)
{
    start(fixture, WORKER_PROCESS);
    assert_int_equal(kill(find_child(), SIGKILL), 0);
    struct task task = {0};
    carry_out(fixture, &task);
    /* A task that was submitted before the worker noticed the loss of the process is lost too. */
    assert_true(task.status == STATUS_OK || task.status == STATUS_DEVICE_LOST);
    task_finish(&task);
}

/* The first task either is lost together with the killed process, or is refused. The second task is
 * always refused, so that no task waits for a process that cannot be started. Tasks run one at a
 * time, because they share one signal. */
PROCESS_TEST(tasks_fail_if_no_worker_process_can_be_started)
{
    start(fixture, WORKER_PROCESS);
    assert_int_equal(setenv(FAILING_START, "1", 1), 0);
    assert_int_equal(kill(find_child(), SIGKILL), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct task task = {0};
        carry_out(fixture, &task);
        assert_int_equal(task.status, STATUS_DEVICE_LOST);
        task_finish(&task);
    }
    assert_int_equal(unsetenv(FAILING_START), 0);
}

PROCESS_TEST(a_damaged_graph_file_is_reported_if_the_daemon_cannot_read_it_either)
{
    const int file = openat(fixture->folder, RING_ID, O_RDWR | O_CLOEXEC);
    struct task task = {0};
    unsigned char last;
    const off_t place = lseek(file, -1, SEEK_END);
    assert_int_equal(pread(file, &last, 1, place), 1);
    last ^= 1;
    assert_int_equal(pwrite(file, &last, 1, place), 1);
    assert_int_equal(close(file), 0);
    start(fixture, WORKER_PROCESS);
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_CORRUPT);
    assert_true(task.graph_damaged);
    task_finish(&task);
}

PROCESS_TEST(a_failure_to_open_a_solver_is_reported_with_its_reason)
{
    snprintf(fixture->solver.cpu_isa, sizeof(fixture->solver.cpu_isa), "abacus");
    start(fixture, WORKER_PROCESS);
    assert_int_equal(fixture->facts->status, STATUS_CONFIG);
    assert_non_null(strstr(fixture->facts->problem.detail, "abacus"));
    assert_int_equal(find_child(), 0);
}

PROCESS_TEST(a_stopped_worker_leaves_no_process)
{
    start(fixture, WORKER_PROCESS);
    assert_true(find_child() > 0);
    worker_stop(fixture->worker);
    fixture->worker = NULL;
    assert_int_equal(find_child(), 0);
}

int main(int argc, char **argv)
{
    if (argc == 3 && getenv(FAILING_START) != NULL) {
        return 1;
    }
    WORKER_MAIN(argc, argv);
    return test_run();
}
