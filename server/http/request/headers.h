/* The values of headers of a request: what the client likes and asks for, and the ids by which it
 * knows the request. Pure functions. */
#pragma once

#include "proto/job_document.h"
#include "proto/read/decoder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The offer that the Accept header likes best, the first of those liked equally; the first when
 * there is no header (NULL). False when it refuses all. offers ends with NULL. */
bool header_choose_type(const char *accept, const char *const *offers, size_t *ret_index);

/* Chooses of the offers, a set of bits 1 << coding, the one that an Accept-Encoding header (NULL:
 * none) prefers; at equal quality zstd goes before gzip before identity. Identity, which is always
 * offered, also when the header refuses all. RFC 9110 section 12.5.3. */
enum coding header_choose_coding(const char *accept_encoding, unsigned offers);

/* The wait of a Prefer header (RFC 7240) in seconds; false when it has none, or no number. */
bool header_wait(const char *prefer, double *ret_wait_s);

enum range_outcome {
    RANGE_WHOLE,        /* no range, one that is not understood, or several: send everything */
    RANGE_PART,         /* one range */
    RANGE_UNSATISFIABLE /* it lies outside */
};

/* The Range header against the size of what it asks for (RFC 9110 section 14). header may be NULL.
 * ret_first and ret_size are written on RANGE_PART. */
enum range_outcome header_range(const char *header, uint64_t size, uint64_t *ret_first,
                                uint64_t *ret_size);

#define REQUEST_ID_SIZE 65
/* The size of an id that this program makes, with the NUL. */
#define REQUEST_ID_OWN_SIZE 17

/* Whether a client's id is taken over: 1 to 64 letters, digits, dots, dashes and underscores. */
bool request_id_is_valid(const char *text);
/* Another one for every other sum of seed and number; hexadecimal digits. */
void request_id_print(uint64_t seed, uint64_t number, char ret_id[REQUEST_ID_OWN_SIZE]);

/* The traceparent of W3C Trace Context (https://www.w3.org/TR/trace-context/, section 3.2). False
 * for what is no traceparent of version 00, which is then ignored, as the standard has it. */
bool header_traceparent(const char *header, char ret_traceparent[TRACEPARENT_SIZE]);
