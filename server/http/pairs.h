/* Bodies of pairs of vertices, walked without a tree: each pair is handed out as it is met. Pure.
 *
 *   JSON   {"pairs":[[source,target],...]}
 *   CSV    source,target a line, after RFC 4180; the first line may say just that
 *   p2p    DIMACS: "p aux sp p2p K", then K times "q SOURCE TARGET"; "c ..." is a comment */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

enum pairs_form { PAIRS_JSON, PAIRS_CSV, PAIRS_P2P, PAIRS_BINARY };

struct pairs_visitor {
    void *context;
    /* source and target as bytes; numbers as they are written. */
    enum status (*pair)(void *context, const char *source, size_t source_size, const char *target,
                        size_t target_size, struct problem *reterr);
    /* May be NULL. Before the pairs: in CSV the line of names was there. */
    void (*header)(void *context);
};

/* The form of a body whose type says nothing. Never PAIRS_BINARY. */
enum pairs_form pairs_sniff(const char *bytes, size_t size);

/* STATUS_BAD_REQUEST with line and column (from 1; in JSON only the column, in bytes of the body)
 * when it has another shape; a failure of the visitor gets the place too. */
MUST_CHECK enum status pairs_walk(enum pairs_form form, const char *bytes, size_t size,
                                  const struct pairs_visitor *visitor, struct problem *reterr);
