#include "server/http/short_turns.h"

#include <pthread.h>
/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* The turn of this thread in nanoseconds, as the kernel tells it: at 16 bytes from the priority. */
static uint64_t turn_ns(void)
{
    uint64_t attributes[6] = {48};
    assert_int_equal(syscall(SYS_sched_getattr, 0, attributes, sizeof attributes, 0), 0);
    return attributes[3];
}

static void *tell_turn(void *context)
{
    *(uint64_t *)context = turn_ns();
    return NULL;
}

static uint64_t turn_of_new_thread(void)
{
    pthread_t thread;
    uint64_t turn = 0;
    assert_int_equal(pthread_create(&thread, NULL, tell_turn, &turn), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return turn;
}

static void threads_between_have_short_turns(void **state)
{
    (void)state;
    const uint64_t usual = turn_of_new_thread();
    short_turns_begin();
    const uint64_t during = turn_of_new_thread();
    short_turns_end();
    assert_true(turn_of_new_thread() == usual);
    if (usual == 0) {
        skip(); /* a kernel without turns of one's own */
    }
    assert_true(during < usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_between_have_short_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
