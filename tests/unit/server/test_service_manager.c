/* What is said to a service manager, and what is taken from it. */
#include "server/service.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

/* A manager that listens at this name, "@" for the abstract namespace. */
static int listen_at(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t size = strlen(name);
    memcpy(address.sun_path, name, size);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    int descriptor = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
    return descriptor;
}

static void expect(int descriptor, const char *words)
{
    char got[256] = "";
    const int manager = service_manager_open();
    assert_true(manager >= 0);
    service_manager_notify(manager, words);
    close(manager);
    assert_int_equal(recv(descriptor, got, sizeof got - 1, MSG_DONTWAIT), strlen(words));
    assert_string_equal(got, words);
}

static void words_reach_a_manager_of_either_name(void **state)
{
    char folder[] = "/tmp/apspd-test-XXXXXX";
    char path[64];
    char name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/notify", folder);
    int descriptor = listen_at(path);
    expect(descriptor, "READY=1\nSTATUS=ready");
    close(descriptor);
    unlink(path);
    rmdir(folder);
    snprintf(name, sizeof name, "@apspd-test-%d", getpid());
    descriptor = listen_at(name);
    expect(descriptor, "WATCHDOG=1");
    close(descriptor);
    (void)state;
}

static void without_a_manager_nothing_is_said(void **state)
{
    static const char *const names[] = {"", "/", "relative", "/nowhere/at/all"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setenv("NOTIFY_SOCKET", names[i], 1);
        const int manager = service_manager_open();
        service_manager_notify(manager, "READY=1");
        if (manager >= 0) {
            close(manager);
        }
    }
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(service_manager_open(), -1);
    service_manager_notify(-1, "READY=1");
    (void)state;
}

static uint64_t watchdog_ms(const char *limit_us, const char *pid)
{
    setenv("WATCHDOG_USEC", limit_us, 1);
    if (pid != NULL) {
        setenv("WATCHDOG_PID", pid, 1);
    } else {
        unsetenv("WATCHDOG_PID");
    }
    return service_manager_watchdog_ms();
}

static void the_watchdog_is_fed_twice_as_often_as_it_wants(void **state)
{
    char own[16];
    snprintf(own, sizeof own, "%d", getpid());
    assert_int_equal(watchdog_ms("30000000", NULL), 15000);
    assert_int_equal(watchdog_ms("30000000", own), 15000);
    assert_int_equal(watchdog_ms("30000000", "1"), 0);
    assert_int_equal(watchdog_ms("100", own), 1);
    assert_int_equal(watchdog_ms("0", own), 0);
    assert_int_equal(watchdog_ms("-5", own), 0);
    assert_int_equal(watchdog_ms("soon", own), 0);
    unsetenv("WATCHDOG_USEC");
    assert_int_equal(service_manager_watchdog_ms(), 0);
    (void)state;
}

static enum status take(const char *count, int *ret_socket)
{
    char own[16];
    struct problem problem = {0};
    snprintf(own, sizeof own, "%d", getpid());
    setenv("LISTEN_PID", own, 1);
    setenv("LISTEN_FDS", count, 1);
    enum status status = service_manager_take_socket(ret_socket, &problem);
    assert_null(getenv("LISTEN_FDS"));
    assert_null(getenv("LISTEN_PID"));
    assert_true((status == STATUS_CONFIG) == (problem.detail[0] != '\0'));
    return status;
}

/* Descriptor 3 becomes what is given; the test's own goes aside. */
static void hand_over(int descriptor)
{
    assert_int_equal(dup2(descriptor, 3), 3);
    if (descriptor != 3) {
        close(descriptor);
    }
}

static void a_listening_socket_is_taken(void **state)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int taken = 7;
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&any, sizeof any), 0);
    hand_over(descriptor);
    assert_int_equal(take("1", &taken), STATUS_CONFIG); /* does not listen yet */
    assert_int_equal(listen(3, 5), 0);
    assert_int_equal(take("2", &taken), STATUS_CONFIG);
    assert_int_equal(taken, 7);
    assert_int_equal(take("1", &taken), STATUS_OK);
    assert_int_equal(taken, 3);
    assert_true(fcntl(3, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(3, F_GETFL) & O_NONBLOCK);
    (void)state;
}

static void what_is_no_such_socket_is_refused(void **state)
{
    int taken = 7;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    hand_over(ends[0]);
    assert_int_equal(take("1", &taken), STATUS_CONFIG);
    close(ends[1]);
    (void)state;
}

static void none_is_taken_when_none_is_meant(void **state)
{
    struct problem problem = {0};
    int taken = 7;
    assert_int_equal(take("0", &taken), STATUS_OK);
    assert_int_equal(taken, -1);
    setenv("LISTEN_PID", "1", 1);
    setenv("LISTEN_FDS", "1", 1);
    taken = 7;
    assert_int_equal(service_manager_take_socket(&taken, &problem), STATUS_OK);
    assert_int_equal(taken, -1);
    (void)state;
}

static enum status find(const char *given, char path[64])
{
    struct problem problem = {0};
    snprintf(path, 64, "%s", given);
    enum status status = service_manager_find_credential(path, 64, &problem);
    assert_true((status == STATUS_CONFIG) == (problem.detail[0] != '\0'));
    return status;
}

static void a_credential_is_a_file_in_the_folder_of_the_manager(void **state)
{
    char path[64];
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials/apspd.service", 1);
    assert_int_equal(find("credential:apspd.keys", path), STATUS_OK);
    assert_string_equal(path, "/run/credentials/apspd.service/apspd.keys");
    assert_int_equal(find("/etc/apspd/keys", path), STATUS_OK);
    assert_string_equal(path, "/etc/apspd/keys");
    assert_int_equal(find("none", path), STATUS_OK);
    assert_string_equal(path, "none");
    (void)state;
}

static void what_cannot_be_a_credential_is_refused_and_left(void **state)
{
    static const char *const names[] = {
        "credential:",    "credential:.",
        "credential:..",  "credential:../../../etc/shadow",
        "credential:a/b", "credential:a-name-too-long-for-the-room-of-the-path"};
    char path[64];
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials/apspd.service", 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(find(names[i], path), STATUS_CONFIG);
        assert_string_equal(path, names[i]);
    }
    setenv("CREDENTIALS_DIRECTORY", "relative", 1);
    assert_int_equal(find("credential:keys", path), STATUS_CONFIG);
    unsetenv("CREDENTIALS_DIRECTORY");
    assert_int_equal(find("credential:keys", path), STATUS_CONFIG);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_reach_a_manager_of_either_name),
        cmocka_unit_test(without_a_manager_nothing_is_said),
        cmocka_unit_test(the_watchdog_is_fed_twice_as_often_as_it_wants),
        cmocka_unit_test(a_listening_socket_is_taken),
        cmocka_unit_test(what_is_no_such_socket_is_refused),
        cmocka_unit_test(none_is_taken_when_none_is_meant),
        cmocka_unit_test(a_credential_is_a_file_in_the_folder_of_the_manager),
        cmocka_unit_test(what_cannot_be_a_credential_is_refused_and_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
