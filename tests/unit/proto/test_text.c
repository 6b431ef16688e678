#include "proto/text.h"
#include "tests/lib/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pieces_become_one_text(void **state)
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

static void failure_is_remembered(void **state)
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

static void json_strings_are_escaped(void **state)
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
    char name[32];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "a name of some length %d", i);
        assert_int_equal(json_object_set_new(object, name, json_integer(i)), 0);
    }
    return object;
}

static void json_is_what_jansson_prints(void **state)
{
    json_t *object = long_object();
    char *expected = json_dumps(object, JSON_COMPACT);
    char *text = text_print_json(object, JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    json_decref(object);
}

static void no_json_gives_no_text(void **state)
{
    assert_null(text_print_json(NULL, 0));
}

/* Whichever allocation of jansson's fails. */
static void json_is_whole_or_none(void **state)
{
    json_t *object = long_object();
    char *expected = json_dumps(object, JSON_COMPACT);
    bool whole = false;
    for (size_t allowed = 0; !whole; allowed++) {
        assert_true(allowed < 100);
        allocations_left = allowed;
        char *text = text_print_json(object, JSON_COMPACT);
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

static void a_tag_is_found_in_a_list(void **state)
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

static void a_tag_without_its_end_stands_for_all_that_begin_so(void **state)
{
    assert_true(text_lists_tag("W/\"a-csv\", \"a-csv\"", "\"a-", false));
    assert_false(text_lists_tag("W/\"a-csv\", \"b-csv\"", "\"a-", false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_one_text),
        cmocka_unit_test(failure_is_remembered),
        cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(json_is_what_jansson_prints),
        cmocka_unit_test(no_json_gives_no_text),
        cmocka_unit_test(json_is_whole_or_none),
        cmocka_unit_test(a_tag_is_found_in_a_list),
        cmocka_unit_test(a_tag_without_its_end_stands_for_all_that_begin_so),
    };

    json_set_alloc_funcs(scarce_malloc, free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
