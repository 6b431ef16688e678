/* Pairs in forms that have lines: CSV and DIMACS p2p. */
#pragma once

#include "server/http/api/pairs.h"

/* As pairs_next. */
MUST_CHECK enum status pair_lines_next_csv(struct pairs_reader *reader, struct problem *reterr);
MUST_CHECK enum status pair_lines_next_p2p(struct pairs_reader *reader, struct problem *reterr);
