#include "server/http/transport/deadlines.h"
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct config rules = {
    .header_timeout_s = 10, .stall_timeout_s = 30, .rate_floor = 1000};

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

/* Checks the deadlines four times per simulated second. Adds bytes_per_look to the counter before
 * each check. Returns the time at which a deadline was missed, or -1. */
static double watch(struct deadlines *deadlines, int descriptor, uint64_t *counter,
                    uint64_t bytes_per_look, double from_s, double to_s)
{
    for (double now_s = from_s; now_s <= to_s; now_s += 0.25) {
        *counter += bytes_per_look;
        if (deadlines_are_missed(deadlines, &rules, descriptor, now_s)) {
            return now_s;
        }
    }
    return -1;
}

TEST(progress_does_not_extend_the_deadline_for_headers)
{
    const struct pair pairs[] = {connect_tcp(), connect_unix()};

    for (size_t i = 0; i < 2; i++) {
        struct deadlines deadlines = {0};

        deadlines_start_phase(&deadlines, PHASE_HEADERS, 100);
        assert_true(watch(&deadlines, pairs[i].server, &deadlines.received, 5000, 100, 200) ==
                    110.25);
        end(&pairs[i]);
    }
}

TEST(no_deadline_applies_while_a_request_is_handled)
{
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    deadlines_start_phase(&deadlines, PHASE_HANDLER, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 0, 500) < 0);
    end(&pair);
}

TEST(a_body_below_the_minimum_rate_misses_its_deadline)
{
    const struct pair pairs[] = {connect_tcp(), connect_unix()};

    for (size_t i = 0; i < 2; i++) {
        struct deadlines deadlines = {0};

        deadlines_start_phase(&deadlines, PHASE_BODY, 0);
        /* The minimum rate is 1000 bytes per second. A rate of 1200 satisfies it for any time, a
         * rate of 0 misses it soon, and a rate of 900 misses it after a while. */
        assert_true(watch(&deadlines, pairs[i].server, &deadlines.received, 300, 0, 500) < 0);
        deadlines_start_phase(&deadlines, PHASE_BODY, 0);
        assert_true(watch(&deadlines, pairs[i].server, &deadlines.received, 0, 0, 500) == 10.25);
        deadlines_start_phase(&deadlines, PHASE_BODY, 0);
        const double late_s = watch(&deadlines, pairs[i].server, &deadlines.received, 225, 0, 500);
        assert_true(late_s > 99 && late_s < 102);
        end(&pairs[i]);
    }
}

TEST(bytes_received_early_extend_the_deadline_by_at_most_one_timeout)
{
    const struct pair pair = connect_unix();
    struct deadlines deadlines = {0};

    deadlines_start_phase(&deadlines, PHASE_BODY, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 1000000, 0, 5) < 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.received, 0, 5.25, 500);
    assert_true(late_s > 15 && late_s < 15.5);
    end(&pair);
}

TEST(the_rate_of_a_response_over_tcp_is_based_on_acknowledged_bytes)
{
    static char bytes[1 << 20];
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    deadlines_start_phase(&deadlines, PHASE_ANSWER, 0);
    /* The client has acknowledged all bytes, so no deadline passes. */
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 0, 100) < 0);
    assert_true(send(pair.server, bytes, sizeof(bytes), MSG_DONTWAIT) > 100000);
    pause_ms(50);
    assert_true(deadlines_is_sending(pair.server));
    /* Bytes that the server produces but the client does not acknowledge are not progress. */
    const double late_s = watch(&deadlines, pair.server, &deadlines.produced, 5000, 0, 500);
    assert_true(late_s > 30 && late_s < 30.6);
    deadlines_start_phase(&deadlines, PHASE_ANSWER, 0);
    for (double now_s = 0; now_s < 60; now_s += 10) {
        assert_false(deadlines_are_missed(&deadlines, &rules, pair.server, now_s));
        for (int part = 0; part < 20; part++) {
            (void)!recv(pair.client, bytes, 10000, MSG_DONTWAIT);
            pause_ms(1);
        }
    }
    end(&pair);
}

TEST(headers_have_more_time_while_a_response_is_unacknowledged)
{
    static char bytes[1 << 20];
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    assert_true(send(pair.server, bytes, sizeof(bytes), MSG_DONTWAIT) > 100000);
    pause_ms(50);
    deadlines_start_phase(&deadlines, PHASE_HEADERS, 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.received, 0, 0, 500);
    assert_true(late_s > 40 && late_s < 41);
    end(&pair);
}

TEST(the_rate_of_a_response_over_a_unix_socket_is_based_on_produced_bytes)
{
    const struct pair pair = connect_unix();
    struct deadlines deadlines = {0};

    deadlines_start_phase(&deadlines, PHASE_ANSWER, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 0, 100) < 0);
    deadlines_start_phase(&deadlines, PHASE_ANSWER, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.produced, 300, 0, 500) < 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.produced, 0, 500, 600);
    assert_true(late_s > 529 && late_s < 531);
    end(&pair);
}

TEST(a_response_in_a_unix_socket_buffer_has_time_in_proportion_to_its_size)
{
    const struct pair pair = connect_unix();
    struct deadlines deadlines = {.whole = 100000};

    deadlines_start_phase(&deadlines, PHASE_ANSWER, 0);
    const double late_s = watch(&deadlines, pair.server, &deadlines.received, 0, 50, 500);
    assert_true(late_s == 50 + 30 + 100 + 0.25);
    deadlines_start_phase(&deadlines, PHASE_HEADERS, 200);
    deadlines_start_phase(&deadlines, PHASE_ANSWER, 0);
    assert_true(watch(&deadlines, pair.server, &deadlines.received, 0, 200, 900) < 0);
    end(&pair);
}

TEST(a_disconnect_during_the_body_counts_as_a_missed_deadline)
{
    struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    deadlines_start_phase(&deadlines, PHASE_BODY, 0);
    assert_false(deadlines_are_missed(&deadlines, &rules, pair.server, 0.25));
    assert_false(deadlines_peer_has_left(pair.server));
    assert_int_equal(shutdown(pair.client, SHUT_WR), 0);
    pause_ms(50);
    assert_true(deadlines_peer_has_left(pair.server));
    assert_false(deadlines_are_missed(&deadlines, &rules, pair.server, 0.5));
    /* The deadline is not missed while the server still reads bytes from before the disconnect. */
    deadlines.received += 1;
    assert_false(deadlines_are_missed(&deadlines, &rules, pair.server, 0.75));
    assert_true(deadlines_are_missed(&deadlines, &rules, pair.server, 1));
    end(&pair);
}

TEST(without_a_minimum_rate_only_headers_have_a_deadline)
{
    const struct config none = {.header_timeout_s = 10, .stall_timeout_s = 30};
    const struct pair pair = connect_tcp();
    struct deadlines deadlines = {0};

    deadlines_start_phase(&deadlines, PHASE_BODY, 0);
    assert_false(deadlines_are_missed(&deadlines, &none, pair.server, 1));
    assert_false(deadlines_are_missed(&deadlines, &none, pair.server, 1000));
    deadlines_start_phase(&deadlines, PHASE_HEADERS, 0);
    assert_true(deadlines_are_missed(&deadlines, &none, pair.server, 11));
    end(&pair);
}
