/* Changes of the edges of a graph, as a client asks for them, and the graph that comes of it. */
#pragma once

#include "proto/graph.h"

/* NAN as the weight removes the edge; a new edge is added. Rows of the graph. */
struct edge_change {
    uint32_t source;
    uint32_t target;
    double weight;
    uint64_t place; /* in the list, and then of its edge: set by edge_changes_apply */
};

#define EDGE_CHANGES_DIGEST_SIZE 32

/* One of the two: a list of changes, of which the last of the same ends counts, or the weights of
 * all edges in the order of the graph, little-endian and of the kind. Owns its arrays. */
struct edge_changes {
    struct edge_change *list;
    size_t count;
    char *weights; /* NULL: the list counts */
    size_t weights_size;
    enum kind kind; /* of the weights */
    /* SHA-256 of the names by which the rows of the list were found. The scheduler compares it with
     * the names of the graph that the list is then applied to. */
    unsigned char names_digest[EDGE_CHANGES_DIGEST_SIZE];
    /* SHA-256 of the list or the weights, to recognize a repeated request; zero without a key. */
    unsigned char digest[EDGE_CHANGES_DIGEST_SIZE];
};

void edge_changes_finish(struct edge_changes *changes);

/* Makes of the graph the one that an upload of the changed edges makes, summary and all, but for a
 * distance_bound that may be higher than needed. Where no edge comes or goes it takes its weights
 * in their place; else it is replaced. After a failure it is fit to be destroyed. Sorts the list
 * and leaves in it what changes the graph.
 * edge_limit: of a graph to which edges come. ret_absent: removals of edges that are not there.
 * O(m + k log k), and 36 bytes an edge beside the graph where edges come or go. STATUS_BAD_GRAPH
 * for weights that do not fit the edges or are no numbers, and for a list with a loop below 0;
 * STATUS_PRECONDITION_FAILED for rows that the graph does not have; STATUS_TOO_LARGE;
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status edge_changes_apply(struct edge_changes *changes, uint64_t edge_limit,
                                          struct graph **graph, uint64_t *ret_absent,
                                          struct problem *reterr);
