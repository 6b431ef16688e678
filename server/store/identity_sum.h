/* The digest of a large graph's edges, on a thread of its own while they still come: what is left
 * to do for its id once the graph is there takes no time. One graph at a time; the others have
 * their ids made when they are whole. Any thread, one at a time. */
#pragma once

#include "proto/graph.h"

#include <gnutls/crypto.h>

/* So many edges are digested at once, their targets before their weights. */
#define IDENTITY_BLOCK_EDGES 16384u

struct identity_sum;

/* NULL while another graph has the thread, or without memory for it. */
struct identity_sum *identity_sum_begin(void);
/* Copies what has been added since the last time, as far as the thread keeps up: never waits. */
void identity_sum_offer(struct identity_sum *sum, const struct settled_edges *edges);
/* Waits for what is in hand, and frees the sum: ret_hash, to be ended by the caller, has that many
 * edges from the first on. False when it could not be had. */
MUST_CHECK bool identity_sum_take(struct identity_sum *sum, gnutls_hash_hd_t *ret_hash,
                                  uint64_t *ret_edges);
/* The edges were not what they seemed to be. NULL is accepted. */
void identity_sum_drop(struct identity_sum *sum);

/* The beginning of every graph's digest, and a block of its edges: 0, or an error of GnuTLS. */
int identity_hash_begin(gnutls_hash_hd_t *ret_hash);
int identity_hash_edges(gnutls_hash_hd_t hash, const void *targets, const void *weights,
                        size_t weight_size, size_t count);
