/* The two forms of pairs that have lines. Pure; called by pairs.c. */
#pragma once

#include "server/http/pairs.h"

MUST_CHECK enum status pair_lines_csv(const char *bytes, size_t size,
                                      const struct pairs_visitor *visitor, struct problem *reterr);
MUST_CHECK enum status pair_lines_p2p(const char *bytes, size_t size,
                                      const struct pairs_visitor *visitor, struct problem *reterr);
