#include "proto/text.h"
#include "tests/lib/test.h"

#include <jansson.h>

TEST(appended_pieces_are_joined)
{
    struct text text = {0};
    size_t size;
    char *bytes;

    text_append_string(&text, "ab");
    text_append_char(&text, 'c');
    text_printf(&text, "%d-%s", 42, "x");
    for (int i = 0; i < 1000; i++) {
        text_append(&text, "0123456789", 10);
    }
    assert_int_equal(text_status(&text), STATUS_OK);
    bytes = text_take(&text, &size);
    assert_int_equal(size, 10007);
    assert_memory_equal(bytes, "abc42-x0123", 11);
    assert_null(text.bytes);
    free(bytes);
}

TEST(a_failed_allocation_is_remembered)
{
    struct text text = {0};

    text_append(&text, "a", SIZE_MAX - 1);
    text_append_char(&text, 'b');
    assert_int_equal(text_status(&text), STATUS_NO_MEMORY);
    text_finish(&text);
}

static bool quotes(const char *bytes, size_t size, const char *wanted)
{
    struct text text = {0};
    bool same;

    text_append_json_string(&text, bytes, size);
    same = strcmp(text.bytes, wanted) == 0;
    text_finish(&text);
    return same;
}

TEST(json_strings_are_escaped)
{
    assert_true(quotes("a\"\\\n\t\x01z", 7, "\"a\\\"\\\\\\n\\t\\u0001z\""));
    assert_true(quotes("\xC3\xA9", 2, "\"\xC3\xA9\""));
    assert_true(quotes("\xC3", 1, "\"\xEF\xBF\xBD\""));
    assert_true(quotes("\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""));
}

static size_t allocations_left = SIZE_MAX;

static void *scarce_malloc(size_t size)
{
    if (allocations_left == 0) {
        return NULL;
    }
    allocations_left--;
    return malloc(size);
}

static json_t *long_object(void)
{
    json_t *object = json_object();
    char name[40];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "a name of some length %d", i);
        assert_int_equal(json_object_set_new(object, name, json_integer(i)), 0);
    }
    return object;
}

TEST(printed_json_equals_the_output_of_jansson)
{
    json_t *object = long_object();
    char *expected = json_dumps(object, JSON_COMPACT);
    char *text = text_print_json(object);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    json_decref(object);
}

TEST(printing_a_null_json_value_returns_null)
{
    assert_null(text_print_json(NULL));
}

/* Each attempt lets one more allocation of jansson succeed, so each allocation fails once. */
TEST(failed_allocations_never_truncate_printed_json)
{
    json_t *object = long_object();
    char *expected = json_dumps(object, JSON_COMPACT);
    bool whole = false;
    for (size_t allowed = 0; !whole; allowed++) {
        assert_true(allowed < 100);
        allocations_left = allowed;
        char *text = text_print_json(object);
        allocations_left = SIZE_MAX;
        whole = text != NULL;
        if (whole) {
            assert_string_equal(text, expected);
        }
        free(text);
    }
    free(expected);
    json_decref(object);
}

TEST(an_etag_is_found_in_a_list)
{
    assert_true(text_lists_tag("\"a\"", "\"a\"", true));
    assert_true(text_lists_tag("\"b\", W/\"a\" ,\"c\"", "\"a\"", true));
    assert_true(text_lists_tag(" * ", "\"a\"", true));
    assert_false(text_lists_tag("\"ab\"", "\"a\"", true));
    assert_false(text_lists_tag("a", "\"a\"", true));
    assert_false(text_lists_tag("", "\"a\"", true));
    assert_false(text_lists_tag("\"b\", W/\"a\" ,\"c\"", "\"a\"", false));
    assert_true(text_lists_tag("W/\"a\", \"a\"", "\"a\"", false));
    assert_true(text_lists_tag("*", "\"a\"", false));
}

TEST(an_etag_prefix_matches_all_etags_that_begin_with_it)
{
    assert_true(text_lists_tag("W/\"a-csv\", \"a-csv\"", "\"a-", false));
    assert_false(text_lists_tag("W/\"a-csv\", \"b-csv\"", "\"a-", false));
}

int main(void)
{
    json_set_alloc_funcs(scarce_malloc, free);
    return test_run();
}
