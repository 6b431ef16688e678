/* What the reader tests share: a small random generator, and the property that any split of the
 * bytes gives the same graph. */
#pragma once

#include "proto/text.h"
#include "tests/lib/graph_fixture.h"
#include "tests/lib/test.h"

#define FIXTURE_ROUNDS 200

uint64_t fixture_next(uint64_t *seed);

/* Inputs up to here are cut in two at every byte. */
#define FIXTURE_CUT_LIMIT 400

/* Every input of the generator gives the same graph whole, byte by byte, at random splits and, when
 * it is small, in two parts however they are cut. */
void check_any_split(enum format format, void (*generate)(uint64_t seed, struct text *text));
