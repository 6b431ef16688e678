#include "server/http/reaper.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_S 10.0

static bool is_shut(int descriptor)
{
    struct pollfd look = {.fd = descriptor, .events = POLLRDHUP};

    return poll(&look, 1, 0) == 1 && (look.revents & POLLRDHUP) != 0;
}

static void a_late_connection_is_shut_down(void **state)
{
    struct reaper *reaper;
    struct reaper_place *place;
    int ends[2];

    (void)state;
    assert_int_equal(reaper_create(4, TIMEOUT_S, &reaper), STATUS_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    place = reaper_open(reaper, ends[0], 100);
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
    struct reaper *reaper;
    int ends[2];

    (void)state;
    assert_int_equal(reaper_create(1, TIMEOUT_S, &reaper), STATUS_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    reaper_close(reaper_open(reaper, ends[0], 0));
    reaper_run(reaper, 1000);
    assert_false(is_shut(ends[1]));
    close(ends[0]);
    close(ends[1]);
    reaper_destroy(reaper);
}

static void places_are_given_out_once_and_again_when_free(void **state)
{
    struct reaper *reaper;
    struct reaper_place *first;
    struct reaper_place *second;

    (void)state;
    assert_int_equal(reaper_create(2, TIMEOUT_S, &reaper), STATUS_OK);
    first = reaper_open(reaper, -1, 0);
    second = reaper_open(reaper, -1, 0);
    assert_non_null(first);
    assert_non_null(second);
    assert_ptr_not_equal(first, second);
    while (reaper_open(reaper, -1, 0) != NULL) {
    }
    reaper_close(NULL);
    reaper_close(first);
    assert_ptr_equal(reaper_open(reaper, -1, 0), first);
    reaper_destroy(reaper);
}

static void *open_and_close(void *context)
{
    for (int i = 0; i < 20000; i++) {
        struct reaper_place *place = reaper_open(context, -1, 0);

        if (place == NULL) {
            return context;
        }
        reaper_close(place);
    }
    return NULL;
}

/* The reaper's hand and the closing thread meet; descriptor -1 makes the shutdown harmless. */
static void threads_may_close_while_it_reaps(void **state)
{
    struct reaper *reaper;
    pthread_t threads[2];
    void *failed;

    (void)state;
    assert_int_equal(reaper_create(2, 0, &reaper), STATUS_OK);
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
        cmocka_unit_test(threads_may_close_while_it_reaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
