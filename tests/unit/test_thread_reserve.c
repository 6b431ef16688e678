#include "server/job/thread_reserve.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    const struct dirent *entry;
    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    closedir(tasks);
    return count;
}

/* Stacks larger than the memory: no thread can be had, and nothing aborts. */
static void too_few_threads_are_told(void **state)
{
    (void)state;
    pthread_attr_t usual, huge;
    uv_loop_t loop;
    uv_work_t first;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 50), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    assert_int_equal(thread_reserve_open(&loop, &first), STATUS_NO_MEMORY);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&usual);
}

static void the_pool_is_there_after(void **state)
{
    (void)state;
    uv_loop_t loop;
    uv_work_t first;
    const int before = count_threads();
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(thread_reserve_open(&loop, &first), STATUS_OK);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(count_threads() >= before + 4);
    assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_few_threads_are_told),
        cmocka_unit_test(the_pool_is_there_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
