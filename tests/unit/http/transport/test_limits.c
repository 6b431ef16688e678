#include "server/http/transport/limits.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;

    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
        v6->sin6_family = AF_INET6;
    }
    return address;
}

static uint32_t expect(struct limits *limits, const char *text, enum limits_verdict expected)
{
    const struct sockaddr_storage address = address_of(text);
    uint32_t counter;

    assert_int_equal(limits_enter(limits, (const struct sockaddr *)&address, &counter), expected);
    return counter;
}

static void one_address_is_stopped_before_all_are(void **state)
{
    struct limits *limits;
    uint32_t counter;

    (void)state;
    assert_int_equal(
        limits_create(
            &(struct limits_rules){.refused_connections = 100, .connections = 4, .of_address = 2},
            &limits),
        STATUS_OK);
    expect(limits, "10.0.0.1", LIMITS_OK);
    counter = expect(limits, "::ffff:10.0.0.1", LIMITS_OK);
    limits_leave(limits, expect(limits, "10.0.0.1", LIMITS_ADDRESS_FULL));
    expect(limits, "10.0.0.2", LIMITS_OK);
    expect(limits, "10.0.0.3", LIMITS_OK);
    limits_leave(limits, expect(limits, "10.0.0.4", LIMITS_FULL));
    limits_leave(limits, counter);
    expect(limits, "10.0.0.1", LIMITS_OK);
    limits_destroy(limits);
}

static void of_ipv6_a_network_counts_as_one(void **state)
{
    struct limits *limits;

    (void)state;
    assert_int_equal(
        limits_create(
            &(struct limits_rules){.refused_connections = 100, .connections = 100, .of_address = 2},
            &limits),
        STATUS_OK);
    expect(limits, "2001:db8:1:2::1", LIMITS_OK);
    expect(limits, "2001:db8:1:2:ffff::2", LIMITS_OK);
    expect(limits, "2001:db8:1:2:3::3", LIMITS_ADDRESS_FULL);
    expect(limits, "2001:db8:1:3::1", LIMITS_OK);
    limits_destroy(limits);
}

static void what_has_no_address_counts_among_all_only(void **state)
{
    const struct sockaddr local = {.sa_family = AF_UNIX};
    struct limits *limits;
    uint32_t counter;

    (void)state;
    assert_int_equal(
        limits_create(
            &(struct limits_rules){.refused_connections = 100, .connections = 3, .of_address = 1},
            &limits),
        STATUS_OK);
    assert_int_equal(limits_enter(limits, &local, &counter), LIMITS_OK);
    assert_int_equal(limits_enter(limits, NULL, &counter), LIMITS_OK);
    assert_int_equal(limits_enter(limits, &local, &counter), LIMITS_OK);
    assert_int_equal(limits_enter(limits, NULL, &counter), LIMITS_FULL);
    limits_leave(limits, counter);
    limits_leave(limits, counter);
    assert_int_equal(limits_enter(limits, &local, &counter), LIMITS_OK);
    limits_destroy(limits);
}

static void no_limit_of_addresses_is_none(void **state)
{
    struct limits *limits;

    (void)state;
    assert_int_equal(
        limits_create(
            &(struct limits_rules){.refused_connections = 100, .connections = 50, .of_address = 0},
            &limits),
        STATUS_OK);
    for (int i = 0; i < 50; i++) {
        expect(limits, "10.0.0.1", LIMITS_OK);
    }
    expect(limits, "10.0.0.1", LIMITS_FULL);
    limits_destroy(limits);
}

static void beyond_what_may_be_refused_nobody_is_let_in(void **state)
{
    const struct limits_rules rules = {.connections = 2, .refused_connections = 4, .of_address = 2};
    struct limits *limits;

    (void)state;
    assert_int_equal(limits_create(&rules, &limits), STATUS_OK);
    expect(limits, "10.0.0.1", LIMITS_OK);
    expect(limits, "10.0.0.1", LIMITS_OK);
    expect(limits, "10.0.0.1", LIMITS_ADDRESS_FULL);
    expect(limits, "10.0.0.1", LIMITS_ADDRESS_FULL);
    limits_leave(limits, expect(limits, "10.0.0.1", LIMITS_OVERFLOW));
    expect(limits, "10.0.0.2", LIMITS_FULL);
    expect(limits, "10.0.0.3", LIMITS_FULL);
    expect(limits, "10.0.0.4", LIMITS_OVERFLOW);
    limits_destroy(limits);
}

static void wrong_keys_are_counted_by_address_and_minute(void **state)
{
    struct limits *limits;
    const struct limits_rules rules = {
        .refused_connections = 100, .connections = 10, .failed_logins = 3};

    (void)state;
    assert_int_equal(limits_create(&rules, &limits), STATUS_OK);
    const uint32_t one = expect(limits, "10.0.0.1", LIMITS_OK);
    const uint32_t other = expect(limits, "10.0.0.2", LIMITS_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(limits_login_failed(limits, one, 125), 0);
    }
    assert_int_equal(limits_login_failed(limits, one, 130), 51); /* to the end of the minute */
    assert_int_equal(limits_login_failed(limits, one, 179.5), 1);
    if (one != other) { /* but once in 65,536 */
        assert_int_equal(limits_login_failed(limits, other, 130), 0);
    }
    limits_leave(limits, one);
    assert_int_equal(expect(limits, "10.0.0.1", LIMITS_OK), one); /* nor by a new one */
    assert_int_equal(limits_login_failed(limits, one, 179.9), 1);
    assert_int_equal(limits_login_failed(limits, one, 180), 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(limits_login_failed(limits, LIMITS_NO_ADDRESS, 130), 0);
    }
    limits_destroy(limits);
}

static void no_limit_of_wrong_keys_is_none(void **state)
{
    struct limits *limits;

    (void)state;
    assert_int_equal(
        limits_create(&(struct limits_rules){.refused_connections = 100, .connections = 1},
                      &limits),
        STATUS_OK);
    const uint32_t counter = expect(limits, "10.0.0.1", LIMITS_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(limits_login_failed(limits, counter, 1), 0);
    }
    limits_destroy(limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_address_is_stopped_before_all_are),
        cmocka_unit_test(of_ipv6_a_network_counts_as_one),
        cmocka_unit_test(what_has_no_address_counts_among_all_only),
        cmocka_unit_test(no_limit_of_addresses_is_none),
        cmocka_unit_test(beyond_what_may_be_refused_nobody_is_let_in),
        cmocka_unit_test(wrong_keys_are_counted_by_address_and_minute),
        cmocka_unit_test(no_limit_of_wrong_keys_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
