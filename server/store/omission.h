/* Steps of durability that a build for tests can leave out, to see that a test notices. Configured
 * with -Domissions=true, DURABILITY_OMIT of the environment names one; in every other build nothing
 * is ever left out, and the compiler removes the question. */
#pragma once

#include <stdbool.h>

#ifdef APSPD_OMISSIONS
#include <stdlib.h>
#include <string.h>

static inline bool omission_is(const char *step)
{
    const char *named = getenv("DURABILITY_OMIT");
    return named != NULL && strcmp(named, step) == 0;
}
#else
static inline bool omission_is(const char *step)
{
    (void)step;
    return false;
}
#endif
