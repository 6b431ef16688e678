/* Fixtures for the tests of the CPU solver's files: tiles, the dense plan, a plan with another
 * vertex order and other tiles but without tile lists, and a thread pool for the whole program. */
#pragma once

#include "server/solver/cpu/tiles.h"
#include "server/solver/plan/planner.h"
#include "tests/lib/test.h"

struct tiles_fixture {
    struct plan *plan;
    struct matrix matrix;
    struct cpu_tiles tiles;
};

void tiles_fixture_open(uint32_t n, enum kind kind, enum arithmetic arithmetic, bool ordered,
                        struct tiles_fixture *ret_fixture);
void tiles_fixture_close(struct tiles_fixture *fixture);

/* The pool of three threads that create_pool starts. */
extern struct cpu_pool *pool;

int create_pool(void **state);
int destroy_pool(void **state);
