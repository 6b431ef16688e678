#include "server/http/request/range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void ranges_are_cut_to_the_content(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t first = 0;
        uint64_t count = 0;

        assert_int_equal(range_parse(cases[i].header, cases[i].size, &first, &count),
                         cases[i].outcome);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(count, cases[i].count);
    }
}

static void a_tag_is_found_in_a_list(void **state)
{
    (void)state;
    assert_true(range_list_has_tag("\"a\"", "\"a\""));
    assert_true(range_list_has_tag("\"b\", W/\"a\" ,\"c\"", "\"a\""));
    assert_true(range_list_has_tag(" * ", "\"a\""));
    assert_false(range_list_has_tag("\"ab\"", "\"a\""));
    assert_false(range_list_has_tag("a", "\"a\""));
    assert_false(range_list_has_tag("", "\"a\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_cut_to_the_content),
        cmocka_unit_test(a_tag_is_found_in_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
