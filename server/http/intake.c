#include "server/http/intake.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* By Content-Encoding; an answer of 415 lists what is read. */
static enum status find_coding(struct exchange *exchange, enum coding *ret_coding,
                               struct problem *reterr)
{
    const char *name = exchange_request_header(exchange, "Content-Encoding");
    enum coding coding = name == NULL ? CODING_IDENTITY : decoder_coding_from_name(name);

    if (coding != CODING_COUNT) {
        *ret_coding = coding;
        return STATUS_OK;
    }
    exchange_set_header(exchange, "Accept-Encoding", "gzip, zstd, identity");
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The Content-Encoding \"%.60s\" is not read.", name);
    problem_hint(reterr, "Read here: gzip, zstd; one of them, once.");
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

static enum status check_length(const struct exchange *exchange, uint64_t limit_bytes,
                                struct problem *reterr)
{
    const char *length = exchange_request_header(exchange, "Content-Length");
    /* The guard has seen to it that it is a number of at most 18 digits. */
    uint64_t announced = length == NULL ? 0 : strtoull(length, NULL, 10);

    if (announced <= limit_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BODY_TOO_LARGE, "The body is longer than is taken here.");
    problem_limit(reterr, (double)limit_bytes, (double)announced);
    problem_hint(reterr, "GET /v1/limits lists what is taken.");
    return STATUS_BODY_TOO_LARGE;
}

/* A body that is no graph: not encoded, and by its Content-Length within the limit. */
static enum status check_body(struct exchange *exchange, uint64_t limit_bytes,
                              struct problem *reterr)
{
    const char *encoding = exchange_request_header(exchange, "Content-Encoding");

    if (encoding == NULL || strcasecmp(encoding, "identity") == 0) {
        return check_length(exchange, limit_bytes, reterr);
    }
    exchange_set_header(exchange, "Accept-Encoding", "identity");
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The body is encoded, and no Content-Encoding is read here.");
    problem_hint(reterr, "Send the bytes as they are.");
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

enum status intake_open_document(struct exchange *exchange, uint64_t limit_bytes,
                                 struct problem *reterr)
{
    exchange->document_limit = limit_bytes;
    return check_body(exchange, limit_bytes, reterr);
}

enum status intake_open_json(struct exchange *exchange, const char *shape, uint64_t limit_bytes,
                             struct problem *reterr)
{
    const char *media_type = exchange_request_header(exchange, "Content-Type");

    if (!format_media_type_is_vague(media_type) &&
        format_from_media_type(media_type) != FORMAT_JSON) {
        problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE, "This is not read from \"%s\".",
                    media_type);
        problem_hint(reterr, "Read here: application/json, as %s.", shape);
        return STATUS_UNSUPPORTED_MEDIA_TYPE;
    }
    return intake_open_document(exchange, limit_bytes, reterr);
}

enum status intake_check_document(const struct exchange *exchange, struct problem *reterr)
{
    if (text_status(&exchange->document) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the body.");
    }
    if (exchange->document.size == 0) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "There is nothing in the body.");
    }
    return STATUS_OK;
}

static enum status check_tenant_jobs(const struct exchange *exchange, struct problem *reterr)
{
    const struct grant *grant = &exchange->grant;

    return grant->tenant == NULL ? STATUS_OK
                                 : tenant_check_jobs(grant->tenant, &grant->quota, reterr);
}

/* On the disk, for what is not promised yet. */
static uint64_t room_bytes(const struct exchange *exchange)
{
    const struct admission *admission = desk_admission(exchange->house->desk);
    const uint64_t free_bytes = store_free_bytes(exchange->house->store);
    const uint64_t promised_bytes = atomic_load(&admission->promised_bytes);

    return free_bytes > promised_bytes ? free_bytes - promised_bytes : 0;
}

/* 0 of a body in chunks. */
static uint64_t announced_bytes(const struct exchange *exchange)
{
    const char *length = exchange_request_header(exchange, "Content-Length");

    return length == NULL ? 0 : strtoull(length, NULL, 10);
}

