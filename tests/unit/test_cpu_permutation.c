#include "server/solver/cpu_permutation.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void identity(uint32_t *to, uint32_t n)
{
    for (uint32_t index = 0; index < n; ++index) {
        to[index] = index;
    }
}

/* One cycle through everything. */
static void rotation(uint32_t *to, uint32_t n)
{
    for (uint32_t index = 0; index < n; ++index) {
        to[index] = (index + 1) % n;
    }
}

/* Cycles of two, and a fixed point in the middle when n is odd. */
static void reversal(uint32_t *to, uint32_t n)
{
    for (uint32_t index = 0; index < n; ++index) {
        to[index] = n - 1 - index;
    }
}

/* Cycles of many lengths. */
static void shuffle(uint32_t *to, uint32_t n)
{
    uint32_t seed = n;
    identity(to, n);
    for (uint32_t index = n; index > 1; --index) {
        seed = seed * 1664525u + 1013904223u;
        const uint32_t other = (seed >> 8) % index;
        const uint32_t swapped = to[other];
        to[other] = to[index - 1];
        to[index - 1] = swapped;
    }
}

static void set(void *elements, uint32_t element_bytes, size_t index, uint64_t value)
{
    memcpy((unsigned char *)elements + index * element_bytes, &value, element_bytes);
}

/* Where the entry of a row and a column is, and what it is. */
static uint64_t tag(uint32_t row, uint32_t column, uint32_t n)
{
    return ((uint64_t)row * n + column) * 0x9E3779B97F4A7C15u;
}

static void check(void (*make)(uint32_t *to, uint32_t n), uint32_t n, uint32_t element_bytes,
                  uint32_t threads)
{
    uint32_t *to = calloc(n + 1, sizeof(*to));
    void *elements = malloc((size_t)n * n * element_bytes + 1);
    void *moved = malloc((size_t)n * n * element_bytes + 1);
    struct cpu_pool *pool = NULL;
    assert_true(to != NULL && elements != NULL && moved != NULL);
    assert_int_equal(cpu_pool_create(threads, &pool), STATUS_OK);
    make(to, n);
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            set(elements, element_bytes, (size_t)row * n + column, tag(row, column, n));
            set(moved, element_bytes, (size_t)to[row] * n + to[column], tag(row, column, n));
        }
    }
    assert_int_equal(cpu_permutation_apply(pool, to, n, element_bytes, elements), STATUS_OK);
    assert_memory_equal(elements, moved, (size_t)n * n * element_bytes);
    cpu_pool_destroy(pool);
    free(moved);
    free(elements);
    free(to);
}

static void check_sizes(void (*make)(uint32_t *to, uint32_t n))
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 17, 64, 101, 257};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        for (uint32_t element_bytes = 2; element_bytes <= 8; element_bytes *= 2) {
            check(make, sizes[index], element_bytes, 1);
            check(make, sizes[index], element_bytes, 3);
        }
    }
}

static void what_stays_keeps_its_place(void **state)
{
    (void)state;
    check_sizes(identity);
}

static void one_long_cycle_is_moved(void **state)
{
    (void)state;
    check_sizes(rotation);
}

static void short_cycles_are_moved(void **state)
{
    (void)state;
    check_sizes(reversal);
}

static void cycles_of_all_lengths_are_moved(void **state)
{
    (void)state;
    check_sizes(shuffle);
}

static void nothing_is_moved_in_no_time(void **state)
{
    (void)state;
    struct cpu_pool *pool = NULL;
    assert_int_equal(cpu_pool_create(2, &pool), STATUS_OK);
    assert_int_equal(cpu_permutation_apply(pool, NULL, 0, 4, NULL), STATUS_OK);
    cpu_pool_destroy(pool);
}

static void a_few_rows_are_taken_for_each_thread(void **state)
{
    (void)state;
    assert_true(cpu_permutation_bytes(2, 50000, 4) < (uint64_t)40 * 50000 * 4);
    assert_true(cpu_permutation_bytes(2, 50000, 4) >= (uint64_t)4 * 50000 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays_keeps_its_place),
        cmocka_unit_test(one_long_cycle_is_moved),
        cmocka_unit_test(short_cycles_are_moved),
        cmocka_unit_test(cycles_of_all_lengths_are_moved),
        cmocka_unit_test(nothing_is_moved_in_no_time),
        cmocka_unit_test(a_few_rows_are_taken_for_each_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
