/* Tests the sandbox. Each attempt runs in a separate process that is confined like the service or
 * like a worker. */
#include "tests/lib/sandbox_attempts.h"

#include "server/sandbox.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

static struct attempt_scene scene;

static struct sandbox_policy policy_of(enum sandbox_role role)
{
    static const char *writable[2];
    static const char *const readable[] = {ATTEMPT_READABLE, NULL};
    struct sandbox_policy policy = {.role = role};

    writable[0] = scene.folder;
    if (role == SANDBOX_FRONT) {
        policy.writable = writable;
        policy.readable = readable;
    }
    return policy;
}

static struct sandbox_report enter(const struct sandbox_policy *policy)
{
    struct sandbox_report report = {0};

    sandbox_enter(policy, &report);
    if (sandbox_filter_calls(policy, &report) != STATUS_OK) {
        _exit(ATTEMPT_BROKEN);
    }
    return report;
}

/* Runs the function in a sandboxed child process. Returns the child's exit code, or the negative
 * number of the signal that ended the child. */
static int run_sandboxed(const struct sandbox_policy *policy, int (*function)(void))
{
    pid_t child = fork();
    int state;

    assert_true(child >= 0);
    if (child == 0) {
        if (policy != NULL) {
            (void)enter(policy);
        }
        _exit(function());
    }
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

static int tell_layers(void)
{
    const struct sandbox_policy policy = policy_of(SANDBOX_FRONT);
    struct sandbox_report report = enter(&policy);

    return (report.landlock_abi > 0 ? 1 : 0) + (report.filtered ? 2 : 0) +
           (report.without[0] == '\0' ? 4 : 0);
}

static bool has_landlock;

static void expect_refused(const struct sandbox_policy *policy, const struct attempt *attempts,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int outcome;

        if (attempts[i].by_files && !has_landlock) {
            continue;
        }
        outcome = run_sandboxed(policy, attempts[i].make);
        if (outcome != ATTEMPT_REFUSED) {
            print_error("%s: %d\n", attempts[i].name, outcome);
        }
        assert_int_equal(outcome, ATTEMPT_REFUSED);
    }
}

static void expect_done(const struct sandbox_policy *policy, const struct attempt *attempts,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int outcome = run_sandboxed(policy, attempts[i].make);

        if (outcome != ATTEMPT_DONE) {
            print_error("%s: %d\n", attempts[i].name, outcome);
        }
        assert_int_equal(outcome, ATTEMPT_DONE);
    }
}

TEST(system_calls_that_the_daemon_does_not_need_are_refused)
{
    const struct sandbox_policy policy = policy_of(SANDBOX_FRONT);

    assert_true(attempt_forbidden_count >= 20);
    expect_refused(&policy, attempt_forbidden, attempt_forbidden_count);
}

TEST(the_daemon_keeps_the_system_calls_that_it_needs)
{
    const struct sandbox_policy policy = policy_of(SANDBOX_FRONT);

    expect_done(&policy, attempt_needed, attempt_needed_count);
    expect_done(&policy, attempt_front, attempt_front_count);
}

TEST(the_worker_is_allowed_fewer_system_calls_than_the_daemon)
{
    const struct sandbox_policy policy = policy_of(SANDBOX_WORKER);

    expect_refused(&policy, attempt_forbidden, attempt_forbidden_count);
    expect_refused(&policy, attempt_front, attempt_front_count);
}

TEST(the_worker_keeps_the_system_calls_that_it_needs)
{
    const struct sandbox_policy policy = policy_of(SANDBOX_WORKER);

    expect_done(&policy, attempt_needed, attempt_needed_count);
}

/* A GPU's driver needs more calls and files, but these must not let a process escape. */
TEST(access_to_a_gpu_does_not_weaken_the_sandbox)
{
    struct sandbox_policy policy = policy_of(SANDBOX_WORKER);

    policy.devices = true;
    expect_refused(&policy, attempt_forbidden, attempt_forbidden_count - ATTEMPT_OF_DRIVER_COUNT);
    expect_done(&policy, attempt_needed, attempt_needed_count);
}

/* Returns whether a process needs the call to start another process, or to open a GPU before it
 * enters a sandbox. */
