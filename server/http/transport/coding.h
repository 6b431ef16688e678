/* Compresses bytes to gzip or zstd, piece by piece and with bounded memory. Knows nothing of HTTP.
 * A coder is used by one thread at a time. */
#pragma once

#include "proto/read/decoder.h"
#include "proto/text.h"

struct coder;

/* Creates a coder. coding must not be CODING_IDENTITY. */
MUST_CHECK enum status coding_open(enum coding coding, struct coder **ret_coder);
void coding_close(struct coder *coder);
/* How much output a call forces: as it comes, a flush of all bytes so far, or the end. */
enum coding_until { CODING_MORE, CODING_FLUSH, CODING_LAST };

/* Compresses the bytes and appends the output that is ready; the rest stays in the coder until a
 * flush or the end. */
MUST_CHECK enum status coding_encode(struct coder *coder, const char *bytes, size_t size,
                                     enum coding_until until, struct text *to);
