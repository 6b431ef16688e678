#include "server/http/api/serve.h"

#include <jansson.h>
#include <string.h>

static enum status read_members(const struct query *query, struct call *call,
                                struct problem *reterr)
{
    const char *graph = query_value(query, "graph");
    struct job_request job = {.wait_s = -1};
    if ((graph != NULL) == (query_value(query, "n") != NULL) ||
        (graph != NULL && query_value(query, "m") != NULL)) {
        return problem_set(reterr, STATUS_BAD_REQUEST, "Specify either graph, or both n and m.");
    }
    STATUS_TRY(query_read_job(query, &job, reterr));
    memcpy(call->key, job.key, sizeof(call->key));
    call->estimate.vertex_count = job.options.vertex_count;
    call->estimate.edge_count = (uint64_t)query_integer(query, "m", 0);
    call->estimate.kind = job.parameters.kind;
    return STATUS_OK;
}

enum status serve_estimate(struct request *request, struct call *call, struct problem *reterr)
{
    static const char *const known[] = {"graph", "n", "m", "kind", NULL};
    struct query_document members;
    json_t *document = NULL;
    STATUS_TRY(request_parse_document(request, &document, reterr));
    enum status status = query_from_document(document, known, 0, &members, reterr);
    STATUS_THEN(status, read_members(&members.query, call, reterr));
    json_decref(document);
    return status;
}
