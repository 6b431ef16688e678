/* Edges and coordinates of the graphs that were asked about lately, under one budget of bytes.
 *
 * One of the shared objects: the mutex of its list is held neither while a file is read nor while
 * an answer is made. What is lent is never evicted: the budget may be exceeded while all of it is
 * in use. Coordinates are compared with their file whenever they are lent, so a file that is
 * replaced needs no message. Any thread. */
#pragma once

#include "proto/adjacency.h"
#include "proto/problem.h"
#include "proto/vertex_names.h"
#include "server/store/coordinates_file.h"

struct graph_cache;

struct located_graph {
    struct coordinates *coordinates;
    struct vertex_names *names;
    struct coordinates_info info;
};

/* graph_folder, coordinates_folder: of the files, borrowed. */
MUST_CHECK enum status graph_cache_create(int graph_folder, int coordinates_folder,
                                          uint64_t budget_bytes, struct graph_cache **ret_cache);
/* All that was lent has been given back. NULL is accepted. */
void graph_cache_destroy(struct graph_cache *cache);

/* Both lend what is read from files where it is not in memory; one thread at a time reads.
 * STATUS_TOO_LARGE with words where one graph exceeds the budget. */
MUST_CHECK enum status graph_cache_borrow_edges(struct graph_cache *cache, const char *graph_id,
                                                const struct adjacency **ret_adjacency,
                                                struct problem *reterr);
/* STATUS_NO_COORDINATES with a hint. STATUS_CORRUPT where the file with coordinates is damaged, or
 * that of the graph. */
MUST_CHECK enum status graph_cache_borrow_places(struct graph_cache *cache, const char *graph_id,
                                                 const struct located_graph **ret_graph,
                                                 struct problem *reterr);
void graph_cache_give_back(struct graph_cache *cache, const void *lent);
/* After the files of a graph were removed: drops what is kept of it, and what is lent once it is
 * given back. */
void graph_cache_forget(struct graph_cache *cache, const char *graph_id);
/* How often what was asked for was in memory, and not; and the bytes of all that is there now. */
void graph_cache_figures(struct graph_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses,
                         uint64_t *ret_bytes);
