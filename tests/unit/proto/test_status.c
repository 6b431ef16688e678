#include "proto/status.h"
#include "tests/lib/test.h"

TEST(every_status_has_a_unique_code)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        const struct status_info *info = status_info((enum status)i);

        assert_non_null(info->code);
        assert_non_null(info->title);
        for (int other = 0; other < i; other++) {
            assert_string_not_equal(status_info((enum status)other)->code, info->code);
        }
        assert_in_range(info->http, 200, 599);
        assert_in_range(info->exit_code, i == STATUS_OK ? 0 : 1, 3);
    }
}

TEST(statuses_have_the_documented_codes)
{
    assert_int_equal(status_info(STATUS_TOO_LARGE)->http, 413);
    assert_int_equal(status_info(STATUS_BAD_GRAPH)->http, 422);
    assert_int_equal(status_info(STATUS_BAD_GRAPH)->exit_code, 1);
    assert_int_equal(status_info(STATUS_BAD_PARAMETER)->exit_code, 2);
    assert_int_equal(status_info(STATUS_DEVICE_LOST)->exit_code, 3);
    assert_string_equal(status_info(STATUS_IO)->code, "InputOutput");
}
