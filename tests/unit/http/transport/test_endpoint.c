/* Tests an endpoint that responds "ok" to every request: accepting connections, limits, deadlines
 * and shutdown. */
#include "server/clock.h"
#include "server/config_option.h"
#include "server/http/transport/endpoint.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define PATIENCE_MS 20000

struct fixture {
    struct config config;
    struct conn_limits limits;
    struct shared_listener listener;
    struct endpoint *endpoint;
    /* A request for /wait stays suspended until a message resumes it. */
    struct MHD_Connection *_Atomic suspended;
    struct message resume;
    atomic_uint left; /* number of clients reported as disconnected */
};

static struct fixture *current;

static enum MHD_Result answer(struct MHD_Connection *connection)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(2, (void *)(uintptr_t) "ok", MHD_RESPMEM_PERSISTENT);
    const enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);

    MHD_destroy_response(response);
    endpoint_enter_phase(endpoint_conn(connection), PHASE_ANSWER, 0);
    return result;
}

static enum MHD_Result request_came(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *data, size_t *size, void **request)
{
    struct conn *conn = endpoint_conn(connection);
    static char begun;

    (void)context;
    (void)method;
    (void)version;
    (void)data;
    if (*request == NULL) {
        *request = &begun;
        endpoint_enter_phase(conn, PHASE_HANDLER, 0);
        return MHD_YES;
    }
    if (*size > 0) {
        conn->deadlines.received += *size;
        *size = 0;
        return MHD_YES;
    }
    if (strcmp(url, "/wait") == 0 && *request == &begun) {
        *request = current;
        endpoint_suspend(conn, connection);
        atomic_store(&current->suspended, connection);
        return MHD_YES;
    }
    return answer(connection);
}

static void *request_started(void *context, const char *target, struct MHD_Connection *connection)
{
    (void)context;
    (void)target;
    (void)connection;
    return NULL;
}

static void request_ended(void *context, struct MHD_Connection *connection, void **request,
                          enum MHD_RequestTerminationCode reason)
{
    (void)context;
    (void)request;
    (void)reason;
    endpoint_enter_phase(endpoint_conn(connection), PHASE_HEADERS, clock_monotonic_s());
}

static void client_left(struct request *request)
{
    (void)request;
    atomic_fetch_add(&current->left, 1);
}

static void conn_closed(struct request *request)
{
    (void)request;
}

static void resume(struct message *message)
{
    struct MHD_Connection *connection = atomic_load(&current->suspended);

    (void)message;
    endpoint_resume(endpoint_conn(connection), connection);
}

static struct fixture *start(const char *address, uint32_t connections)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct problem problem;

    assert_non_null(fixture);
    current = fixture;
    config_defaults(&fixture->config);
    fixture->config.header_timeout_s = 1;
    fixture->resume.deliver = resume;
    fixture->limits.connections = connections;
    fixture->limits.refused_connections = 1;
    assert_int_equal(listener_open(address, 0600, &fixture->listener.listener, &problem),
                     STATUS_OK);
    const struct endpoint_rules rules = {
        .config = &fixture->config,
        .limits = &fixture->limits,
        .context = fixture,
        .request_came = request_came,
        .request_started = request_started,
        .request_ended = request_ended,
        .client_left = client_left,
        .conn_closed = conn_closed,
    };
    assert_int_equal(endpoint_create(&rules, 0, &fixture->listener, &fixture->endpoint), STATUS_OK);
    return fixture;
}

static struct fixture *start_tcp(void)
{
    return start("127.0.0.1:0", 100);
}

static void stop(struct fixture *fixture)
{
    endpoint_stop(fixture->endpoint);
    endpoint_destroy(fixture->endpoint);
    assert_int_equal(fixture->listener.listener.socket, -1);
    free(fixture);
}

static int connect_tcp(const struct fixture *fixture)
{
    const char *port = strrchr(fixture->listener.listener.address, ':') + 1;
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr = {htonl(INADDR_LOOPBACK)},
                                        .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
    const int client = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(client >= 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&address, sizeof(address)), 0);
    return client;
}

static void call(int client, const char *request)
{
    assert_int_equal(send(client, request, strlen(request), MSG_NOSIGNAL), strlen(request));
}

/* Returns true if a complete response "ok" arrives before the end of the connection. */
static bool hears_ok(int client)
{
    char bytes[1024] = "";
    size_t size = 0;
    struct pollfd wait = {.fd = client, .events = POLLIN};

    while (memmem(bytes, size, "\r\n\r\nok", 6) == NULL) {
        assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
        const ssize_t got = recv(client, bytes + size, sizeof(bytes) - 1 - size, 0);
        if (got <= 0) {
            return false;
        }
        size += (size_t)got;
    }
    return true;
}

