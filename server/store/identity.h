/* Names for graphs and jobs that nobody has to hand out.
 * A graph's is the start of the SHA-256 of its canonical form: the same graph, uploaded in any
 * format, is the same graph. A tenant's is that of the SHA-256, keyed with a secret of the store
 * and the tenant's name: who has the same graph cannot tell. A job's is a ULID: sorts by time of
 * creation. */
#pragma once

#include "proto/edge_changes.h"
#include "proto/graph.h"
#include "proto/job_document.h"

#define IDENTITY_DIGEST_SIZE EDGE_CHANGES_DIGEST_SIZE

/* tenant: its name, empty for nobody; secret: of the store, looked at with a tenant only. */
MUST_CHECK enum status identity_of_graph(const struct graph *graph, const char *tenant,
                                         const char *secret, char ret_id[GRAPH_ID_SIZE]);
/* SHA-256 of these parts, the size of each before its bytes. STATUS_NO_MEMORY. */
struct identity_part {
    const void *bytes;
    size_t size;
};
MUST_CHECK enum status identity_of_parts(const struct identity_part *parts, size_t count,
                                         unsigned char ret_digest[IDENTITY_DIGEST_SIZE]);
/* SHA-256 of the names of all vertices in the order of the rows. STATUS_NO_MEMORY. */
MUST_CHECK enum status identity_of_names(const struct vertex_names *names,
                                         unsigned char ret_digest[IDENTITY_DIGEST_SIZE]);
/* prefix: "j_" for jobs. ret_id receives prefix, 26 characters and NUL. */
MUST_CHECK enum status identity_new(const char *prefix, double wall_s, char ret_id[JOB_ID_SIZE]);
