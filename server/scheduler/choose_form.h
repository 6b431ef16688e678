/* The choice of `result=auto` between a matrix and a hierarchy, and the check that either fits.
 *
 * A graph of many vertices is ordered first, which a solve of either form needs anyway: the order
 * is kept for it. By then it is known what the hierarchy takes. */
#pragma once

#include "proto/graph.h"
#include "proto/job_document.h"
#include "server/scheduler/tenants.h"

struct scheduler;

/* Up to here the matrix answers soonest, or about as soon. */
#define FORM_MATRIX_VERTICES 8192
/* A hierarchy is chosen when its arcs and labels take at most this part of the bytes of the matrix.
 */
#define FORM_HIERARCHY_PART 16

enum form_look_state {
    FORM_UNSEEN = 0,    /* a small graph, or the look failed */
    FORM_MEASURED,      /* bytes and label_bytes are known */
    FORM_NO_SEPARATORS, /* the hierarchy would be larger than byte_limit */
};

/* The bytes that a hierarchy of a graph takes. */
struct form_look {
    bool is_done;
    enum form_look_state state;
    uint64_t byte_limit; /* UINT64_MAX = the hierarchy is made, whatever it takes */
    uint64_t bytes;      /* of its file */
    uint64_t label_bytes;
    double seconds; /* that it took */
    bool is_fresh;  /* the order was not kept before */
};

/* Whether a look is to come before the choice, which it then prepares. */
bool form_look_begin(const struct scheduler *scheduler, enum result_form form, uint32_t cost,
                     uint32_t vertex_count, uint64_t edge_count, struct form_look *ret_look);
/* Orders the graph and measures its hierarchy. Any thread; a drain ends it. tenant: the owner, to
 * whose kept orders this one is added. */
void form_look_run(struct scheduler *scheduler, const char *tenant, const struct graph *graph,
                   enum kind kind, struct form_look *look);
/* All that decides; borrowed. */
struct form_question {
    struct tenant *tenant;
    const struct quota *quota;
    uint32_t vertex_count;
    uint64_t edge_count;
    uint32_t cost;        /* see graph_cost */
    uint64_t graph_bytes; /* to be written beside the result */
    struct form_look look;
};

/* result: its form, which may be auto, is decided, and its reason and bytes are filled; those of a
 * hierarchy that is like its parent's may be there. STATUS_TOO_LARGE for more vertices than are
 * held, or than the quota allows; STATUS_STORAGE_QUOTA and STATUS_DISK_FULL, with limit and actual,
 * when result and graph do not fit beside all that is reserved; STATUS_BAD_PARAMETER for a
 * hierarchy of u2. */
MUST_CHECK enum status choose_result_form(const struct scheduler *scheduler,
                                          const struct form_question *question,
                                          struct result_summary *result, struct problem *reterr);
