#include "tests/lib/sandbox_attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct attempt_given attempt_given;

static int attempt_verdict(long result)
{
    if (result != -1) {
        return ATTEMPT_DONE;
    }
    return errno == EPERM || errno == EACCES || errno == ENOSYS || errno == EXDEV ? ATTEMPT_REFUSED
                                                                                  : ATTEMPT_BROKEN;
}

static const char *attempt_path(const char *folder, const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

#define ATTEMPT(name, expression)                                                                  \
    static int attempt_##name(void)                                                                \
    {                                                                                              \
        return attempt_verdict(expression);                                                        \
    }

/* ---- Calls that could escape the sandbox ---- */

static char attempt_program[] = "true";
static char *attempt_arguments[] = {attempt_program, NULL};
static const struct sockaddr_in attempt_address = {
    .sin_family = AF_INET, .sin_port = 0x0100 /* port 1 */, .sin_addr.s_addr = 0x0100007f};

ATTEMPT(exec, execv("/bin/true", attempt_arguments))
ATTEMPT(execveat, syscall(SYS_execveat, AT_FDCWD, "/bin/true", attempt_arguments, environ, 0))
ATTEMPT(fork, syscall(SYS_fork))
ATTEMPT(clone, syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL))
ATTEMPT(clone3, syscall(SYS_clone3, NULL, 0))
ATTEMPT(connection, socket(AF_INET, SOCK_STREAM, 0))
ATTEMPT(datagrams, socket(AF_INET6, SOCK_DGRAM, 0))
ATTEMPT(local_socket, socket(AF_UNIX, SOCK_STREAM, 0))
ATTEMPT(packets, socket(AF_PACKET, SOCK_RAW, 0))
ATTEMPT(netlink, socket(AF_NETLINK, SOCK_RAW, 0))
ATTEMPT(connect, connect(attempt_given.stranger, (const struct sockaddr *)&attempt_address,
                         sizeof attempt_address))
ATTEMPT(fast_open, sendto(attempt_given.stranger, "x", 1, MSG_FASTOPEN,
                          (const struct sockaddr *)&attempt_address, sizeof attempt_address))
ATTEMPT(bind, bind(attempt_given.stranger, (const struct sockaddr *)&attempt_address,
                   sizeof attempt_address))
ATTEMPT(listen, listen(attempt_given.stranger, 1))
ATTEMPT(ptrace, ptrace(PTRACE_TRACEME, 0, NULL, NULL))
ATTEMPT(read_parent, process_vm_readv(getppid(), NULL, 0, NULL, 0, 0))
ATTEMPT(kill_parent, kill(getppid(), 0))
ATTEMPT(bpf, syscall(SYS_bpf, 0, NULL, 0))
ATTEMPT(perf, syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0))
ATTEMPT(io_uring, syscall(SYS_io_uring_setup, 1, NULL))
ATTEMPT(page_faults, syscall(SYS_userfaultfd, 0))
ATTEMPT(mount, mount("none", "/", "tmpfs", MS_RDONLY, NULL))
ATTEMPT(unmount, umount2("/nowhere", MNT_DETACH))
ATTEMPT(chroot, chroot("/"))
ATTEMPT(namespaces, unshare(CLONE_NEWUSER))
ATTEMPT(other_namespace, setns(0, 0))
ATTEMPT(user, setresuid(65534, 65534, 65534))
ATTEMPT(group, setresgid(65534, 65534, 65534))
ATTEMPT(keys, syscall(SYS_keyctl, 0, -2, 0))
ATTEMPT(module, syscall(SYS_init_module, NULL, 0, NULL))
ATTEMPT(kexec, syscall(SYS_kexec_load, 0, 0, NULL, 0xFFFF))
ATTEMPT(ports, syscall(SYS_ioperm, 0, 1, 1))
ATTEMPT(host_name, syscall(SYS_sethostname, "", -1L))
ATTEMPT(passwords, open("/etc/passwd", O_RDONLY))
ATTEMPT(device, mknod(attempt_path(attempt_given.state, "d"), S_IFCHR | 0600, 0x0103))
ATTEMPT(dumpable, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
/* The kernel ignores the high half of the option, so this call is PR_SET_DUMPABLE in disguise. */
ATTEMPT(dumpable_in_disguise, syscall(SYS_prctl, (1UL << 32) | PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL))

static int attempt_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
        {.effective = 1, .permitted = 1}};

    return attempt_verdict(syscall(SYS_capset, &header, data));
}

/* ---- Calls that only a GPU's driver may need ---- */

