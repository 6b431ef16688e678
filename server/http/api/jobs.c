#include "server/http/api/serve.h"

#include "server/http/request/intake.h"

#include <jansson.h>
#include <string.h>

enum status serve_jobs_prepare(struct request *request, struct problem *reterr)
{
    return intake_open(request, true, reterr);
}

/* Upload-only parameters are rejected for a stored graph. */
static enum status check_stored(const struct query *query, struct problem *reterr)
{
    static const char *const of_uploads[] = {"format", "directed", "weight", "n"};

    for (size_t i = 0; i < sizeof(of_uploads) / sizeof(of_uploads[0]); i++) {
        if (query_value(query, of_uploads[i]) != NULL) {
            return problem_set(reterr, STATUS_BAD_PARAMETER,
                               "%s belongs to the upload of a graph, and this one is stored.",
                               of_uploads[i]);
        }
    }
    return STATUS_OK;
}

/* Once the body is complete: what it says goes to the scheduler. */
static enum status fill_submit(struct request *request, struct call *call, struct problem *reterr)
{
    const char *key = request_header(request, "Idempotency-Key");
    struct json_t *document = NULL;
    enum status status = upload_end(&request->upload, &call->reader, &document, reterr);

    if (status == STATUS_OK && document != NULL) {
        status = check_stored(&request->query, reterr);
    }
    if (status == STATUS_OK && document != NULL) {
        status = job_request_from_document(document, request->http_context->config->wait_limit_s,
                                           &request->job_request, reterr);
    }
    json_decref(document);
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(call->key, request->job_request.key, sizeof(call->key));
    call->share = capacity_move_share(&request->upload.share);
    call->parse_s = request->upload.parse_s;
    upload_report(&request->upload, &call->input);
    call->parameters = request->job_request.parameters;
    if (key != NULL) {
        memcpy(call->idempotency_key, key, strlen(key) + 1);
    }
    call->wait_s = request->job_request.wait_s >= 0 ? request->job_request.wait_s
                                                    : request_preferred_wait(request);
    call->wait_until_final = true;
    return STATUS_OK;
}

void serve_jobs_submit(struct request *request)
{
    struct call *call = request_create_call(request, CALL_SUBMIT);
    struct problem problem;

    if (call == NULL) {
        return;
    }
    if (fill_submit(request, call, &problem) == STATUS_OK) {
        request_call(request, request_answer_call);
    } else {
        request_refuse(request, &problem);
    }
}

void serve_jobs_show(struct request *request)
{
    double limit_s = request->http_context->config->wait_limit_s;
    struct problem problem;
    double wait_s = -1;
    struct call *call;

    if (query_seconds(&request->query, "wait", limit_s, &wait_s, &problem) != STATUS_OK) {
        request_refuse(request, &problem);
        return;
    }
    call = request_create_call(request, CALL_JOB);
    if (call == NULL) {
        return;
    }
    memcpy(call->key, request->match.capture, sizeof(call->key));
    call->wait_s = wait_s >= 0 ? wait_s : request_preferred_wait(request);
    request_call(request, request_answer_call);
}

void serve_jobs_cancel(struct request *request)
{
    struct call *call = request_create_call(request, CALL_CANCEL);

    if (call == NULL) {
        return;
    }
    memcpy(call->key, request->match.capture, sizeof(call->key));
    request_call(request, request_answer_call);
}
