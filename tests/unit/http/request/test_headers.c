#include "server/http/request/headers.h"
#include "tests/lib/test.h"

static const char *const offers[] = {"application/json", "text/plain", NULL};

TEST(the_offered_type_with_the_highest_quality_is_chosen)
{
    static const struct {
        const char *accept;
        size_t index;
    } cases[] = {
        {NULL, 0},
        {"", 0},
        {"*/*", 0},
        {"text/plain", 1},
        {"TEXT/Plain; charset=utf-8", 1},
        {"text/*", 1},
        {"application/json;q=0.5, text/plain", 1},
        {"text/plain;q=0.2,*/*;q=0.1", 1},
        {"text/html, */*;q=0.1", 0},
        {"application/*, text/plain", 0},
        {"application/json;q=0, */*", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t index = 9;

        assert_true(header_choose_type(cases[i].accept, offers, &index));
        assert_int_equal(index, cases[i].index);
    }
}

TEST(an_accept_header_may_refuse_all_types)
{
    size_t index;

    assert_false(header_choose_type("text/html", offers, &index));
    assert_false(header_choose_type("*/*;q=0", offers, &index));
    assert_false(header_choose_type("text/plain;q=0", offers, &index));
    assert_false(header_choose_type("text", offers, &index));
}

TEST(the_first_wait_preference_applies_and_invalid_values_are_ignored)
{
    double wait_s = -1;

    assert_true(header_wait("wait=30", &wait_s));
    assert_true(wait_s == 30);
    assert_true(header_wait("respond-async, Wait=2.5 ,wait=9", &wait_s));
    assert_true(wait_s == 2.5);
    assert_true(header_wait("wait=\"7\"; why=later, respond-async", &wait_s));
    assert_true(wait_s == 7);
    assert_false(header_wait("wait=\"\"", &wait_s));
    assert_false(header_wait(NULL, &wait_s));
    assert_false(header_wait("respond-async", &wait_s));
    assert_false(header_wait("wait=-1", &wait_s));
    assert_false(header_wait("wait=soon", &wait_s));
    assert_false(header_wait("await=3", &wait_s));
}

TEST(accept_encoding_selects_the_coding)
{
    static const struct {
        const char *header;
        enum coding coding;
        enum coding without_gzip;
    } cases[] = {
        {NULL, CODING_IDENTITY, CODING_IDENTITY},
        {"", CODING_IDENTITY, CODING_IDENTITY},
        {"gzip", CODING_GZIP, CODING_IDENTITY},
        {"gzip, deflate, br, zstd", CODING_ZSTD, CODING_ZSTD},
        {"ZSTD;q=0.5, gzip", CODING_GZIP, CODING_ZSTD},
        {"zstd;q=0, gzip;q=0", CODING_IDENTITY, CODING_IDENTITY},
        {"*", CODING_ZSTD, CODING_ZSTD},
        {"*;q=0", CODING_IDENTITY, CODING_IDENTITY},
        {"zstd;q=0, *;q=0.1", CODING_GZIP, CODING_IDENTITY},
        {"identity, gzip;q=0.5", CODING_IDENTITY, CODING_IDENTITY},
        {"identity;q=0.5, gzip", CODING_GZIP, CODING_IDENTITY},
        {"identity;q=0, gzip;q=0.1", CODING_GZIP, CODING_IDENTITY},
        {"br, compress", CODING_IDENTITY, CODING_IDENTITY},
        {"gzipx, xzstd", CODING_IDENTITY, CODING_IDENTITY},
        {"gzip;q=5, zstd;q=0.9", CODING_GZIP, CODING_ZSTD},
        {"gzip;q=-1, zstd;q=0.1", CODING_ZSTD, CODING_ZSTD},
        {"*;q=0.25, zstd;q=0.1", CODING_GZIP, CODING_IDENTITY},
        {"zstd , *;q=0.25", CODING_ZSTD, CODING_ZSTD},
    };

    const unsigned all = 1u << CODING_ZSTD | 1u << CODING_GZIP;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(header_choose_coding(cases[i].header, all), cases[i].coding);
        assert_int_equal(header_choose_coding(cases[i].header, 1u << CODING_ZSTD),
                         cases[i].without_gzip);
    }
}

