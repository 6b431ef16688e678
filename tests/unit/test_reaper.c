#include "server/http/reaper.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_S 10.0

static bool is_shut(int descriptor)
{
    struct pollfd look = {.fd = descriptor, .events = POLLRDHUP};

    return poll(&look, 1, 0) == 1 && (look.revents & POLLRDHUP) != 0;
}

static struct reaper *create_plain(uint32_t connection_limit, double header_timeout_s)
{
    const struct reaper_rules rules = {.connection_limit = connection_limit,
                                       .header_timeout_s = header_timeout_s};
    struct reaper *reaper;

    assert_int_equal(reaper_create(&rules, &reaper), STATUS_OK);
    return reaper;
}

static void a_late_connection_is_shut_down(void **state)
{
    struct reaper *reaper = create_plain(4, TIMEOUT_S);
    struct reaper_place *place;
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    place = reaper_open(reaper, ends[0], false, 100);
    assert_non_null(place);
    reaper_run(reaper, 109);
    assert_false(is_shut(ends[1]));
    reaper_rest(place);
    reaper_run(reaper, 1000);
    assert_false(is_shut(ends[1]));
    reaper_watch(place, 1000);
    reaper_run(reaper, 1010);
    assert_false(is_shut(ends[1]));
    reaper_run(reaper, 1011);
    assert_true(is_shut(ends[1]));
    reaper_close(place);
    close(ends[0]);
    close(ends[1]);
    reaper_destroy(reaper);
}

static void a_closed_connection_is_left_alone(void **state)
{
    struct reaper *reaper = create_plain(1, TIMEOUT_S);
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    reaper_close(reaper_open(reaper, ends[0], false, 0));
    reaper_run(reaper, 1000);
    assert_false(is_shut(ends[1]));
    close(ends[0]);
    close(ends[1]);
    reaper_destroy(reaper);
}

static void places_are_given_out_once_and_again_when_free(void **state)
{
    struct reaper *reaper = create_plain(2, TIMEOUT_S);
    struct reaper_place *first;
    struct reaper_place *second;

    (void)state;
    first = reaper_open(reaper, -1, false, 0);
    second = reaper_open(reaper, -1, false, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    while (reaper_open(reaper, -1, false, 0) != NULL) {
    }
    reaper_close(NULL);
    reaper_close(first);
    assert_ptr_equal(reaper_open(reaper, -1, false, 0), first);
    reaper_destroy(reaper);
}

struct talk {
    int client;
    int server;
};

static struct talk connect_pair(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct talk talk = {.client = socket(AF_INET, SOCK_STREAM, 0)};

    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(talk.client, (struct sockaddr *)&address, size), 0);
    talk.server = accept(listener, NULL, NULL);
    assert_true(talk.server >= 0);
    close(listener);
    return talk;
}

static void end(struct talk *talk)
{
    close(talk->client);
    close(talk->server);
}

/* Sends so much and waits until the other side has read it. */
static void move_bytes(const struct talk *talk, size_t count)
{
    char bytes[4096];

    for (size_t moved = 0; moved < count;) {
        const size_t part = count - moved < sizeof bytes ? count - moved : sizeof bytes;

        memset(bytes, 'a', part);
        assert_int_equal(send(talk->client, bytes, part, 0), part);
        assert_int_equal(recv(talk->server, bytes, part, MSG_WAITALL), part);
        moved += part;
    }
}

static size_t say_farewell(void *context, char bytes[REAPER_FAREWELL_SIZE])
{
    memcpy(bytes, context, 3);
    return 3;
}

static struct reaper *create_with_floor(void)
{
    const struct reaper_rules rules = {
        .connection_limit = 4,
        .header_timeout_s = TIMEOUT_S,
        .rate_floor = 1000,
        .stall_timeout_s = 30,
        .farewell = say_farewell,
        .context = (void *)"408",
    };
    struct reaper *reaper;

    assert_int_equal(reaper_create(&rules, &reaper), STATUS_OK);
    return reaper;
}

static void expect_farewell(const struct talk *talk, const char *expected)
{
    char bytes[8] = "";

    assert_true(is_shut(talk->client));
    assert_int_equal(recv(talk->client, bytes, sizeof bytes - 1, 0), strlen(expected));
    assert_string_equal(bytes, expected);
}

