#include "server/job/upload_memory.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static struct upload_memory memory;

static struct upload_share share_of(struct tenant *tenant, uint32_t address)
{
    struct upload_share share;

    upload_share_init(&share, &memory, tenant, address);
    return share;
}

static void expect_nothing_taken(void)
{
    assert_int_equal(memory.taken_bytes, 0);
    for (size_t i = 0; i < UPLOAD_ADDRESS_COUNTERS; i++) {
        assert_int_equal(memory.address_bytes[i], 0);
    }
    assert_false(memory.has_excess);
}

static void an_upload_is_charged_for_what_arrived_and_at_most_a_step(void **state)
{
    struct upload_share share;

    (void)state;
    upload_memory_init(&memory, 64 * MIB);
    share = share_of(NULL, 1);
    assert_true(upload_share_has_room(&share, UINT64_C(4) << 30));
    assert_true(upload_share_take(&share, UPLOAD_MEMORY_FREE_BYTES));
    assert_int_equal(memory.taken_bytes, 0);
    assert_true(upload_share_take(&share, UPLOAD_MEMORY_FREE_BYTES + 1));
    assert_int_equal(memory.taken_bytes, MIB);
    assert_true(upload_share_take(&share, 3 * MIB + 1));
    assert_int_equal(memory.taken_bytes, 7 * MIB);
    assert_true(upload_share_take(&share, 2 * MIB)); /* it has that */
    assert_int_equal(memory.taken_bytes, 7 * MIB);

    struct upload_share moved = upload_share_move(&share);
    upload_share_give_back(&share);
    assert_int_equal(memory.taken_bytes, 7 * MIB);
    upload_share_give_back(&moved);
    upload_share_give_back(&moved);
    expect_nothing_taken();
}

static void one_upload_at_a_time_goes_beyond_and_is_charged_no_more(void **state)
{
    struct upload_share large;
    struct upload_share second;
    struct upload_share other;

    (void)state;
    upload_memory_init(&memory, 64 * MIB);
    large = share_of(NULL, 1);
    second = share_of(NULL, 1);
    other = share_of(NULL, 2);
    assert_true(upload_share_take(&large, 16 * MIB));
    assert_true(upload_share_take(&large, 1000 * MIB));
    assert_int_equal(memory.taken_bytes, 32 * MIB);
    assert_true(upload_share_has_room(&large, UINT64_MAX));
    /* Its address has no more, but for what is free; another one has all of its half. */
    assert_true(upload_share_take(&second, UPLOAD_MEMORY_FREE_BYTES));
    assert_false(upload_share_has_room(&second, MIB));
    assert_false(upload_share_take(&second, MIB));
    assert_true(upload_share_has_room(&other, 16 * MIB));
    assert_false(upload_share_has_room(&other, 16 * MIB + 1));
    assert_true(upload_share_take(&other, 16 * MIB));
    assert_false(upload_share_take(&other, 16 * MIB + 1));
    assert_int_equal(other.bytes, 32 * MIB);
    upload_share_give_back(&large);
    assert_int_equal(memory.taken_bytes, 32 * MIB);
    assert_true(upload_share_take(&second, 16 * MIB));
    assert_true(upload_share_take(&other, 16 * MIB + 1));
    upload_share_give_back(&second);
    upload_share_give_back(&other);
    expect_nothing_taken();
}

static void an_address_has_half_of_its_tenant_and_that_half_of_all(void **state)
{
    static struct tenant tenants[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    struct upload_share excess;
    struct upload_share shares[6];
    struct upload_share more;

    (void)state;
    upload_memory_init(&memory, 64 * MIB);
    excess = share_of(&tenants[2], 9);
    assert_true(upload_share_take(&excess, UINT64_MAX));
    assert_int_equal(memory.taken_bytes, 0);
    /* Two addresses are all of a tenant, and two tenants are all, from the same addresses. */
    for (uint32_t i = 0; i < 4; i++) {
        shares[i] = share_of(&tenants[i / 2], i % 2);
        assert_true(upload_share_take(&shares[i], 8 * MIB));
        assert_false(upload_share_take(&shares[i], 8 * MIB + 1));
        more = share_of(&tenants[i / 2], i % 2);
        assert_false(upload_share_take(&more, MIB));
        assert_int_equal(memory.taken_bytes, (i + 1) * 16 * MIB);
    }
    for (uint32_t i = 0; i < 3; i++) {
        more = share_of(&tenants[i], 7);
        assert_false(upload_share_take(&more, MIB));
        upload_share_give_back(&more);
    }
    upload_share_give_back(&shares[0]);
    shares[4] = share_of(&tenants[0], 7);
    assert_true(upload_share_take(&shares[4], MIB));
    shares[5] = share_of(&tenants[2], 7);
    assert_true(upload_share_take(&shares[5], 7 * MIB));
    upload_share_give_back(&excess);
    for (size_t i = 1; i < 6; i++) {
        upload_share_give_back(&shares[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tenants[i].upload_bytes, 0);
    }
    expect_nothing_taken();
}

static void sizes_do_not_wrap(void **state)
{
    struct upload_share first;
    struct upload_share second;

    (void)state;
    upload_memory_init(&memory, UINT64_MAX);
    first = share_of(NULL, 1);
    second = share_of(NULL, 1);
    assert_true(upload_share_take(&first, UINT64_MAX));
    assert_true(first.is_excess);
    assert_true(upload_share_take(&second, UINT64_MAX / 8));
    assert_false(upload_share_take(&second, UINT64_MAX / 2 + 1));
    assert_false(upload_share_take(&second, UINT64_MAX / 2));
    assert_true(upload_share_take(&second, UINT64_MAX / 8));
    upload_share_give_back(&first);
    upload_share_give_back(&second);
    expect_nothing_taken();
}

static void without_a_memory_nothing_is_charged(void **state)
{
    struct upload_share share = {0};

    (void)state;
    assert_true(upload_share_has_room(&share, UINT64_MAX));
    assert_true(upload_share_take(&share, UINT64_MAX));
    assert_int_equal(share.bytes, 0);
    upload_share_give_back(&share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_upload_is_charged_for_what_arrived_and_at_most_a_step),
        cmocka_unit_test(one_upload_at_a_time_goes_beyond_and_is_charged_no_more),
        cmocka_unit_test(an_address_has_half_of_its_tenant_and_that_half_of_all),
        cmocka_unit_test(sizes_do_not_wrap),
        cmocka_unit_test(without_a_memory_nothing_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