ATTEMPT(code, (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
ATTEMPT(type_ahead, ioctl(0, TIOCSTI, "x"))
ATTEMPT(hidden_file, memfd_create("x", 0))

static int attempt_written_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page == MAP_FAILED ? ATTEMPT_BROKEN
                              : attempt_verdict(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

/* ---- Files outside the state directory ---- */

ATTEMPT(write_outside, open(attempt_path(attempt_given.outside, "file"), O_WRONLY))
ATTEMPT(create_outside, open(attempt_path(attempt_given.outside, "new"), O_CREAT | O_RDWR, 0600))
ATTEMPT(read_outside, open(attempt_path(attempt_given.outside, "file"), O_RDONLY))
ATTEMPT(list_outside, open(attempt_given.outside, O_RDONLY | O_DIRECTORY))
ATTEMPT(climb, open(attempt_path(attempt_given.state, "../outside/file"), O_RDONLY))
ATTEMPT(by_link, open(attempt_path(attempt_given.state, "link"), O_RDONLY))
ATTEMPT(unlink_outside, unlink(attempt_path(attempt_given.outside, "file")))
ATTEMPT(folder_outside, mkdir(attempt_path(attempt_given.outside, "folder"), 0700))
ATTEMPT(symlink, symlink("/etc/passwd", attempt_path(attempt_given.state, "new")))
ATTEMPT(chmod_outside, chmod(attempt_path(attempt_given.outside, "file"), 0666))
ATTEMPT(own_memory, open("/proc/self/mem", O_RDWR))
ATTEMPT(others_memory, open("/proc/1/environ", O_RDONLY))

static int attempt_carry_out(void)
{
    char from[PATH_MAX];

    snprintf(from, sizeof from, "%s", attempt_path(attempt_given.state, "file"));
    return attempt_verdict(rename(from, attempt_path(attempt_given.outside, "taken")));
}

#define TRY(name)                                                                                  \
    {                                                                                              \
#name, attempt_##name, false                                                               \
    }
#define TRY_FILES(name)                                                                            \
    {                                                                                              \
#name, attempt_##name, true                                                                \
    }

ATTEMPT(signals, fcntl(attempt_given.pair[0], F_SETOWN, getppid()))
ATTEMPT(choice_of_signal, fcntl(attempt_given.pair[0], F_SETSIG, SIGKILL))

ATTEMPT(lease, fcntl(attempt_given.memory, F_SETLEASE, F_RDLCK))

const struct attempt attempt_forbidden[] = {
    TRY(exec),
    TRY(execveat),
    TRY(signals),
    TRY(choice_of_signal),
    TRY(lease),
    TRY(fork),
    TRY(clone),
    TRY(clone3),
    TRY(connection),
    TRY(datagrams),
    TRY(local_socket),
    TRY(packets),
    TRY(netlink),
    TRY(connect),
    TRY(fast_open),
    TRY(bind),
    TRY(listen),
    TRY(ptrace),
    TRY(read_parent),
    TRY(kill_parent),
    TRY(bpf),
    TRY(perf),
    TRY(io_uring),
    TRY(page_faults),
    TRY(mount),
    TRY(unmount),
    TRY(chroot),
    TRY(namespaces),
    TRY(other_namespace),
    TRY(user),
    TRY(group),
    TRY(keys),
    TRY(module),
    TRY(kexec),
    TRY(ports),
    TRY(host_name),
    TRY(device),
    TRY(dumpable),
    TRY(dumpable_in_disguise),
    TRY(capabilities),
    TRY(symlink),
    TRY(chmod_outside),
    TRY_FILES(passwords),
    TRY_FILES(write_outside),
    TRY_FILES(create_outside),
    TRY_FILES(read_outside),
    TRY_FILES(list_outside),
    TRY_FILES(climb),
    TRY_FILES(by_link),
    TRY_FILES(unlink_outside),
    TRY_FILES(folder_outside),
    TRY_FILES(carry_out),
    TRY_FILES(own_memory),
    TRY_FILES(others_memory),
    TRY(code),
    TRY(written_code),
    TRY(type_ahead),
    TRY(hidden_file),
};
const size_t attempt_forbidden_count = sizeof attempt_forbidden / sizeof attempt_forbidden[0];

/* ---- Calls that must keep working ---- */

static void *attempt_nothing(void *context)
{
    return context;
}

static int attempt_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, attempt_nothing, NULL) == 0 &&
                   pthread_setname_np(pthread_self(), "solver") == 0 &&
                   pthread_join(thread, NULL) == 0
               ? ATTEMPT_DONE
               : ATTEMPT_BROKEN;
}

ATTEMPT(map, (long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, attempt_given.memory, 0))
ATTEMPT(machine, open("/proc/meminfo", O_RDONLY))
ATTEMPT(talk, send(attempt_given.pair[0], "x", 1, MSG_NOSIGNAL))
ATTEMPT(write, pwrite(attempt_given.memory, "x", 1, 0))

const struct attempt attempt_needed[] = {TRY(thread), TRY(map), TRY(machine), TRY(talk),
                                         TRY(write)};
const size_t attempt_needed_count = sizeof attempt_needed / sizeof attempt_needed[0];

/* ---- Calls of the process with the HTTP threads ---- */

ATTEMPT(accept, accept4(attempt_given.listener, NULL, NULL, SOCK_CLOEXEC))
ATTEMPT(cut, ftruncate(attempt_given.memory, 4096))
/* Opens a socket like sd_notify(3). */
ATTEMPT(notify, socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))
ATTEMPT(configuration, open(ATTEMPT_READABLE, O_RDONLY))
ATTEMPT(create, open(attempt_path(attempt_given.state, "created"), O_CREAT | O_RDWR, 0600))
ATTEMPT(list, open(attempt_given.state, O_RDONLY | O_DIRECTORY))
ATTEMPT(folder, mkdir(attempt_path(attempt_given.state, "made"), 0700))

