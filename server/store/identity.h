/* Names for graphs and jobs that nobody has to hand out.
 * A graph's is the start of the SHA-256 of its canonical form: the same graph, uploaded in any
 * format, is the same graph. A tenant's is that of the SHA-256, keyed with a secret of the store
 * and the tenant's name: who has the same graph cannot tell. A job's is a ULID: sorts by time of
 * creation. */
#pragma once

#include "proto/graph.h"
#include "proto/job_document.h"

/* The hash as far as it depends on row offsets and targets alone, two thirds of all: the same for
 * graphs that differ in their weights. */
struct identity_shape;
void identity_shape_destroy(struct identity_shape *shape);

/* tenant: its name, empty for nobody; secret: of the store, looked at with a tenant only. shape:
 * that of the graph, or where it is NULL, it is made; NULL: neither. */
MUST_CHECK enum status identity_of_graph(const struct graph *graph, const char *tenant,
                                         const char *secret, struct identity_shape **shape,
                                         char ret_id[GRAPH_ID_SIZE]);
/* prefix: "j_" for jobs. ret_id receives prefix, 26 characters and NUL. */
MUST_CHECK enum status identity_new(const char *prefix, double wall_s, char ret_id[JOB_ID_SIZE]);
