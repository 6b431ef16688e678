/* Compresses bytes to gzip or zstd, piece by piece and with bounded memory. This file knows nothing
 * of HTTP. A coder is used by one thread at a time. */
#pragma once

#include "proto/read/decoder.h"
#include "proto/text.h"

struct coder;

/* Creates a coder. coding must not be CODING_IDENTITY. */
MUST_CHECK enum status coding_open(enum coding coding, struct coder **ret_coder);
void coding_close(struct coder *coder);
/* Minimum output of coding_encode: nothing, all bytes so far, or also the end of the stream. */
enum coding_until { CODING_MORE, CODING_FLUSH, CODING_LAST };

/* Compresses the bytes and appends the compressed bytes that are ready. The rest stays in the coder
 * until a call with CODING_FLUSH or CODING_LAST. */
MUST_CHECK enum status coding_encode(struct coder *coder, const char *bytes, size_t size,
                                     enum coding_until until, struct text *to);
