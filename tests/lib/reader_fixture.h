/* Fixtures for the reader tests: a small random generator, and the check that any split of the
 * bytes gives the same graph. */
#pragma once

#include "proto/text.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

#define FIXTURE_ROUNDS 200

uint64_t fixture_next(uint64_t *seed);

/* Inputs up to this size are split in two at every byte. */
#define FIXTURE_CUT_LIMIT 400

/* Checks that every generated input gives the same graph as a whole, byte by byte, in random pieces
 * and, if it is small, split in two at every byte. */
void check_any_split(enum format format, void (*generate)(uint64_t seed, struct text *text));
