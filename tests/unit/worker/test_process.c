#include "server/worker/process.h"

#include "server/worker/child.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

/* Environment variable that makes a child process never exit. */
#define STUBBORN "TEST_WORKER_PROCESS_STUBBORN"
#define CODE 7

/* The main function of the child process: waits until the connection is closed, or forever if
 * STUBBORN is set. */
static int be_process(void)
{
    char byte;
    const bool alone = fcntl(WORKER_SOCKET + 1, F_GETFD) < 0;
    if (send(WORKER_SOCKET, alone ? "y" : "n", 1, 0) != 1) {
        return 1;
    }
    while (getenv(STUBBORN) != NULL || recv(WORKER_SOCKET, &byte, 1, 0) > 0) {
        pause();
    }
    return CODE;
}

static void greet(const struct worker_process *process)
{
    char byte = 0;
    struct pollfd look = {.fd = process->socket, .events = POLLIN};
    assert_int_equal(poll(&look, 1, -1), 1);
    assert_int_equal(recv(process->socket, &byte, 1, 0), 1);
    assert_int_equal(byte, 'y');
}

TEST(a_worker_process_exits_when_its_connection_closes)
{
    struct worker_process process = {0};
    enum task_loss loss = TASK_LOSS_NONE;
    int code;
    const int other = open("/dev/null", O_RDONLY); /* the child must not inherit this descriptor */
    assert_int_equal(worker_process_start(&process), STATUS_OK);
    greet(&process);
    worker_process_end(&process, &loss, &code);
    assert_false(process.is_running || process.is_stuck);
    assert_int_equal(loss, TASK_LOSS_NONE);
    assert_int_equal(code, CODE);
    close(other);
}

TEST(a_process_killed_from_outside_is_distinguished_from_a_crash)
{
    struct worker_process process = {0};
    enum task_loss loss = TASK_LOSS_EXIT;
    int code;
    assert_int_equal(setenv(STUBBORN, "1", 1), 0);
    assert_int_equal(worker_process_start(&process), STATUS_OK);
    greet(&process);
    assert_int_equal(kill(process.pid, SIGSYS), 0);
    worker_process_end(&process, &loss, &code);
    assert_false(process.is_running || process.is_stuck);
    assert_int_equal(loss, TASK_LOSS_SIGNAL);
    assert_int_equal(code, SIGSYS);
    assert_int_equal(unsetenv(STUBBORN), 0);
}

TEST(a_process_that_does_not_exit_is_killed)
{
    struct worker_process process = {0};
    enum task_loss loss = TASK_LOSS_STALLED;
    int code;
    assert_int_equal(setenv(STUBBORN, "1", 1), 0);
    assert_int_equal(worker_process_start(&process), STATUS_OK);
    greet(&process);
    worker_process_end(&process, &loss, &code);
    assert_false(process.is_running || process.is_stuck);
    assert_int_equal(loss, TASK_LOSS_STALLED);
    assert_int_equal(code, SIGKILL);
    assert_int_equal(unsetenv(STUBBORN), 0);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], WORKER_FLAG) == 0) {
        return be_process();
    }
    return test_run();
}
