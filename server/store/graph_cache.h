/* A cache of the edges and coordinates of recently requested graphs, under one budget in bytes.
 *
 * Borrowed objects are never evicted, so the cache may exceed its budget while all of them are in
 * use. Each borrow of coordinates compares them with their file, so nobody needs to tell the cache
 * when that file is replaced. The store owns the cache. Any thread; the mutex of the list is not
 * locked while a file is read or an answer is built. */
#pragma once

#include "proto/adjacency.h"
#include "proto/problem.h"
#include "server/store/coordinates_file.h"

struct graph_cache;

struct located_graph {
    struct coordinates *coordinates;
    struct vertex_names *names;
    struct coordinates_info info;
};

/* graph_folder, coordinates_folder: open directories of the files, borrowed. */
MUST_CHECK enum status graph_cache_create(int graph_folder, int coordinates_folder,
                                          uint64_t budget_bytes, struct graph_cache **ret_cache);
/* Every borrowed object must have been returned. Accepts NULL. */
void graph_cache_destroy(struct graph_cache *cache);

/* The two borrow functions lend an object, which they read from its files if it is not in memory;
 * only one thread reads at a time. STATUS_TOO_LARGE if the graph alone exceeds the budget. */
MUST_CHECK enum status graph_cache_borrow_edges(struct graph_cache *cache, const char *graph_id,
                                                const struct adjacency **ret_adjacency,
                                                struct problem *reterr);
/* Lends the coordinates and names. STATUS_NO_COORDINATES with a hint if there are none.
 * STATUS_CORRUPT if the coordinates or the graph are damaged. */
MUST_CHECK enum status graph_cache_borrow_places(struct graph_cache *cache, const char *graph_id,
                                                 const struct located_graph **ret_graph,
                                                 struct problem *reterr);
void graph_cache_give_back(struct graph_cache *cache, const void *lent);
/* Drops the objects of a deleted graph; a borrowed object is dropped when it is returned. */
void graph_cache_forget(struct graph_cache *cache, const char *graph_id);
/* Returns the numbers of borrows served from memory and from files, and the bytes in the cache. */
void graph_cache_figures(struct graph_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses,
                         uint64_t *ret_bytes);
