/* The digest of a large graph's edges, on a thread of its own while they still come: what is left
 * to do for its id once the graph is there takes no time. One graph at a time; the others have
 * their ids made when they are whole. Any thread, one at a time. */
#pragma once

#include "proto/graph.h"

/* So many edges are digested at once, their targets before their weights. */
#define IDENTITY_BLOCK_EDGES 16384u

struct identity_sum;

/* NULL while another graph has the thread, or without memory for it. */
struct identity_sum *identity_sum_begin(void);
/* Copies what has been added since the last time, as far as the thread keeps up: never waits. */
void identity_sum_offer(struct identity_sum *sum, const struct settled_edges *edges);
/* The edges were not what they seemed to be. NULL is accepted. */
void identity_sum_drop(struct identity_sum *sum);
