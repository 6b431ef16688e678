/* Fixtures for the tests of edge changes, based on the scheduler's fixture. */
#pragma once

#include "server/scheduler/scheduler_internal.h"
#include "server/store/graph_file.h"
#include "server/store/identity.h"
#include "tests/lib/scheduler_fixture.h"

/* Returns a call that changes the weight of the edge from row 0 to row 1 of the graph `key`. */
struct question *new_change(struct fixture *fixture, const char *key, double weight);

/* Changes the weight of the edge from row 0 to row 1, checks that the change's job ends in
 * job_state, and copies the ID of the changed graph. */
void change(struct fixture *fixture, const char *key, double weight, const char *job_state,
            char graph_id[GRAPH_ID_SIZE]);
void store_named(struct fixture *fixture, const char *edges, const char *name);
const struct graph_entry *owner_of(const struct fixture *fixture, const char *name);