TEST(byte_ranges_are_clipped_to_the_content)
{
    static const struct {
        const char *header;
        uint64_t size;
        enum range_outcome outcome;
        uint64_t first;
        uint64_t count;
    } cases[] = {
        {NULL, 10, RANGE_WHOLE, 0, 0},
        {"bytes=0-3", 10, RANGE_PART, 0, 4},
        {"Bytes=3-", 10, RANGE_PART, 3, 7},
        {"bytes=9-9", 10, RANGE_PART, 9, 1},
        {"bytes=3-99", 10, RANGE_PART, 3, 7},
        {"bytes=3-99999999999999999999999", 10, RANGE_PART, 3, 7},
        {"bytes=-4", 10, RANGE_PART, 6, 4},
        {"bytes=-99", 10, RANGE_PART, 0, 10},
        {"bytes=-0", 10, RANGE_UNSATISFIABLE, 0, 0},
        {"bytes=10-", 10, RANGE_UNSATISFIABLE, 0, 0},
        {"bytes=99999999999999999999999-", 10, RANGE_UNSATISFIABLE, 0, 0},
        {"bytes=0-", 0, RANGE_UNSATISFIABLE, 0, 0},
        {"bytes=-1", 0, RANGE_UNSATISFIABLE, 0, 0},
        {"bytes=0-1,3-4", 10, RANGE_WHOLE, 0, 0},
        {"bytes=4-3", 10, RANGE_WHOLE, 0, 0},
        {"bytes=-", 10, RANGE_WHOLE, 0, 0},
        {"bytes=", 10, RANGE_WHOLE, 0, 0},
        {"bytes=a-3", 10, RANGE_WHOLE, 0, 0},
        {"bytes=+1-3", 10, RANGE_WHOLE, 0, 0},
        {"bytes=1-3x", 10, RANGE_WHOLE, 0, 0},
        {"rows=0-3", 10, RANGE_WHOLE, 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t first = 0;
        uint64_t count = 0;

        assert_int_equal(header_range(cases[i].header, cases[i].size, &first, &count),
                         cases[i].outcome);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(count, cases[i].count);
    }
}

TEST(a_request_id_is_short_and_has_no_special_characters)
{
    char text[REQUEST_ID_SIZE + 1];

    assert_true(request_id_is_valid("mine.1-2_3"));
    assert_false(request_id_is_valid(""));
    assert_false(request_id_is_valid("not mine"));
    assert_false(request_id_is_valid("a\"b"));
    memset(text, 'x', sizeof text);
    text[REQUEST_ID_SIZE - 1] = '\0';
    assert_true(request_id_is_valid(text));
    text[REQUEST_ID_SIZE - 1] = 'x';
    text[REQUEST_ID_SIZE] = '\0';
    assert_false(request_id_is_valid(text));
}

TEST(each_request_number_has_a_unique_id)
{
    char ids[64][REQUEST_ID_OWN_SIZE];

    for (uint64_t i = 0; i < 64; i++) {
        request_id_print(12345, i < 32 ? i : (i << 32) + 7, ids[i]);
        assert_int_equal(strlen(ids[i]), REQUEST_ID_OWN_SIZE - 1);
        assert_int_equal(strspn(ids[i], "0123456789abcdef"), REQUEST_ID_OWN_SIZE - 1);
        for (uint64_t j = 0; j < i; j++) {
            assert_string_not_equal(ids[i], ids[j]);
        }
    }
    request_id_print(12346, 0, ids[1]);
    assert_string_not_equal(ids[0], ids[1]);
    request_id_print(12345, 0, ids[1]);
    assert_string_equal(ids[0], ids[1]);
}

TEST(the_first_and_last_digits_of_a_request_id_take_all_16_values)
{
    char seen[2 * 16] = {0};
    char id[REQUEST_ID_OWN_SIZE];

    for (uint64_t i = 0; i < 1000; i++) {
        request_id_print(1, i, id);
        for (int at = 0; at < 2; at++) {
            const char digit = id[at * 15];

            seen[at * 16 + (digit <= '9' ? digit - '0' : digit - 'a' + 10)] = 1;
        }
    }
    for (size_t i = 0; i < sizeof seen; i++) {
        assert_true(seen[i]);
    }
}

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

TEST(a_traceparent_is_stored_unchanged)
{
    char kept[TRACEPARENT_SIZE];
    assert_true(header_traceparent("00-" TRACE "-" PARENT "-01", kept));
    assert_string_equal(kept, "00-" TRACE "-" PARENT "-01");
    assert_true(header_traceparent("00-" TRACE "-" PARENT "-00", kept));
    assert_string_equal(kept, "00-" TRACE "-" PARENT "-00");
}

TEST(an_invalid_traceparent_is_ignored)
{
    static const char *const malformed[] = {
        "",
        "00",
        "00-" TRACE "-" PARENT,
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-01-more",
        "00-" TRACE "-" PARENT "-01 ",
        "00-" TRACE "-" PARENT "-0g",
        "ff-" TRACE "-" PARENT "-01",
        "cc-" TRACE "-" PARENT "-01.more",
        "0-" TRACE "-" PARENT "-001",
        "00_" TRACE "-" PARENT "-01",
        "00-" TRACE "_" PARENT "-01",
        "00-" TRACE "-" PARENT "_01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-" TRACE "-" PARENT "-01,00-" TRACE "-" PARENT "-01",
    };
    char kept[TRACEPARENT_SIZE] = "as it was";
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        assert_false(header_traceparent(malformed[i], kept));
        assert_string_equal(kept, "as it was");
    }
}
