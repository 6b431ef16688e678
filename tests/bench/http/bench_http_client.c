/* Generates load over persistent connections, and replaces connections that the server closes. By
 * default, each connection sends its next request when it has received a response (closed loop).
 * With --rate N, N requests per second are due at fixed times (open loop); each is sent on the
 * connection that has been idle longest, and its latency counts from the due time. The program has
 * one thread, which leaves one core of a two-core machine for the server.
 *
 *   bench_http_client [--post FILE] [--header LINE] [--rate N] ADDRESS PATH [CONNECTIONS [SECONDS
 *                     [VERTICES]]]
 *
 * ADDRESS is the address that the server prints, http://127.0.0.1:PORT; other hosts are refused.
 * Each {} in PATH becomes a random number from 1 to VERTICES, with the same sequence in every run.
 * FILE is the body of each request. Prints one line. The exit status is 1 if any response was
 * incomplete or not a success. */
#include "proto/status.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_BYTES 1024
/* Size of the buffer for the head of a response and for a small body. Further bytes of a body are
 * only counted. */
#define ANSWER_BYTES 4096
#define PIECE_BYTES (256 << 10)
#define EVENT_COUNT 64
#define CONNECTION_MOST 4096
#define SECONDS_MOST 600
#define RATE_MOST 1e6
/* After the measurement, the program receives outstanding responses until nothing arrives during
 * SILENT_WAITS waits of WAIT_MS. It counts waits instead of time, because a pause of the machine is
 * not the server's fault. */
#define WAIT_MS 100
#define SILENT_WAITS 100

struct connection {
    int descriptor;              /* -1: the connection is closed */
    bool waiting;                /* waiting for a response */
    bool closing;                /* the server closes the connection after this response */
    int64_t since_ns;            /* time when the request was sent, or was due */
    char request[REQUEST_BYTES]; /* head of the request */
    size_t request_size;
    size_t sent;                   /* bytes of the request's head and body */
    size_t size;                   /* bytes of the response received so far */
    size_t whole;                  /* size of the response; 0 = not known yet */
    char answer[ANSWER_BYTES + 1]; /* the first ANSWER_BYTES bytes of the response */
};

struct load {
    struct sockaddr_in address;
    const char *path;
    const char *header; /* an additional header line; "" = none */
    const char *body;   /* NULL: the requests are GET */
    size_t body_size;
    uint32_t vertices;
    uint64_t seed;
    int epoll;
    int64_t begin_ns;
    int64_t end_ns; /* time after which no requests are sent */
    double rate;    /* requests per second; 0 = a closed loop */
    uint64_t due;   /* open loop: requests sent so far */
    struct connection *connections;
    size_t count;
    size_t waiting;
    struct connection **idle; /* open loop: ring buffer of idle connections, from idle_first on */
    size_t idle_first;
    size_t idle_count;
    uint64_t *latencies_ns;
    size_t answers;
    size_t capacity;
    uint64_t bytes; /* bytes of request bodies, or of responses if the requests are GET */
    uint64_t errors;
    char *piece;
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

/* Prints a failure. Only the first five are printed, so that a long run does not flood the
 * output. */
static void complain(const char *what, const char *detail)
{
    static unsigned told;

    if (told++ < 5) {
        fprintf(stderr, "bench_http_client: %s: %.200s\n", what, detail);
    }
}

/* Open loop: adds a connection to the idle connections. */
static void rest(struct load *load, struct connection *connection)
{
    load->idle[(load->idle_first + load->idle_count++) % load->count] = connection;
}

static void drop(struct load *load, struct connection *connection, const char *what,
                 const char *detail)
{
    complain(what, detail);
    load->errors++;
    if (connection->waiting) {
        connection->waiting = false;
        load->waiting--;
        if (load->rate > 0) {
            rest(load, connection);
        }
    }
    close(connection->descriptor);
    connection->descriptor = -1;
}

static void watch(const struct load *load, struct connection *connection, int operation,
                  uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.ptr = connection}};

    CHECK(epoll_ctl(load->epoll, operation, connection->descriptor, &event) == 0);
}

