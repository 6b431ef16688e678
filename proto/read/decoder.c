#include "proto/read/decoder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define OUTPUT_SIZE ((size_t)64 << 10)
/* Handed on whatever the ratio is. */
#define RATIO_FREE_BYTES ((uint64_t)1 << 20)
/* 32 KiB, and a gzip header. */
#define GZIP_WINDOW (15 + 16)
#define ZSTD_WINDOW_LOG 23
#define INPUT_LIMIT ((size_t)1 << 30) /* zlib counts in unsigned int */

struct decoder {
    struct decoder_rules rules;
    z_stream gzip;
    ZSTD_DCtx *zstd;
    bool begun;          /* some byte came */
    bool between;        /* a member or frame has ended, and no other has begun */
    bool ended;          /* some member or frame has */
    char magic;          /* first byte of the zstd frame at hand */
    unsigned magic_size; /* bytes of its magic number seen, up to 4 */
    uint64_t in_bytes;
    uint64_t out_bytes;
    char output[OUTPUT_SIZE];
};

static const char *const names[] = {"identity", "gzip", "zstd"};

const char *decoder_coding_name(enum coding coding)
{
    return names[coding];
}

enum coding decoder_coding_from_name(const char *name)
{
    int coding = CODING_IDENTITY;

    if (strcasecmp(name, "x-gzip") == 0) {
        return CODING_GZIP;
    }
    while (coding < CODING_COUNT && strcasecmp(name, names[coding]) != 0) {
        coding++;
    }
    return (enum coding)coding;
}

enum coding decoder_coding_from_path(const char *path, size_t *ret_size)
{
    static const char *const endings[] = {[CODING_GZIP] = ".gz", [CODING_ZSTD] = ".zst"};
    size_t size = strlen(path);

    for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
        size_t length = strlen(endings[coding]);

        if (size > length && strcasecmp(path + size - length, endings[coding]) == 0) {
            *ret_size = size - length;
            return (enum coding)coding;
        }
    }
    *ret_size = size;
    return CODING_IDENTITY;
}

enum status decoder_create(const struct decoder_rules *rules, struct decoder **ret_decoder)
{
    struct decoder *decoder = calloc(1, sizeof(*decoder));

    if (decoder == NULL) {
        return STATUS_NO_MEMORY;
    }
    decoder->rules = *rules;
    if (rules->coding != CODING_GZIP) {
        decoder->zstd = ZSTD_createDCtx();
    }
    if (rules->coding == CODING_GZIP
            ? inflateInit2(&decoder->gzip, GZIP_WINDOW) != Z_OK
            : decoder->zstd == NULL || ZSTD_isError(ZSTD_DCtx_setParameter(
                                           decoder->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG))) {
        decoder_destroy(decoder);
        return STATUS_NO_MEMORY;
    }
    *ret_decoder = decoder;
    return STATUS_OK;
}

void decoder_destroy(struct decoder *decoder)
{
    if (decoder == NULL) {
        return;
    }
    if (decoder->rules.coding == CODING_GZIP) {
        inflateEnd(&decoder->gzip);
    }
    ZSTD_freeDCtx(decoder->zstd);
    free(decoder);
}

static enum status check_limits(const struct decoder *decoder, struct problem *reterr)
{
    const struct decoder_rules *rules = &decoder->rules;
    uint64_t allowed;

    if (rules->limit_bytes > 0 && decoder->out_bytes > rules->limit_bytes) {
        problem_set(reterr, STATUS_BODY_TOO_LARGE,
                    "The body decodes to more bytes than are taken.");
        problem_limit(reterr, (double)rules->limit_bytes, (double)decoder->out_bytes);
        problem_hint(reterr, "Upload a smaller graph.");
        return STATUS_BODY_TOO_LARGE;
    }
    if (rules->ratio == 0 || __builtin_mul_overflow(decoder->in_bytes, rules->ratio, &allowed) ||
        decoder->out_bytes <= RATIO_FREE_BYTES || decoder->out_bytes <= allowed) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BODY_TOO_LARGE,
                "The body decodes to more times its own size than is taken.");
    problem_limit(reterr, (double)rules->ratio,
                  (double)decoder->out_bytes / (double)decoder->in_bytes);
    problem_hint(reterr, "Send it with less compression, or with none.");
    return STATUS_BODY_TOO_LARGE;
}

static enum status hand_on(struct decoder *decoder, size_t size, struct problem *reterr)
{
    enum status status;

    decoder->out_bytes += size;
    status = check_limits(decoder, reterr);
    if (status != STATUS_OK || size == 0) {
        return status;
    }
    return decoder->rules.take(decoder->rules.context, decoder->output, size, reterr);
}

static enum status refuse(const struct decoder *decoder, struct problem *reterr)
{
    const char *name = names[decoder->rules.coding];

    if (decoder->ended) {
        problem_set(reterr, STATUS_BAD_GRAPH,
                    "After the end of the %s body there are bytes that are no other one.", name);
        problem_hint(reterr, "Cut them off, or compress it again.");
    } else {
        problem_set(reterr, STATUS_BAD_GRAPH, "The body is not %s, or it is damaged.", name);
        problem_hint(reterr, "Compress it again, or send it as it is.");
    }
    return STATUS_BAD_GRAPH;
}

