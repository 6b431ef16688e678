/* Changes to the edges of a graph, as in PATCH and PUT requests, and their application to a graph.
 * The request that parses the changes owns them; one thread applies them. */
#pragma once

#include "proto/graph.h"

/* One change of an edge; source and target are rows of the graph. A weight of NAN removes the edge;
 * an edge that the graph does not have is added. */
struct edge_change {
    uint32_t source;
    uint32_t target;
    double weight;
    uint64_t place; /* index in the list; after edge_changes_apply, edge index in the graph */
};

#define EDGE_CHANGES_DIGEST_SIZE 32

/* Changes to a graph: either a list, in which the last change of an edge wins, or new weights for
 * all edges in the order of the graph, as little-endian elements of `kind`. Owns its arrays. */
struct edge_changes {
    struct edge_change *list;
    size_t count;
    char *weights; /* new weights of all edges; NULL: use the list */
    size_t weights_size;
    enum kind kind; /* kind of the weights */
    /* SHA-256 of the vertex names that were resolved to the rows of the list. The scheduler
     * compares it with the names of the graph to which it applies the list, because the alias of
     * the graph may have moved meanwhile. */
    unsigned char names_digest[EDGE_CHANGES_DIGEST_SIZE];
    /* SHA-256 of the list or of the weights, by which a request with an Idempotency-Key is
     * recognized when it is repeated; zero if the request has no key. */
    unsigned char digest[EDGE_CHANGES_DIGEST_SIZE];
};

void edge_changes_finish(struct edge_changes *changes);

/* Applies the changes. The graph and its summary become the same as after an upload of the changed
 * edges, except that distance_bound may be higher. If no edge is added or removed, the weights are
 * changed in place; otherwise *graph is replaced. After a failure the graph can only be destroyed.
 * The list is sorted, and only changes that alter the graph remain in it.
 *
 * edge_limit: the largest number of edges after an addition; 0 = no limit. ret_absent: number of
 * removals whose edge does not exist. O(m + k log k) for k changes; adding or removing edges takes
 * 36 more bytes per edge. STATUS_BAD_GRAPH for weights that do not match the edges or are not
 * numbers, and for a negative self-loop; STATUS_PRECONDITION_FAILED for a row that the graph does
 * not have; STATUS_TOO_LARGE; STATUS_NO_MEMORY. */
MUST_CHECK enum status edge_changes_apply(struct edge_changes *changes, uint64_t edge_limit,
                                          struct graph **graph, uint64_t *ret_absent,
                                          struct problem *reterr);
