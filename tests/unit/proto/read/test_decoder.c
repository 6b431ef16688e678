#include "proto/read/decoder.h"

#include "proto/text.h"
#include "tests/lib/test.h"

#include <zlib.h>
#include <zstd.h>

#define ROOM ((size_t)1 << 22)

static char plain[300000];
static char packed[2][ROOM];
static size_t packed_size[2];

static size_t pack_gzip(char *to, const char *bytes, size_t size)
{
    z_stream gzip = {0};
    size_t written;

    assert_int_equal(deflateInit2(&gzip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    gzip.next_in = (Bytef *)(uintptr_t)bytes;
    gzip.avail_in = (uInt)size;
    gzip.next_out = (Bytef *)to;
    gzip.avail_out = (uInt)ROOM / 4;
    assert_int_equal(deflate(&gzip, Z_FINISH), Z_STREAM_END);
    written = gzip.total_out;
    deflateEnd(&gzip);
    return written;
}

static size_t pack(enum coding coding, char *to, const char *bytes, size_t size)
{
    size_t written;

    if (coding == CODING_GZIP) {
        return pack_gzip(to, bytes, size);
    }
    written = ZSTD_compress(to, ROOM / 4, bytes, size, 3);
    assert_int_equal(ZSTD_isError(written), 0);
    return written;
}

/* Compresses random bytes, which are hard to compress, once with each coding. */
static int set_up(void **state)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < sizeof plain; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        plain[i] = (char)('0' + (seed >> 33) % 10);
    }
    packed_size[0] = pack(CODING_GZIP, packed[0], plain, sizeof plain);
    packed_size[1] = pack(CODING_ZSTD, packed[1], plain, sizeof plain);
    return 0;
}

static enum status append(void *context, const char *bytes, size_t size, struct problem *reterr)
{
    (void)reterr;
    text_append(context, bytes, size);
    return STATUS_OK;
}

static enum status decode(const struct decoder_rules *rules, const char *bytes, size_t size,
                          size_t piece, struct text *text, struct problem *reterr)
{
    struct decoder_rules its = *rules;
    struct decoder *decoder;
    enum status status = STATUS_OK;

    its.take = append;
    its.context = text;
    assert_int_equal(decoder_create(&its, &decoder), STATUS_OK);
    for (size_t at = 0; at < size && status == STATUS_OK; at += piece) {
        size_t length = size - at < piece ? size - at : piece;
        char *copy = malloc(length);

        assert_non_null(copy);
        memcpy(copy, bytes + at, length);
        status = decoder_feed(decoder, copy, length, reterr);
        free(copy);
    }
    if (status == STATUS_OK) {
        status = decoder_end(decoder, reterr);
    }
    decoder_destroy(decoder);
    return status;
}

static void check(enum coding coding, const char *bytes, size_t size, size_t piece, size_t copies)
{
    const struct decoder_rules rules = {.coding = coding};
    struct text text = {0};

    assert_int_equal(decode(&rules, bytes, size, piece, &text, NULL), STATUS_OK);
    assert_int_equal(text.size, copies * sizeof plain);
    for (size_t i = 0; i < copies; i++) {
        assert_memory_equal(text.bytes + i * sizeof plain, plain, sizeof plain);
    }
    text_finish(&text);
}

TEST(any_split_of_the_input_gives_the_same_bytes)
{
    static const size_t pieces[] = {ROOM, 1, 7, 4099};

    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < 4; k++) {
            check(i == 0 ? CODING_GZIP : CODING_ZSTD, packed[i], packed_size[i], pieces[k], 1);
        }
    }
}

TEST(concatenated_compressed_streams_are_decoded)
{
    static char twice[2 * ROOM];

    for (int i = 0; i < 2; i++) {
        memcpy(twice, packed[i], packed_size[i]);
        memcpy(twice + packed_size[i], packed[i], packed_size[i]);
        check(i == 0 ? CODING_GZIP : CODING_ZSTD, twice, 2 * packed_size[i], 5, 2);
        check(i == 0 ? CODING_GZIP : CODING_ZSTD, twice, 2 * packed_size[i], ROOM, 2);
    }
}

static void refused(enum coding coding, const char *bytes, size_t size, enum status expected,
                    const char *detail)
{
    const struct decoder_rules rules = {.coding = coding};
    static const size_t pieces[] = {ROOM, 1, 64};

    for (size_t i = 0; i < 3; i++) {
        struct problem problem = {0};
        struct text text = {0};

        assert_int_equal(decode(&rules, bytes, size, pieces[i], &text, &problem), expected);
        assert_int_equal(problem.status, expected);
        assert_non_null(strstr(problem.detail, detail));
        assert_true(problem.hint[0] != '\0');
        text_finish(&text);
    }
}

