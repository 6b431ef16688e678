/* The coordinates of the few graphs that were asked about last, with the names of their vertices.
 *
 * One of the shared objects: a mutex inside, not held while a file is read. An entry is compared
 * with its file whenever it is lent, so nothing has to be told of a file that is replaced or
 * removed. What is lent stays until it has been given back. Any thread. */
#pragma once

#include "proto/problem.h"
#include "proto/vertex_names.h"
#include "server/store/coordinates_file.h"

/* Graphs in the cache; fewer where these exceed its budget, but the one asked for last. */
#define COORDINATES_CACHE_LIMIT 8

struct coordinates_cache;

/* Immutable while it is lent. */
struct located_graph {
    struct coordinates *coordinates;
    struct vertex_names *names;
    struct coordinates_info info;
    uint64_t bytes; /* of memory */
    char graph_id[GRAPH_ID_SIZE];
    unsigned holders; /* the cache's: who it is lent to, and itself */
};

/* graph_folder, folder: of the files of graphs and of coordinates, borrowed. */
MUST_CHECK enum status coordinates_cache_create(int graph_folder, int folder, uint64_t budget_bytes,
                                                struct coordinates_cache **ret_cache);
/* All that was lent has been given back. NULL is accepted. */
void coordinates_cache_destroy(struct coordinates_cache *cache);
/* STATUS_NO_COORDINATES, with a hint, where there are none; STATUS_CORRUPT where they, or the names
 * of the graph, are damaged. */
MUST_CHECK enum status coordinates_cache_borrow(struct coordinates_cache *cache,
                                                const char *graph_id,
                                                struct located_graph **ret_graph,
                                                struct problem *reterr);
void coordinates_cache_give_back(struct coordinates_cache *cache, struct located_graph *graph);
