/* The parameters of a graph and its job, read from the query or from a JSON document. Pure. */
#pragma once

#include "server/http/request/query.h"
#include "server/job/scheduler.h"

struct job_request {
    char key[RESULT_KEY_SIZE]; /* of a stored graph; empty when one is uploaded */
    struct graph_options options;
    enum format format; /* FORMAT_NONE when not said */
    struct job_parameters parameters;
    double wait_s; /* below 0 when not said */
};

/* The names of the query parameters of an upload; the lists end with NULL. */
extern const char *const job_request_graph_parameters[];
extern const char *const job_request_submit_parameters[];

void job_request_init(struct job_request *request);
/* Parameters that are not there leave the request as it is. */
MUST_CHECK enum status job_request_from_query(const struct query *query, double wait_limit_s,
                                              struct job_request *request, struct problem *reterr);
struct json_t;
/* {"graph": id or name, ...}: unknown members are STATUS_UNKNOWN_PARAMETER. */
MUST_CHECK enum status job_request_from_document(const struct json_t *document, double wait_limit_s,
                                                 struct job_request *request,
                                                 struct problem *reterr);
/* 1 to 127 visible ASCII characters. */
bool job_request_is_idempotency_key(const char *text);
