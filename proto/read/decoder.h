/* Content codings: bytes of a compressed body in any split go in, the bytes themselves are handed
 * on in pieces. Memory is bounded whatever the body says: gzip has a window of 32 KiB, zstd one of
 * at most 8 MiB (RFC 9659). Several gzip members, and several zstd frames, follow one another as
 * one body; anything else after the end is refused. Belongs to one thread at a time; after a
 * failure it must only be destroyed. */
#pragma once

#include "proto/problem.h"

#include <stddef.h>
#include <stdint.h>

enum coding { CODING_IDENTITY, CODING_GZIP, CODING_ZSTD, CODING_COUNT };

/* As in Content-Encoding. */
const char *decoder_coding_name(enum coding coding);
/* Case is not significant, x-gzip is gzip; CODING_COUNT when the coding is not known. */
enum coding decoder_coding_from_name(const char *name);
/* By the ending of a file name, .gz or .zst; ret_size: of the name without it. */
enum coding decoder_coding_from_path(const char *path, size_t *ret_size);

struct decoder_rules {
    enum coding coding;
    uint64_t limit_bytes; /* most bytes handed on; 0 = no limit */
    uint64_t ratio;       /* most times what came in, beyond the first MiB; 0 = no limit */
    enum status (*take)(void *context, const char *bytes, size_t size, struct problem *reterr);
    void *context;
};

struct decoder;

MUST_CHECK enum status decoder_create(const struct decoder_rules *rules,
                                      struct decoder **ret_decoder);
void decoder_destroy(struct decoder *decoder);
/* STATUS_BAD_GRAPH for bytes that are no such coding, STATUS_BODY_TOO_LARGE with limit and actual
 * beyond the rules, else what take says. */
MUST_CHECK enum status decoder_feed(struct decoder *decoder, const char *bytes, size_t size,
                                    struct problem *reterr);
/* STATUS_TRUNCATED when the coding is not at an end. */
MUST_CHECK enum status decoder_end(const struct decoder *decoder, struct problem *reterr);
