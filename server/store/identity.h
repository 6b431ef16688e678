/* IDs of graphs and jobs, computed without a central counter. Any thread.
 *
 * A graph's ID is the start of the SHA-256 of its canonical form, so the same graph has the same ID
 * in whatever format it is uploaded. With keys, the digest is keyed (HMAC) with a secret of the
 * store and the tenant's name, so a tenant cannot tell whether another tenant has the same graph. A
 * job's ID is a ULID, which sorts by creation time. */
#pragma once

#include "proto/edge_changes.h"
#include "proto/graph.h"
#include "proto/job_document.h"

#define IDENTITY_DIGEST_SIZE EDGE_CHANGES_DIGEST_SIZE

/* Computes a graph's ID. tenant: the owner, or empty. secret: store_secret, for a tenant. */
MUST_CHECK enum status identity_of_graph(const struct graph *graph, const char *tenant,
                                         const char *secret, char ret_id[GRAPH_ID_SIZE]);
/* Hashes the parts by SHA-256, each as its size followed by its bytes. STATUS_NO_MEMORY. */
struct identity_part {
    const void *bytes;
    size_t size;
};
MUST_CHECK enum status identity_of_parts(const struct identity_part *parts, size_t count,
                                         unsigned char ret_digest[IDENTITY_DIGEST_SIZE]);
/* Computes the SHA-256 of the names of all vertices in the order of the rows. STATUS_NO_MEMORY. */
MUST_CHECK enum status identity_of_names(const struct vertex_names *names,
                                         unsigned char ret_digest[IDENTITY_DIGEST_SIZE]);
/* Makes a new ID. prefix: two characters, "j_" for jobs. ret_id: the prefix, 26 characters and
 * NUL. */
MUST_CHECK enum status identity_new(const char *prefix, double wall_s, char ret_id[JOB_ID_SIZE]);
