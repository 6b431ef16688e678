#include "server/http/body.h"

#include <stdlib.h>
#include <sys/socket.h>

/* How much of a body that was refused already is read, so that its sender sees the answer. */
#define SWALLOW_LIMIT_BYTES (UINT64_C(64) << 20)
/* A refused body that ends this soon is read and answered in the ordinary way. */
#define PATIENCE_BYTES (UINT64_C(256) << 10)
/* What a client that sends no more may still be waited for. */
#define LEFT_TIMEOUT_S 1u

/* Whether the client has shut its side. libmicrohttpd clears its note that there is something to
 * read after a short read, and a FIN that came together with the bytes gives no other event: such a
 * connection would stay until connection_timeout_s. */
static bool has_left(const struct exchange *exchange)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;

    return info != NULL && recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* What has been read may still hold the end of the request. */
static void hurry(const struct exchange *exchange)
{
    MHD_set_connection_option(exchange->connection, MHD_CONNECTION_OPTION_TIMEOUT, LEFT_TIMEOUT_S);
}

void body_begin(struct exchange *exchange)
{
    if (has_left(exchange)) {
        hurry(exchange);
    }
}

/* UINT64_MAX for a body in chunks: it ends when it ends. */
static uint64_t rest_of_body(const struct exchange *exchange)
{
    const char *length = exchange_request_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t announced;

    if (length == NULL) {
        return UINT64_MAX;
    }
    /* The guard has seen to it that it is a number of at most 18 digits. */
    announced = strtoull(length, NULL, 10);
    return announced > exchange->body_bytes ? announced - exchange->body_bytes : 0;
}

static void feed_upload(struct exchange *exchange, const char *bytes, size_t size)
{
    struct upload *upload = &exchange->upload;

    if (upload->problem.status == STATUS_OK) {
        upload_feed(upload, bytes, size);
    }
    if (upload->problem.status == STATUS_OK || exchange->answered) {
        return;
    }
    if (rest_of_body(exchange) > PATIENCE_BYTES) {
        exchange_refuse_early(exchange, &upload->problem);
    }
}

static void feed_document(struct exchange *exchange, const char *bytes, size_t size)
{
    struct problem problem;

    if (exchange->answered) {
        return;
    }
    if (size <= exchange->document_limit - exchange->document.size) {
        text_append(&exchange->document, bytes, size);
        return;
    }
    problem_set(&problem, STATUS_BODY_TOO_LARGE, "The body is longer than is taken here.");
    problem_limit(&problem, (double)exchange->document_limit,
                  (double)(exchange->document.size + size));
    text_finish(&exchange->document);
    exchange_refuse_early(exchange, &problem);
}

enum MHD_Result body_feed(struct exchange *exchange, const char *bytes, size_t size)
{
    exchange->body_bytes += size;
    uint64_t rest = rest_of_body(exchange);

    if (exchange->has_upload) {
        feed_upload(exchange, bytes, size);
    } else {
        feed_document(exchange, bytes, size);
    }
    if (rest > 0 && has_left(exchange)) {
        if (rest < UINT64_MAX) {
            return MHD_NO;
        }
        hurry(exchange);
    }
    if (!exchange->answered_early) {
        return MHD_YES;
    }
    exchange->swallowed_bytes += size;
    return exchange->swallowed_bytes > SWALLOW_LIMIT_BYTES ? MHD_NO : MHD_YES;
}