/* For the file of a graph that is still to come: half of what nobody was promised, within the
 * tenant's quota. */
static uint64_t graph_room(void *context)
{
    const struct exchange *exchange = context;
    const struct grant *grant = &exchange->grant;
    const struct admission *admission = desk_admission(exchange->house->desk);
    const uint64_t free_bytes = store_free_bytes(exchange->house->store);
    const uint64_t kept_bytes = atomic_load(&admission->kept_bytes) + graph_stream_bytes_to_come();
    const uint64_t room = free_bytes > kept_bytes ? (free_bytes - kept_bytes) / 2 : 0;
    const uint64_t quota =
        grant->tenant == NULL ? UINT64_MAX : tenant_room_bytes(grant->tenant, &grant->quota);

    if (atomic_load(&admission->full)) {
        return 0;
    }
    return room < quota ? room : quota;
}

/* Work is not taken while there is nobody, or no room, to do it. With an Idempotency-Key it may be
 * the repeat of what was taken before, which only the desk can tell. */
static enum status check_admission(struct exchange *exchange, bool for_job, struct problem *reterr)
{
    const struct admission *admission = desk_admission(exchange->house->desk);
    unsigned retry_after_s = atomic_load(&admission->retry_after_s);
    bool is_repeatable = exchange_request_header(exchange, "Idempotency-Key") != NULL;
    enum status status = STATUS_OK;

    if (atomic_load(&admission->draining)) {
        status = problem_set(reterr, STATUS_DRAINING, "The service is shutting down.");
    } else if (atomic_load(&admission->full) && !is_repeatable) {
        status = problem_set(reterr, STATUS_DISK_FULL,
                             "The disk is full: questions are answered, nothing new is taken.");
        problem_limit(reterr, (double)room_bytes(exchange), 0);
        problem_hint(reterr, "Delete graphs, or make room on the disk: it is noticed by itself.");
    } else if (for_job && !is_repeatable && atomic_load(&admission->queue_free) == 0) {
        const double limit = exchange->house->config->queue_limit;
        status = problem_set(reterr, STATUS_QUEUE_FULL, "As many jobs wait as may.");
        problem_limit(reterr, limit, limit);
        problem_hint(reterr, "Come back after the seconds in Retry-After.");
    }
    if (status == STATUS_OK && for_job && !is_repeatable) {
        status = check_tenant_jobs(exchange, reterr);
    }
    if (status != STATUS_OK) {
        exchange_set_header(exchange, "Retry-After", "%u", retry_after_s > 0 ? retry_after_s : 1);
    }
    return status;
}

/* What is not there yet takes some bytes: the desk knows how many once the graph is read. */
static enum status check_tenant_bytes(const struct exchange *exchange, struct problem *reterr)
{
    const struct grant *grant = &exchange->grant;
    const bool is_repeatable = exchange_request_header(exchange, "Idempotency-Key") != NULL;

    return grant->tenant == NULL || is_repeatable
               ? STATUS_OK
               : tenant_check_bytes(grant->tenant, &grant->quota, 1, reterr);
}

/* By parameter, else by a media type that says something, else left to the first bytes. */
static enum status choose_format(struct exchange *exchange, struct problem *reterr)
{
    const char *media_type = exchange_request_header(exchange, "Content-Type");
    enum format format;

    if (exchange->request.format != FORMAT_NONE || format_media_type_is_vague(media_type)) {
        return STATUS_OK;
    }
    format = format_from_media_type(media_type);
    /* Both formats in JSON are sent so. */
    if (format == FORMAT_JSON) {
        return STATUS_OK;
    }
    if (format != FORMAT_NONE && format_info(format)->graph_input) {
        exchange->request.format = format;
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE, "No graph is read from \"%s\".", media_type);
    upload_hint_formats(reterr);
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

static enum status check_idempotency_key(const struct exchange *exchange, struct problem *reterr)
{
    const char *key = exchange_request_header(exchange, "Idempotency-Key");

