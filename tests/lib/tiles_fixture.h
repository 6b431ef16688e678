/* Plans and tiles for the tests of the CPU solver's parts: a dense plan, or one with an order and
 * tiles of its own that lists nothing. Each test program includes it once. */
#pragma once

#include "server/solver/cpu/tiles.h"
#include "server/solver/plan/planner.h"
#include "tests/lib/test.h"

#include <stdlib.h>

struct tiles_fixture {
    struct plan *plan;
    struct matrix matrix;
    struct cpu_tiles tiles;
};

void tiles_fixture_open(uint32_t n, enum kind kind, enum arithmetic arithmetic, bool ordered,
                        struct tiles_fixture *ret_fixture);

void tiles_fixture_close(struct tiles_fixture *fixture);
