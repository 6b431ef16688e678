#include "server/http/api/serve.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* curl's default media type. */
#define FORM "application/x-www-form-urlencoded"

/* Returns the free disk space that is not reserved for other work. */
static uint64_t room_bytes(const struct request *request)
{
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    const uint64_t free_bytes = store_free_bytes(request->http_context->store);
    const uint64_t promised_bytes = atomic_load(&admission->promised_bytes);
    return free_bytes > promised_bytes ? free_bytes - promised_bytes : 0;
}

/* Refuses work while the service drains, the disk is full or the queue is full. A request with an
 * Idempotency-Key is refused here only if the service drains, because it may repeat accepted work,
 * which only the scheduler can tell. */
static enum status check_admission(struct request *request, bool for_job, struct problem *reterr)
{
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    unsigned retry_after_s = atomic_load(&admission->retry_after_s);
    const bool is_repeatable = request_header(request, "Idempotency-Key") != NULL;
    const struct grant *grant = &request->grant;
    enum status status = STATUS_OK;
    if (atomic_load(&admission->draining)) {
        status = problem_set(reterr, STATUS_DRAINING, "The service is shutting down.");
    } else if (atomic_load(&admission->full) && !is_repeatable) {
        /* request_refuse adds Retry-After. */
        return problem_refuse_limit(reterr, STATUS_DISK_FULL, (double)room_bytes(request), 0,
                                    "Delete graphs or free disk space; then new work is accepted.",
                                    "The disk is full: the service answers queries but accepts no "
                                    "new work.");
    } else if (for_job && !is_repeatable) {
        status = tenant_check_queue(admission, atomic_load(&admission->queue_free),
                                    request->http_context->config->queue_limit, grant->tenant,
                                    &grant->quota, reterr);
    }
    if (status != STATUS_OK) {
        request_set_header(request, "Retry-After", "%u", retry_after_s > 0 ? retry_after_s : 1);
        return status;
    }
    /* If the tenant's byte quota is used up, refuse the request before its body. The scheduler
     * checks the real size once the graph is read. A repeated request adds no bytes. */
    return grant->tenant == NULL || is_repeatable
               ? STATUS_OK
               : tenant_check_bytes(grant->tenant, &grant->quota, 1, reterr);
}

/* Chooses the charset of a text format: the parameter, else the charset of Content-Type. */
static enum status choose_charset(struct request *request, struct problem *reterr)
{
    const enum format format = request->job_request.format;
    char *charset = request->job_request.options.charset;
    const char *media_type = request_header(request, "Content-Type");
    const char *parameter = media_type == NULL ? NULL : strcasestr(media_type, "charset=");
    char name[CHARSET_NAME_SIZE + 1] = "";
    if (format == FORMAT_NPY || format == FORMAT_NTHU) {
        return charset[0] == '\0' ? STATUS_OK
                                  : problem_set(reterr, STATUS_BAD_PARAMETER,
                                                "charset= applies to text only, but %s is binary.",
                                                format_info(format)->name);
    }
    if (charset[0] != '\0' || parameter == NULL) {
        return STATUS_OK;
    }
    parameter += strlen("charset=");
    parameter += *parameter == '"';
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(parameter, "\"; \t"), parameter);
    return charset_choose(name, charset, reterr);
}

/* Chooses the format: the parameter, else a specific media type, else detected from the body. */
static enum status choose_format(struct request *request, struct problem *reterr)
{
    const char *media_type = request_header(request, "Content-Type");
    enum format format;
    if (request->job_request.format != FORMAT_NONE || format_media_type_is_vague(media_type)) {
        return STATUS_OK;
    }
    format = format_from_media_type(media_type);
    /* Each of these media types fits two formats; upload.c detects which one it is. */
    if (format == FORMAT_JSON || format == FORMAT_EDGES) {
        return STATUS_OK;
    }
    if (format != FORMAT_NONE && format_info(format)->parameters != NULL) {
        request->job_request.format = format;
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_UNSUPPORTED_MEDIA_TYPE,
                "\"%s\" is not a media type of a graph format.", media_type);
    if (strncasecmp(media_type, "multipart/", strlen("multipart/")) == 0) {
        problem_hint(reterr,
                     "Send the graph as the whole body: curl --data-binary @FILE instead of -F.");
    } else {
        upload_hint_formats(reterr);
    }
    return STATUS_UNSUPPORTED_MEDIA_TYPE;
}

