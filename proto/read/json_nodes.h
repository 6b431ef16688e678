/* The vertices of a JSON or GraphML document with a list of nodes. Stores where each name occurs
 * first, and its index in the list of nodes, which may come after the edges. A struct json_nodes is
 * part of a reader and used by its thread. */
#pragma once

#include "proto/read/json_scanner.h"
#include "proto/read/reader.h"

struct json_vertex {
    struct json_place first; /* position in the file of the first occurrence of the name */
    uint32_t position;       /* index in the list of nodes; NO_VERTEX = not listed */
    bool is_string;
};

struct json_nodes {
    struct reader *reader; /* borrowed, for its options and its edges */
    struct name_table *names;
    struct json_vertex *vertices; /* one entry per row of the name table */
    uint32_t capacity;
    uint32_t listed; /* number of nodes listed so far */
    bool has_string;
};

MUST_CHECK enum status json_nodes_init(struct json_nodes *nodes, struct reader *reader);
/* Releases the nodes; a zeroed struct is allowed. */
void json_nodes_finish(struct json_nodes *nodes);

/* Returns an upper bound on the memory in bytes, both now and while the graph is built. */
uint64_t json_nodes_memory(const struct json_nodes *nodes);
/* Returns the row of the vertex that this integer or string names; a new name gets a new row. */
MUST_CHECK enum status json_nodes_name(struct json_nodes *nodes, const struct json_token *token,
                                       uint32_t *ret_row, struct problem *reterr);
/* Appends the vertex named by this token to the list of nodes. */
MUST_CHECK enum status json_nodes_list(struct json_nodes *nodes, const struct json_token *token,
                                       struct problem *reterr);
/* Builds the graph from the builder's edges, between rows from json_nodes_name. The vertices get
 * the order of the list of nodes. STATUS_BAD_GRAPH for a name that is not in the list. */
MUST_CHECK enum status json_nodes_build(struct json_nodes *nodes, bool directed,
                                        struct graph **ret_graph, struct problem *reterr);
