/* Measures the minimum work of libmicrohttpd per request. All time beyond it that apspd needs is
 * spent in apspd itself. The server has its own thread pool and the limits of
 * server/http/transport/endpoint.c. It sends one constant response, with the size of apspd's
 * response to a distance query. To a POST, it responds with BYTES bytes when the body is complete,
 * and then closes the connection, which apspd does not do.
 *
 *   bench_http_bare [THREADS [BYTES]]     default 4 and 3; runs until standard input is closed */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024
#define CONNECTION_LIMIT (16384u + 16384u / 8 + 64)
#define CONNECTION_TIMEOUT_S 30u
#define CONNECTION_MEMORY_BYTES (24 << 10)

static char body[] = "{\"source\":1234,\"target\":2345,\"distance\":16789}\n";

struct answers {
    struct MHD_Response *distance;
    struct MHD_Response *posted;
};

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_data_size, void **request_context)
{
    const struct answers *answers = context;

    (void)url;
    (void)version;
    (void)upload_data;
    /* The first call, after the headers, must not respond: a response before the body would close
     * the connection. */
    if (*request_context == NULL) {
        *request_context = context;
        return MHD_YES;
    }
    if (*upload_data_size > 0) {
        *upload_data_size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK,
                              method[0] == 'P' ? answers->posted : answers->distance);
}

static bool add_headers(struct MHD_Response *response, bool closing)
{
    static const char *const headers[][2] = {
        {"X-Request-Id", "0123456789abcdef"},
        {"ETag", "\"r_0123456789abcdefghjkmnpqrs-json\""},
        {"Vary", "Accept"},
        {"Cache-Control", "no-cache"},
        {"Content-Type", "application/json"},
    };
    bool added = response != NULL;

    for (size_t i = 0; added && i < sizeof headers / sizeof headers[0]; i++) {
        added = MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    }
    return added &&
           (!closing || MHD_add_response_header(response, "Connection", "close") == MHD_YES);
}

/* Creates the responses, which exist until the process exits. */
static bool create_answers(size_t posted_size, struct answers *ret_answers)
{
    char *posted = malloc(posted_size);

    if (posted == NULL || posted_size < 3) {
        return false;
    }
    memset(posted, ' ', posted_size);
    posted[0] = '{';
    memcpy(posted + posted_size - 2, "}\n", 2);
    ret_answers->distance =
        MHD_create_response_from_buffer(sizeof body - 1, body, MHD_RESPMEM_PERSISTENT);
    ret_answers->posted =
        MHD_create_response_from_buffer(posted_size, posted, MHD_RESPMEM_PERSISTENT);
    return add_headers(ret_answers->distance, false) && add_headers(ret_answers->posted, true);
}

/* Opens a listening socket on a free port of the loopback interface. Returns -1 on failure. */
static int open_socket(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (descriptor < 0) {
        return -1;
    }
    if (bind(descriptor, (struct sockaddr *)&address, size) != 0 ||
        listen(descriptor, BACKLOG) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) {
        close(descriptor);
        return -1;
    }
    *ret_port = ntohs(address.sin_port);
    return descriptor;
}

/* Starts the server, which takes ownership of the socket. */
static struct MHD_Daemon *start_daemon(int descriptor, unsigned threads, struct answers *answers)
{
    /* libmicrohttpd rejects a pool of one thread, so one thread is started without a pool. */
    struct MHD_OptionItem pool[] = {
        {threads < 2 ? MHD_OPTION_END : MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        answer, answers, MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
        CONNECTION_LIMIT, MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_ARRAY, pool, MHD_OPTION_END);

    if (daemon == NULL) {
        close(descriptor);
    }
    return daemon;
}

int main(int argc, char **argv)
{
    unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4;
    size_t posted_size = argc > 2 ? strtoul(argv[2], NULL, 10) : 3;
    struct answers answers;
    uint16_t port = 0;
    int descriptor = create_answers(posted_size, &answers) ? open_socket(&port) : -1;
    struct MHD_Daemon *daemon = descriptor < 0 ? NULL : start_daemon(descriptor, threads, &answers);

    if (daemon == NULL) {
        fprintf(stderr, "bench_http_bare: does not start with %u threads\n", threads);
        return 1;
    }
    printf("listening on http://127.0.0.1:%u\n", (unsigned)port);
    fflush(stdout);
    while (getchar() != EOF) {
    }
    MHD_stop_daemon(daemon);
    return 0;
}
