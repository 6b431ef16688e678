#include "server/http/request/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static void a_traceparent_is_kept_as_it_came(void **state)
{
    (void)state;
    char kept[TRACEPARENT_SIZE];
    assert_true(trace_read("00-" TRACE "-" PARENT "-01", kept));
    assert_string_equal(kept, "00-" TRACE "-" PARENT "-01");
    assert_true(trace_read("00-" TRACE "-" PARENT "-00", kept));
    assert_string_equal(kept, "00-" TRACE "-" PARENT "-00");
}

static void a_later_version_is_read_as_the_first(void **state)
{
    (void)state;
    char kept[TRACEPARENT_SIZE];
    assert_true(trace_read("cc-" TRACE "-" PARENT "-01-what-the-future-holds", kept));
    assert_string_equal(kept, "00-" TRACE "-" PARENT "-01");
    assert_true(trace_read("01-" TRACE "-" PARENT "-fe", kept));
    assert_string_equal(kept, "00-" TRACE "-" PARENT "-00");
    assert_true(trace_read("01-" TRACE "-" PARENT "-0f", kept));
    assert_string_equal(kept, "00-" TRACE "-" PARENT "-01");
}

static void what_is_no_traceparent_is_ignored(void **state)
{
    (void)state;
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
        assert_false(trace_read(malformed[i], kept));
        assert_string_equal(kept, "as it was");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_is_kept_as_it_came),
        cmocka_unit_test(a_later_version_is_read_as_the_first),
        cmocka_unit_test(what_is_no_traceparent_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
