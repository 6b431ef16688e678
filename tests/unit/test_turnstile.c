#include "server/http/turnstile.h"

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

static uint32_t expect(struct turnstile *turnstile, const char *text,
                       enum turnstile_verdict expected)
{
    const struct sockaddr_storage address = address_of(text);
    uint32_t counter;

    assert_int_equal(turnstile_enter(turnstile, (const struct sockaddr *)&address, &counter),
                     expected);
    return counter;
}

static void one_address_is_stopped_before_all_are(void **state)
{
    struct turnstile *turnstile;
    uint32_t counter;

    (void)state;
    assert_int_equal(
        turnstile_create(&(struct turnstile_rules){.limit = 4, .address_limit = 2}, &turnstile),
        STATUS_OK);
    expect(turnstile, "10.0.0.1", TURNSTILE_OPEN);
    counter = expect(turnstile, "::ffff:10.0.0.1", TURNSTILE_OPEN);
    turnstile_leave(turnstile, expect(turnstile, "10.0.0.1", TURNSTILE_ADDRESS_FULL));
    expect(turnstile, "10.0.0.2", TURNSTILE_OPEN);
    expect(turnstile, "10.0.0.3", TURNSTILE_OPEN);
    turnstile_leave(turnstile, expect(turnstile, "10.0.0.4", TURNSTILE_FULL));
    turnstile_leave(turnstile, counter);
    expect(turnstile, "10.0.0.1", TURNSTILE_OPEN);
    turnstile_destroy(turnstile);
}

static void of_ipv6_a_network_counts_as_one(void **state)
{
    struct turnstile *turnstile;

    (void)state;
    assert_int_equal(
        turnstile_create(&(struct turnstile_rules){.limit = 100, .address_limit = 2}, &turnstile),
        STATUS_OK);
    expect(turnstile, "2001:db8:1:2::1", TURNSTILE_OPEN);
    expect(turnstile, "2001:db8:1:2:ffff::2", TURNSTILE_OPEN);
    expect(turnstile, "2001:db8:1:2:3::3", TURNSTILE_ADDRESS_FULL);
    expect(turnstile, "2001:db8:1:3::1", TURNSTILE_OPEN);
    turnstile_destroy(turnstile);
}

static void what_has_no_address_counts_among_all_only(void **state)
{
    const struct sockaddr local = {.sa_family = AF_UNIX};
    struct turnstile *turnstile;
    uint32_t counter;

    (void)state;
    assert_int_equal(
        turnstile_create(&(struct turnstile_rules){.limit = 3, .address_limit = 1}, &turnstile),
        STATUS_OK);
    assert_int_equal(turnstile_enter(turnstile, &local, &counter), TURNSTILE_OPEN);
    assert_int_equal(turnstile_enter(turnstile, NULL, &counter), TURNSTILE_OPEN);
    assert_int_equal(turnstile_enter(turnstile, &local, &counter), TURNSTILE_OPEN);
    assert_int_equal(turnstile_enter(turnstile, NULL, &counter), TURNSTILE_FULL);
    turnstile_leave(turnstile, counter);
    turnstile_leave(turnstile, counter);
    assert_int_equal(turnstile_enter(turnstile, &local, &counter), TURNSTILE_OPEN);
    turnstile_destroy(turnstile);
}

static void no_limit_of_addresses_is_none(void **state)
{
    struct turnstile *turnstile;

    (void)state;
    assert_int_equal(
        turnstile_create(&(struct turnstile_rules){.limit = 50, .address_limit = 0}, &turnstile),
        STATUS_OK);
    for (int i = 0; i < 50; i++) {
        expect(turnstile, "10.0.0.1", TURNSTILE_OPEN);
    }
    expect(turnstile, "10.0.0.1", TURNSTILE_FULL);
    turnstile_destroy(turnstile);
}

static void wrong_keys_are_counted_by_address_and_minute(void **state)
{
    struct turnstile *turnstile;
    const struct turnstile_rules rules = {.limit = 10, .miss_limit = 3};

    (void)state;
    assert_int_equal(turnstile_create(&rules, &turnstile), STATUS_OK);
    const uint32_t one = expect(turnstile, "10.0.0.1", TURNSTILE_OPEN);
    const uint32_t other = expect(turnstile, "10.0.0.2", TURNSTILE_OPEN);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(turnstile_miss(turnstile, one, 125), 0);
    }
    assert_int_equal(turnstile_miss(turnstile, one, 130), 51); /* to the end of the minute */
    assert_int_equal(turnstile_miss(turnstile, one, 179.5), 1);
    if (one != other) { /* but once in 65,536 */
        assert_int_equal(turnstile_miss(turnstile, other, 130), 0);
    }
    turnstile_leave(turnstile, one);
    assert_int_equal(expect(turnstile, "10.0.0.1", TURNSTILE_OPEN), one); /* nor by a new one */
    assert_int_equal(turnstile_miss(turnstile, one, 179.9), 1);
    assert_int_equal(turnstile_miss(turnstile, one, 180), 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(turnstile_miss(turnstile, TURNSTILE_UNCOUNTED, 130), 0);
    }
    turnstile_destroy(turnstile);
}

static void no_limit_of_wrong_keys_is_none(void **state)
{
    struct turnstile *turnstile;

    (void)state;
    assert_int_equal(turnstile_create(&(struct turnstile_rules){.limit = 1}, &turnstile),
                     STATUS_OK);
    const uint32_t counter = expect(turnstile, "10.0.0.1", TURNSTILE_OPEN);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(turnstile_miss(turnstile, counter, 1), 0);
    }
    turnstile_destroy(turnstile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_address_is_stopped_before_all_are),
        cmocka_unit_test(of_ipv6_a_network_counts_as_one),
        cmocka_unit_test(what_has_no_address_counts_among_all_only),
        cmocka_unit_test(no_limit_of_addresses_is_none),
        cmocka_unit_test(wrong_keys_are_counted_by_address_and_minute),
        cmocka_unit_test(no_limit_of_wrong_keys_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
