#include "tests/lib/worker_fixture.h"

#include "server/worker/supervisor.h"

#include <dirent.h>
#include <signal.h>

/* In the environment: no process starts. */
#define FAILING_START "TEST_SUPERVISOR_FAILING_START"

static int set_up(void **state)
{
    *state = make_fixture();
    return 0;
}

/* A process that this thread has started; 0 without any. */
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

/* The one that any thread of this process has. */
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

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct fixture *fixture, set_up, tear_down)

FIXTURE_TEST(a_process_that_dies_idle_is_replaced_and_the_loop_told)
{
    start(fixture, WORKER_PROCESS);
    const struct worker_health *health = worker_health_of(fixture->worker);
    const pid_t first = find_child();
    assert_true(first > 0);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_ptr_equal(mailbox_wait(fixture->home), &fixture->opening.message);
    worker_note_delivered(fixture->worker);
    assert_int_equal(atomic_load(&health->state), WORKER_READY);
    assert_int_equal(atomic_load(&health->restarts), 1);
    assert_true(find_child() != first);
    struct task task = {0};
    carry_out(fixture, &task);
    assert_int_equal(task.status, STATUS_OK);
    task_finish(&task);
}

FIXTURE_TEST(a_task_given_meanwhile_waits_for_the_next_process)
{
    start(fixture, WORKER_PROCESS);
    assert_int_equal(kill(find_child(), SIGKILL), 0);
    struct task task = {0};
    carry_out(fixture, &task);
    /* Given before the loss was seen, it is lost with it. */
    assert_true(task.status == STATUS_OK || task.status == STATUS_DEVICE_LOST);
    task_finish(&task);
}

/* The first is lost with the process, or refused as the second is: nobody waits for a process that
 * cannot be started. One at a time, as a process has one signal. */
FIXTURE_TEST(tasks_come_home_when_no_other_process_can_be_had)
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

FIXTURE_TEST(a_damaged_graph_file_is_told_when_it_cannot_be_read_here_either)
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

FIXTURE_TEST(a_solver_that_does_not_open_is_told_with_its_reason)
{
    snprintf(fixture->solver.cpu_isa, sizeof(fixture->solver.cpu_isa), "abacus");
    start(fixture, WORKER_PROCESS);
    assert_int_equal(fixture->opening.facts.status, STATUS_CONFIG);
    assert_non_null(strstr(fixture->opening.facts.problem.detail, "abacus"));
    assert_int_equal(find_child(), 0);
}

FIXTURE_TEST(nothing_is_left_when_a_worker_stops)
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