TEST(damaged_streams_are_refused)
{
    for (int i = 0; i < 2; i++) {
        enum coding coding = i == 0 ? CODING_GZIP : CODING_ZSTD;
        char *copy = malloc(packed_size[i] + 5);

        assert_non_null(copy);
        memcpy(copy, packed[i], packed_size[i]);
        memcpy(copy + packed_size[i], "trash", 5);
        refused(coding, copy, packed_size[i] / 2, STATUS_TRUNCATED, "is incomplete");
        refused(coding, copy, packed_size[i] - 1, STATUS_TRUNCATED, "is incomplete");
        refused(coding, copy, packed_size[i] + 5, STATUS_BAD_GRAPH, "after the end");
        copy[0] = 'p';
        refused(coding, copy, packed_size[i], STATUS_BAD_GRAPH, "is damaged");
        free(copy);
    }
    packed[0][packed_size[0] - 6] ^= 1;
    refused(CODING_GZIP, packed[0], packed_size[0], STATUS_BAD_GRAPH, "is damaged");
    packed[0][packed_size[0] - 6] ^= 1;
}

TEST(decompression_bombs_are_refused_by_size_and_by_ratio)
{
    size_t size = (size_t)100 << 20;
    char *zeros = calloc(1, size);
    char *bomb = malloc(ROOM);

    assert_non_null(zeros);
    assert_non_null(bomb);
    for (int i = 0; i < 2; i++) {
        enum coding coding = i == 0 ? CODING_GZIP : CODING_ZSTD;
        struct decoder_rules rules = {.coding = coding, .limit_bytes = 3 << 20};
        struct problem problem = {0};
        struct text text = {0};
        size_t bomb_size = pack(coding, bomb, zeros, size);

        assert_int_equal(decode(&rules, bomb, bomb_size, ROOM, &text, &problem),
                         STATUS_BODY_TOO_LARGE);
        assert_true(problem.has_limit && problem.limit == 3 << 20 && problem.actual > 3 << 20);
        assert_true(text.size <= 3 << 20);
        text_clear(&text);
        rules = (struct decoder_rules){.coding = coding, .ratio = 50};
        assert_int_equal(decode(&rules, bomb, bomb_size, 10, &text, &problem),
                         STATUS_BODY_TOO_LARGE);
        assert_true(problem.has_limit && problem.limit == 50 && problem.actual > 50);
        assert_true(text.size <= (2u << 20) + bomb_size * 50);
        text_finish(&text);
        /* The limit on the ratio does not apply to the first MiB. */
        bomb_size = pack(coding, bomb, zeros, 1 << 20);
        assert_int_equal(decode(&rules, bomb, bomb_size, ROOM, &text, &problem), STATUS_OK);
        text_finish(&text);
    }
    free(zeros);
    free(bomb);
}

TEST(a_decompression_window_above_8_mib_is_refused)
{
    size_t size = (size_t)20 << 20;
    char *zeros = calloc(1, size);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t written;

    assert_non_null(zeros);
    assert_int_equal(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 24)), 0);
    assert_int_equal(ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0)), 0);
    written = ZSTD_compress2(context, packed[1], ROOM, zeros, size);
    assert_int_equal(ZSTD_isError(written), 0);
    refused(CODING_ZSTD, packed[1], written, STATUS_BAD_GRAPH, "more than 8 MiB");
    packed_size[1] = pack(CODING_ZSTD, packed[1], plain, sizeof plain);
    ZSTD_freeCCtx(context);
    free(zeros);
}

/* Decodes a body that has no Content-Encoding header, so that its first bytes must identify the
 * coding. The body arrives in pieces of several sizes. */
static void first_bytes_tell(const char *bytes, size_t size, enum status expected,
                             const char *words)
{
    static const size_t pieces[] = {ROOM, 1, 3};

    for (size_t i = 0; i < 3; i++) {
        const struct decoder_rules rules = {0};
        struct problem problem = {0};
        struct text text = {0};

        assert_int_equal(decode(&rules, bytes, size, pieces[i], &text, &problem), expected);
        if (expected == STATUS_OK) {
            assert_int_equal(text.size, strlen(words));
            assert_memory_equal(text.size == 0 ? "" : text.bytes, words, text.size);
        } else {
            assert_non_null(strstr(problem.detail, words));
            assert_true(problem.hint[0] != '\0');
        }
        text_finish(&text);
    }
}

