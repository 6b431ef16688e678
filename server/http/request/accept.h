/* Content negotiation by the headers Accept, Accept-Encoding and Prefer. Pure functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The offer that the Accept header likes best, the first of those liked equally; the first when
 * there is no header (NULL). False when it refuses all. offers ends with NULL. */
bool accept_choose(const char *accept, const char *const *offers, size_t *ret_index);

/* How much an Accept-Encoding header likes a coding, 0 to 1; fallback where it is not said. */
double accept_coding(const char *accept_encoding, const char *coding, double fallback);

/* The wait of a Prefer header (RFC 7240) in seconds; false when it has none, or no number. */
bool accept_wait(const char *prefer, double *ret_wait_s);