    if (key == NULL || job_request_is_idempotency_key(key)) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_BAD_REQUEST,
                       "Idempotency-Key is 1 to 127 visible ASCII characters.");
}

static bool has_json_type(const struct exchange *exchange)
{
    const char *media_type = exchange_request_header(exchange, "Content-Type");

    return media_type != NULL && format_from_media_type(media_type) == FORMAT_JSON;
}

static void start_upload(struct exchange *exchange, bool for_job, enum coding coding)
{
    const struct config *config = exchange->house->config;
    const struct admission *admission = desk_admission(exchange->house->desk);
    struct upload_rules rules = {
        .options = exchange->request.options,
        .format = exchange->request.format,
        .is_json = has_json_type(exchange),
        .coding = coding,
        .body_limit_bytes = config->body_limit_bytes,
        .decoded_limit_bytes = config->decoded_limit_bytes,
        .decoded_ratio = config->decoded_ratio,
        .document_limit_bytes = for_job ? config->document_limit_bytes : 0,
        .memory = exchange->house->upload_memory,
        .graph_folder = store_graph_folder(exchange->house->store),
        .graph_room = graph_room,
        .graph_room_context = exchange,
        .announced_bytes = announced_bytes(exchange),
    };

    if (for_job) {
        enum kind kind = exchange->request.parameters.kind;

        rules.options.has_room = true;
        rules.options.room_bytes = room_bytes(exchange);
        rules.options.element_bytes = kind_size(kind == KIND_AUTO ? KIND_I4 : kind);
    }
    rules.options.vertex_limit = admission->vertex_limit;
    rules.options.edge_limit = admission->edge_limit;
    snprintf(rules.options.vertex_limit_reason, sizeof rules.options.vertex_limit_reason, "%s",
             admission->limit_reason);
    const uint32_t quota = exchange->grant.quota.vertex_limit;
    if (quota > 0 && quota < rules.options.vertex_limit) {
        rules.options.vertex_limit = quota;
        snprintf(rules.options.vertex_limit_reason, sizeof rules.options.vertex_limit_reason,
                 "this key");
    }
    upload_init(&exchange->upload, &rules);
    exchange->has_upload = true;
}

/* Room for what is announced; the rest, of a body in chunks or compressed, is asked for as it
 * comes. A client that does not wait for leave to send is answered while it sends: one that only
 * reads after would lose the answer. */
static enum status check_memory(struct exchange *exchange, struct problem *reterr)
{
    struct upload *upload = &exchange->upload;

    if (upload_expect(upload, upload->rules.announced_bytes, &upload->problem) == STATUS_OK ||
        exchange_request_header(exchange, "Expect") == NULL) {
        return STATUS_OK;
    }
    *reterr = upload->problem;
    return reterr->status;
}

enum status intake_open(struct exchange *exchange, bool for_job, struct problem *reterr)
{
    const struct config *config = exchange->house->config;
    enum coding coding = CODING_IDENTITY;
    enum status status = check_admission(exchange, for_job, reterr);

    job_request_init(&exchange->request);
    if (status == STATUS_OK) {
        status = check_tenant_bytes(exchange, reterr);
    }
    if (status == STATUS_OK) {
        status = job_request_from_query(&exchange->query, config->wait_limit_s, &exchange->request,
                                        reterr);
    }
    if (status == STATUS_OK) {
        status = check_idempotency_key(exchange, reterr);
    }
    if (status == STATUS_OK) {
        status = find_coding(exchange, &coding, reterr);
    }
    if (status == STATUS_OK) {
        status = check_length(exchange, config->body_limit_bytes, reterr);
    }
    if (status == STATUS_OK) {
        status = choose_format(exchange, reterr);
    }
    if (status == STATUS_OK) {
        start_upload(exchange, for_job, coding);
        status = check_memory(exchange, reterr);
    }
    return status;
}
