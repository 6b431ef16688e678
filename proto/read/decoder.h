/* Decodes content codings and charsets: the bytes of a body, in pieces that may be cut anywhere,
 * become pieces of UTF-8 text. If the request names no coding, a body that begins like gzip or zstd
 * is decoded. Text with a UTF-16 byte order mark is converted, and archives are refused by name.
 * Memory is bounded for every body: gzip has a window of 32 KiB, zstd one of at most 8 MiB (RFC
 * 9659). Several gzip members or several zstd frames are read as one body; other bytes after their
 * end are refused. A decoder belongs to one thread; after a failure it can only be destroyed. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum coding { CODING_IDENTITY, CODING_GZIP, CODING_ZSTD, CODING_COUNT };

/* Returns the name of the coding, as in the header Content-Encoding. */
const char *decoder_coding_name(enum coding coding);
/* Parses the name of a coding, ignoring case; x-gzip is gzip. Returns CODING_COUNT if unknown. */
enum coding decoder_coding_from_name(const char *name);
/* Returns the coding for the extension of path, .gz or .zst. ret_size: length without extension. */
enum coding decoder_coding_from_path(const char *path, size_t *ret_size);

struct decoder_rules {
    enum coding coding;   /* CODING_IDENTITY: detect the coding from the first bytes */
    bool is_opaque;       /* the format is binary and may begin with any bytes: detect nothing */
    const char *charset;  /* name from charset_choose; empty or NULL: detect UTF-16 or UTF-8 */
    uint64_t limit_bytes; /* limit on the decoded bytes of a compressed body; 0 = no limit */
    uint64_t ratio;       /* limit on decoded bytes per received byte after 1 MiB; 0 = no limit */
    enum status (*take)(void *context, const char *bytes, size_t size, struct problem *reterr);
    void *context;
};

struct decoder;

MUST_CHECK enum status decoder_create(const struct decoder_rules *rules,
                                      struct decoder **ret_decoder);
void decoder_destroy(struct decoder *decoder);
/* Returns an upper bound on the bytes of the zstd window. All other memory is small. */
uint64_t decoder_memory(const struct decoder *decoder);
/* Decodes a piece of the body. STATUS_BAD_GRAPH for an archive or bytes that are invalid in the
 * coding or charset, STATUS_BODY_TOO_LARGE with limit and actual, else the status of `take`. */
MUST_CHECK enum status decoder_feed(struct decoder *decoder, const char *bytes, size_t size,
                                    struct problem *reterr);
/* Ends the body and passes on held bytes. STATUS_TRUNCATED if a member or frame is incomplete. */
MUST_CHECK enum status decoder_end(struct decoder *decoder, struct problem *reterr);
/* Returns the named or detected coding. It is known once the first text has been passed on. */
enum coding decoder_coding(const struct decoder *decoder);
/* Returns whether the text was converted to UTF-8, or the rules say that it is UTF-8. */
bool decoder_is_utf8(const struct decoder *decoder);
