/* The known word nearest to a mistyped one. */
#pragma once

#include <stddef.h>

struct suggestion {
    const char *typed; /* set by the caller, the rest zero */
    const char *best;  /* NULL when no candidate is near */
    size_t distance;
};

void suggestion_consider(struct suggestion *suggestion, const char *candidate);
