/* What gate.c puts in the place of the C library's functions; the rest of it is tested by clients.
 */
#include "server/http/gate.h"

/* cmocka.h wants these before it. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Somebody waits, and there is no descriptor for him. */
static void starve(int listener)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit none = {0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_int_equal(accept4(listener, NULL, NULL, SOCK_CLOEXEC), -1);
    assert_int_equal(errno, EMFILE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void whoever_has_no_descriptor_and_no_connection_makes_a_pause(void **state)
{
    struct sockets *sockets = *state;
    struct epoll_event events[1];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
    starve(listener);
    const double began_s = now_s();
    assert_int_equal(epoll_wait(sockets->set, events, 1, 0), 1);
    assert_true(now_s() - began_s >= 0.09);
    const int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(accepted >= 0);
    close(accepted);
    close(client);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(after_as_many_events_as_fit_nobody_waits, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_set_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_there_is_told_in_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whoever_has_no_descriptor_and_no_connection_makes_a_pause,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_in_a_set_is_taken_out_all_the_same, set_up,
                                        tear_down),
    };
    /* Or the linker might do without gate.c. */
    assert_non_null((void *)(uintptr_t)gate_stop);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
