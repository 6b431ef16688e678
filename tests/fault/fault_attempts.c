#include "tests/fault/fault_attempts.h"

#include "server/worker/child.h"
#include "tests/fault/fault_plan.h"
#include "tests/lib/sandbox_attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTOR_LIMIT 1024

/* Opens the descriptors that a sandboxed process uses for the attempts, and sets the paths of the
 * folders `state` and `outside` in FAULT_SCENE. The worker's socket serves as the listening and as
 * the unconnected socket. */
__attribute__((constructor)) static void open_scene(void)
{
    const char *scene = getenv("FAULT_SCENE");
    if (scene == NULL) {
        return;
    }
    if (strlen(scene) + sizeof "/outside" > ATTEMPT_FOLDER_SIZE) {
        attempt_fail(scene);
    }
    snprintf(attempt_given.state, sizeof attempt_given.state, "%s/state", scene);
    snprintf(attempt_given.outside, sizeof attempt_given.outside, "%s/outside", scene);
    attempt_given.listener = WORKER_SOCKET;
    attempt_given.stranger = WORKER_SOCKET;
    attempt_given.memory = memfd_create("given", MFD_CLOEXEC);
    if (attempt_given.memory < 0 || ftruncate(attempt_given.memory, 4096) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, attempt_given.pair) != 0) {
        attempt_fail(scene);
    }
}

/* Prints one line with the name and the outcome of an attempt. The line contains errno if the
 * attempt failed without being refused. */
static void tell(const char *name, int outcome)
{
    const int error = errno;
    if (outcome == ATTEMPT_BROKEN) {
        dprintf(STDERR_FILENO, "attempt %s broken:%d\n", name, error);
    } else {
        dprintf(STDERR_FILENO, "attempt %s %s\n", name,
                outcome == ATTEMPT_REFUSED ? "refused" : "done");
    }
}

static void make_each(const struct attempt *attempts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tell(attempts[i].name, attempts[i].make());
    }
}

/* Returns whether a descriptor is open that is not a standard stream, not the socket, and not a
 * file that the test opened. */
static bool is_foreign(int descriptor)
{
    return fcntl(descriptor, F_GETFD) >= 0 && descriptor > WORKER_SOCKET &&
           !fault_plan_has(descriptor) && descriptor != attempt_given.memory &&
           descriptor != attempt_given.pair[0] && descriptor != attempt_given.pair[1];
}

void fault_attempts_make(void)
{
    int foreign = 0;
    for (int descriptor = 0; descriptor < DESCRIPTOR_LIMIT; descriptor++) {
        foreign += is_foreign(descriptor);
    }
    dprintf(STDERR_FILENO, "descriptors %d\n", foreign);
    make_each(attempt_forbidden, attempt_forbidden_count);
    make_each(attempt_front, attempt_front_count);
    make_each(attempt_needed, attempt_needed_count);
}