static bool open_connection(struct load *load, struct connection *connection)
{
    int on = 1;

    connection->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* Connects in blocking mode, which takes little time over the loopback interface. */
    if (connection->descriptor < 0 ||
        connect(connection->descriptor, (const struct sockaddr *)&load->address,
                sizeof load->address) != 0 ||
        setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        return false;
    }
    watch(load, connection, EPOLL_CTL_ADD, EPOLLIN);
    return true;
}

/* Writes the path, in which a random vertex replaces each {}. Returns its length. */
static size_t write_path(struct load *load, char *to, size_t room)
{
    size_t size = 0;

    for (const char *at = load->path; *at != '\0'; at++) {
        CHECK(size + 16 < room);
        if (at[0] == '{' && at[1] == '}') {
            size += (size_t)snprintf(to + size, room - size, "%" PRIu32, random_vertex(load));
            at++;
        } else {
            to[size++] = *at;
        }
    }
    return size;
}

static void write_request(struct load *load, struct connection *connection)
{
    char *request = connection->request;
    size_t size = (size_t)snprintf(request, REQUEST_BYTES, load->body != NULL ? "POST " : "GET ");

    size += write_path(load, request + size, REQUEST_BYTES / 2);
    size += (size_t)snprintf(request + size, REQUEST_BYTES - size,
                             " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n%s%s", load->header,
                             load->header[0] != '\0' ? "\r\n" : "");
    CHECK(size < REQUEST_BYTES / 8 * 7);
    if (load->body != NULL) {
        size += (size_t)snprintf(request + size, REQUEST_BYTES - size, "Content-Length: %zu\r\n",
                                 load->body_size);
    }
    size += (size_t)snprintf(request + size, REQUEST_BYTES - size, "\r\n");
    connection->request_size = size;
}

/* Sends as many bytes of the request as the socket accepts. The rest is sent when the socket
 * accepts more. */
