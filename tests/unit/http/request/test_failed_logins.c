#include "server/http/request/failed_logins.h"
#include "tests/lib/test.h"

static struct failed_logins logins;

TEST(wrong_keys_are_counted_by_address_and_minute)
{
    memset(&logins, 0, sizeof(logins));
    logins.limit = 3;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(failed_logins_count(&logins, 1, 125), 0);
    }
    assert_int_equal(failed_logins_count(&logins, 1, 130), 51); /* seconds until the minute ends */
    assert_int_equal(failed_logins_count(&logins, 1, 179.5), 1);
    assert_int_equal(failed_logins_count(&logins, 2, 130), 0);
    assert_int_equal(failed_logins_count(&logins, 1, 179.9), 1);
    assert_int_equal(failed_logins_count(&logins, 1, 180), 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(failed_logins_count(&logins, CONN_LIMITS_NO_ADDRESS, 130), 0);
    }
}

TEST(a_limit_of_0_allows_any_number_of_wrong_keys)
{
    memset(&logins, 0, sizeof(logins));
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(failed_logins_count(&logins, 1, 1), 0);
    }
}