static void a_body_that_drips_is_ended_and_told(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);

    (void)state;
    reaper_rest(place);
    reaper_expect_body(place);
    reaper_run(reaper, 1);
    move_bytes(&talk, 11000);
    reaper_run(reaper, 11.5); /* fast enough; the next ten seconds begin */
    move_bytes(&talk, 9000);
    reaper_run(reaper, 21);
    assert_false(is_shut(talk.client));
    reaper_run(reaper, 22);
    expect_farewell(&talk, "408");
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

/* Runs in quarters of a second, from just after one time to the other; the time of the end, or -1.
 */
static double run_until_shut(struct reaper *reaper, const struct talk *talk, double from_s,
                             double to_s)
{
    for (double now_s = from_s + 0.25; now_s <= to_s; now_s += 0.25) {
        reaper_run(reaper, now_s);
        if (is_shut(talk->client)) {
            return now_s;
        }
    }
    return -1;
}

static void a_body_that_stops_has_its_time_from_then_on(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);

    (void)state;
    reaper_rest(place);
    reaper_expect_body(place);
    reaper_run(reaper, 0.25);
    move_bytes(&talk, 1000000); /* what was fast before is worth no more than one stretch */
    assert_true(run_until_shut(reaper, &talk, 0.25, 9) < 0);
    move_bytes(&talk, 1000000);
    const double stopped_s = 9;
    const double ended_s = run_until_shut(reaper, &talk, stopped_s, 100);
    assert_true(ended_s > stopped_s + TIMEOUT_S && ended_s <= stopped_s + TIMEOUT_S + 1);
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

static void a_body_of_single_bytes_is_ended_in_time(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);
    double ended_s = -1;

    (void)state;
    reaper_rest(place);
    reaper_expect_body(place);
    for (double now_s = 0; ended_s < 0 && now_s < 100; now_s += 0.25) {
        move_bytes(&talk, 1);
        ended_s = run_until_shut(reaper, &talk, now_s, now_s + 0.25);
    }
    assert_true(ended_s > TIMEOUT_S && ended_s <= TIMEOUT_S + 1);
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

static void a_body_at_the_floor_goes_on(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);

    (void)state;
    reaper_rest(place);
    reaper_expect_body(place);
    for (double now_s = 0; now_s < 200; now_s += 1) {
        move_bytes(&talk, 1001);
        assert_true(run_until_shut(reaper, &talk, now_s, now_s + 1) < 0);
    }
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

/* A byte that lies there at a look gives no more than the time until the next. */
static void a_body_that_sometimes_waits_is_ended_all_the_same(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);
    char byte;
    double now_s = 0;

    (void)state;
    reaper_rest(place);
    reaper_expect_body(place);
    for (; now_s < 100 && !is_shut(talk.client); now_s += 1) {
        assert_int_equal(send(talk.client, "a", 1, 0), 1);
        reaper_run(reaper, now_s + 0.25);
        assert_int_equal(recv(talk.server, &byte, 1, 0), 1);
        reaper_run(reaper, now_s + 0.5);
        reaper_run(reaper, now_s + 0.75);
        reaper_run(reaper, now_s + 1);
    }
    assert_true(now_s > TIMEOUT_S && now_s <= TIMEOUT_S + 2);
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

