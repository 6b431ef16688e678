#include "server/systemd.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static enum status take(const char *count, int *ret_socket)
{
    char own[16];
    struct problem problem = {0};
    snprintf(own, sizeof own, "%d", getpid());
    setenv("LISTEN_PID", own, 1);
    setenv("LISTEN_FDS", count, 1);
    enum status status = systemd_receive_socket(ret_socket, &problem);
    assert_null(getenv("LISTEN_FDS"));
    assert_null(getenv("LISTEN_PID"));
    assert_true((status == STATUS_CONFIG) == (problem.detail[0] != '\0'));
    return status;
}

/* Moves the descriptor to number 3, the first number that systemd uses. */
static void hand_over(int descriptor)
{
    assert_int_equal(dup2(descriptor, 3), 3);
    if (descriptor != 3) {
        close(descriptor);
    }
}

TEST(a_listening_socket_is_accepted)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int taken = 7;
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(descriptor, (const struct sockaddr *)&any, sizeof any), 0);
    hand_over(descriptor);
    assert_int_equal(take("1", &taken), STATUS_CONFIG); /* the socket is not listening yet */
    assert_int_equal(listen(3, 5), 0);
    assert_int_equal(take("2", &taken), STATUS_CONFIG);
    assert_int_equal(taken, 7);
    assert_int_equal(take("1", &taken), STATUS_OK);
    assert_int_equal(taken, 3);
    assert_true(fcntl(3, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(3, F_GETFL) & O_NONBLOCK);
}

TEST(a_descriptor_that_is_not_a_socket_is_refused)
{
    int taken = 7;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    hand_over(ends[0]);
    assert_int_equal(take("1", &taken), STATUS_CONFIG);
    close(ends[1]);
}

TEST(a_socket_passed_to_another_process_is_ignored)
{
    struct problem problem = {0};
    int taken = 7;
    assert_int_equal(take("0", &taken), STATUS_CONFIG);
    setenv("LISTEN_PID", "1", 1);
    setenv("LISTEN_FDS", "1", 1);
    taken = 7;
    assert_int_equal(systemd_receive_socket(&taken, &problem), STATUS_OK);
    assert_int_equal(taken, -1);
}

static enum status find(const char *given, char path[64])
{
    struct problem problem = {0};
    snprintf(path, 64, "%s", given);
    enum status status = systemd_find_credential(path, 64, &problem);
    assert_true((status == STATUS_CONFIG) == (problem.detail[0] != '\0'));
    return status;
}

TEST(a_credential_is_a_file_in_the_credentials_directory)
{
    char path[64];
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials/apspd.service", 1);
    assert_int_equal(find("credential:apspd.keys", path), STATUS_OK);
    assert_string_equal(path, "/run/credentials/apspd.service/apspd.keys");
    assert_int_equal(find("/etc/apspd/keys", path), STATUS_OK);
    assert_string_equal(path, "/etc/apspd/keys");
    assert_int_equal(find("none", path), STATUS_OK);
    assert_string_equal(path, "none");
}

TEST(an_invalid_credential_name_is_refused)
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
}
