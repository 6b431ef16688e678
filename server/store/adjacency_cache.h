/* The edges of the graphs that paths were asked for lately, under a budget of bytes.
 *
 * One of the shared objects: a mutex inside, held neither while a graph is read nor while a path is
 * walked. What is lent is never evicted: while all of it is in use at once the budget may be
 * exceeded, by what each request under way needs. Any thread. */
#pragma once

#include "proto/adjacency.h"

struct adjacency_cache;

/* folder: of the graph files, borrowed. */
MUST_CHECK enum status adjacency_cache_create(int folder, uint64_t budget_bytes,
                                              struct adjacency_cache **ret_cache);
/* All that was lent has been given back. NULL is accepted. */
void adjacency_cache_destroy(struct adjacency_cache *cache);

/* Lends the edges of a graph, read from its file when they are not there; who asks for what another
 * thread is reading waits for it. STATUS_TOO_LARGE with words when they alone exceed the budget. */
MUST_CHECK enum status adjacency_cache_borrow(struct adjacency_cache *cache, const char *graph_id,
                                              const struct adjacency **ret_adjacency,
                                              struct problem *reterr);
/* How often edges were there when they were asked for, and not; and what all of them take now. */
void adjacency_cache_figures(struct adjacency_cache *cache, uint64_t *ret_hits,
                             uint64_t *ret_misses, uint64_t *ret_bytes);
void adjacency_cache_give_back(struct adjacency_cache *cache, const struct adjacency *adjacency);