/* After some bytes were taken, or the end was found. */
static void note_end(struct decoder *decoder, bool is_end)
{
    decoder->between = is_end;
    decoder->ended = decoder->ended || is_end;
}

static enum status refuse_gzip(const struct decoder *decoder, int code, struct problem *reterr)
{
    return code == Z_MEM_ERROR
               ? problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory to decode it.")
               : refuse(decoder, reterr);
}

static enum status refuse_zstd(const struct decoder *decoder, size_t code, struct problem *reterr)
{
    ZSTD_ErrorCode error = ZSTD_getErrorCode(code);

    if (error == ZSTD_error_memory_allocation) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory to decode it.");
    }
    if (error == ZSTD_error_frameParameter_windowTooLarge) {
        problem_set(reterr, STATUS_BAD_GRAPH,
                    "The zstd body needs a window of more than 8 MiB to be decoded.");
        problem_hint(reterr, "Compress it without --ultra and --long.");
        return STATUS_BAD_GRAPH;
    }
    return refuse(decoder, reterr);
}

/* A step of gzip: as much output as there is room for. ret_more: there may be more of it. */
static enum status step_gzip(struct decoder *decoder, const char **bytes, size_t *size,
                             bool *ret_more, struct problem *reterr)
{
    size_t piece = *size > INPUT_LIMIT ? INPUT_LIMIT : *size;
    z_stream *gzip = &decoder->gzip;
    size_t taken;
    int code;

    if (decoder->between && piece > 0 && inflateReset(gzip) != Z_OK) {
        return refuse_gzip(decoder, Z_MEM_ERROR, reterr);
    }
    /* zlib reads what it is given, and says so only when it is built to. */
    gzip->next_in = (Bytef *)(uintptr_t)*bytes;
    gzip->avail_in = (uInt)piece;
    gzip->next_out = (Bytef *)decoder->output;
    gzip->avail_out = OUTPUT_SIZE;
    code = inflate(gzip, Z_NO_FLUSH);
    taken = piece - gzip->avail_in;
    *bytes += taken;
    *size -= taken;
    decoder->in_bytes += taken;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        return refuse_gzip(decoder, code, reterr);
    }
    *ret_more = gzip->avail_out == 0;
    if (taken > 0 || code == Z_STREAM_END) {
        note_end(decoder, code == Z_STREAM_END);
    }
    return hand_on(decoder, OUTPUT_SIZE - gzip->avail_out, reterr);
}

/* Frames and skippable frames (RFC 8878, section 3.1). The library also reads formats of before the
 * standard, and not in every split: none of them is a coding of HTTP. */
static bool is_magic(struct decoder *decoder, const char *bytes, size_t size)
{
    static const char frame[] = "\x28\xB5\x2F\xFD";
    static const char skippable[] = "\x50\x2A\x4D\x18";

    for (size_t i = 0; i < size && decoder->magic_size < 4; i++, decoder->magic_size++) {
        const char *wanted =
            decoder->magic_size > 0 && decoder->magic != frame[0] ? skippable : frame;

        if (decoder->magic_size == 0) {
            decoder->magic = bytes[i];
            if (bytes[i] != frame[0] && (bytes[i] & '\xF0') != skippable[0]) {
                return false;
            }
        } else if (bytes[i] != wanted[decoder->magic_size]) {
            return false;
        }
    }
    return true;
}

static enum status step_zstd(struct decoder *decoder, const char **bytes, size_t *size,
                             bool *ret_more, struct problem *reterr)
{
    ZSTD_inBuffer input = {*bytes, *size, 0};
    ZSTD_outBuffer output = {decoder->output, OUTPUT_SIZE, 0};
    size_t code;

    if (!is_magic(decoder, *bytes, *size)) {
        return refuse(decoder, reterr);
    }
    code = ZSTD_decompressStream(decoder->zstd, &output, &input);
    if (ZSTD_isError(code)) {
        return refuse_zstd(decoder, code, reterr);
    }
    *bytes += input.pos;
    *size -= input.pos;
    decoder->in_bytes += input.pos;
    *ret_more = output.pos == OUTPUT_SIZE;
    if (code == 0) {
        decoder->magic_size = 0;
    }
    if (input.pos > 0 || code == 0) {
        note_end(decoder, code == 0);
    }
    return hand_on(decoder, output.pos, reterr);
}

enum status decoder_feed(struct decoder *decoder, const char *bytes, size_t size,
                         struct problem *reterr)
{
    enum status status = STATUS_OK;
    bool more = false;

    decoder->begun = decoder->begun || size > 0;
    while ((size > 0 || more) && status == STATUS_OK) {
        /* A finished member has given all that it had. */
        if (size == 0 && decoder->between) {
            break;
        }
        if (decoder->rules.coding == CODING_GZIP) {
            status = step_gzip(decoder, &bytes, &size, &more, reterr);
        } else {
            status = step_zstd(decoder, &bytes, &size, &more, reterr);
        }
    }
    return status;
}

enum status decoder_end(const struct decoder *decoder, struct problem *reterr)
{
    if (decoder->between || !decoder->begun) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TRUNCATED, "The %s body ends in the middle.",
                names[decoder->rules.coding]);
    problem_hint(reterr, "Send all of it.");
    return STATUS_TRUNCATED;
}
