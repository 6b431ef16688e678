#include "server/http/transport/listener.h"
#include "tests/lib/test.h"

#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(port_0_binds_a_free_port_and_reports_it)
{
    struct problem problem = {0};
    struct listener first;
    struct listener second;

    assert_int_equal(listener_open("127.0.0.1:0", 0600, &first, &problem), STATUS_OK);
    assert_int_equal(strncmp(first.address, "127.0.0.1:", 10), 0);
    assert_string_not_equal(first.address, "127.0.0.1:0");
    assert_true(first.is_local);
    assert_int_equal(listener_open(first.address, 0600, &second, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "in use"));
    listener_close(&first);
}

TEST(the_error_for_an_unusable_address_names_the_address)
{
    struct problem problem = {0};
    struct listener listener;

    assert_int_equal(listener_open("192.0.2.1:0", 0600, &listener, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "192.0.2.1"));
}

TEST(a_unix_socket_exists_until_it_is_closed)
{
    struct problem problem = {0};
    struct listener first;
    struct listener second;
    struct stat about;
    char address[64];
    const char *path = address + 5;

    snprintf(address, sizeof address, "unix:/tmp/test_listener_%d", getpid());
    assert_int_equal(listener_open(address, 0660, &first, &problem), STATUS_OK);
    assert_string_equal(first.address, address);
    assert_true(first.is_local && first.is_unix);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
    assert_int_equal(listener_open(address, 0600, &second, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "in use"));
    assert_int_equal(stat(path, &about), 0);
    listener_close(&first);
    listener_close(&first);
    assert_int_equal(stat(path, &about), -1);
}

/* A process that was killed leaves a stale socket file behind. */
TEST(only_a_stale_unix_socket_is_replaced)
{
    struct problem problem = {0};
    struct listener listener;
    struct sockaddr_un stale = {.sun_family = AF_UNIX};
    char address[64];
    char lock[80];
    const char *path = address + 5;

    snprintf(address, sizeof address, "unix:/tmp/test_listener_%d", getpid());
    snprintf(lock, sizeof lock, "%s.lock", path);
    snprintf(stale.sun_path, sizeof stale.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(descriptor, (struct sockaddr *)&stale, sizeof stale), 0);
    close(descriptor);
    assert_int_equal(listener_open(address, 0600, &listener, &problem), STATUS_OK);
    listener_close(&listener);
    fclose(fopen(path, "w"));
    assert_int_equal(listener_open(address, 0600, &listener, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "not a socket"));
    assert_int_equal(unlink(path), 0);
    unlink(lock);
}

TEST(only_loopback_addresses_are_local)
{
    struct problem problem = {0};
    struct listener listener;

    assert_int_equal(listener_open("0.0.0.0:0", 0600, &listener, &problem), STATUS_OK);
    assert_false(listener.is_local);
    listener_close(&listener);
    assert_int_equal(listener_open("127.0.0.1:0", 0600, &listener, &problem), STATUS_OK);
    assert_true(listener.is_local);
    listener_close(&listener);
}

/* The test is skipped if localhost cannot be resolved, for example without /etc/hosts. */
TEST(a_host_name_is_resolved)
{
    struct problem problem = {0};
    struct listener listener;
    struct addrinfo *known = NULL;

    if (getaddrinfo("localhost", NULL, NULL, &known) != 0) {
        skip();
    }
    freeaddrinfo(known);
    assert_int_equal(listener_open("localhost:0", 0600, &listener, &problem), STATUS_OK);
    assert_true(listener.is_local);
    listener_close(&listener);
}

/* With a shorter backlog, some clients of a burst would have to retry after a second. */
TEST(the_backlog_equals_the_kernel_limit)
{
    struct problem problem = {0};
    struct listener listener;
    struct tcp_info info;
    socklen_t size = sizeof info;
    unsigned limit = 0;
    FILE *file = fopen("/proc/sys/net/core/somaxconn", "r");

    if (file == NULL) {
        skip();
    }
    assert_int_equal(fscanf(file, "%u", &limit), 1);
    fclose(file);
    assert_int_equal(listener_open("127.0.0.1:0", 0600, &listener, &problem), STATUS_OK);
    assert_int_equal(getsockopt(listener.socket, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    /* For a listening TCP socket, tcpi_sacked is the backlog. */
    assert_int_equal(info.tcpi_sacked, limit < 4096 ? limit : 4096);
    listener_close(&listener);
}

TEST(a_socket_of_another_process_is_inherited)
{
    struct problem problem = {0};
    struct listener first;
    struct listener second;
    struct listener third;
    int ends[2];

    assert_int_equal(listener_open("127.0.0.1:0", 0600, &first, &problem), STATUS_OK);
    assert_int_equal(listener_adopt(dup(first.socket), &second, &problem), STATUS_OK);
    assert_string_equal(second.address, first.address);
    assert_true(second.is_local && !second.is_unix);
    listener_close(&second);
    listener_close(&first);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(listener_adopt(ends[0], &third, &problem), STATUS_CONFIG);
    close(ends[1]);
}
