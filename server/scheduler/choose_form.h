/* Chooses the form for `result=auto`, a matrix or a hierarchy, and checks that the result fits.
 * Loop thread except form_look_run.
 *
 * A large graph is ordered before the choice, because the order gives the size of the hierarchy. A
 * solve in either form needs the order too, so it is cached. */
#pragma once

#include "proto/graph.h"
#include "server/scheduler/tenants.h"

/* Up to this number of vertices, a matrix takes about as much time as a hierarchy, or less, on a
 * CPU and on a GPU. */
#define FORM_MATRIX_VERTICES 2048
#define FORM_MATRIX_VERTICES_GPU 8192
/* A hierarchy is chosen if its arcs and labels take at most the matrix's bytes divided by this.
 * Labels do not count if rows are kept in memory, because rows then answer many pairs. */
#define FORM_HIERARCHY_PART 16

enum form_look_state {
    FORM_UNSEEN = 0,    /* the hierarchy is not measured: the graph is small, or measuring failed */
    FORM_MEASURED,      /* bytes and label_bytes are known */
    FORM_NO_SEPARATORS, /* the hierarchy would be larger than byte_limit */
};

/* The measured size of a graph's hierarchy. */
struct form_look {
    bool is_done;
    enum form_look_state state;
    uint64_t byte_limit; /* largest hierarchy that is useful; UINT64_MAX = any size */
    uint64_t bytes;      /* size of the hierarchy's file */
    uint64_t label_bytes;
    struct hierarchy_shape *shape; /* owned by the owner of this struct; NULL unless measured */
    double seconds;                /* duration of the measurement */
    bool is_fresh;                 /* the order was computed now, not read from the cache */
};

/* Returns whether form_look_run must measure the graph before the choice; initialises *ret_look. */
bool form_look_begin(const struct scheduler *scheduler, enum result_form form, uint32_t cost,
                     uint32_t vertex_count, uint64_t edge_count, struct form_look *ret_look);
/* Orders the graph and measures its hierarchy; a drain stops this early. tenant: the graph's owner,
 * whose cached orders are read and extended. Any thread. */
void form_look_run(struct scheduler *scheduler, const char *tenant, const struct graph *graph,
                   enum kind kind, struct form_look *look);
/* Input of choose_result_form; the pointers are borrowed. */
struct form_question {
    struct tenant *tenant;
    const struct quota *quota;
    uint32_t vertex_count;
    uint64_t edge_count;
    uint32_t cost;        /* cost class from graph_cost */
    uint64_t graph_bytes; /* bytes of the graph's files that are not written yet */
    struct form_look look;
};

/* Sets form, reason and bytes of `result`. On entry its form may be auto, and for a change its
 * bytes may be those of the parent's hierarchy. Returns STATUS_TOO_LARGE if a device or the quota
 * does not allow this number of vertices; STATUS_STORAGE_QUOTA or STATUS_DISK_FULL, with limit and
 * actual, if result and graph do not fit into the unreserved space; STATUS_BAD_PARAMETER for a
 * hierarchy of kind u2. */
MUST_CHECK enum status choose_result_form(const struct scheduler *scheduler,
                                          const struct form_question *question,
                                          struct result_summary *result, struct problem *reterr);
