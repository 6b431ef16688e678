#include "server/http/request/body.h"

#include "server/http/request/request.h"

#include <jansson.h>
#include <stdlib.h>

/* Bytes beyond the limit that are read from a refused body before the connection is closed. */
#define DRAIN_LIMIT_BYTES (UINT64_C(64) << 20)

uint64_t request_announced_bytes(const struct request *request)
{
    const char *length = request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    /* framing_check has checked that the value is a number of at most 18 digits. */
    return length == NULL ? 0 : strtoull(length, NULL, 10);
}

static enum status check_size(uint64_t size, uint64_t limit_bytes, struct problem *reterr)
{
    if (size <= limit_bytes) {
        return STATUS_OK;
    }
    return problem_refuse_limit(reterr, STATUS_BODY_TOO_LARGE, (double)limit_bytes, (double)size,
                                "GET /v1/limits lists the limits.",
                                "The body is larger than this route accepts.");
}

enum status request_check_length(const struct request *request, uint64_t limit_bytes,
                                 struct problem *reterr)
{
    return check_size(request_announced_bytes(request), limit_bytes, reterr);
}

static uint64_t limit_of(const struct request *request)
{
    const struct config *config = request->http_context->config;
    const uint64_t limits[] = {[BODY_NONE] = 0,
                               [BODY_DOCUMENT] = config->document_limit_bytes,
                               [BODY_PAIRS] = config->pairs_limit_bytes,
                               [BODY_FILE] = config->body_limit_bytes};
    return limits[request->match.route->body];
}

static enum status check_type(const struct request *request, struct problem *reterr)
{
    const struct route *route = request->match.route;
    const char *media_type = request_header(request, "Content-Type");
    const char *const *at = route->reads;
    while (*at != NULL && !format_media_type_is(media_type, *at)) {
        at++;
    }
    if (*at != NULL || route->reads[0] == NULL || format_media_type_is_vague(media_type)) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "This route does not accept a body of type \"%s\".", media_type);
    problem_hint_list(reterr, "Accepted:", route->reads);
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

enum status request_check_coding(struct request *request, bool is_upload, enum coding *ret_coding,
                                 struct problem *reterr)
{
    const char *codings = is_upload ? "gzip, zstd, identity" : "identity";
    const char *name = request_header(request, "Content-Encoding");
    const enum coding coding = name == NULL ? CODING_IDENTITY : decoder_coding_from_name(name);
    if (coding == CODING_IDENTITY || (is_upload && coding != CODING_COUNT)) {
        *ret_coding = coding;
        return STATUS_OK;
    }
    request_set_header(request, "Accept-Encoding", "%s", codings);
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The Content-Encoding \"%.60s\" is not supported.", name);
    problem_hint(reterr, "Supported encodings: %s. A body may be encoded only once.", codings);
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

enum status request_expect_body(struct request *request, struct problem *reterr)
{
    enum coding coding;
    request->document_limit = limit_of(request);
    if (request->document_limit == 0) {
        return STATUS_OK;
    }
    upload_memory_init_share(&request->share, &request->http_context->upload_memory,
                             request->grant.tenant, request->conn->address);
    STATUS_TRY(check_type(request, reterr));
    STATUS_TRY(request_check_coding(request, false, &coding, reterr));
    return request_check_length(request, request->document_limit, reterr);
}

enum status request_check_document(const struct request *request, struct problem *reterr)
{
    STATUS_TRY(problem_explain(reterr, text_status(&request->document),
                               "There is not enough memory for the body."));
    return request->document.size > 0
               ? STATUS_OK
               : problem_set(reterr, STATUS_EMPTY_BODY, "The body is empty.");
}

enum status request_parse_document(const struct request *request, struct json_t **ret_document,
                                   struct problem *reterr)
{
    const struct text *body = &request->document;
    json_error_t error = {.line = 0};
    const size_t mark = text_mark_size(body->bytes, body->size);
    json_t *document =
        json_loadb(body->bytes + mark, body->size - mark, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(document)) {
        *ret_document = document;
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_REQUEST, "The body does not have the form %s%s%s.",
                request->match.route->shape, document == NULL ? ": " : "",
                document == NULL ? error.text : "");
    problem_at(reterr, (uint64_t)(error.line > 0 ? error.line : 0),
               (uint64_t)(error.column > 0 ? error.column : 0));
    json_decref(document);
    return STATUS_BAD_REQUEST;
}

static enum status feed_document(struct request *request, const char *bytes, size_t size,
                                 struct problem *reterr)
{
    const uint64_t announced = request_announced_bytes(request);
    const uint64_t new_size = request->document.size + size;
    STATUS_TRY(check_size(new_size, request->document_limit, reterr));
    /* Reserve the announced size now: growing in steps would take up to twice the memory. */
    if (announced > new_size && announced <= request->document_limit) {
        text_reserve(&request->document, size + (size_t)(announced - new_size));
    }
    text_append(&request->document, bytes, size);
    return upload_memory_charge(&request->share, request->document.size, reterr);
}

enum MHD_Result request_feed_body(struct request *request, const char *bytes, size_t size)
{
    const uint64_t limit_bytes = request->http_context->config->body_limit_bytes;
    enum status status;
    request->body_bytes += size;
    if (request->state == REQUEST_DRAINING) {
        return request->body_bytes > limit_bytes + DRAIN_LIMIT_BYTES ? MHD_NO : MHD_YES;
    }
    if (request->upload != NULL) {
        upload_feed(request->upload, bytes, size);
        request->refusal = request->upload->problem;
        status = request->refusal.status;
    } else {
        status = feed_document(request, bytes, size, &request->refusal);
    }
    /* libmicrohttpd accepts a response before or after a body, but not in the middle of it. */
    if (status != STATUS_OK) {
        text_finish(&request->document);
        upload_memory_release(&request->share);
        request->state = REQUEST_DRAINING;
        request->resume = request_refuse;
    }
    return MHD_YES;
}
