#include "server/http/upload_memory.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static void uploads_share_what_there_is(void **state)
{
    struct upload_memory memory;
    uint64_t first = 0;
    uint64_t second = 0;

    (void)state;
    upload_memory_init(&memory, 64 * MIB);
    assert_true(upload_memory_take(&memory, 16 * MIB, &first));
    assert_int_equal(first, 32 * MIB);
    assert_true(upload_memory_take(&memory, 16 * MIB, &first)); /* it has that */
    assert_int_equal(first, 32 * MIB);
    assert_false(upload_memory_take(&memory, 17 * MIB, &second));
    assert_int_equal(second, 0);
    assert_true(upload_memory_take(&memory, 16 * MIB, &second));
    assert_false(upload_memory_take(&memory, 17 * MIB, &second));
    assert_int_equal(second, 32 * MIB);
    upload_memory_give_back(&memory, &first);
    assert_int_equal(first, 0);
    assert_true(upload_memory_take(&memory, 17 * MIB, &second));
    upload_memory_give_back(&memory, &second);
    assert_int_equal(atomic_load(&memory.taken_bytes), 0);
}

static void one_alone_has_room_and_small_ones_beside_it(void **state)
{
    struct upload_memory memory;
    uint64_t large = 0;
    uint64_t small = 0;

    (void)state;
    upload_memory_init(&memory, MIB);
    assert_true(upload_memory_take(&memory, 100 * MIB, &large));
    assert_true(upload_memory_take(&memory, 300 * MIB, &large));
    assert_true(upload_memory_take(&memory, UPLOAD_MEMORY_FREE_BYTES, &small));
    assert_int_equal(small, 0);
    assert_false(upload_memory_take(&memory, UPLOAD_MEMORY_FREE_BYTES + 1, &small));
    upload_memory_give_back(&memory, &small);
    upload_memory_give_back(&memory, &large);
    assert_int_equal(atomic_load(&memory.taken_bytes), 0);
}

static void what_has_not_come_is_given_back(void **state)
{
    struct upload_memory memory;
    uint64_t held = 0;

    (void)state;
    upload_memory_init(&memory, 64 * MIB);
    assert_true(upload_memory_take(&memory, 16 * MIB, &held));
    upload_memory_settle(&memory, 16 * MIB, &held);
    assert_int_equal(held, 32 * MIB);
    upload_memory_settle(&memory, 4 * MIB, &held);
    assert_int_equal(held, 8 * MIB);
    assert_int_equal(atomic_load(&memory.taken_bytes), held);
    upload_memory_settle(&memory, 100, &held);
    assert_int_equal(atomic_load(&memory.taken_bytes), 0);
}

static void sizes_do_not_wrap(void **state)
{
    struct upload_memory memory;
    uint64_t first = 0;
    uint64_t second = 0;

    (void)state;
    upload_memory_init(&memory, UINT64_MAX);
    assert_true(upload_memory_take(&memory, UINT64_MAX / 2 + 1, &first));
    assert_int_equal(first, UINT64_MAX);
    assert_false(upload_memory_take(&memory, MIB, &second));
    upload_memory_give_back(&memory, &first);
    assert_true(upload_memory_take(&memory, MIB, &second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uploads_share_what_there_is),
        cmocka_unit_test(one_alone_has_room_and_small_ones_beside_it),
        cmocka_unit_test(what_has_not_come_is_given_back),
        cmocka_unit_test(sizes_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
