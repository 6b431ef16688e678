#include "proto/format.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static enum format sniffed(const char *text)
{
    return format_sniff(text, strlen(text));
}

static void names_types_and_endings_are_known(void **state)
{
    (void)state;
    assert_int_equal(format_from_name("dimacs"), FORMAT_DIMACS);
    assert_int_equal(format_from_name("mtx"), FORMAT_NONE);
    assert_int_equal(format_from_media_type("Text/CSV; charset=utf-8"), FORMAT_EDGES);
    assert_int_equal(format_from_media_type("text/csvx"), FORMAT_NONE);
    assert_int_equal(format_from_path("a/b.GR", false), FORMAT_DIMACS);
    assert_int_equal(format_from_path("b.gr", true), FORMAT_NONE);
    assert_int_equal(format_from_path("a.gr/b", false), FORMAT_NONE);
    assert_int_equal(format_from_path("x.npy", true), FORMAT_NPY);
}

static void vague_types_say_nothing(void **state)
{
    (void)state;
    assert_true(format_media_type_is_vague(NULL));
    assert_true(format_media_type_is_vague("application/x-www-form-urlencoded"));
    assert_false(format_media_type_is_vague("application/json"));
}

static void first_bytes_tell(void **state)
{
    (void)state;
    assert_int_equal(sniffed("c hello\np sp 3 4\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("c\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("p edge 3 4\n"), FORMAT_DIMACS);
    assert_int_equal(sniffed("c d 4\nd e 5\n"), FORMAT_EDGES);
    assert_int_equal(sniffed("\xEF\xBB\xBF {\"n\":1}"), FORMAT_JSON);
    assert_int_equal(sniffed("# x\n1 2\n"), FORMAT_EDGES);
    assert_int_equal(format_sniff("\x03\0\0\0", 4), FORMAT_NONE);
    assert_int_equal(sniffed(""), FORMAT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_types_and_endings_are_known),
        cmocka_unit_test(vague_types_say_nothing),
        cmocka_unit_test(first_bytes_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
