/* The digest of a graph in the hands of GnuTLS: of identity.c and graph_stream.c alone. */
#pragma once

#include "server/store/graph_stream.h"

#include <gnutls/crypto.h>

/* The beginning of every graph's digest, and a block of its edges: 0, or an error of GnuTLS. */
int identity_hash_begin(gnutls_hash_hd_t *ret_hash);
int identity_hash_edges(gnutls_hash_hd_t hash, const void *targets, const void *weights,
                        size_t weight_size, size_t count);

/* With all edges of a graph that went through the stream; to be ended by the caller. */
gnutls_hash_hd_t graph_stream_take_hash(struct graph_stream *stream);
