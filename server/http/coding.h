/* Content codings: which one a client likes (RFC 9110 section 12.5.3), and bytes into it, piece by
 * piece with bounded memory. Nothing of HTTP itself in it; one thread's at a time. */
#pragma once

#include "proto/decoder.h"
#include "proto/text.h"

/* What an Accept-Encoding header (NULL: none) likes best; of those liked equally zstd before gzip
 * before identity. Identity also when it refuses all there is. without_gzip: not that one. */
enum coding coding_choose(const char *accept_encoding, bool without_gzip);

struct coder;

/* coding: not identity. */
MUST_CHECK enum status coding_open(enum coding coding, struct coder **ret_coder);
void coding_close(struct coder *coder);
/* What becomes of bytes at the latest when they have been handed over. */
enum coding_until { CODING_MORE, CODING_FLUSH, CODING_LAST };

/* Appends what becomes of the bytes, as far as it is decided; the rest comes later, with a flush
 * all that there is, with the last the end. */
MUST_CHECK enum status coding_encode(struct coder *coder, const char *bytes, size_t size,
                                     enum coding_until until, struct text *to);
