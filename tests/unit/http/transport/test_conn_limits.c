#include "server/http/transport/conn_limits.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>

static struct conn_limits *create(uint32_t connections, uint32_t refused, uint32_t of_address)
{
    struct conn_limits *limits = calloc(1, sizeof(*limits));

    assert_non_null(limits);
    limits->connections = connections;
    limits->refused_connections = refused;
    limits->of_address = of_address;
    return limits;
}

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

static uint32_t expect(struct conn_limits *limits, const char *text, enum conn_verdict expected)
{
    const struct sockaddr_storage address = address_of(text);
    uint32_t counter;

    assert_int_equal(conn_limits_enter(limits, (const struct sockaddr *)&address, &counter),
                     expected);
    return counter;
}

TEST(the_address_limit_is_checked_before_the_total_limit)
{
    struct conn_limits *limits = create(4, 100, 2);
    uint32_t counter;

    expect(limits, "10.0.0.1", CONN_OK);
    counter = expect(limits, "::ffff:10.0.0.1", CONN_OK);
    conn_limits_leave(limits, expect(limits, "10.0.0.1", CONN_ADDRESS_FULL));
    expect(limits, "10.0.0.2", CONN_OK);
    expect(limits, "10.0.0.3", CONN_OK);
    conn_limits_leave(limits, expect(limits, "10.0.0.4", CONN_FULL));
    conn_limits_leave(limits, counter);
    expect(limits, "10.0.0.1", CONN_OK);
    free(limits);
}

TEST(an_ipv6_network_counts_as_one_address)
{
    struct conn_limits *limits = create(100, 100, 2);

    expect(limits, "2001:db8:1:2::1", CONN_OK);
    expect(limits, "2001:db8:1:2:ffff::2", CONN_OK);
    expect(limits, "2001:db8:1:2:3::3", CONN_ADDRESS_FULL);
    expect(limits, "2001:db8:1:3::1", CONN_OK);
    free(limits);
}

TEST(connections_without_an_address_count_only_towards_the_total)
{
    const struct sockaddr local = {.sa_family = AF_UNIX};
    struct conn_limits *limits = create(3, 100, 1);
    uint32_t counter;

    assert_int_equal(conn_limits_enter(limits, &local, &counter), CONN_OK);
    assert_int_equal(conn_limits_enter(limits, NULL, &counter), CONN_OK);
    assert_int_equal(conn_limits_enter(limits, &local, &counter), CONN_OK);
    assert_int_equal(conn_limits_enter(limits, NULL, &counter), CONN_FULL);
    conn_limits_leave(limits, counter);
    conn_limits_leave(limits, counter);
    assert_int_equal(conn_limits_enter(limits, &local, &counter), CONN_OK);
    free(limits);
}

TEST(an_address_limit_of_0_means_no_limit)
{
    struct conn_limits *limits = create(50, 100, 0);

    for (int i = 0; i < 50; i++) {
        expect(limits, "10.0.0.1", CONN_OK);
    }
    expect(limits, "10.0.0.1", CONN_FULL);
    free(limits);
}

TEST(only_a_limited_number_of_refused_connections_get_a_response)
{
    struct conn_limits *limits = create(2, 4, 2);

    expect(limits, "10.0.0.1", CONN_OK);
    expect(limits, "10.0.0.1", CONN_OK);
    expect(limits, "10.0.0.1", CONN_ADDRESS_FULL);
    expect(limits, "10.0.0.1", CONN_ADDRESS_FULL);
    conn_limits_leave(limits, expect(limits, "10.0.0.1", CONN_OVERFLOW));
    expect(limits, "10.0.0.2", CONN_FULL);
    expect(limits, "10.0.0.3", CONN_FULL);
    expect(limits, "10.0.0.4", CONN_OVERFLOW);
    free(limits);
}
