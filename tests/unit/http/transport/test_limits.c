#include "server/http/transport/limits.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static const struct deadline_rules rules = {.header_s = 10, .stall_s = 30, .rate_floor = 1000};

/* The two ends of a connection. */
struct pair {
    int client;
    int server;
};

static struct pair connect_tcp(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    const int small = 4096;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct pair pair = {.client = socket(AF_INET, SOCK_STREAM, 0)};

    assert_int_equal(setsockopt(pair.client, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(pair.client, (struct sockaddr *)&address, size), 0);
    pair.server = accept(listener, NULL, NULL);
    assert_true(pair.server >= 0);
    close(listener);
    return pair;
}

static struct pair connect_unix(void)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    return (struct pair){ends[0], ends[1]};
}

static void end(const struct pair *pair)
{
    close(pair->client);
    close(pair->server);
}

static void pause_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

/* Looks four times a second, while so many bytes move in each; when it was late, or -1. */
static double watch(struct deadlines *deadlines, int descriptor, uint64_t *counter,
                    uint64_t bytes_per_look, double from_s, double to_s)
{
    for (double now_s = from_s; now_s <= to_s; now_s += 0.25) {
        *counter += bytes_per_look;
        if (limits_is_late(deadlines, &rules, descriptor, now_s)) {
            return now_s;
        }
    }
    return -1;
}

static void headers_have_one_deadline_whatever_comes(void **state)
{
    const struct pair pairs[] = {connect_tcp(), connect_unix()};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct deadlines deadlines = {0};

        limits_start_phase(&deadlines, PHASE_HEADERS, 100);
        assert_true(watch(&deadlines, pairs[i].server, &deadlines.received, 5000, 100, 200) ==
                    110.25);
        end(&pairs[i]);
    }
}

static void nothing_is_asked_of_a_client_while_its_request_is_handled(void **state)
{
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    (void)state;
    limits_start_phase(&deadlines, PHASE_HANDLER, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 0, 500) < 0);
    end(&pair);
}

static void a_body_below_the_floor_is_late_on_each_kind_of_socket(void **state)
{
    const struct pair pairs[] = {connect_tcp(), connect_unix()};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct deadlines deadlines = {0};

        limits_start_phase(&deadlines, PHASE_BODY, 0);
        /* 1200 bytes a second are enough, 1 is not, 900 a second are not for long. */
        assert_true(watch(&deadlines, pairs[i].server, &deadlines.received, 300, 0, 500) < 0);
        limits_start_phase(&deadlines, PHASE_BODY, 0);
        assert_true(watch(&deadlines, pairs[i].server, &deadlines.received, 0, 0, 500) == 10.25);
        limits_start_phase(&deadlines, PHASE_BODY, 0);
        const double late_s = watch(&deadlines, pairs[i].server, &deadlines.received, 225, 0, 500);
        assert_true(late_s > 99 && late_s < 102);
        end(&pairs[i]);
    }
}

static void what_came_early_is_worth_one_timeout_at_most(void **state)
{
    const struct pair pair = connect_unix();
    struct deadlines deadlines = {0};

    (void)state;
    limits_start_phase(&deadlines, PHASE_BODY, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 1000000, 0, 5) < 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.received, 0, 5.25, 500);
    assert_true(late_s > 15 && late_s < 15.5);
    end(&pair);
}

static void an_answer_over_tcp_is_judged_by_what_the_client_takes(void **state)
{
    static char bytes[1 << 20];
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    (void)state;
    limits_start_phase(&deadlines, PHASE_ANSWER, 0);
    /* Nothing is on its way. */
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 0, 100) < 0);
    assert_true(send(pair.server, bytes, sizeof(bytes), MSG_DONTWAIT) > 100000);
    pause_ms(50);
    assert_true(limits_is_sending(pair.server));
    /* That much more is produced says nothing. */
    const double late_s = watch(&deadlines, pair.server, &deadlines.produced, 5000, 0, 500);
    assert_true(late_s > 30 && late_s < 30.6);
    limits_start_phase(&deadlines, PHASE_ANSWER, 0);
    for (double now_s = 0; now_s < 60; now_s += 10) {
        assert_false(limits_is_late(&deadlines, &rules, pair.server, now_s));
        for (int part = 0; part < 20; part++) {
            (void)!recv(pair.client, bytes, 10000, MSG_DONTWAIT);
            pause_ms(1);
        }
    }
    end(&pair);
}

static void the_end_of_an_answer_may_be_on_its_way_when_headers_are_awaited(void **state)
{
    static char bytes[1 << 20];
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    (void)state;
    assert_true(send(pair.server, bytes, sizeof(bytes), MSG_DONTWAIT) > 100000);
    pause_ms(50);
    limits_start_phase(&deadlines, PHASE_HEADERS, 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.received, 0, 0, 500);
    assert_true(late_s > 40 && late_s < 41);
    end(&pair);
}

