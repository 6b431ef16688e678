#include "server/solver/steps.h"

#include <errno.h>
#include <sched.h>
/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE ((size_t)32 << 20)
#define HEADER 128

/* Of the kernel, as the product calls it. */
static atomic_bool kernel_is_slow; /* until it is said to be fast again */
static atomic_uint populated;
static atomic_uint advised_huge;

int madvise(void *address, size_t length, int advice)
{
    if (advice == MADV_HUGEPAGE) {
        atomic_fetch_add(&advised_huge, 1);
        errno = EINVAL;
        return -1;
    }
    if (advice == MADV_POPULATE_WRITE) {
        atomic_fetch_add(&populated, 1);
        while (atomic_load(&kernel_is_slow)) {
            sched_yield();
        }
    }
    return (int)syscall(SYS_madvise, address, length, advice);
}

static char *map(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    /* Or the last slice could come with its first page. */
    (void)syscall(SYS_madvise, memory, size, MADV_NOHUGEPAGE); /* whatever the system's way is */
    return memory;
}

static bool is_resident(char *memory, size_t size)
{
    const size_t pages = size / (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *resident = malloc(pages);
    bool all = true;
    assert_non_null(resident);
    assert_int_equal(mincore(memory, size, resident), 0);
    for (size_t i = 0; i < pages; ++i) {
        all = all && (resident[i] & 1) != 0;
    }
    free(resident);
    return all;
}

/* And what was written before, or is meanwhile, stays. */
static void every_page_becomes_resident(void **state)
{
    (void)state;
    char *const memory = map(SIZE);
    memory[0] = 'a';
    memory[SIZE - 1] = 'z';
    struct page_warmer *warmer = page_warmer_start(memory + HEADER, SIZE - HEADER);
    assert_non_null(warmer);
    __atomic_store_n(&memory[SIZE / 2], 'm', __ATOMIC_RELAXED);
    while (!is_resident(memory, SIZE)) {
        sched_yield();
    }
    page_warmer_stop(warmer);
    assert_true(memory[0] == 'a' && memory[SIZE / 2] == 'm' && memory[SIZE - 1] == 'z');
    assert_true(memory[1] == 0 && memory[SIZE / 4] == 0);
    assert_int_equal(atomic_load(&populated), 8);
    assert_int_equal(atomic_load(&advised_huge), 1);
    munmap(memory, SIZE);
}

/* The slices that were warmed before the stop, of 128, and none after it. */
static unsigned start_and_stop(void)
{
    char *const memory = map(16 * SIZE);
    atomic_store(&populated, 0);
    atomic_store(&kernel_is_slow, true);
    struct page_warmer *warmer = page_warmer_start(memory, 16 * SIZE);
    assert_non_null(warmer);
    atomic_store(&kernel_is_slow, false);
    page_warmer_stop(warmer);
    const unsigned before = atomic_load(&populated);
    assert_true(is_resident(memory, 16 * SIZE) == (before == 128));
    assert_int_equal(atomic_load(&populated), before);
    munmap(memory, 16 * SIZE);
    return before;
}

/* Where this thread does not get to the stop for so long that nothing is left, it tries again. */
static void a_stop_ends_it_early(void **state)
{
    (void)state;
    unsigned warmed = 128;
    for (int i = 0; i < 50 && warmed == 128; ++i) {
        warmed = start_and_stop();
    }
    assert_true(warmed < 128);
}

static void too_little_and_too_much_are_left_alone(void **state)
{
    (void)state;
    char byte = 'a';
    assert_null(page_warmer_start(&byte, 1));
    assert_null(page_warmer_start(&byte, SIZE_MAX / 2));
    page_warmer_stop(NULL);
    assert_int_equal(byte, 'a');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_becomes_resident),
        cmocka_unit_test(a_stop_ends_it_early),
        cmocka_unit_test(too_little_and_too_much_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