/* Publishes, renames and deletes a file with the same calls as the store. */
static int attempt_publish(void)
{
    char from[PATH_MAX];
    char to[PATH_MAX];
    snprintf(from, sizeof from, "%s", attempt_path(attempt_given.state, "sub/draft"));
    snprintf(to, sizeof to, "%s", attempt_path(attempt_given.state, "moved"));
    int file = open(from, O_CREAT | O_EXCL | O_RDWR, 0600);

    if (file < 0) {
        return attempt_verdict(file);
    }
    return ftruncate(file, 100) == 0 && fsync(file) == 0 && rename(from, to) == 0 && unlink(to) == 0
               ? ATTEMPT_DONE
               : ATTEMPT_BROKEN;
}

const struct attempt attempt_front[] = {
    TRY(accept), TRY(cut),        TRY(notify), TRY_FILES(configuration),
    TRY(create), TRY_FILES(list), TRY(folder), TRY(publish)};
const size_t attempt_front_count = sizeof attempt_front / sizeof attempt_front[0];

int attempt_itself(void)
{
    static char program[] = "test_sandbox";
    static char word[] = "again";
    static char *arguments[] = {program, word, NULL};
    pid_t child = vfork();
    int state;

    if (child == 0) {
        execv("/proc/self/exe", arguments);
        _exit(ATTEMPT_REFUSED);
    }
    return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) ? WEXITSTATUS(state)
                                                                               : ATTEMPT_BROKEN;
}

/* ---- Files and sockets for the attempts ---- */

void attempt_fail(const char *what)
{
    perror(what);
    abort();
}

static void attempt_make_file(const char *path)
{
    int file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);

    if (file < 0 || close(file) != 0) {
        attempt_fail(path);
    }
}

void attempt_open(struct attempt_scene *scene)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f};
    socklen_t size = sizeof address;

    snprintf(scene->root, sizeof scene->root, "/tmp/apspd-sandbox-XXXXXX");
    if (mkdtemp(scene->root) == NULL) {
        attempt_fail(scene->root);
    }
    snprintf(scene->folder, sizeof scene->folder, "%s/state", scene->root);
    snprintf(attempt_given.state, sizeof attempt_given.state, "%s", scene->folder);
    snprintf(attempt_given.outside, sizeof attempt_given.outside, "%s/outside", scene->root);
    if (mkdir(attempt_given.state, 0700) != 0 || mkdir(attempt_given.outside, 0700) != 0 ||
        mkdir(attempt_path(attempt_given.state, "sub"), 0700) != 0 ||
        symlink("../outside/file", attempt_path(attempt_given.state, "link")) != 0) {
        attempt_fail(scene->root);
    }
    attempt_make_file(attempt_path(attempt_given.state, "file"));
    attempt_make_file(attempt_path(attempt_given.outside, "file"));
    attempt_given.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    attempt_given.stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    attempt_given.memory = memfd_create("given", MFD_CLOEXEC);
    if (bind(attempt_given.listener, (const struct sockaddr *)&address, size) != 0 ||
        listen(attempt_given.listener, 4) != 0 || ftruncate(attempt_given.memory, 4096) != 0 ||
        fcntl(attempt_given.listener, F_SETFL, O_NONBLOCK) != 0 ||
        getsockname(attempt_given.listener, (struct sockaddr *)&address, &size) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, attempt_given.pair) != 0) {
        attempt_fail("sockets");
    }
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(client, (const struct sockaddr *)&address, size) != 0) {
        attempt_fail("connect");
    }
}

void attempt_close(const struct attempt_scene *scene)
{
    static const char *const files[] = {"state/file", "state/link",    "state/created",
                                        "state/new",  "outside/file",  "outside/new",
                                        "state/d",    "outside/taken", "state/moved"};
    static const char *const folders[] = {"state/sub", "state/made", "outside/folder",
                                          "state",     "outside",    ""};

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)unlink(attempt_path(scene->root, files[i]));
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        (void)rmdir(attempt_path(scene->root, folders[i]));
    }
}
