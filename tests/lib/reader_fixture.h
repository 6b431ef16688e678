/* Fixtures for the reader tests: a small random generator, and a check that the graph does not
 * depend on how the bytes are split. */
#pragma once

#include "proto/text.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

#define FIXTURE_ROUNDS 200

uint64_t fixture_next(uint64_t *seed);

/* Inputs of up to this many bytes are split in two at every byte. */
#define FIXTURE_CUT_LIMIT 400

/* Checks that every generated input gives the same graph whether it is read as a whole, byte by
 * byte, in random pieces or, if it is small, split in two at any byte. */
void check_any_split(enum format format, void (*generate)(uint64_t seed, struct text *text));
