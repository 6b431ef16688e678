#include "server/worker/child.h"

#include "server/worker/wire.h"
#include "tests/lib/test.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAKES_NO_SENSE 79

/* Starts a child process, sends it these bytes, disconnects, and returns the child's exit code. */
static int code_after(const void *bytes, size_t size)
{
    int sockets[2];
    int status = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(sockets[0]);
        _exit(worker_child_run(sockets[1], NULL));
    }
    close(sockets[1]);
    if (size > 0) {
        assert_int_equal(send(sockets[0], bytes, size, 0), size);
    }
    close(sockets[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(a_worker_process_exits_on_a_malformed_message)
{
    const struct wire_message message = {.type = WIRE_TASK};
    assert_int_equal(code_after("", 0), MAKES_NO_SENSE);
    assert_int_equal(code_after("sense", 5), MAKES_NO_SENSE);
    assert_int_equal(code_after(&message, sizeof(message)), MAKES_NO_SENSE);
}