static enum status start_upload(struct request *request, bool for_job, enum coding coding,
                                struct problem *reterr)
{
    const struct config *config = request->http_context->config;
    const struct admission *admission = scheduler_admission(request->http_context->scheduler);
    const char *media_type = request_header(request, "Content-Type");
    struct upload_rules rules = {
        .options = request->job_request.options,
        .format = request->job_request.format,
        .family = format_media_type_is_vague(media_type) ? FORMAT_NONE
                                                         : format_from_media_type(media_type),
        .is_form = media_type != NULL && strncasecmp(media_type, FORM, strlen(FORM)) == 0,
        .coding = coding,
        .body_limit_bytes = config->body_limit_bytes,
        .decoded_limit_bytes = config->decoded_limit_bytes,
        .decoded_ratio = config->decoded_ratio,
        .document_limit_bytes = for_job ? config->document_limit_bytes : 0,
        .announced_bytes = request_announced_bytes(request),
    };
    const enum result_form form = request->job_request.parameters.form;
    const enum kind kind = request->job_request.parameters.kind;
    const bool is_matrix = for_job && (form == RESULT_FORM_MATRIX || kind == KIND_U2);
    if (is_matrix) {
        rules.options.matrix_vertices = admission->vertex_limit;
        rules.options.room_bytes = room_bytes(request);
        rules.options.element_bytes = kind_size(kind == KIND_AUTO ? KIND_I4 : kind);
    }
    const uint32_t quota = request->grant.quota.vertex_limit;
    const uint32_t limit = is_matrix ? admission->vertex_limit : admission->hierarchy_vertex_limit;
    const bool is_quota = quota > 0 && quota < limit;
    rules.options.vertex_limit = is_quota ? quota : limit;
    rules.options.edge_limit = config->edge_limit;
    snprintf(rules.options.vertex_limit_reason, sizeof(rules.options.vertex_limit_reason), "%s",
             is_quota    ? "this key"
             : is_matrix ? admission->limit_reason
                         : admission->hierarchy_limit_reason);
    request->upload = malloc(sizeof(*request->upload));
    if (request->upload == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the upload.");
    }
    *request->upload = (struct upload){.rules = rules, .format = rules.format};
    upload_memory_init_share(&request->upload->share, &request->http_context->upload_memory,
                             request->grant.tenant, request->conn->address);
    return STATUS_OK;
}

enum status serve_jobs_read(struct request *request, struct problem *reterr)
{
    request->job_request = (struct job_request){.wait_s = -1};
    STATUS_TRY(query_read_job(&request->query, &request->job_request, reterr));
    return query_check_idempotency_key(request_header(request, "Idempotency-Key"), reterr);
}

/* Opens an upload after all checks that are possible with headers and query. An upload for a job
 * needs a place in the queue. Its body may also be a document that names a stored graph. */
enum status serve_jobs_prepare(struct request *request, struct problem *reterr)
{
    const struct config *config = request->http_context->config;
    const bool for_job = request->match.route->call == CALL_SUBMIT;
    enum coding coding = CODING_IDENTITY;
    STATUS_TRY(check_admission(request, for_job, reterr));
    STATUS_TRY(serve_jobs_read(request, reterr));
    STATUS_TRY(request_check_coding(request, true, &coding, reterr));
    STATUS_TRY(request_check_length(request, config->body_limit_bytes, reterr));
    STATUS_TRY(choose_format(request, reterr));
    STATUS_TRY(choose_charset(request, reterr));
    STATUS_TRY(start_upload(request, for_job, coding, reterr));
    /* If there is no memory now for a body of the announced length, refuse it before it is sent;
     * memory is charged only for received bytes. A client without an Expect header gets the refusal
     * after its body, because it could lose an earlier answer if it reads only after sending. */
    if (upload_check_announced(request->upload) != STATUS_OK &&
        request_header(request, "Expect") != NULL) {
        *reterr = request->upload->problem;
        return reterr->status;
    }
    return STATUS_OK;
}

/* Refuses upload parameters in a request about a stored graph. */
static enum status check_stored(const struct query *query, struct problem *reterr)
{
    static const char *const of_uploads[] = {QUERY_OF_UPLOAD};
    for (size_t i = 0; i < sizeof(of_uploads) / sizeof(of_uploads[0]); i++) {
        if (query_value(query, of_uploads[i]) != NULL) {
            return problem_set(reterr, STATUS_BAD_PARAMETER,
                               "%s applies to uploads only, but this graph is already stored.",
                               of_uploads[i]);
        }
    }
    return STATUS_OK;
}

/* Reads a document that names a stored graph; its parameters supplement the query's. */
static enum status read_document(struct request *request, const struct json_t *document,
                                 struct problem *reterr)
{
    static const char *const known[] = {"graph",      "kind", "name",   "result", "priority",
                                        "deadline_s", "wait", "verify", NULL};
    struct query_document members;
    STATUS_TRY(check_stored(&request->query, reterr));
    STATUS_TRY(query_from_document(document, known, request->http_context->config->wait_limit_s,
                                   &members, reterr));
    return query_read_job(&members.query, &request->job_request, reterr);
}

void serve_jobs_describe(struct request *request, struct call *call)
{
    const struct job_request *job = &request->job_request;
    const char *key = request_header(request, "Idempotency-Key");
    call->submit.parameters = job->parameters;
    snprintf(call->submit.idempotency_key, sizeof(call->submit.idempotency_key), "%s",
             key != NULL ? key : "");
    call->wait_s = job->wait_s >= 0 ? job->wait_s : request_preferred_wait(request);
}

enum status serve_jobs_submit(struct request *request, struct call *call, struct problem *reterr)
{
    struct upload *upload = request->upload;
    struct json_t *document = NULL;
    STATUS_TRY(upload_end(upload, &call->submit.reader, &document, reterr));
    call->submit.share = upload_memory_move(&upload->share);
    call->submit.parse_s = upload->parse_s;
    upload_report(upload, &call->submit.input);
    const enum status status =
        document == NULL ? STATUS_OK : read_document(request, document, reterr);
    json_decref(document);
    STATUS_TRY(status);
    if (call->kind == CALL_STORE_GRAPH) {
        call->submit.parameters = request->job_request.parameters;
        return STATUS_OK;
    }
    memcpy(call->key, request->job_request.key, sizeof(call->key));
    serve_jobs_describe(request, call);
    return STATUS_OK;
}

enum status serve_jobs_show(struct request *request, struct call *call, struct problem *reterr)
{
    const double wait_s = query_real(&request->query, "wait", -1);
    (void)reterr;
    call->wait_s = wait_s >= 0 ? wait_s : request_preferred_wait(request);
    return STATUS_OK;
}
