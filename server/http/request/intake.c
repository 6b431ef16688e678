#include "server/http/request/intake.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* By Content-Encoding; an answer of 415 lists what is read. */
static enum status find_coding(struct request *request, enum coding *ret_coding,
                               struct problem *reterr)
{
    const char *name = request_header(request, "Content-Encoding");
    enum coding coding = name == NULL ? CODING_IDENTITY : decoder_coding_from_name(name);

    if (coding != CODING_COUNT) {
        *ret_coding = coding;
        return STATUS_OK;
    }
    request_set_header(request, "Accept-Encoding", "gzip, zstd, identity");
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The Content-Encoding \"%.60s\" is not read.", name);
    problem_hint(reterr, "Read here: gzip, zstd; one of them, once.");
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

static enum status check_length(const struct request *request, uint64_t limit_bytes,
                                struct problem *reterr)
{
    const uint64_t announced = request_announced_bytes(request);

    if (announced <= limit_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BODY_TOO_LARGE, "The body is longer than is taken here.");
    problem_limit(reterr, (double)limit_bytes, (double)announced);
    problem_hint(reterr, "GET /v1/limits lists what is taken.");
    return STATUS_BODY_TOO_LARGE;
}

/* A body that is no graph: not encoded, and by its Content-Length within the limit. */
static enum status check_body(struct request *request, uint64_t limit_bytes, struct problem *reterr)
{
    const char *encoding = request_header(request, "Content-Encoding");

    if (encoding == NULL || strcasecmp(encoding, "identity") == 0) {
        return check_length(request, limit_bytes, reterr);
    }
    request_set_header(request, "Accept-Encoding", "identity");
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "The body is encoded, and no Content-Encoding is read here.");
    problem_hint(reterr, "Send the bytes as they are.");
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

enum status intake_open_document(struct request *request, uint64_t limit_bytes,
                                 struct problem *reterr)
{
    request->document_limit = limit_bytes;
    return check_body(request, limit_bytes, reterr);
}

enum status intake_open_json(struct request *request, const char *shape, uint64_t limit_bytes,
                             struct problem *reterr)
{
    const char *media_type = request_header(request, "Content-Type");

    if (!format_media_type_is_vague(media_type) &&
        format_from_media_type(media_type) != FORMAT_JSON) {
        problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE, "This is not read from \"%s\".",
                    media_type);
        problem_hint(reterr, "Read here: application/json, as %s.", shape);
        return STATUS_UNSUPPORTED_MEDIA_TYPE;
    }
    return intake_open_document(request, limit_bytes, reterr);
}

enum status intake_check_document(const struct request *request, struct problem *reterr)
{
    if (text_status(&request->document) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the body.");
    }
    if (request->document.size == 0) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "There is nothing in the body.");
    }
    return STATUS_OK;
}

static enum status check_tenant_jobs(const struct request *request, struct problem *reterr)
{
    const struct grant *grant = &request->grant;

    return grant->tenant == NULL ? STATUS_OK
                                 : capacity_check_jobs(grant->tenant, &grant->quota, reterr);
}

/* On the disk, for what is not promised yet. */
static uint64_t room_bytes(const struct request *request)
{
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    const uint64_t free_bytes = store_free_bytes(request->http_context->store);
    const uint64_t promised_bytes = atomic_load(&admission->promised_bytes);

    return free_bytes > promised_bytes ? free_bytes - promised_bytes : 0;
}

/* Work is not taken while there is nobody, or no room, to do it. With an Idempotency-Key it may be
 * the repeat of what was taken before, which only the scheduler can tell. */
static enum status check_admission(struct request *request, bool for_job, struct problem *reterr)
{
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    unsigned retry_after_s = atomic_load(&admission->retry_after_s);
    bool is_repeatable = request_header(request, "Idempotency-Key") != NULL;
    enum status status = STATUS_OK;

    if (atomic_load(&admission->draining)) {
        status = problem_set(reterr, STATUS_DRAINING, "The service is shutting down.");
    } else if (atomic_load(&admission->full) && !is_repeatable) {
        status = problem_set(reterr, STATUS_DISK_FULL,
                             "The disk is full: questions are answered, nothing new is taken.");
        problem_limit(reterr, (double)room_bytes(request), 0);
        problem_hint(reterr, "Delete graphs, or make room on the disk: it is noticed by itself.");
    } else if (for_job && !is_repeatable && atomic_load(&admission->queue_free) == 0) {
        const double limit = request->http_context->config->queue_limit;
        status = problem_set(reterr, STATUS_QUEUE_FULL, "As many jobs wait as may.");
        problem_limit(reterr, limit, limit);
        problem_hint(reterr, "Come back after the seconds in Retry-After.");
    }
    if (status == STATUS_OK && for_job && !is_repeatable) {
        status = check_tenant_jobs(request, reterr);
    }
    if (status != STATUS_OK) {
        request_set_header(request, "Retry-After", "%u", retry_after_s > 0 ? retry_after_s : 1);
    }
    return status;
}

