/* Sends arbitrary bytes to a real libmicrohttpd server with the request guard. A separate parser,
 * written only from RFC 9112, parses accepted requests again. If the connection continues, the head
 * must be well-formed, and the next head must begin where the body ends. The library hides two
 * errors from the guard: a line that ends with NUL and LF instead of CRLF, and a head that ends
 * with a line break and a colon (a header without a name) instead of two line breaks. Heads with
 * these errors are not parsed again. */
#include "server/http/request/framing.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_LIMIT 100
#define INPUT_LIMIT 16384 /* the socket accepts this many bytes at once */
#define MEMORY_BYTES (16 << 10)
/* The same condition as in endpoint_parses_leniently(). */
#define PARSES_LENIENTLY (strncmp(MHD_get_version(), "0.9.", 4) == 0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct header_list {
    struct framing_header headers[HEADER_LIMIT];
    size_t count;
};

static struct {
    char *input;
    size_t size;
    size_t at;     /* position in the input where the next head is expected */
    uint64_t left; /* bytes of the body that this parser still expects */
    bool closing;
    bool begun;
} talk;

static enum MHD_Result collect(void *context, enum MHD_ValueKind kind, const char *name,
                               size_t name_size, const char *value, size_t value_size)
{
    struct header_list *list = context;

    (void)kind;
    if (list->count < HEADER_LIMIT)
        list->headers[list->count] = (struct framing_header){name, name_size, value, value_size};
    list->count++;
    return MHD_YES;
}

static bool is_token(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\0' || strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                       bytes[i]) == NULL)
            return false;
    }
    return size > 0;
}

static bool has_control(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (((unsigned char)bytes[i] < 0x20 && bytes[i] != '\t') || bytes[i] == 0x7F)
            return true;
    }
    return false;
}

static bool is_named(const char *line, size_t name_size, const char *name)
{
    return name_size == strlen(name) && strncasecmp(line, name, name_size) == 0;
}

/* Parses a header line without its line break; counts in counts[] the headers Host,
 * Content-Length and Transfer-Encoding. */
static void check_line(const char *line, size_t size, unsigned counts[3])
{
    static const char *const names[] = {"host", "content-length", "transfer-encoding"};
    const char *colon = memchr(line, ':', size);

    CHECK(colon != NULL);
    CHECK(is_token(line, (size_t)(colon - line)));
    CHECK(!has_control(colon, size - (size_t)(colon - line)));
    for (int i = 0; i < 3; i++)
        counts[i] += is_named(line, (size_t)(colon - line), names[i]);
    if (is_named(line, (size_t)(colon - line), "content-length"))
        talk.left = strtoull(colon + 1, NULL, 10);
}

/* Parses the head of a request that the guard has accepted. Returns the size of the head. */
static size_t check_head(const char *head, size_t size)
{
    unsigned counts[3] = {0};
    CHECK(head != NULL);
    const char *end = memmem(head, size, "\r\n\r\n", 4);
    const char *at = end == NULL ? NULL : memmem(head, size, "\r\n", 2);

    CHECK(end != NULL);
    CHECK(!has_control(head, (size_t)(at - head)));
    bool old = at - head >= 8 && memcmp(at - 8, "HTTP/1.0", 8) == 0;
    CHECK(old || (at - head >= 8 && memcmp(at - 8, "HTTP/1.1", 8) == 0));
    while (at < end) {
        const char *line = at + 2;

        at = memmem(line, size - (size_t)(line - head), "\r\n", 2);
        check_line(line, (size_t)(at - line), counts);
    }
    CHECK(counts[0] == 1 || (old && counts[0] == 0));
    /* A chunked request has no successor, because the connection closes, so its head is not
     * checked. */
    CHECK(counts[1] + counts[2] <= 1 && counts[2] == 0);
    return (size_t)(end - head) + 4;
}

static enum MHD_Result answer(struct MHD_Connection *connection)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(2, (void *)(uintptr_t) "ok", MHD_RESPMEM_PERSISTENT);

    if (talk.closing)
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

/* Finds the request's head in the input: libmicrohttpd skips empty lines before a head, and lines
 * that begin with a NUL. */