TEST(requests_are_answered_on_persistent_connections)
{
    struct fixture *fixture = start_tcp();
    int clients[10];

    for (int i = 0; i < 10; i++) {
        clients[i] = connect_tcp(fixture);
    }
    for (int i = 0; i < 100; i++) {
        call(clients[i % 10], REQUEST);
        assert_true(hears_ok(clients[i % 10]));
    }
    for (int i = 0; i < 10; i++) {
        close(clients[i]);
    }
    stop(fixture);
}

TEST(a_suspended_request_is_resumed_by_a_message)
{
    struct fixture *fixture = start_tcp();
    const int client = connect_tcp(fixture);

    call(client, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    while (atomic_load(&fixture->suspended) == NULL) {
    }
    /* No deadline ends the suspended request, and stopping the endpoint waits for the response. */
    (void)poll(NULL, 0, 1500);
    assert_int_equal(atomic_load(&fixture->left), 0);
    endpoint_post(fixture->endpoint, &fixture->resume);
    stop(fixture);
    assert_true(hears_ok(client));
    close(client);
}

TEST(a_disconnect_during_a_suspended_request_is_noticed)
{
    struct fixture *fixture = start_tcp();
    const int client = connect_tcp(fixture);

    call(client, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    while (atomic_load(&fixture->suspended) == NULL) {
    }
    close(client);
    while (atomic_load(&fixture->left) == 0) {
    }
    endpoint_post(fixture->endpoint, &fixture->resume);
    stop(fixture);
}

static void expect_end_of_silent(int client)
{
    const double began_s = clock_monotonic_s();

    call(client, "GET / HT");
    assert_false(hears_ok(client));
    assert_true(clock_monotonic_s() - began_s > 0.9);
    close(client);
}

TEST(a_connection_that_sends_no_headers_is_closed)
{
    struct fixture *fixture = start_tcp();

    expect_end_of_silent(connect_tcp(fixture));
    stop(fixture);
}

TEST(deadlines_apply_to_unix_sockets)
{
    char folder[] = "/tmp/test-endpoint-XXXXXX";
    char address[64];
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    assert_non_null(mkdtemp(folder));
    snprintf(address, sizeof(address), "unix:%s/s", folder);
    snprintf(name.sun_path, sizeof(name.sun_path), "%s/s", folder);
    struct fixture *fixture = start(address, 100);
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&name, sizeof(name)), 0);
    call(client, REQUEST);
    assert_true(hears_ok(client));
    expect_end_of_silent(client);
    stop(fixture);
    assert_int_not_equal(access(name.sun_path, F_OK), 0);
    snprintf(address, sizeof(address), "%s/s.lock", folder);
    unlink(address);
    rmdir(folder);
}

TEST(connections_above_the_limit_are_closed)
{
    struct fixture *fixture = start("127.0.0.1:0", 1);
    const int first = connect_tcp(fixture);

    call(first, REQUEST);
    assert_true(hears_ok(first));
    const int second = connect_tcp(fixture); /* accepted, so that a handler can refuse it */
    call(second, REQUEST);
    assert_true(hears_ok(second));
    const int third = connect_tcp(fixture);
    assert_false(hears_ok(third));
    close(third);
    close(second);
    close(first);
    stop(fixture);
}

/* A client waits for its connection to be accepted, but the process has no free descriptor. */
TEST(a_thread_pauses_accepting_when_no_descriptor_is_free)
{
    struct fixture *fixture = start_tcp();
    struct rlimit limit;
    struct rusage before;
    struct rusage after;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const int client = connect_tcp(fixture);
    call(client, REQUEST);
    assert_true(hears_ok(client));
    const int other = socket(AF_INET, SOCK_STREAM, 0);
    close(other);
    const struct rlimit few = {(rlim_t)other + 1, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    const int waiting = connect_tcp(fixture);
    call(waiting, REQUEST);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    (void)poll(NULL, 0, 1000);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_nvcsw - before.ru_nvcsw < 50);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(hears_ok(waiting));
    close(waiting);
    close(client);
    stop(fixture);
}

TEST(requests_on_open_connections_are_answered_after_the_endpoint_stops_accepting)
{
    struct fixture *fixture = start_tcp();
    const int client = connect_tcp(fixture);
    char bytes[8];

    call(client, REQUEST);
    assert_true(hears_ok(client));
    const int port_of = connect_tcp(fixture);
    endpoint_quiesce(fixture->endpoint);
    while (!endpoint_is_quiesced(fixture->endpoint)) {
        sched_yield();
    }
    while (atomic_load(&fixture->listener.users) > 0) {
    }
    call(client, REQUEST);
    assert_true(hears_ok(client));
    stop(fixture);
    assert_true(recv(client, bytes, sizeof(bytes), 0) <= 0);
    close(port_of);
    close(client);
}