/* A tenant whose quota of bytes is used up is refused before the body; the scheduler checks the
 * real size once the graph is read. A repeated request adds no bytes, so one with a key passes. */
static enum status check_tenant_bytes(const struct request *request, struct problem *reterr)
{
    const struct grant *grant = &request->grant;
    const bool is_repeatable = request_header(request, "Idempotency-Key") != NULL;

    return grant->tenant == NULL || is_repeatable
               ? STATUS_OK
               : capacity_check_bytes(grant->tenant, &grant->quota, 1, reterr);
}

/* By parameter, else by a media type that says something, else left to the first bytes. */
static enum status choose_format(struct request *request, struct problem *reterr)
{
    const char *media_type = request_header(request, "Content-Type");
    enum format format;

    if (request->job_request.format != FORMAT_NONE || format_media_type_is_vague(media_type)) {
        return STATUS_OK;
    }
    format = format_from_media_type(media_type);
    /* Both formats in JSON are sent so. */
    if (format == FORMAT_JSON) {
        return STATUS_OK;
    }
    if (format != FORMAT_NONE && format_info(format)->graph_input) {
        request->job_request.format = format;
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE, "No graph is read from \"%s\".", media_type);
    upload_hint_formats(reterr);
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

static enum status check_idempotency_key(const struct request *request, struct problem *reterr)
{
    const char *key = request_header(request, "Idempotency-Key");

    if (key == NULL || job_request_is_idempotency_key(key)) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_BAD_REQUEST,
                       "Idempotency-Key is 1 to 127 visible ASCII characters.");
}

static bool has_json_type(const struct request *request)
{
    const char *media_type = request_header(request, "Content-Type");

    return media_type != NULL && format_from_media_type(media_type) == FORMAT_JSON;
}

static void start_upload(struct request *request, bool for_job, enum coding coding)
{
    const struct config *config = request->http_context->config;
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    struct upload_rules rules = {
        .options = request->job_request.options,
        .format = request->job_request.format,
        .is_json = has_json_type(request),
        .coding = coding,
        .body_limit_bytes = config->body_limit_bytes,
        .decoded_limit_bytes = config->decoded_limit_bytes,
        .decoded_ratio = config->decoded_ratio,
        .document_limit_bytes = for_job ? config->document_limit_bytes : 0,
        .announced_bytes = request_announced_bytes(request),
    };

    if (for_job) {
        enum kind kind = request->job_request.parameters.kind;

        rules.options.has_room = true;
        rules.options.room_bytes = room_bytes(request);
        rules.options.element_bytes = kind_size(kind == KIND_AUTO ? KIND_I4 : kind);
    }
    rules.options.vertex_limit = admission->vertex_limit;
    rules.options.edge_limit = admission->edge_limit;
    snprintf(rules.options.vertex_limit_reason, sizeof(rules.options.vertex_limit_reason), "%s",
             admission->limit_reason);
    const uint32_t quota = request->grant.quota.vertex_limit;
    if (quota > 0 && quota < rules.options.vertex_limit) {
        rules.options.vertex_limit = quota;
        snprintf(rules.options.vertex_limit_reason, sizeof(rules.options.vertex_limit_reason),
                 "this key");
    }
    upload_init(&request->upload, &rules);
    capacity_init_share(&request->upload.share, request->http_context->upload_memory,
                        request->grant.tenant, request->address_counter);
    request->has_upload = true;
}

/* Refuses an announced body for which there is no room now, before it is sent; memory is charged
 * only for what has come. A client that does not wait for leave to send is answered while it sends:
 * one that only reads after would lose the answer. */
static enum status check_memory(struct request *request, struct problem *reterr)
{
    struct upload *upload = &request->upload;

    if (upload_check_announced(upload) == STATUS_OK || request_header(request, "Expect") == NULL) {
        return STATUS_OK;
    }
    *reterr = upload->problem;
    return reterr->status;
}

enum status intake_open(struct request *request, bool for_job, struct problem *reterr)
{
    const struct config *config = request->http_context->config;
    enum coding coding = CODING_IDENTITY;
    enum status status = check_admission(request, for_job, reterr);

    job_request_init(&request->job_request);
    if (status == STATUS_OK) {
        status = check_tenant_bytes(request, reterr);
    }
    if (status == STATUS_OK) {
        status = job_request_from_query(&request->query, config->wait_limit_s,
                                        &request->job_request, reterr);
    }
    if (status == STATUS_OK) {
        status = check_idempotency_key(request, reterr);
    }
    if (status == STATUS_OK) {
        status = find_coding(request, &coding, reterr);
    }
    if (status == STATUS_OK) {
        status = check_length(request, config->body_limit_bytes, reterr);
    }
    if (status == STATUS_OK) {
        status = choose_format(request, reterr);
    }
    if (status == STATUS_OK) {
        start_upload(request, for_job, coding);
        status = check_memory(request, reterr);
    }
    return status;
}
