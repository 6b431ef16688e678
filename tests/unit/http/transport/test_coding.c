#include "server/http/transport/coding.h"
#include "tests/lib/test.h"

#include <zlib.h>
#include <zstd.h>

#define SIZE ((size_t)700000)

/* Returns text that resembles responses: numbers, some of which are repeated. */
static char *make_bytes(void)
{
    char *bytes = malloc(SIZE);
    uint64_t seed = 5;

    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = i % 7 == 6 ? ',' : (char)('0' + (seed >> 60) % 10);
    }
    return bytes;
}

static struct text encode(enum coding coding, const char *bytes, size_t size, size_t piece)
{
    struct text text = {0};
    struct coder *coder;
    size_t at = 0;

    assert_int_equal(coding_open(coding, &coder), STATUS_OK);
    do {
        const size_t count = size - at < piece ? size - at : piece;

        assert_int_equal(coding_encode(coder, bytes + at, count,
                                       at + count == size ? CODING_LAST : CODING_MORE, &text),
                         STATUS_OK);
        at += count;
    } while (at < size);
    coding_close(coder);
    return text;
}

static void expect_gunzip(const struct text *text, const char *bytes, size_t size)
{
    char *back = malloc(SIZE + 1);
    z_stream gzip = {0};

    assert_int_equal(inflateInit2(&gzip, 15 + 16), Z_OK);
    gzip.next_in = (Bytef *)text->bytes;
    gzip.avail_in = (uInt)text->size;
    gzip.next_out = (Bytef *)back;
    gzip.avail_out = (uInt)SIZE + 1;
    assert_int_equal(inflate(&gzip, Z_FINISH), Z_STREAM_END);
    assert_int_equal(gzip.total_out, size);
    assert_memory_equal(back, bytes, size);
    inflateEnd(&gzip);
    free(back);
}

TEST(text_survives_a_round_trip_in_both_codings)
{
    static const size_t pieces[] = {1000, 32768, SIZE};
    char *bytes = make_bytes();
    char *back = malloc(SIZE);

    for (size_t i = 0; i < 3; i++) {
        struct text gzip = encode(CODING_GZIP, bytes, SIZE, pieces[i]);
        struct text zstd = encode(CODING_ZSTD, bytes, SIZE, pieces[i]);

        assert_true(gzip.size < SIZE * 3 / 4 && zstd.size < SIZE * 3 / 4);
        expect_gunzip(&gzip, bytes, SIZE);
        assert_int_equal(ZSTD_decompress(back, SIZE, zstd.bytes, zstd.size), SIZE);
        assert_memory_equal(back, bytes, SIZE);
        text_finish(&gzip);
        text_finish(&zstd);
    }
    free(back);
    free(bytes);
}

TEST(a_flush_returns_all_buffered_bytes)
{
    struct text text = {0};
    struct coder *coder;
    z_stream gzip = {0};
    char back[16];

    assert_int_equal(coding_open(CODING_GZIP, &coder), STATUS_OK);
    assert_int_equal(coding_encode(coder, "a path", 6, CODING_FLUSH, &text), STATUS_OK);
    assert_int_equal(inflateInit2(&gzip, 15 + 16), Z_OK);
    gzip.next_in = (Bytef *)text.bytes;
    gzip.avail_in = (uInt)text.size;
    gzip.next_out = (Bytef *)back;
    gzip.avail_out = sizeof back;
    assert_int_equal(inflate(&gzip, Z_SYNC_FLUSH), Z_OK);
    assert_int_equal(gzip.total_out, 6);
    inflateEnd(&gzip);
    coding_close(coder);
    text_clear(&text);
    assert_int_equal(coding_open(CODING_ZSTD, &coder), STATUS_OK);
    assert_int_equal(coding_encode(coder, "a path", 6, CODING_FLUSH, &text), STATUS_OK);
    assert_true(text.size > 6);
    coding_close(coder);
    text_finish(&text);
}

TEST(empty_text_can_be_encoded_and_decoded)
{
    struct text gzip = encode(CODING_GZIP, "", 0, 1);
    struct text zstd = encode(CODING_ZSTD, "", 0, 1);
    char back[1];

    expect_gunzip(&gzip, "", 0);
    assert_true(zstd.size > 0);
    assert_int_equal(ZSTD_decompress(back, sizeof back, zstd.bytes, zstd.size), 0);
    text_finish(&gzip);
    text_finish(&zstd);
    coding_close(NULL);
}
