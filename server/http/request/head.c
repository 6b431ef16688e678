#include "server/http/request/head.h"

#include "server/http/request/request.h"

#include <string.h>

/* Memory that libmicrohttpd 0.9.75 allocates for each header, parameter and cookie. */
#define VALUE_BYTES 64
/* Memory of the connection reserved for the head of an answer. */
#define ANSWER_HEAD_BYTES ((size_t)3 << 10)

/* The headers of a request. To save time, the several kilobytes of the list are not zeroed. */
struct header_list {
    size_t count;
    struct framing_header headers[HEAD_HEADER_LIMIT];
};

static enum MHD_Result collect_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_size, const char *value, size_t value_size)
{
    struct header_list *list = context;
    (void)kind;
    if (list->count < HEAD_HEADER_LIMIT) {
        list->headers[list->count] = (struct framing_header){name, name_size, value, value_size};
    }
    list->count++;
    return MHD_YES;
}

static enum status list_headers(const struct request *request, enum MHD_ValueKind kind,
                                struct header_list *list, struct problem *reterr)
{
    list->count = 0;
    MHD_get_connection_values_n(request->connection, kind, collect_header, list);
    if (list->count <= HEAD_HEADER_LIMIT) {
        return STATUS_OK;
    }
    return problem_refuse_limit(reterr, STATUS_HEAD_TOO_LARGE, HEAD_HEADER_LIMIT,
                                (double)list->count, "Send fewer headers.",
                                "The request has more than %d headers.", HEAD_HEADER_LIMIT);
}

/* Checks that the head, as libmicrohttpd stores it, leaves room for the head of an answer. */
static enum status check_size(const struct request *request, size_t head_size,
                              struct problem *reterr)
{
    const char *cookie = request_header(request, MHD_HTTP_HEADER_COOKIE);
    const size_t values = (size_t)MHD_get_connection_values(
        request->connection, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND | MHD_COOKIE_KIND, NULL, NULL);
    /* libmicrohttpd copies the Cookie header before it parses the cookies. */
    const size_t bytes = head_size + (cookie == NULL ? 0 : strlen(cookie));
    const size_t limit = ENDPOINT_CONNECTION_BYTES - ANSWER_HEAD_BYTES;
    const size_t needed = bytes + values * VALUE_BYTES;
    if (needed <= limit) {
        return STATUS_OK;
    }
    return problem_refuse_limit(
        reterr, STATUS_HEAD_TOO_LARGE, (double)limit, (double)needed,
        "The limit is about 16 KiB, and less with many parameters; use POST for a long query.",
        "The request is too large: %zu bytes before its body, %zu headers and parameters.", bytes,
        values);
}

enum status head_check(struct request *request, const struct framing_head *line, bool *ret_body,
                       struct problem *reterr)
{
    const size_t head_size =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
            ->header_size;
    struct header_list list;
    struct framing_head head = {
        .method = line->method,
        .version = line->version,
        .url = request->target,
        .url_place = line->url_place,
        .headers = list.headers,
        .head_size = endpoint_parses_leniently() ? head_size : 0,
    };
    STATUS_TRY(check_size(request, head_size, reterr));
    STATUS_TRY(list_headers(request, MHD_HEADER_KIND, &list, reterr));
    head.header_count = list.count;
    return framing_check(&head, ret_body, &request->conn->is_last, reterr);
}

/* Workaround: when the end of the trailer section arrives in its own packet, libmicrohttpd 0.9.75
 * reports the last header of the head again as the first trailer, at the same address. */
static size_t count_repeated(const struct request *request, const struct header_list *trailers,
                             struct problem *reterr)
{
    struct header_list head;
    return list_headers(request, MHD_HEADER_KIND, &head, reterr) == STATUS_OK && head.count > 0 &&
           trailers->count > 0 && trailers->headers[0].name == head.headers[head.count - 1].name;
}

enum status head_check_trailers(const struct request *request, struct problem *reterr)
{
    struct header_list trailers;
    STATUS_TRY(list_headers(request, MHD_FOOTER_KIND, &trailers, reterr));
    const size_t repeated = count_repeated(request, &trailers, reterr);
    return framing_check_trailers(trailers.headers + repeated, trailers.count - repeated, reterr);
}
