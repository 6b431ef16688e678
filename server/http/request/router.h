/* The table of all routes, and the search in it. Constant data and pure functions. */
#pragma once

#include "proto/problem.h"
#include "server/scheduler/calls.h"

#include <stdbool.h>
#include <stddef.h>

enum method {
    METHOD_GET = 1,
    METHOD_HEAD = 2,
    METHOD_POST = 4,
    METHOD_PUT = 8,
    METHOD_DELETE = 16,
    METHOD_PATCH = 32,
    METHOD_OPTIONS = 64, /* used for CORS preflights only */
    METHOD_OTHER = 128   /* any other method; no route has it */
};

struct request;

/* The object that must be found before the handler runs. */
enum route_needs { NEEDS_NOTHING, NEEDS_GRAPH, NEEDS_NAMES, NEEDS_RESULT };

/* The kind of body that a route accepts, which selects its size limit in the configuration. */
enum route_body {
    BODY_NONE,     /* no body, or an upload that prepare opens */
    BODY_DOCUMENT, /* a small JSON document */
    BODY_PAIRS,    /* a list of vertices, pairs or edge changes */
    BODY_FILE      /* a file, limited like an upload */
};

struct page;
struct stream_kind;

/* Fills in the call of a route from the request. */
typedef enum status route_fill(struct request *request, struct call *call, struct problem *reterr);

/* Description of a route. Parameters, body and types are checked before the handler runs. */
struct route {
    unsigned methods;           /* methods accepted; GET implies HEAD */
    const char *pattern;        /* "/v1/jobs/{id}": braces match one segment; at most two */
    unsigned right;             /* right that the key must have, of enum right */
    const char *parameters[17]; /* names of accepted query parameters, NULL-terminated */
    unsigned required;          /* number of leading parameters that are mandatory */
    const char *offers[4];      /* media types of the answer; empty: the handler chooses */
    enum route_body body;
    const char *reads[5]; /* media types of the body, NULL-terminated; empty: any */
    const char *shape;    /* shape of a JSON body, for error messages */
    bool compares;        /* the handler compares If-Match with the resource's tag */
    enum route_needs needs;
    /* Called when the headers have arrived, to refuse a request early; NULL: no check. */
    enum status (*prepare)(struct request *request, struct problem *reterr);
    /* Answers the complete request. If NULL, `stream` generates the answer. If that is NULL too,
     * the scheduler answers a call of kind `call`, whose arguments, if any, `fill` sets. */
    void (*handle)(struct request *request);
    const struct stream_kind *stream;
    enum call_kind call;
    route_fill *fill;
    const struct page *page; /* document that serve_page sends */
};

/* Maximum size of a decoded segment that {name} matches, with its NUL. */
#define ROUTER_CAPTURE_SIZE 128
#define ROUTER_ALLOW_SIZE 48

struct router_match {
    const struct route *route;
    char capture[ROUTER_CAPTURE_SIZE]; /* decoded segment for the first {name}; or empty */
    const char *second; /* undecoded segment for the second {name}, inside the path; or NULL */
    size_t second_size;
};

extern const struct route router_table[];
extern const size_t router_route_count;

enum method router_method(const char *name);
/* Returns the name of a method; "other" for METHOD_OTHER. */
const char *router_method_name(enum method method);

/* Finds the route of a method and path (undecoded, without the query). Returns
 * STATUS_NO_SUCH_ROUTE, STATUS_BAD_REQUEST for a malformed escape, or STATUS_METHOD_NOT_ALLOWED
 * with the allowed methods in ret_allow, which is empty otherwise. */
MUST_CHECK enum status router_find(enum method method, const char *path,
                                   struct router_match *ret_match,
                                   char ret_allow[ROUTER_ALLOW_SIZE], struct problem *reterr);
