#include "server/http/transport/coding.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

/* The fastest levels of zstd and gzip, so that compression does not slow down the transfer. */
#define ZSTD_LEVEL 1
#define GZIP_LEVEL 1
/* The window is 256 KiB, which the client's decoder must allocate too; RFC 9659 allows 8 MiB. */
#define ZSTD_WINDOW_LOG 18
/* zlib's windowBits: a window of 2^15 bytes, plus 16 for the header and trailer of gzip. */
#define GZIP_WINDOW (15 + 16)
#define GZIP_MEMORY 8

#define OUTPUT_SIZE ((size_t)16384)

struct coder {
    enum coding coding;
    ZSTD_CCtx *zstd;
    z_stream gzip;
};

enum status coding_open(enum coding coding, struct coder **ret_coder)
{
    CHECK(coding != CODING_IDENTITY);
    struct coder *coder = calloc(1, sizeof(*coder));
    if (coder == NULL) {
        return STATUS_NO_MEMORY;
    }
    coder->coding = coding;
    if (coding == CODING_GZIP
            ? deflateInit2(&coder->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                           Z_DEFAULT_STRATEGY) != Z_OK
            : (coder->zstd = ZSTD_createCCtx()) == NULL ||
                  ZSTD_isError(
                      ZSTD_CCtx_setParameter(coder->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
                  ZSTD_isError(
                      ZSTD_CCtx_setParameter(coder->zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG)) ||
                  ZSTD_isError(ZSTD_CCtx_setParameter(coder->zstd, ZSTD_c_checksumFlag, 1))) {
        coding_close(coder);
        return STATUS_NO_MEMORY;
    }
    *ret_coder = coder;
    return STATUS_OK;
}

void coding_close(struct coder *coder)
{
    if (coder == NULL) {
        return;
    }
    ZSTD_freeCCtx(coder->zstd);
    deflateEnd(&coder->gzip); /* does nothing if deflateInit2 was not called */
    free(coder);
}

static enum status encode_zstd(struct coder *coder, const char *bytes, size_t size,
                               enum coding_until until, struct text *to)
{
    static const ZSTD_EndDirective directives[] = {
        [CODING_MORE] = ZSTD_e_continue, [CODING_FLUSH] = ZSTD_e_flush, [CODING_LAST] = ZSTD_e_end};
    ZSTD_inBuffer input = {bytes, size, 0};
    size_t left;
    do {
        ZSTD_outBuffer output = {text_reserve(to, OUTPUT_SIZE), OUTPUT_SIZE, 0};
        if (output.dst == NULL) {
            return STATUS_NO_MEMORY;
        }
        left = ZSTD_compressStream2(coder->zstd, &output, &input, directives[until]);
        if (ZSTD_isError(left)) {
            return STATUS_NO_MEMORY;
        }
        text_advance(to, output.pos);
    } while (until == CODING_MORE ? input.pos < input.size : left > 0);
    return STATUS_OK;
}

static enum status encode_gzip(struct coder *coder, const char *bytes, size_t size,
                               enum coding_until until, struct text *to)
{
    static const int flushes[] = {
        [CODING_MORE] = Z_NO_FLUSH, [CODING_FLUSH] = Z_SYNC_FLUSH, [CODING_LAST] = Z_FINISH};
    z_stream *gzip = &coder->gzip;
    int ended = Z_OK;
    gzip->next_in = (Bytef *)(uintptr_t)bytes;
    gzip->avail_in = (uInt)size;
    do {
        gzip->next_out = (Bytef *)text_reserve(to, OUTPUT_SIZE);
        if (gzip->next_out == NULL) {
            return STATUS_NO_MEMORY;
        }
        gzip->avail_out = (uInt)OUTPUT_SIZE;
        /* deflate returns Z_STREAM_ERROR only if the z_stream is inconsistent. */
        ended = deflate(gzip, flushes[until]);
        CHECK(ended != Z_STREAM_ERROR);
        text_advance(to, OUTPUT_SIZE - gzip->avail_out);
    } while (until == CODING_LAST ? ended != Z_STREAM_END : gzip->avail_out == 0);
    return STATUS_OK;
}

enum status coding_encode(struct coder *coder, const char *bytes, size_t size,
                          enum coding_until until, struct text *to)
{
    CHECK(size <= UINT32_MAX);
    return coder->coding == CODING_ZSTD ? encode_zstd(coder, bytes, size, until, to)
                                        : encode_gzip(coder, bytes, size, until, to);
}
