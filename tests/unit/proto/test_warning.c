#include "proto/warning.h"
#include "tests/lib/test.h"

TEST(warnings_are_in_the_order_of_their_codes)
{
    struct warnings warnings = {0};
    warning_add(&warnings, WARNING_NAME_MOVED, "from %s", "a");
    warning_add(&warnings, WARNING_DIRECTED_ASSUMED, "one way");
    warning_hint(warning_add(&warnings, WARNING_COLUMNS_UNUSED, "speed"), "weight=%d", 4);
    assert_int_equal(warnings.count, 3);
    assert_int_equal(warnings.list[0].code, WARNING_DIRECTED_ASSUMED);
    assert_string_equal(warnings.list[0].detail, "one way");
    assert_string_equal(warnings.list[0].hint, "");
    assert_int_equal(warnings.list[1].code, WARNING_COLUMNS_UNUSED);
    assert_string_equal(warnings.list[1].hint, "weight=4");
    assert_string_equal(warnings.list[2].detail, "from a");
}

TEST(a_warning_replaces_an_earlier_warning_with_the_same_code)
{
    struct warnings warnings = {0};
    for (int turn = 0; turn < 2; turn++) {
        for (enum warning_code code = 0; code < WARNING_COUNT; code++) {
            struct warning *warning = warning_add(&warnings, code, "turn %d", turn);
            assert_string_equal(warning->hint, "");
            warning_hint(warning, "hint");
        }
    }
    assert_int_equal(warnings.count, WARNING_COUNT);
    for (size_t i = 0; i < warnings.count; i++) {
        assert_int_equal(warnings.list[i].code, i);
        assert_string_equal(warnings.list[i].detail, "turn 1");
    }
}

TEST(warnings_are_printed_as_json)
{
    struct warnings warnings = {0};
    assert_null(warning_print(&warnings));
    warning_hint(warning_add(&warnings, WARNING_NAME_MOVED, "the \"name\""), "id");
    warning_add(&warnings, WARNING_DIRECTED_ASSUMED, "one way");
    struct warning *unused =
        warning_add(&warnings, WARNING_COLUMNS_UNUSED, "%.4s, cut", "caf\xC3\xA9");
    snprintf(unused->columns, sizeof(unused->columns),
             "a, \"b\""
             "\x1F"
             "km");
    char *text = warning_print(&warnings);
    assert_string_equal(
        text, "[{\"code\":\"DirectedAssumed\",\"detail\":\"one way\",\"hint\":\"\"},"
              "{\"code\":\"ColumnsUnused\",\"detail\":\"caf\xEF\xBF\xBD, cut\",\"hint\":\"\","
              "\"columns\":[\"a, \\\"b\\\"\",\"km\"]},"
              "{\"code\":\"NameMoved\",\"detail\":\"the \\\"name\\\"\",\"hint\":\"id\"}]");
    free(text);
}