static void check_input(size_t head_size)
{
    while (talk.at < talk.size && memchr("\r\n", talk.input[talk.at], 3) != NULL) {
        const char *end = memchr(talk.input + talk.at, '\n', talk.size - talk.at);

        talk.at = end == NULL ? talk.size : (size_t)(end - talk.input) + 1;
    }
    CHECK(talk.at < talk.size && head_size <= talk.size - talk.at);
    const char *head = talk.input + talk.at;

    CHECK(talk.closing || memcmp(head + head_size - 4, "\r\n\r\n", 4) != 0 ||
          memmem(head, head_size, "\0\n", 2) != NULL ||
          check_head(head, talk.size - talk.at) == head_size);
    talk.at += head_size;
}

static void *began(void *context, const char *target, struct MHD_Connection *connection)
{
    char *copy = strdup(target == NULL ? "" : target);

    (void)context;
    (void)connection;
    CHECK(copy != NULL);
    talk.begun = false;
    return copy;
}

static void ended(void *context, struct MHD_Connection *connection, void **request,
                  enum MHD_RequestTerminationCode reason)
{
    (void)context;
    (void)connection;
    (void)reason;
    free(*request);
    *request = NULL;
}

static enum MHD_Result came(void *context, struct MHD_Connection *connection, const char *url,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **request)
{
    struct header_list list = {.count = 0};
    bool body = false;
    bool closing = false;

    (void)context;
    (void)data;
    if (talk.begun) {
        /* If the connection continues, libmicrohttpd must end the body where the Content-Length in
         * the input ends it. */
        CHECK(talk.closing || (*size == 0 ? talk.left == 0 : *size <= talk.left));
        if (*size == 0)
            return answer(connection);
        talk.at += *size;
        talk.left -= *size;
        *size = 0;
        return MHD_YES;
    }
    CHECK(!talk.closing); /* no request may follow one after which the connection closes */
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, collect, &list);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const struct framing_head line = {
        .method = method,
        .version = version,
        .url = *request,
        .url_place = url,
        .headers = list.headers,
        .header_count = list.count,
        .head_size = PARSES_LENIENTLY ? info->header_size : 0,
    };
    talk.begun = true;
    bool passed =
        list.count <= HEADER_LIMIT && framing_check(&line, &body, &closing, NULL) == STATUS_OK;
    talk.closing = !passed || closing;
    /* The length that libmicrohttpd parsed. check_line replaces it with that in the input. */
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    talk.left = length == NULL ? 0 : strtoull(length, NULL, 10);
    if (!passed)
        return answer(connection);
    check_input(info->header_size);
    return MHD_YES;
}

static struct MHD_Daemon *start(void)
{
    return MHD_start_daemon(MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, came, NULL,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES,
                            MHD_OPTION_STRICT_FOR_CLIENT, PARSES_LENIENTLY ? 0 : 1,
                            MHD_OPTION_URI_LOG_CALLBACK, began, NULL, MHD_OPTION_NOTIFY_COMPLETED,
                            ended, NULL, MHD_OPTION_END);
}

/* Receives until the server closes the connection or sends nothing more. */
static void run(struct MHD_Daemon *daemon, int client)
{
    char answers[4096];

    for (int i = 0; i < 2000; i++) {
        ssize_t got;

        CHECK(MHD_run(daemon) == MHD_YES);
        do {
            got = recv(client, answers, sizeof answers, MSG_DONTWAIT);
        } while (got > 0);
        if (got == 0)
            return;
        if (MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections == 0)
            return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct MHD_Daemon *daemon;
    const struct sockaddr address = {.sa_family = AF_UNIX};
    int ends[2];

    if (daemon == NULL)
        daemon = start();
    CHECK(daemon != NULL);
    if (size > INPUT_LIMIT)
        return 0;
    memset(&talk, 0, sizeof talk);
    char *input = malloc(size + 1);
    CHECK(input != NULL);
    memcpy(input, bytes, size);
    talk.input = input;
    talk.size = size;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    CHECK(size == 0 || send(ends[0], bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
    CHECK(shutdown(ends[0], SHUT_WR) == 0);
    CHECK(MHD_add_connection(daemon, ends[1], &address, sizeof address) == MHD_YES);
    run(daemon, ends[0]);
    close(ends[0]);
    for (int i = 0; i < 4; i++)
        CHECK(MHD_run(daemon) == MHD_YES);
    free(input);
    return 0;
}
