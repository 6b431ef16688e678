/* The body {"pairs":[[source,target],...]}, walked without a tree: each name is handed out as it is
 * met. Pure. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>

struct pairs_visitor {
    void *context;
    /* source and target as bytes; numbers as they are written. */
    enum status (*pair)(void *context, const char *source, size_t source_size, const char *target,
                        size_t target_size, struct problem *reterr);
};

/* STATUS_BAD_REQUEST with the column (from 1, in bytes of the body) when it has another shape. */
MUST_CHECK enum status pairs_walk(const char *bytes, size_t size,
                                  const struct pairs_visitor *visitor, struct problem *reterr);