static void send_request(struct load *load, struct connection *connection)
{
    const size_t head = connection->request_size;
    const bool began = connection->sent > 0;

    while (connection->sent < head + load->body_size) {
        const bool in_head = connection->sent < head;
        const char *from = in_head ? connection->request + connection->sent
                                   : load->body + (connection->sent - head);
        const size_t left = (in_head ? head : head + load->body_size) - connection->sent;
        const int more = in_head && load->body_size > 0 ? MSG_MORE : 0;
        const ssize_t done =
            send(connection->descriptor, from, left, MSG_NOSIGNAL | MSG_DONTWAIT | more);

        if (done < 0 && errno == EAGAIN) {
            watch(load, connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return;
        }
        if (done <= 0) {
            drop(load, connection, "a request was not taken", strerror(errno));
            return;
        }
        connection->sent += (size_t)done;
    }
    if (began) {
        watch(load, connection, EPOLL_CTL_MOD, EPOLLIN);
    }
}

static void call(struct load *load, struct connection *connection, int64_t since_ns)
{
    write_request(load, connection);
    connection->since_ns = since_ns;
    connection->sent = connection->size = connection->whole = 0;
    connection->closing = false;
    connection->waiting = true;
    load->waiting++;
    if (connection->descriptor < 0 && !open_connection(load, connection)) {
        drop(load, connection, "does not connect", strerror(errno));
        return;
    }
    send_request(load, connection);
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

/* Parses the complete head of a response. A response without a Content-Length is an error. */
static bool read_head(struct load *load, struct connection *connection)
{
    const char *end = strstr(connection->answer, "\r\n\r\n");
    const char *length = strcasestr(connection->answer, "\r\nContent-Length:");
    const char *close = strcasestr(connection->answer, "\r\nConnection: close\r\n");

    if (end == NULL || length == NULL || length > end) {
        return false;
    }
    const size_t body_size = strtoul(length + 17, NULL, 10);
    connection->whole = (size_t)(end + 4 - connection->answer) + body_size;
    connection->closing = close != NULL && close < end;
    load->bytes += load->body != NULL ? load->body_size : body_size;
    return true;
}

/* Returns whether a complete response is a success. If it is JSON and fits the buffer, its first
 * and last bytes must be correct too. */
static bool is_good(const struct connection *connection)
{
    static const char start[] = "HTTP/1.1 20";
    const char *body = strstr(connection->answer, "\r\n\r\n") + 4;
    const char *json = strcasestr(connection->answer, "\r\nContent-Type: application/json");

    if (strncmp(connection->answer, start, sizeof start - 1) != 0) {
        return false;
    }
    return json == NULL || json > body || connection->size > ANSWER_BYTES ||
           (body[0] == '{' && strcmp(connection->answer + connection->size - 2, "}\n") == 0);
}

static int64_t due_ns(const struct load *load)
{
    return load->begin_ns + (int64_t)((double)load->due * 1e9 / load->rate);
}

/* Open loop: sends the requests that are due, while there are idle connections. */
static void call_due(struct load *load)
{
    while (load->idle_count > 0 && due_ns(load) < load->end_ns && due_ns(load) <= now_ns()) {
        struct connection *connection = load->idle[load->idle_first];

        load->idle_first = (load->idle_first + 1) % load->count;
        load->idle_count--;
        call(load, connection, due_ns(load));
        load->due++;
    }
}

static void take_answer(struct load *load, struct connection *connection)
{
    int64_t end_ns = now_ns();

    if (!is_good(connection)) {
        drop(load, connection, "not an answer", connection->answer);
        return;
    }
    if (!keep_latency(load, end_ns - connection->since_ns)) {
        drop(load, connection, "no memory", "for the latencies");
        return;
    }
    connection->waiting = false;
    load->waiting--;
    if (connection->closing) {
        close(connection->descriptor);
        connection->descriptor = -1;
    }
    if (load->rate > 0) {
        rest(load, connection);
    } else if (end_ns < load->end_ns) {
        call(load, connection, now_ns());
    }
}

/* Receives into the connection's buffer or, when this buffer is full, into a scratch buffer. */
static ssize_t receive_some(struct load *load, struct connection *connection)
{
    const size_t room = connection->size < ANSWER_BYTES ? ANSWER_BYTES - connection->size : 0;
    ssize_t got =
        recv(connection->descriptor, room > 0 ? connection->answer + connection->size : load->piece,
             room > 0 ? room : PIECE_BYTES, 0);

    if (got > 0) {
        connection->size += (size_t)got;
        connection->answer[connection->size < ANSWER_BYTES ? connection->size : ANSWER_BYTES] =
            '\0';
    }
    return got;
}

static void receive(struct load *load, struct connection *connection)
{
    ssize_t got = receive_some(load, connection);

    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0 || !connection->waiting) {
        drop(load, connection, "a connection ended", got < 0 ? strerror(errno) : "by the server");
        return;
    }
    if (connection->whole == 0 && !read_head(load, connection)) {
        if (connection->size >= ANSWER_BYTES) {
            drop(load, connection, "an answer without a length", connection->answer);
        }
    } else if (connection->size > connection->whole) {
        drop(load, connection, "too long an answer", connection->answer);
    } else if (connection->size == connection->whole) {
        take_answer(load, connection);
    }
}

static bool open_all(struct load *load)
{
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->connections = calloc(load->count, sizeof *load->connections);
    load->idle = calloc(load->count, sizeof *load->idle);
    load->piece = malloc(PIECE_BYTES);
    if (load->epoll < 0 || load->connections == NULL || load->idle == NULL || load->piece == NULL) {
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

static void handle(struct load *load, const struct epoll_event *event)
{
    struct connection *connection = event->data.ptr;

    if ((event->events & EPOLLOUT) != 0) {
        send_request(load, connection);
    }
    if ((event->events & ~(uint32_t)EPOLLOUT) != 0 && connection->descriptor >= 0) {
        receive(load, connection);
    }
}

static void start(struct load *load, double seconds)
{
    load->begin_ns = now_ns();
    load->end_ns = load->begin_ns + (int64_t)(seconds * 1e9);
    for (size_t i = 0; i < load->count; i++) {
        if (load->rate > 0) {
            rest(load, &load->connections[i]);
        } else {
            call(load, &load->connections[i], now_ns());
        }
    }
}

/* Open loop: returns whether another request will be due and a connection is idle. */
static bool is_waiting_for_time(const struct load *load)
{
    return load->rate > 0 && load->idle_count > 0 && due_ns(load) < load->end_ns;
}

/* Waits for events until a request is due, but at most WAIT_MS. */
static int wait_for_events(struct load *load, struct epoll_event events[EVENT_COUNT])
{
    int64_t left_ns = (int64_t)WAIT_MS * 1000000;

    if (is_waiting_for_time(load) && due_ns(load) - now_ns() < left_ns) {
        left_ns = due_ns(load) - now_ns();
    }
    const struct timespec wait = {.tv_nsec = left_ns > 0 ? left_ns : 0};
    return epoll_pwait2(load->epoll, events, EVENT_COUNT, &wait, NULL);
}

static double run(struct load *load, double seconds)
{
    int silent_waits = 0;

    start(load, seconds);
    while ((load->waiting > 0 || is_waiting_for_time(load)) && silent_waits < SILENT_WAITS) {
        struct epoll_event events[EVENT_COUNT];

        call_due(load);
        int count = wait_for_events(load, events);
        silent_waits = count > 0 || is_waiting_for_time(load) ? 0 : silent_waits + 1;
        for (int i = 0; i < count; i++) {
            handle(load, &events[i]);
        }
    }
    load->errors += load->waiting;
    return (double)(now_ns() - load->begin_ns) / 1e9;
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
           "bytes_per_s=%.0f errors=%" PRIu64 "\n",
           load->answers, (double)load->answers / seconds, percentile_us(load, 0.5),
           percentile_us(load, 0.9), percentile_us(load, 0.99), percentile_us(load, 0.999),
           percentile_us(load, 1), (double)load->bytes / seconds, load->errors);
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

/* Maps the file with the request body. The mapping exists until the process exits. */
static bool map_body(const char *path, struct load *load)
{
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);

    if (descriptor < 0 || fstat(descriptor, &about) != 0 || about.st_size == 0) {
        return false;
    }
    load->body_size = (size_t)about.st_size;
    load->body = mmap(NULL, load->body_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
    close(descriptor);
    return load->body != MAP_FAILED;
}

static bool read_flags(int argc, char **argv, struct load *load)
{
    static const struct option options[] = {
        {"post", required_argument, NULL, 'p'},
        {"header", required_argument, NULL, 'h'},
        {"rate", required_argument, NULL, 'r'},
        {0},
    };
    int flag;

    while ((flag = getopt_long(argc, argv, "+", options, NULL)) >= 0) {
        if (flag == 'h' && strlen(optarg) < REQUEST_BYTES / 4) {
            load->header = optarg;
        } else if (flag == 'r' && strtod(optarg, NULL) > 0 && strtod(optarg, NULL) <= RATE_MOST) {
            load->rate = strtod(optarg, NULL);
        } else if (flag != 'p' || !map_body(optarg, load)) {
            return false;
        }
    }
    return true;
}

/* Parses ADDRESS PATH [CONNECTIONS [SECONDS [VERTICES]]]. Returns false if they are invalid. */
static bool read_words(int count, char **words, struct load *load, double *seconds)
{
    if (count < 2 || count > 5 || !parse_address(words[0], &load->address)) {
        return false;
    }
    load->path = words[1];
    load->count = count > 2 ? strtoul(words[2], NULL, 10) : 64;
    *seconds = count > 3 ? strtod(words[3], NULL) : 4;
    load->vertices = count > 4 ? (uint32_t)strtoul(words[4], NULL, 10) : 1000;
    return load->path[0] == '/' && strlen(load->path) <= REQUEST_BYTES / 4 && load->count > 0 &&
           load->count <= CONNECTION_MOST && *seconds > 0 && *seconds <= SECONDS_MOST &&
           load->vertices > 0;
}

int main(int argc, char **argv)
{
    struct load load = {.seed = UINT64_C(0x9E3779B97F4A7C15), .header = ""};
    double seconds;

    if (!read_flags(argc, argv, &load) ||
        !read_words(argc - optind, argv + optind, &load, &seconds)) {
        fprintf(stderr, "usage: bench_http_client [--post FILE] [--header LINE] [--rate N] "
                        "http://127.0.0.1:PORT PATH [CONNECTIONS [SECONDS [VERTICES]]]\n");
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
    free(load.idle);
    free(load.latencies_ns);
    free(load.piece);
    return load.errors == 0 && load.answers > 0 ? 0 : 1;
}
