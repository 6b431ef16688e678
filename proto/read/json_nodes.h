/* The vertices of a document that lists its nodes, as JSON and GraphML do: every name that occurs,
 * where it was met first, and its position in the list of nodes, which may come after the edges. */
#pragma once

#include "proto/name_table.h"
#include "proto/read/json_scanner.h"
#include "proto/read/reader.h"

struct json_vertex {
    struct json_place first; /* mentioned there */
    uint32_t position;       /* in the list of nodes, NO_VERTEX = not there */
    bool is_string;
};

struct json_nodes {
    struct reader *reader; /* borrowed */
    struct name_table *names;
    struct json_vertex *vertices; /* by row of the name table */
    uint32_t capacity;
    uint32_t listed; /* nodes in the list so far */
    bool has_string;
};

MUST_CHECK enum status json_nodes_init(struct json_nodes *nodes, struct reader *reader);
/* Accepts zeroes. */
void json_nodes_finish(struct json_nodes *nodes);

/* Bytes that they hold, or need while the graph is built. */
uint64_t json_nodes_memory(const struct json_nodes *nodes);
/* The row of the name in this token, an integer or a string; a new one when it was not seen. */
MUST_CHECK enum status json_nodes_name(struct json_nodes *nodes, const struct json_token *token,
                                       uint32_t *ret_row, struct problem *reterr);
/* The next node of the list has the id in this token. */
MUST_CHECK enum status json_nodes_list(struct json_nodes *nodes, const struct json_token *token,
                                       struct problem *reterr);
/* The graph, whose edges are between rows of json_nodes_name: the vertices come in the order of the
 * list. STATUS_BAD_GRAPH for a name that is not in it. */
MUST_CHECK enum status json_nodes_build(struct json_nodes *nodes, bool directed,
                                        struct graph **ret_graph, struct problem *reterr);
