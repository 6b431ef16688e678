/* Query parameters: decodes them once and checks that each is known, given once and of its type.
 * Also reads the parameters of a graph and its job from a query or a JSON document. Pure functions.
 */
#pragma once

#include "proto/problem.h"
#include "server/scheduler/scheduler.h"

#include <stddef.h>

#define QUERY_LIMIT 16

struct query_parameter {
    const char *name;
    const char *value;
};

/* The parameters of a query. Borrows the text that query_parse has split. */
struct query {
    struct query_parameter parameters[QUERY_LIMIT];
    size_t count;
};

/* Percent-decodes in place, keeping plus signs. Returns false for a malformed escape or %00. */
bool query_decode(char *text);

/* Splits and decodes the query in place; text may be NULL. A plus sign means a space. */
MUST_CHECK enum status query_parse(char *text, struct query *ret_query, struct problem *reterr);
/* Checks the query: a parameter that is not in known (NULL-terminated) is STATUS_UNKNOWN_PARAMETER
 * with a hint that lists the known ones; a value of the wrong type or outside its limits is
 * STATUS_BAD_PARAMETER. wait_limit_s is the maximum of the parameter wait. */
MUST_CHECK enum status query_check(const struct query *query, const char *const *known,
                                   double wait_limit_s, struct problem *reterr);
/* Returns the decoded value; NULL if the parameter is not given. */
const char *query_value(const struct query *query, const char *name);
/* Returns the value of a parameter that query_check has accepted, or fallback if it is absent. */
bool query_flag(const struct query *query, const char *name, bool fallback);
int64_t query_integer(const struct query *query, const char *name, int64_t fallback);
double query_real(const struct query *query, const char *name, double fallback);

/* The parameters that control how an uploaded graph is read. */
#define QUERY_OF_UPLOAD                                                                            \
    "format", "charset", "directed", "weight", "source_column", "target_column", "decimal",        \
        "no_edge", "n"

struct job_request {
    char key[RESULT_KEY_SIZE]; /* stored graph's ID or name; empty for an upload */
    struct graph_options options;
    enum format format; /* FORMAT_NONE when not given */
    struct job_parameters parameters;
    double wait_s; /* below 0 when not given */
};

/* Reads the job's parameters from a query that query_check has accepted. Absent parameters leave
 * the request unchanged. */
MUST_CHECK enum status query_read_job(const struct query *query, struct job_request *request,
                                      struct problem *reterr);
#define QUERY_NUMBER_SIZE 32
struct query_document {
    struct query query;
    char numbers[QUERY_LIMIT][QUERY_NUMBER_SIZE];
};
/* Turns the members of a JSON object into parameters and checks them like those of a query. The
 * query borrows the document and the struct's own buffers. known has at most QUERY_LIMIT names. A
 * string instead of a number, or a number instead of a string, is STATUS_BAD_PARAMETER. */
MUST_CHECK enum status query_from_document(const struct json_t *document, const char *const *known,
                                           double wait_limit_s, struct query_document *ret_document,
                                           struct problem *reterr);
/* Checks an Idempotency-Key; NULL is valid. */
MUST_CHECK enum status query_check_idempotency_key(const char *key, struct problem *reterr);
