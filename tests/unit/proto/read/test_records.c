#include "proto/read/records.h"
#include "tests/lib/test.h"

/* Records of two bytes each, after a header of one byte that contains the number of records. */
struct taken {
    struct record_splitter splitter;
    char bytes[8];
    size_t size;
};

static enum status take(void *context, const char *records, uint64_t count, struct problem *reterr)
{
    struct taken *taken = context;

    if (taken->splitter.is_header) {
        record_splitter_expect(&taken->splitter, 2, (uint64_t)records[0]);
        return STATUS_OK;
    }
    if (taken->size + 2 * count > sizeof taken->bytes) {
        return problem_set(reterr, STATUS_TOO_LARGE, "too many");
    }
    memcpy(taken->bytes + taken->size, records, 2 * count);
    taken->size += 2 * count;
    return STATUS_OK;
}

static enum status feed(struct taken *taken, const char *bytes, size_t size, size_t piece,
                        struct problem *reterr)
{
    *taken = (struct taken){.splitter = {.take = take, .context = taken}};
    record_splitter_expect_header(&taken->splitter, 1);
    for (size_t at = 0; at < size; at += piece) {
        STATUS_TRY(record_splitter_feed(&taken->splitter, bytes + at,
                                        size - at < piece ? size - at : piece, reterr));
    }
    return record_splitter_end(&taken->splitter, reterr);
}

TEST(records_are_complete_however_the_input_is_split)
{
    struct taken taken;

    for (size_t piece = 1; piece <= 7; piece++) {
        assert_int_equal(feed(&taken, "\3abcdef", 7, piece, NULL), STATUS_OK);
        assert_int_equal(taken.size, 6);
        assert_memory_equal(taken.bytes, "abcdef", 6);
        text_finish(&taken.splitter.pending);
    }
}

TEST(the_body_length_must_match_the_header)
{
    struct problem problem = {0};
    struct taken taken;

    for (size_t piece = 1; piece <= 8; piece++) {
        assert_int_equal(feed(&taken, "\3abcdefg", 8, piece, &problem), STATUS_BAD_GRAPH);
        assert_non_null(strstr(problem.detail, "bytes after the last of 3 records of 2 bytes"));
        text_finish(&taken.splitter.pending);
        assert_int_equal(feed(&taken, "\3abcde", 6, piece, &problem), STATUS_TRUNCATED);
        assert_string_equal(problem.detail,
                            "The file has only 2 of 3 records of 2 bytes, and a part of another.");
        text_finish(&taken.splitter.pending);
    }
    assert_int_equal(feed(&taken, "", 0, 1, &problem), STATUS_TRUNCATED);
    assert_string_equal(problem.detail, "The file ends within its header.");
    assert_int_equal(feed(&taken, "\0", 1, 1, &problem), STATUS_OK);
    assert_int_equal(feed(&taken, "\11abcdefghijklmnopqr", 19, 19, &problem), STATUS_TOO_LARGE);
    text_finish(&taken.splitter.pending);
}
