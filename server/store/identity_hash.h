/* The digest of a graph in the hands of GnuTLS: of identity.c and identity_sum.c alone. */
#pragma once

#include "server/store/identity_sum.h"

#include <gnutls/crypto.h>

/* The beginning of every graph's digest, and a block of its edges: 0, or an error of GnuTLS. */
int identity_hash_begin(gnutls_hash_hd_t *ret_hash);
int identity_hash_edges(gnutls_hash_hd_t hash, const void *targets, const void *weights,
                        size_t weight_size, size_t count);

/* Waits for what is in hand, and frees the sum: ret_hash, to be ended by the caller, has that many
 * edges from the first on. False when it could not be had. */
MUST_CHECK bool identity_sum_take(struct identity_sum *sum, gnutls_hash_hd_t *ret_hash,
                                  uint64_t *ret_edges);
