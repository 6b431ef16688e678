#include "proto/text.h"

#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void pieces_become_one_text(void **state)
{
    struct text text = {0};
    size_t size;
    char *bytes;

    (void)state;
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

    (void)state;
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
    (void)state;
    assert_true(quotes("a\"\\\n\t\x01z", 7, "\"a\\\"\\\\\\n\\t\\u0001z\""));
    assert_true(quotes("\xC3\xA9", 2, "\"\xC3\xA9\""));
    assert_true(quotes("\xC3", 1, "\"\xEF\xBF\xBD\""));
    assert_true(quotes("\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_become_one_text),
        cmocka_unit_test(failure_is_remembered),
        cmocka_unit_test(json_strings_are_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
