/* The query of a request: decoded once, every parameter known, given once and of its type; and the
 * parameters of a graph and its job, from the query or from a JSON document. Pure. */
#pragma once

#include "proto/problem.h"
#include "server/scheduler/scheduler.h"

#include <stddef.h>

#define QUERY_LIMIT 16

struct query_parameter {
    const char *name;
    const char *value;
};

/* Borrows the text that it was parsed from. */
struct query {
    struct query_parameter parameters[QUERY_LIMIT];
    size_t count;
};

/* Percent-decodes in place; false for a broken escape and for %00. A plus stays a plus. */
bool query_decode(char *text);

/* Splits and decodes in place; text may be NULL. A plus is a blank, as forms write it. */
MUST_CHECK enum status query_parse(char *text, struct query *ret_query, struct problem *reterr);
/* Each parameter is one of the known (NULL-terminated), else STATUS_UNKNOWN_PARAMETER names them
 * all; and its value is of its type and within its limits, else STATUS_BAD_PARAMETER. wait_limit_s:
 * of the parameter wait. */
MUST_CHECK enum status query_check(const struct query *query, const char *const *known,
                                   double wait_limit_s, struct problem *reterr);
/* NULL when the parameter is not given. */
const char *query_value(const struct query *query, const char *name);
/* The value of a parameter that query_check has found to be of this type, or fallback when it is
 * not given. */
bool query_flag(const struct query *query, const char *name, bool fallback);
int64_t query_integer(const struct query *query, const char *name, int64_t fallback);
double query_real(const struct query *query, const char *name, double fallback);

/* The parameters that say how a graph is read, beside its name. */
#define QUERY_OF_UPLOAD                                                                            \
    "format", "charset", "directed", "weight", "source_column", "target_column", "decimal",        \
        "no_edge", "n"

struct job_request {
    char key[RESULT_KEY_SIZE]; /* graph= of a document; empty when a graph is uploaded */
    struct graph_options options;
    enum format format; /* FORMAT_NONE when not said */
    struct job_parameters parameters;
    double wait_s; /* below 0 when not said */
};

/* Parameters that are not there leave the request as it is. The query has been checked. */
MUST_CHECK enum status query_read_job(const struct query *query, struct job_request *request,
                                      struct problem *reterr);
struct json_t;
#define QUERY_NUMBER_SIZE 32
struct query_document {
    struct query query;
    char numbers[QUERY_LIMIT][QUERY_NUMBER_SIZE];
};
/* The members of a JSON object as parameters, which are checked as those of a query. The query
 * borrows the document and its own struct. known: at most QUERY_LIMIT. STATUS_BAD_PARAMETER also
 * for a string where a number is expected, and the other way round. */
MUST_CHECK enum status query_from_document(const struct json_t *document, const char *const *known,
                                           double wait_limit_s, struct query_document *ret_document,
                                           struct problem *reterr);
/* The value of Idempotency-Key; NULL is accepted. */
MUST_CHECK enum status query_check_idempotency_key(const char *key, struct problem *reterr);