static void an_answer_over_a_unix_socket_is_judged_by_what_is_produced(void **state)
{
    const struct pair pair = connect_unix();
    struct deadlines deadlines = {0};

    (void)state;
    limits_start_phase(&deadlines, PHASE_ANSWER, 0);
    /* Not by callbacks. */
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 0, 100) < 0);
    limits_start_phase(&deadlines, PHASE_ANSWER, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.produced, 300, 0, 500) < 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.produced, 0, 500, 600);
    assert_true(late_s > 529 && late_s < 531);
    end(&pair);
}

static void an_answer_given_whole_to_a_unix_socket_has_the_time_of_its_size(void **state)
{
    const struct pair pair = connect_unix();
    struct deadlines deadlines = {.whole = 100000};

    (void)state;
    limits_start_phase(&deadlines, PHASE_ANSWER, 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.received, 0, 50, 500);
    assert_true(late_s == 50 + 30 + 100 + 0.25);
    limits_start_phase(&deadlines, PHASE_HEADERS, 200);
    limits_start_phase(&deadlines, PHASE_ANSWER, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 200, 900) < 0);
    end(&pair);
}

static void a_body_of_which_bytes_stay_in_the_socket_is_stuck(void **state)
{
    const struct pair pairs[] = {connect_tcp(), connect_unix()};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct deadlines deadlines = {0};
        unsigned stuck_count = 0;
        double now_s = 0;

        limits_start_phase(&deadlines, PHASE_BODY, 0);
        for (int look = 0; look < 100; look++, now_s += 0.001) {
            /* Nothing comes, then bytes that are delivered, then bytes that are not. */
            if (look == 20) {
                assert_int_equal(send(pairs[i].client, "abcd", 4, 0), 4);
            }
            deadlines.received += look >= 20 && look < 60 && look % 3 == 0;
            const bool is_stuck = limits_is_stuck(&deadlines, pairs[i].server);

            assert_true(!is_stuck || look > 60);
            stuck_count += is_stuck;
            assert_false(limits_is_late(&deadlines, &rules, pairs[i].server, now_s));
        }
        assert_int_equal(stuck_count, 1);
        end(&pairs[i]);
    }
}

static void a_client_that_leaves_in_the_middle_of_a_body_is_late_at_once(void **state)
{
    struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    (void)state;
    limits_start_phase(&deadlines, PHASE_BODY, 0);
    assert_false(limits_is_late(&deadlines, &rules, pair.server, 0.25));
    assert_false(limits_peer_has_left(pair.server));
    assert_int_equal(shutdown(pair.client, SHUT_WR), 0);
    pause_ms(50);
    assert_true(limits_peer_has_left(pair.server));
    assert_false(limits_is_late(&deadlines, &rules, pair.server, 0.5));
    /* The last bytes may still have to be read. */
    deadlines.received += 1;
    assert_false(limits_is_late(&deadlines, &rules, pair.server, 0.75));
    assert_true(limits_is_late(&deadlines, &rules, pair.server, 1));
    end(&pair);
}

static void without_a_floor_only_headers_have_a_deadline(void **state)
{
    const struct deadline_rules none = {.header_s = 10, .stall_s = 30};
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    (void)state;
    limits_start_phase(&deadlines, PHASE_BODY, 0);
    assert_false(limits_is_late(&deadlines, &none, pair.server, 1));
    assert_false(limits_is_late(&deadlines, &none, pair.server, 1000));
    limits_start_phase(&deadlines, PHASE_HEADERS, 0);
    assert_true(limits_is_late(&deadlines, &none, pair.server, 11));
    end(&pair);
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
        cmocka_unit_test(headers_have_one_deadline_whatever_comes),
        cmocka_unit_test(nothing_is_asked_of_a_client_while_its_request_is_handled),
        cmocka_unit_test(a_body_below_the_floor_is_late_on_each_kind_of_socket),
        cmocka_unit_test(what_came_early_is_worth_one_timeout_at_most),
        cmocka_unit_test(an_answer_over_tcp_is_judged_by_what_the_client_takes),
        cmocka_unit_test(the_end_of_an_answer_may_be_on_its_way_when_headers_are_awaited),
        cmocka_unit_test(an_answer_over_a_unix_socket_is_judged_by_what_is_produced),
        cmocka_unit_test(an_answer_given_whole_to_a_unix_socket_has_the_time_of_its_size),
        cmocka_unit_test(a_body_of_which_bytes_stay_in_the_socket_is_stuck),
        cmocka_unit_test(a_client_that_leaves_in_the_middle_of_a_body_is_late_at_once),
        cmocka_unit_test(without_a_floor_only_headers_have_a_deadline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
