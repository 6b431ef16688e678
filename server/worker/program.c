#include "server/worker/program.h"

#include "server/worker/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <unistd.h>

int program_start(const char *program, char *const *arguments, int socket, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    /* In glibc these two functions cannot fail. */
    CHECK(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attributes) == 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  (socket < 0 ? POSIX_SPAWN_SETPGROUP : 0)));
    /* These functions fail only for lack of memory. */
    const bool is_ready =
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
        (socket < 0 || posix_spawn_file_actions_adddup2(&actions, socket, WORKER_SOCKET) == 0) &&
        posix_spawn_file_actions_addclosefrom_np(&actions, WORKER_SOCKET + (socket >= 0)) == 0;
    const int error =
        is_ready ? posix_spawnp(ret_pid, program, &actions, &attributes, arguments, environ)
                 : ENOMEM;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