/* Until the kernel has seen nothing of a direction for so long. */
static void be_quiet(const struct talk *talk, uint32_t quiet_ms)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    while (info.tcpi_last_data_recv < quiet_ms || info.tcpi_last_data_sent < quiet_ms ||
           info.tcpi_last_ack_recv < quiet_ms) {
        assert_int_equal(getsockopt(talk->server, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    }
}

static void a_body_that_waits_to_be_read_is_not_late(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);

    (void)state;
    reaper_expect_body(place);
    reaper_run(reaper, 0.04);
    assert_int_equal(send(talk.client, "a", 1, 0), 1);
    be_quiet(&talk, 60);
    for (int look = 2; look * 0.04 < 2 * TIMEOUT_S; look++) {
        reaper_run(reaper, look * 0.04);
    }
    assert_false(is_shut(talk.client));
    reaper_rest(place); /* its body is there: what follows takes as long as it does */
    for (int second = 100; second < 200; second++) {
        reaper_run(reaper, second);
    }
    assert_false(is_shut(talk.client));
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

/* As much as goes, until something of it waits in the kernel. */
static void send_all_that_goes(const struct talk *talk)
{
    static const char bytes[1 << 12];

    while (send(talk->server, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
}

/* Whether it may still be sent to: one that is shut down fails. */
static bool waits(const struct talk *talk)
{
    struct pollfd look = {.fd = talk->server};

    return poll(&look, 1, 0) == 0;
}

static void the_wait_to_be_accepted_counts_but_for_no_more_than_a_tenth(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();

    (void)state;
    be_quiet(&talk, 60);
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 5);
    reaper_run(reaper, 5 + TIMEOUT_S - TIMEOUT_S / 10);
    assert_false(is_shut(talk.client));
    reaper_run(reaper, 5 + TIMEOUT_S - 0.04);
    assert_true(is_shut(talk.client));
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

/* When nothing has moved since the last look, that one is where the time begins; else the byte is.
 */
static void the_time_begins_with_the_last_byte_and_not_with_the_look_behind_it(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talks[2] = {connect_pair(), connect_pair()};
    struct reaper_place *places[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        places[i] = reaper_open(reaper, talks[i].server, false, 0);
        move_bytes(&talks[i], 1);
    }
    reaper_run(reaper, 1);
    reaper_rest(places[0]);
    reaper_expect_body(places[0]);
    reaper_rest(places[1]);
    send_all_that_goes(&talks[1]);
    be_quiet(&talks[0], 60);
    be_quiet(&talks[1], 60);
    reaper_run(reaper, 1.04);
    reaper_run(reaper, 1 + TIMEOUT_S - 0.01);
    assert_false(is_shut(talks[0].client));
    reaper_run(reaper, 1 + TIMEOUT_S + 0.01);
    expect_farewell(&talks[0], "408");
    reaper_run(reaper, 31 - 0.01);
    assert_true(waits(&talks[1]));
    reaper_run(reaper, 31 + 0.01);
    assert_false(waits(&talks[1]));
    for (int i = 0; i < 2; i++) {
        reaper_close(places[i]);
        end(&talks[i]);
    }
    reaper_destroy(reaper);
}

static void an_answer_that_nobody_takes_is_ended(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);
    static char bytes[1 << 16];

    (void)state;
    reaper_rest(place);
    while (send(talk.server, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
    reaper_run(reaper, 1);
    reaper_run(reaper, 30);
    assert_false(is_shut(talk.client));
    reaper_run(reaper, 31.25);
    /* The end of the answer is behind what was not taken. */
    while (recv(talk.client, bytes, sizeof bytes, 0) > 0) {
    }
    assert_true(is_shut(talk.client));
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

static void take_all(const struct talk *talk)
{
    char bytes[1 << 12];
    int left = 1;

    while (left > 0) {
        (void)!recv(talk->client, bytes, sizeof bytes, MSG_DONTWAIT);
        assert_int_equal(ioctl(talk->server, SIOCOUTQ, &left), 0);
    }
}

static void the_time_between_two_answers_is_nobodys_fault(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talk = connect_pair();
    struct reaper_place *place = reaper_open(reaper, talk.server, false, 0);
    const int size = 4096;

    (void)state;
    assert_int_equal(setsockopt(talk.server, SOL_SOCKET, SO_SNDBUF, &size, sizeof size), 0);
    reaper_rest(place);
    send_all_that_goes(&talk);
    reaper_run(reaper, 1);
    take_all(&talk);
    for (int now_s = 2; now_s < 2000; now_s += 5) { /* requests answered between two looks */
        reaper_watch(place, now_s);
        reaper_run(reaper, now_s + 1);
    }
    reaper_rest(place);
    send_all_that_goes(&talk);
    reaper_run(reaper, 2000);
    take_all(&talk);
    assert_false(is_shut(talk.client));
    reaper_close(place);
    end(&talk);
    reaper_destroy(reaper);
}

/* Told is only who has begun his first request, and not under TLS. */
static void who_would_misread_it_is_not_told(void **state)
{
    static const struct {
        const char *sent;
        bool is_encrypted;
        bool has_spoken;
        const char *told;
    } cases[] = {{"GET /", false, false, "408"},
                 {"", false, false, ""},
                 {"GET /", true, false, ""},
                 {"GET /", false, true, ""}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reaper *reaper = create_with_floor();
        struct talk talk = connect_pair();
        be_quiet(&talk, 20); /* it came before the clock began */
        struct reaper_place *place = reaper_open(reaper, talk.server, cases[i].is_encrypted, 0);

        assert_int_equal(send(talk.client, cases[i].sent, strlen(cases[i].sent), 0),
                         strlen(cases[i].sent));
        if (cases[i].has_spoken) {
            reaper_rest(place);
            reaper_watch(place, 0);
        }
        reaper_run(reaper, 11);
        expect_farewell(&talk, cases[i].told);
        reaper_close(place);
        end(&talk);
        reaper_destroy(reaper);
    }
}

static void the_one_that_waited_longest_makes_room(void **state)
{
    struct reaper *reaper = create_with_floor();
    struct talk talks[3] = {connect_pair(), connect_pair(), connect_pair()};
    struct reaper_place *places[3];

    (void)state;
    places[0] = reaper_open(reaper, talks[0].server, false, 3);
    places[1] = reaper_open(reaper, talks[1].server, false, 1);
    places[2] = reaper_open(reaper, talks[2].server, false, 0);
    reaper_rest(places[2]); /* has a request under way */
    assert_false(reaper_shed(reaper, 1.001));
    assert_true(reaper_shed(reaper, 5));
    assert_false(is_shut(talks[0].client));
    assert_true(is_shut(talks[1].client));
    assert_true(reaper_shed(reaper, 5));
    assert_true(is_shut(talks[0].client));
    assert_false(reaper_shed(reaper, 5));
    assert_false(is_shut(talks[2].client));
    for (int i = 0; i < 3; i++) {
        reaper_close(places[i]);
        end(&talks[i]);
    }
    reaper_destroy(reaper);
}

static void *open_and_close(void *context)
{
    for (int i = 0; i < 20000; i++) {
        struct reaper_place *place = reaper_open(context, -1, false, 0);

        if (place == NULL) {
            return context;
        }
        reaper_close(place);
    }
    return NULL;
}

static void requests_under_way_are_counted(void **state)
{
    struct reaper *reaper = create_plain(2, TIMEOUT_S);
    struct reaper_place *places[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        places[i] = reaper_open(reaper, -1, false, 0);
        reaper_rest(places[i]);
    }
    reaper_expect_body(places[1]);
    assert_int_equal(reaper_count_resting(reaper), 2);
    reaper_watch(places[0], 7);
    assert_int_equal(reaper_count_resting(reaper), 1);
    reaper_close(places[1]);
    assert_int_equal(reaper_count_resting(reaper), 0);
    reaper_close(places[0]);
    reaper_destroy(reaper);
}

/* The reaper's hand and the closing thread meet; descriptor -1 makes the shutdown harmless. */
static void threads_may_close_while_it_reaps(void **state)
{
    struct reaper *reaper = create_plain(2, 0);
    pthread_t threads[2];
    void *failed;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, reaper), 0);
    }
    for (int i = 0; i < 20000; i++) {
        reaper_run(reaper, 1);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    reaper_destroy(reaper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_connection_is_shut_down),
        cmocka_unit_test(a_closed_connection_is_left_alone),
        cmocka_unit_test(places_are_given_out_once_and_again_when_free),
        cmocka_unit_test(requests_under_way_are_counted),
        cmocka_unit_test(threads_may_close_while_it_reaps),
        cmocka_unit_test(a_body_that_drips_is_ended_and_told),
        cmocka_unit_test(the_wait_to_be_accepted_counts_but_for_no_more_than_a_tenth),
        cmocka_unit_test(the_time_begins_with_the_last_byte_and_not_with_the_look_behind_it),
        cmocka_unit_test(a_body_that_stops_has_its_time_from_then_on),
        cmocka_unit_test(a_body_of_single_bytes_is_ended_in_time),
        cmocka_unit_test(a_body_at_the_floor_goes_on),
        cmocka_unit_test(a_body_that_sometimes_waits_is_ended_all_the_same),
        cmocka_unit_test(a_body_that_waits_to_be_read_is_not_late),
        cmocka_unit_test(an_answer_that_nobody_takes_is_ended),
        cmocka_unit_test(the_time_between_two_answers_is_nobodys_fault),
        cmocka_unit_test(who_would_misread_it_is_not_told),
        cmocka_unit_test(the_one_that_waited_longest_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
