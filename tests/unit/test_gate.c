/* What gate.c puts in the place of the C library's functions; the rest of it is tested by clients.
 */
#include "server/http/gate.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define EVENTS 4
#define FOR_EVER (-1)

struct sockets {
    int set;
    int descriptors[EVENTS];
};

static void add(struct sockets *sockets, int place)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    sockets->descriptors[place] = eventfd(1, 0);
    assert_true(sockets->descriptors[place] >= 0);
    assert_int_equal(epoll_ctl(sockets->set, EPOLL_CTL_ADD, sockets->descriptors[place], &event),
                     0);
}

static int set_up(void **state)
{
    static struct sockets sockets;
    sockets.set = epoll_create1(0);
    assert_true(sockets.set >= 0);
    for (int place = 0; place < EVENTS; ++place) {
        add(&sockets, place);
    }
    *state = &sockets;
    return 0;
}

static int tear_down(void **state)
{
    struct sockets *sockets = *state;
    for (int place = 0; place < EVENTS; ++place) {
        close(sockets->descriptors[place]);
    }
    close(sockets->set);
    return 0;
}

/* Each event is told once: without the mend the second call would never end. */
static void after_as_many_events_as_fit_nobody_waits(void **state)
{
    struct sockets *sockets = *state;
    struct epoll_event events[EVENTS];
    assert_int_equal(epoll_wait(sockets->set, events, EVENTS, FOR_EVER), EVENTS);
    assert_int_equal(epoll_wait(sockets->set, events, EVENTS, FOR_EVER), 0);
}

static void another_set_is_waited_for(void **state)
{
    struct sockets *sockets = *state;
    struct epoll_event events[EVENTS];
    struct sockets other = {.set = epoll_create1(0)};
    const struct itimerspec soon = {.it_value = {.tv_nsec = 20 * 1000 * 1000}};
    struct epoll_event event = {.events = EPOLLIN};
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    assert_true(other.set >= 0 && timer >= 0);
    assert_int_equal(epoll_ctl(other.set, EPOLL_CTL_ADD, timer, &event), 0);
    assert_int_equal(epoll_wait(sockets->set, events, EVENTS, FOR_EVER), EVENTS);
    assert_int_equal(timerfd_settime(timer, 0, &soon, NULL), 0);
    assert_int_equal(epoll_wait(other.set, events, EVENTS, FOR_EVER), 1);
    close(timer);
    close(other.set);
}

static void what_is_there_is_told_in_parts(void **state)
{
    struct sockets *sockets = *state;
    struct epoll_event events[EVENTS];
    assert_int_equal(epoll_wait(sockets->set, events, EVENTS - 1, FOR_EVER), EVENTS - 1);
    assert_int_equal(epoll_wait(sockets->set, events, EVENTS - 1, FOR_EVER), 1);
    const int late = sockets->descriptors[0];
    assert_int_equal(eventfd_write(late, 1), 0);
    assert_int_equal(epoll_wait(sockets->set, events, EVENTS, FOR_EVER), 1);
}

static void what_is_not_in_a_set_is_taken_out_all_the_same(void **state)
{
    struct sockets *sockets = *state;
    struct epoll_event event = {0};
    assert_int_equal(epoll_ctl(sockets->set, EPOLL_CTL_DEL, sockets->descriptors[0], &event), 0);
    assert_int_equal(epoll_ctl(sockets->set, EPOLL_CTL_DEL, sockets->descriptors[0], &event), 0);
    assert_int_equal(epoll_ctl(sockets->set, EPOLL_CTL_DEL, -1, &event), 0);
    assert_int_equal(epoll_ctl(sockets->set, EPOLL_CTL_ADD, -1, &event), -1);
    assert_int_equal(epoll_ctl(sockets->set, EPOLL_CTL_MOD, sockets->descriptors[0], &event), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(after_as_many_events_as_fit_nobody_waits, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_set_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_there_is_told_in_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_in_a_set_is_taken_out_all_the_same, set_up,
                                        tear_down),
    };
    /* Or the linker might do without gate.c. */
    assert_non_null((void *)(uintptr_t)gate_stop);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
