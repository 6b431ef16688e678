#include "server/http/serve.h"

#include "server/http/intake.h"

#include <jansson.h>
#include <string.h>

enum status serve_jobs_prepare(struct exchange *exchange, struct problem *reterr)
{
    return intake_open(exchange, true, reterr);
}

/* What a stored graph is has been said when it was uploaded. */
static enum status check_stored(const struct query *query, struct problem *reterr)
{
    static const char *const of_uploads[] = {"format", "directed", "weight", "n"};

    for (size_t i = 0; i < sizeof of_uploads / sizeof of_uploads[0]; i++) {
        if (query_value(query, of_uploads[i]) != NULL) {
            return problem_set(reterr, STATUS_BAD_PARAMETER,
                               "%s belongs to the upload of a graph, and this one is stored.",
                               of_uploads[i]);
        }
    }
    return STATUS_OK;
}

/* Once the body is complete: what it says goes to the desk. */
static enum status fill_submit(struct exchange *exchange, struct ask *ask, struct problem *reterr)
{
    const char *key = exchange_request_header(exchange, "Idempotency-Key");
    struct json_t *document = NULL;
    enum status status = upload_end(&exchange->upload, &ask->reader, &document, reterr);

    if (status == STATUS_OK && document != NULL) {
        status = check_stored(&exchange->query, reterr);
    }
    if (status == STATUS_OK && document != NULL) {
        status = job_request_from_document(document, exchange->house->config->wait_limit_s,
                                           &exchange->request, reterr);
    }
    json_decref(document);
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(ask->key, exchange->request.key, sizeof ask->key);
    ask->share = upload_take_share(&exchange->upload);
    ask->stream = upload_take_stream(&exchange->upload);
    ask->parse_s = exchange->upload.parse_s;
    upload_report(&exchange->upload, &ask->input);
    ask->parameters = exchange->request.parameters;
    if (key != NULL) {
        memcpy(ask->idempotency_key, key, strlen(key) + 1);
    }
    ask->wait_s = exchange->request.wait_s >= 0 ? exchange->request.wait_s
                                                : exchange_preferred_wait(exchange);
    ask->wait_until_final = true;
    return STATUS_OK;
}

void serve_jobs_submit(struct exchange *exchange)
{
    struct ask *ask = exchange_create_ask(exchange, ASK_SUBMIT);
    struct problem problem;

    if (ask == NULL) {
        return;
    }
    if (fill_submit(exchange, ask, &problem) == STATUS_OK) {
        exchange_ask(exchange, exchange_answer_ask);
    } else {
        exchange_refuse(exchange, &problem);
    }
}

void serve_jobs_show(struct exchange *exchange)
{
    double limit_s = exchange->house->config->wait_limit_s;
    struct problem problem;
    double wait_s = -1;
    struct ask *ask;

    if (query_seconds(&exchange->query, "wait", limit_s, &wait_s, &problem) != STATUS_OK) {
        exchange_refuse(exchange, &problem);
        return;
    }
    ask = exchange_create_ask(exchange, ASK_JOB);
    if (ask == NULL) {
        return;
    }
    memcpy(ask->key, exchange->match.capture, sizeof ask->key);
    ask->wait_s = wait_s >= 0 ? wait_s : exchange_preferred_wait(exchange);
    exchange_ask(exchange, exchange_answer_ask);
}

void serve_jobs_cancel(struct exchange *exchange)
{
    struct ask *ask = exchange_create_ask(exchange, ASK_CANCEL);

    if (ask == NULL) {
        return;
    }
    memcpy(ask->key, exchange->match.capture, sizeof ask->key);
    exchange_ask(exchange, exchange_answer_ask);
}
