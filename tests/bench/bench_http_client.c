/* A closed loop of requests over connections that are kept: each connection asks again as soon as
 * it has its answer. One thread, so that a machine of two cores has one left for the server.
 *
 *   bench_http_client ADDRESS PATH [CONNECTIONS [SECONDS [VERTICES]]]
 *
 * ADDRESS is as the servers print it, http://127.0.0.1:PORT; other hosts than this one are refused.
 * Each {} in PATH becomes a random number in 1..VERTICES, the same sequence in every run. Prints
 * one line; the exit status is 1 when any answer was not a 200 with its whole body. */
#include "proto/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_BYTES 1024
#define ANSWER_BYTES 4096
#define EVENT_COUNT 64
#define CONNECTION_MOST 4096
#define SECONDS_MOST 600
/* What is under way at the end of the time may still be answered for so long. */
#define GRACE_NS INT64_C(3000000000)

struct connection {
    int descriptor; /* -1: ended by an error */
    bool waiting;   /* for an answer */
    int64_t since_ns;
    size_t size;
    char answer[ANSWER_BYTES + 1];
};

struct load {
    struct sockaddr_in address;
    const char *path;
    uint32_t vertices;
    uint64_t seed;
    int epoll;
    int64_t end_ns; /* nothing is asked any more */
    struct connection *connections;
    size_t count;
    size_t waiting;
    uint64_t *latencies_ns;
    size_t answers;
    size_t capacity;
    uint64_t errors;
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint32_t random_vertex(struct load *load)
{
    load->seed ^= load->seed << 13;
    load->seed ^= load->seed >> 7;
    load->seed ^= load->seed << 17;
    return (uint32_t)(load->seed % load->vertices) + 1;
}

/* Always the same few kinds of failure, told once each. */
static void complain(const char *what, const char *detail)
{
    static unsigned told;

    if (told++ < 5) {
        fprintf(stderr, "bench_http_client: %s: %.200s\n", what, detail);
    }
}

static void drop(struct load *load, struct connection *connection, const char *what,
                 const char *detail)
{
    complain(what, detail);
    load->errors++;
    load->waiting -= connection->waiting;
    connection->waiting = false;
    close(connection->descriptor);
    connection->descriptor = -1;
}

/* ---- One request and its answer ---- */

/* The size of the request. */
static size_t write_request(struct load *load, char ret_request[REQUEST_BYTES])
{
    size_t size = (size_t)snprintf(ret_request, REQUEST_BYTES, "GET ");

    for (const char *at = load->path; *at != '\0'; at++) {
        CHECK(size + 64 < REQUEST_BYTES);
        if (at[0] == '{' && at[1] == '}') {
            size += (size_t)snprintf(ret_request + size, REQUEST_BYTES - size, "%" PRIu32,
                                     random_vertex(load));
            at++;
        } else {
            ret_request[size++] = *at;
        }
    }
    size += (size_t)snprintf(ret_request + size, REQUEST_BYTES - size,
                             " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n");
    CHECK(size < REQUEST_BYTES);
    return size;
}

static void ask(struct load *load, struct connection *connection)
{
    char request[REQUEST_BYTES];
    size_t size = write_request(load, request);

    connection->size = 0;
    connection->since_ns = now_ns();
    /* Nothing else is in its buffer: a request that does not fit is an error. */
    if (send(connection->descriptor, request, size, MSG_NOSIGNAL) != (ssize_t)size) {
        drop(load, connection, "a request was not taken", strerror(errno));
        return;
    }
    connection->waiting = true;
    load->waiting++;
}

static bool keep_latency(struct load *load, int64_t latency_ns)
{
    if (load->answers == load->capacity) {
        size_t capacity = load->capacity == 0 ? 1 << 16 : load->capacity * 2;
        uint64_t *grown = reallocarray(load->latencies_ns, capacity, sizeof *grown);

        if (grown == NULL) {
            return false;
        }
        load->latencies_ns = grown;
        load->capacity = capacity;
    }
    load->latencies_ns[load->answers++] = (uint64_t)latency_ns;
    return true;
}

/* The bytes of the whole answer; 0 while its header is not complete, or when it has no length. */
static size_t answer_size(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    const char *length = strcasestr(answer, "\r\nContent-Length:");

    if (end == NULL || length == NULL || length > end) {
        return 0;
    }
    return (size_t)(end + 4 - answer) + strtoul(length + 17, NULL, 10);
}

/* Of an answer that has all its bytes. */
static bool is_good(const struct connection *connection)
{
    static const char start[] = "HTTP/1.1 200 ";
    const char *body = strstr(connection->answer, "\r\n\r\n") + 4;

    return strncmp(connection->answer, start, sizeof start - 1) == 0 && body[0] == '{' &&
           strcmp(connection->answer + connection->size - 2, "}\n") == 0;
}

static void take_answer(struct load *load, struct connection *connection)
{
    int64_t end_ns = now_ns();

    connection->waiting = false;
    load->waiting--;
    if (!is_good(connection)) {
        drop(load, connection, "not an answer", connection->answer);
        return;
    }
    if (!keep_latency(load, end_ns - connection->since_ns)) {
        drop(load, connection, "no memory", "for the latencies");
        return;
    }
    if (end_ns < load->end_ns) {
        ask(load, connection);
    }
}

static void receive(struct load *load, struct connection *connection)
{
    ssize_t got = recv(connection->descriptor, connection->answer + connection->size,
                       ANSWER_BYTES - connection->size, 0);

    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0 || !connection->waiting) {
        drop(load, connection, "a connection ended", got < 0 ? strerror(errno) : "by the server");
        return;
    }
    connection->size += (size_t)got;
    connection->answer[connection->size] = '\0';
    size_t size = answer_size(connection->answer);
    if (connection->size == ANSWER_BYTES || (size > 0 && connection->size > size)) {
        drop(load, connection, "too long an answer", connection->answer);
    } else if (size > 0 && connection->size == size) {
        take_answer(load, connection);
    }
}

