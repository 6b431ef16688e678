/* Content codings and charsets: bytes of a body in any split go in, its text in UTF-8 is handed on
 * in pieces. A body of no named coding is decoded when its first bytes are those of gzip or zstd,
 * text that begins with the byte order mark of UTF-16 is converted, and archives are refused by
 * name. Memory is bounded whatever the body says: gzip has a window of 32 KiB, zstd one of at most
 * 8 MiB (RFC 9659). Several gzip members, and several zstd frames, follow one another as one body;
 * anything else after the end is refused. Belongs to one thread at a time; after a failure it must
 * only be destroyed. */
#pragma once

#include "proto/problem.h"

#include <stdbool.h>
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
    enum coding coding;   /* CODING_IDENTITY: the first bytes tell */
    bool is_opaque;       /* any bytes may come first: they tell nothing */
    const char *charset;  /* of charset_choose; empty or NULL: UTF-8, or as the first bytes tell */
    uint64_t limit_bytes; /* most bytes of a compressed body decoded; 0 = no limit */
    uint64_t ratio; /* the same, as most times what came in, beyond the first MiB; 0 = no limit */
    enum status (*take)(void *context, const char *bytes, size_t size, struct problem *reterr);
    void *context;
};

struct decoder;

MUST_CHECK enum status decoder_create(const struct decoder_rules *rules,
                                      struct decoder **ret_decoder);
void decoder_destroy(struct decoder *decoder);
/* Bytes of what was decoded that it keeps at most; little beside these. */
uint64_t decoder_memory(const struct decoder *decoder);
/* STATUS_BAD_GRAPH for bytes that are no such coding or charset and for archives,
 * STATUS_BODY_TOO_LARGE with limit and actual beyond the rules, else what take says. */
MUST_CHECK enum status decoder_feed(struct decoder *decoder, const char *bytes, size_t size,
                                    struct problem *reterr);
/* The end of the body: hands on what was held back. STATUS_TRUNCATED when the coding is not at an
 * end. */
MUST_CHECK enum status decoder_end(struct decoder *decoder, struct problem *reterr);
/* By the rules or by the first bytes; known once something was handed on. */
enum coding decoder_coding(const struct decoder *decoder);
/* The text is UTF-8 because it was converted, or because the rules say so. */
bool decoder_is_utf8(const struct decoder *decoder);
