/* A matrix of weights as nested arrays, [[0,5],[5,null]], alone or as "distances" or "durations" of
 * a document whose "sources" and "destinations" may name the vertices: OSRM's tables, VROOM's
 * matrices, and what this service writes. null is no edge; a 0 off the diagonal is an edge of
 * weight 0. Part of json.c. */
#pragma once

#include "proto/read/json_nodes.h"
#include "proto/read/reader.h"

struct json_matrix {
    struct reader *reader;
    struct json_nodes *nodes; /* the names, if the document has some */
    unsigned base;            /* depth of the rows */
    bool is_bare;             /* in no document that says what it is */
    bool has_width;
    bool has_loops;
    uint32_t row; /* of the next cell */
    uint32_t column;
    uint32_t width;
    uint32_t name_count; /* in the list of names at hand */
    bool has_objects;    /* a list has places in the place of names, as OSRM's */
};

/* A token within the matrix. */
MUST_CHECK enum status json_matrix_take(struct json_matrix *matrix, const struct json_token *token,
                                        struct problem *reterr);
/* A token within "sources" or "destinations", which is at this depth. Both name the same vertices
 * in the same order. */
MUST_CHECK enum status json_matrix_name(struct json_matrix *matrix, const struct json_token *token,
                                        unsigned depth, struct problem *reterr);
MUST_CHECK enum status json_matrix_finish(struct json_matrix *matrix, struct graph **ret_graph,
                                          struct problem *reterr);
