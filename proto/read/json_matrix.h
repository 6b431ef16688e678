/* Reads a matrix of weights as nested arrays, such as [[0,5],[5,null]]. The matrix is the whole
 * document, or its member "distances" or "durations"; "sources" and "destinations" may name the
 * vertices. OSRM, VROOM and this service write such documents. null is a missing edge; a 0 off the
 * diagonal is an edge of weight 0. Only json.c uses it, on the reader's thread. */
#pragma once

#include "proto/read/json_nodes.h"
#include "proto/read/reader.h"

struct json_matrix {
    struct reader *reader;
    struct json_nodes *nodes; /* vertex names, if the document has any */
    unsigned base;            /* nesting depth of the rows in the document */
    bool is_bare;             /* the matrix is the whole document */
    bool has_width;
    bool has_loops;
    uint32_t row; /* row of the next cell */
    uint32_t column;
    uint32_t width;
    uint32_t name_count; /* number of names so far in the current list of names */
    bool has_objects;    /* a list of names contains objects, as OSRM writes, so it is ignored */
};

MUST_CHECK enum status json_matrix_accept(struct json_matrix *matrix,
                                          const struct json_token *token, struct problem *reterr);
/* Accepts a token of "sources" or "destinations". depth: depth of the list. Both lists must name
 * the same vertices in the same order. */
MUST_CHECK enum status json_matrix_name(struct json_matrix *matrix, const struct json_token *token,
                                        unsigned depth, struct problem *reterr);
MUST_CHECK enum status json_matrix_finish(struct json_matrix *matrix, struct graph **ret_graph,
                                          struct problem *reterr);
