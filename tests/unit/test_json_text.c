#include "proto/json_text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static void text_is_what_jansson_prints(void **state)
{
    (void)state;
    json_t *object = long_object();
    char *expected = json_dumps(object, JSON_COMPACT);
    char *text = json_text_print(object, JSON_COMPACT);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    json_decref(object);
}

static void nothing_gives_nothing(void **state)
{
    (void)state;
    assert_null(json_text_print(NULL, 0));
}

/* Whichever allocation of jansson's fails. */
static void text_is_whole_or_none(void **state)
{
    (void)state;
    json_t *object = long_object();
    char *expected = json_dumps(object, JSON_COMPACT);
    bool whole = false;
    for (size_t allowed = 0; !whole; allowed++) {
        assert_true(allowed < 100);
        allocations_left = allowed;
        char *text = json_text_print(object, JSON_COMPACT);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_what_jansson_prints),
        cmocka_unit_test(nothing_gives_nothing),
        cmocka_unit_test(text_is_whole_or_none),
    };
    json_set_alloc_funcs(scarce_malloc, free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