/* ---- All of them ---- */

static bool open_connection(struct load *load, struct connection *connection)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = connection}};
    int on = 1;

    connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* Connects in the ordinary, waiting way, which on this host is at once. */
    return connection->descriptor >= 0 &&
           connect(connection->descriptor, (const struct sockaddr *)&load->address,
                   sizeof load->address) == 0 &&
           setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
           epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->descriptor, &event) == 0;
}

static bool open_all(struct load *load)
{
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->connections = calloc(load->count, sizeof *load->connections);
    if (load->epoll < 0 || load->connections == NULL) {
        complain("does not start", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < load->count; i++) {
        if (!open_connection(load, &load->connections[i])) {
            complain("does not connect", strerror(errno));
            return false;
        }
    }
    return true;
}

/* The seconds that it took. */
static double run(struct load *load, double seconds)
{
    int64_t begin_ns = now_ns();
    int64_t last_ns;

    load->end_ns = begin_ns + (int64_t)(seconds * 1e9);
    last_ns = load->end_ns + GRACE_NS;
    for (size_t i = 0; i < load->count; i++) {
        ask(load, &load->connections[i]);
    }
    while (load->waiting > 0 && now_ns() < last_ns) {
        struct epoll_event events[EVENT_COUNT];
        int count = epoll_wait(load->epoll, events, EVENT_COUNT, 100);

        for (int i = 0; i < count; i++) {
            receive(load, events[i].data.ptr);
        }
    }
    /* No answer within the grace is an error too. */
    load->errors += load->waiting;
    return (double)(now_ns() - begin_ns) / 1e9;
}

static int compare_latencies(const void *first, const void *second)
{
    const uint64_t a = *(const uint64_t *)first;
    const uint64_t b = *(const uint64_t *)second;

    return (a > b) - (a < b);
}

static double percentile_us(const struct load *load, double part)
{
    size_t index = (size_t)(part * (double)load->answers);

    if (load->answers == 0) {
        return 0;
    }
    return (double)load->latencies_ns[index < load->answers ? index : load->answers - 1] / 1e3;
}

static void print(struct load *load, double seconds)
{
    if (load->answers > 0) {
        qsort(load->latencies_ns, load->answers, sizeof *load->latencies_ns, compare_latencies);
    }
    printf("answers=%zu rate=%.0f p50_us=%.0f p90_us=%.0f p99_us=%.0f p99.9_us=%.0f max_us=%.0f "
           "errors=%" PRIu64 "\n",
           load->answers, (double)load->answers / seconds, percentile_us(load, 0.5),
           percentile_us(load, 0.9), percentile_us(load, 0.99), percentile_us(load, 0.999),
           percentile_us(load, 1), load->errors);
}

static bool parse_address(const char *text, struct sockaddr_in *ret_address)
{
    static const char start[] = "http://127.0.0.1:";
    unsigned long port;

    if (strncmp(text, start, sizeof start - 1) != 0) {
        return false;
    }
    port = strtoul(text + sizeof start - 1, NULL, 10);
    *ret_address = (struct sockaddr_in){.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    return port > 0 && port < 65536;
}

int main(int argc, char **argv)
{
    struct load load = {.seed = UINT64_C(0x9E3779B97F4A7C15), .path = argc > 2 ? argv[2] : ""};
    double seconds = argc > 4 ? strtod(argv[4], NULL) : 4;

    load.count = argc > 3 ? strtoul(argv[3], NULL, 10) : 64;
    load.vertices = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 1000;
    if (load.path[0] != '/' || strlen(load.path) > REQUEST_BYTES / 4 ||
        !parse_address(argv[1], &load.address) || load.count == 0 || load.count > CONNECTION_MOST ||
        !(seconds > 0 && seconds <= SECONDS_MOST) || load.vertices == 0) {
        fprintf(stderr, "usage: bench_http_client http://127.0.0.1:PORT PATH "
                        "[CONNECTIONS [SECONDS [VERTICES]]]\n");
        return 2;
    }
    if (!open_all(&load)) {
        return 1;
    }
    seconds = run(&load, seconds);
    print(&load, seconds);
    for (size_t i = 0; i < load.count; i++) {
        if (load.connections[i].descriptor >= 0) {
            close(load.connections[i].descriptor);
        }
    }
    close(load.epoll);
    free(load.connections);
    free(load.latencies_ns);
    return load.errors == 0 ? 0 : 1;
}