TEST(codings_and_archives_are_recognized_by_their_first_bytes)
{
    const struct decoder_rules rules = {0};
    const struct decoder_rules opaque = {.is_opaque = true};
    struct text text = {0};

    check(CODING_IDENTITY, packed[0], packed_size[0], 1, 1);
    check(CODING_IDENTITY, packed[1], packed_size[1], ROOM, 1);
    first_bytes_tell("PK\3\4rest", 8, STATUS_BAD_GRAPH, "zip");
    first_bytes_tell("\xFD\x37zXZ\0rest", 10, STATUS_BAD_GRAPH, "xz");
    first_bytes_tell("BZh91AY&SYrest", 14, STATUS_BAD_GRAPH, "bzip2");
    first_bytes_tell("BZh11AY&SYrest", 14, STATUS_BAD_GRAPH, "bzip2");
    first_bytes_tell("BZh01AY&SY", 10, STATUS_OK, "BZh01AY&SY");
    first_bytes_tell("BZh9,b,5\n", 9, STATUS_OK, "BZh9,b,5\n");
    first_bytes_tell("PK", 2, STATUS_OK, "PK");
    first_bytes_tell("1 2\n", 4, STATUS_OK, "1 2\n");
    first_bytes_tell("", 0, STATUS_OK, "");
    assert_int_equal(decode(&opaque, packed[0], packed_size[0], ROOM, &text, NULL), STATUS_OK);
    assert_memory_equal(text.bytes, packed[0], packed_size[0]);
    text_clear(&text);
    assert_int_equal(decode(&rules, packed[0], packed_size[0] / 2, 9, &text, NULL),
                     STATUS_TRUNCATED);
    text_finish(&text);
}

TEST(utf16_is_recognized_by_its_byte_order_mark)
{
    static char both[200];
    const size_t size = pack_gzip(both,
                                  "\xFF\xFE"
                                  "1\0 \0\xE9\0\n",
                                  10);

    first_bytes_tell("\xFF\xFE"
                     "1\0 \0\xE9\0\n",
                     10, STATUS_OK, "1 \xC3\xA9\n");
    first_bytes_tell("\xFE\xFF\0"
                     "1\0 \0\xE9\0\n",
                     10, STATUS_OK, "1 \xC3\xA9\n");
    first_bytes_tell("\xFF\xFE"
                     "1\0\n\0\0\xD8"
                     "2\0",
                     10, STATUS_BAD_GRAPH, "utf-16");
    first_bytes_tell("\xFF\xFE"
                     "1",
                     3, STATUS_BAD_GRAPH, "utf-16");
    first_bytes_tell("\xFF", 1, STATUS_OK, "\xFF");
    first_bytes_tell("\xFF"
                     "1 2",
                     4, STATUS_OK,
                     "\xFF"
                     "1 2");
    first_bytes_tell(both, size, STATUS_OK, "1 \xC3\xA9\n");
}

TEST(a_charset_is_converted_after_decompression)
{
    static char both[200];
    const size_t size = pack_gzip(both, "\xE9 2\n", 4);
    const struct decoder_rules latin = {.charset = "iso-8859-1"};
    const struct decoder_rules utf8 = {.charset = "utf-8"};
    struct decoder *decoder;
    struct text text = {0};

    assert_int_equal(decode(&latin, both, size, 1, &text, NULL), STATUS_OK);
    text_append_char(&text, '\0');
    assert_string_equal(text.bytes, "\xC3\xA9 2\n");
    text_clear(&text);
    assert_int_equal(decode(&utf8, "\xFF\xFE", 2, 1, &text, NULL), STATUS_OK);
    assert_int_equal(text.size, 2);
    text_finish(&text);
    assert_int_equal(decoder_create(&utf8, &decoder), STATUS_OK);
    assert_true(decoder_is_utf8(decoder));
    assert_int_equal(decoder_coding(decoder), CODING_IDENTITY);
    decoder_destroy(decoder);
}

TEST(codings_have_names_and_file_extensions)
{
    size_t size = 0;

    assert_int_equal(decoder_coding_from_name("X-GZIP"), CODING_GZIP);
    assert_int_equal(decoder_coding_from_name("zstd"), CODING_ZSTD);
    assert_int_equal(decoder_coding_from_name("identity"), CODING_IDENTITY);
    assert_int_equal(decoder_coding_from_name("br"), CODING_COUNT);
    assert_int_equal(decoder_coding_from_name("gzip, zstd"), CODING_COUNT);
    assert_string_equal(decoder_coding_name(CODING_GZIP), "gzip");
    assert_int_equal(decoder_coding_from_path("a/b.gr.gz", &size), CODING_GZIP);
    assert_int_equal(size, 6);
    assert_int_equal(decoder_coding_from_path("b.ZST", &size), CODING_ZSTD);
    assert_int_equal(size, 1);
    assert_int_equal(decoder_coding_from_path("b.gr", &size), CODING_IDENTITY);
    assert_int_equal(size, 4);
}

TEST_GROUP(set_up, NULL)