static bool is_of_children(const char *name, bool devices)
{
    static const char *const names[] = {"clone", "dumpable",     "dumpable_in_disguise",
                                        "code",  "written_code", "hidden_file"};
    static const char *const of_driver[] = {"local_socket", "bind", "listen", "own_memory"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; devices && i < sizeof of_driver / sizeof of_driver[0]; i++) {
        if (strcmp(name, of_driver[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void check_front_that_spawns(bool devices)
{
    struct sandbox_policy policy = policy_of(SANDBOX_FRONT);

    policy.spawns = true;
    policy.devices = devices;
    assert_int_equal(run_sandboxed(&policy, attempt_itself), ATTEMPT_DONE);
    /* Without Landlock, the first attempt (to execute another program) cannot be refused. */
    for (size_t i = has_landlock ? 0 : 1; i < attempt_forbidden_count; i++) {
        if (!is_of_children(attempt_forbidden[i].name, devices)) {
            expect_refused(&policy, &attempt_forbidden[i], 1);
        }
    }
    expect_done(&policy, attempt_needed, attempt_needed_count);
}

TEST(a_confined_service_can_execute_only_its_own_program)
{
    check_front_that_spawns(false);
}

TEST(a_service_with_gpu_workers_is_confined)
{
    check_front_that_spawns(true);
}

/* Returns a numeric field of a thread's status file in /proc, or -1 if the field is missing. */
static long long status_field(const char *thread, const char *field, int base)
{
    char path[64];
    char line[256];
    long long value = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0) {
            value = strtoll(line + strlen(field), NULL, base);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return value;
}

static bool is_bare(const char *thread)
{
    return status_field(thread, "CapEff:", 16) == 0 && status_field(thread, "CapPrm:", 16) == 0 &&
           status_field(thread, "CapInh:", 16) == 0 && status_field(thread, "CapAmb:", 16) == 0 &&
           status_field(thread, "NoNewPrivs:", 10) == 1 &&
           status_field(thread, "Seccomp:", 10) == 2;
}

static void *wait_for_ever(void *context)
{
    (void)context;
    for (;;) {
        (void)pause();
    }
    return NULL;
}

/* Checks all threads of a process. The second starts before the last step of the confinement. */
static int look_at_threads(void)
{
    static const char *const readable[] = {"/proc", NULL};
    struct sandbox_policy policy = policy_of(SANDBOX_FRONT);
    struct sandbox_report report = {0};
    const struct dirent *entry;
    pthread_t thread;
    int threads = 0;
    DIR *folder = opendir("/proc/self/task");

    policy.readable = readable;
    if (folder == NULL) {
        return ATTEMPT_BROKEN;
    }
    sandbox_enter(&policy, &report);
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0 ||
        sandbox_filter_calls(&policy, &report) != STATUS_OK) {
        return ATTEMPT_BROKEN;
    }
    rewinddir(folder);
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            threads++;
            if (!is_bare(entry->d_name)) {
                return ATTEMPT_REFUSED;
            }
        }
    }
    closedir(folder);
    return threads == 2 ? ATTEMPT_DONE : ATTEMPT_BROKEN;
}

TEST(no_thread_keeps_privileges)
{
    assert_int_equal(run_sandboxed(NULL, look_at_threads), ATTEMPT_DONE);
}

static int tell_dumpable(void)
{
    struct sandbox_policy policy = policy_of(SANDBOX_FRONT);
    struct sandbox_report report = {0};

    sandbox_enter(&policy, &report);
    return prctl(PR_GET_DUMPABLE) == 0 ? ATTEMPT_DONE : ATTEMPT_BROKEN;
}

TEST(a_crash_writes_no_core_dump)
{
    assert_int_equal(run_sandboxed(NULL, tell_dumpable), ATTEMPT_DONE);
}

static int abort_here(void)
{
    abort();
}

TEST(a_broken_invariant_ends_the_process_with_sigabrt)
{
    const struct sandbox_policy policy = policy_of(SANDBOX_FRONT);

    assert_int_equal(run_sandboxed(&policy, abort_here), -SIGABRT);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        return ATTEMPT_DONE; /* attempt_itself started this process, and expects this code */
    }
    attempt_open(&scene);
    int layers = run_sandboxed(NULL, tell_layers);
    has_landlock = (layers & 1) != 0;
    int failed = SKIPPED; /* sanitizers are used, or the kernel has no seccomp */
    if ((layers & 2) != 0) {
        assert_int_equal((layers & 4) != 0, has_landlock);
        failed = test_run();
    }
    attempt_close(&scene);
    return failed;
}
