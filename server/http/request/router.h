/* The addresses of the service, and from method and path to a route. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>

enum method {
    METHOD_GET = 1,
    METHOD_HEAD = 2,
    METHOD_POST = 4,
    METHOD_PUT = 8,
    METHOD_DELETE = 16,
    METHOD_PATCH = 32,
    METHOD_OPTIONS = 64, /* of no route: a preflight, else refused */
    METHOD_OTHER = 128   /* known to HTTP, answered nowhere here */
};

struct request;

/* The object that a route is about, which is looked up before the route is called. */
enum route_needs { NEEDS_NOTHING, NEEDS_GRAPH, NEEDS_RESULT };

/* The limit of the configuration that holds for the body of a route. */
enum route_body {
    BODY_NONE,     /* or one that prepare expects */
    BODY_DOCUMENT, /* a small one in JSON */
    BODY_PAIRS,    /* a list of vertices, pairs or changes */
    BODY_FILE      /* as large as an upload */
};

struct stream_kind;

/* All that is known of a route. What it says of parameters, body and media types is checked before
 * the route is called. */
struct route {
    unsigned methods;    /* HEAD is added where GET is */
    const char *pattern; /* "/v1/jobs/{id}": a name in braces takes one segment; two at most */
    unsigned right;      /* that its key must have: of enum right */
    const char *parameters[17]; /* all that are known; NULL-terminated; query.c has their types */
    unsigned required;          /* so many of the first must be given */
    const char *offers[4];      /* media types of the answer, NULL-terminated; none: the handler
                                 * chooses */
    enum route_body body;
    const char *reads[5]; /* media types of the body, NULL-terminated; none: any */
    const char *shape;    /* of a body in JSON */
    bool compares;        /* the handler compares If-Match with the tag of what it changes */
    enum route_needs needs;
    /* At the headers of a request with a body, to refuse it early; NULL: nothing more to check. */
    enum status (*prepare)(struct request *request, struct problem *reterr);
    void (*handle)(struct request *request); /* when all of the request is there */
    const struct stream_kind *stream;        /* the answer, where there is no handler */
};

/* The longest segment that is taken, with its NUL. */
#define ROUTER_CAPTURE_SIZE 128
#define ROUTER_ALLOW_SIZE 48

struct router_match {
    const struct route *route;
    char capture[ROUTER_CAPTURE_SIZE]; /* decoded; empty when the pattern takes nothing */
    const char *second; /* the second segment taken, in the path and undecoded; NULL without one */
    size_t second_size;
};

/* The one table that says what is answered where. */
extern const struct route router_table[];
extern const size_t router_route_count;

enum method router_method(const char *name);
/* "other" for METHOD_OTHER. */
const char *router_method_name(enum method method);

/* path: undecoded, without the query. STATUS_NO_SUCH_ROUTE; STATUS_BAD_REQUEST for a broken escape;
 * STATUS_METHOD_NOT_ALLOWED with the methods in ret_allow, which is empty otherwise. */
MUST_CHECK enum status router_find(enum method method, const char *path,
                                   struct router_match *ret_match,
                                   char ret_allow[ROUTER_ALLOW_SIZE], struct problem *reterr);
