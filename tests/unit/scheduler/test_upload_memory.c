#include "server/scheduler/upload_memory.h"

#include "server/scheduler/tenants.h"
#include "tests/lib/test.h"

#define MIB (UINT64_C(1) << 20)

static struct upload_memory memory;
static struct problem problem;

static struct upload_share share_of(struct tenant *tenant, uint32_t address)
{
    struct upload_share share;

    upload_memory_init_share(&share, &memory, tenant, address);
    return share;
}

static enum status charge(struct upload_share *share, uint64_t memory_bytes)
{
    problem = (struct problem){0};
    return upload_memory_charge(share, memory_bytes, &problem);
}

static enum status find_room(const struct upload_share *share, uint64_t memory_bytes)
{
    return upload_memory_find_room(share, memory_bytes, &problem);
}

static void expect_nothing_taken(void)
{
    assert_int_equal(memory.taken_bytes, 0);
    for (size_t i = 0; i < UPLOAD_ADDRESS_COUNTERS; i++) {
        assert_int_equal(memory.address_bytes[i], 0);
    }
}

TEST(an_upload_is_charged_for_its_bytes_and_at_most_one_step_more)
{
    struct upload_share share;

    memory = (struct upload_memory){.limit_bytes = 64 * MIB};
    share = share_of(NULL, 1);
    assert_int_equal(charge(&share, UPLOAD_MEMORY_FREE_BYTES), STATUS_OK);
    assert_int_equal(memory.taken_bytes, 0);
    assert_int_equal(charge(&share, UPLOAD_MEMORY_FREE_BYTES + 1), STATUS_OK);
    assert_int_equal(memory.taken_bytes, MIB);
    assert_int_equal(charge(&share, 6 * MIB + 1), STATUS_OK);
    assert_int_equal(memory.taken_bytes, 7 * MIB);
    assert_int_equal(charge(&share, 4 * MIB), STATUS_OK); /* the earlier, larger charge includes
                                                           * these bytes */
    assert_int_equal(memory.taken_bytes, 7 * MIB);

    struct upload_share moved = upload_memory_move(&share);
    upload_memory_release(&share);
    assert_int_equal(memory.taken_bytes, 7 * MIB);
    upload_memory_release(&moved);
    upload_memory_release(&moved);
    expect_nothing_taken();
}

TEST(no_upload_uses_more_than_the_share_of_its_client)
{
    static struct tenant tenant = {.number = 1};
    struct upload_share alone;
    struct upload_share with_key;

    memory = (struct upload_memory){.limit_bytes = 64 * MIB + 10};
    alone = share_of(NULL, 1);
    with_key = share_of(&tenant, 1);
    assert_int_equal(charge(&alone, 32 * MIB + 6), STATUS_BODY_TOO_LARGE);
    assert_true(problem.has_limit && problem.limit == 32.0 * MIB + 5);
    assert_true(problem.actual == 32.0 * MIB + 6);
    assert_true(problem.hint[0] != '\0');
    assert_int_equal(memory.taken_bytes, 0);
    assert_int_equal(charge(&with_key, 16 * MIB + 3), STATUS_BODY_TOO_LARGE);
    assert_true(problem.limit == 16.0 * MIB + 2);
    assert_int_equal(upload_memory_admit(&alone, UINT64_MAX, &problem), STATUS_BODY_TOO_LARGE);
    /* The last charge is smaller than a full step, because less than a step is left. */
    assert_int_equal(upload_memory_admit(&alone, 32 * MIB + 5, &problem), STATUS_OK);
    assert_int_equal(charge(&alone, 32 * MIB + 5), STATUS_OK);
    assert_int_equal(memory.taken_bytes, 32 * MIB + 5);
    upload_memory_release(&alone);
    upload_memory_release(&with_key);
    expect_nothing_taken();
}

TEST(small_uploads_are_admitted_without_free_memory)
{
    struct upload_share share;

    memory = (struct upload_memory){.limit_bytes = 1};
    share = share_of(NULL, 1);
    assert_int_equal(charge(&share, UPLOAD_MEMORY_FREE_BYTES), STATUS_OK);
    assert_int_equal(charge(&share, UPLOAD_MEMORY_FREE_BYTES + 1), STATUS_BODY_TOO_LARGE);
    upload_memory_release(&share);
    expect_nothing_taken();
}

TEST(an_upload_refused_for_memory_may_be_retried)
{
    struct upload_share large;
    struct upload_share second;
    struct upload_share other;

    memory = (struct upload_memory){.limit_bytes = 64 * MIB};
    large = share_of(NULL, 1);
    second = share_of(NULL, 1);
    other = share_of(NULL, 2);
    assert_int_equal(find_room(&large, UINT64_MAX), STATUS_OK); /* any estimate fits */
    assert_int_equal(charge(&large, 31 * MIB), STATUS_OK);
    /* Address 1 has 1 MiB of its half left, and address 2 has its whole half. */
    assert_int_equal(charge(&second, UPLOAD_MEMORY_FREE_BYTES), STATUS_OK);
    assert_int_equal(find_room(&second, 2 * MIB), STATUS_UPLOAD_MEMORY);
    assert_int_equal(charge(&second, 2 * MIB), STATUS_UPLOAD_MEMORY);
    assert_int_equal(find_room(&other, 32 * MIB), STATUS_OK);
    assert_int_equal(charge(&other, 32 * MIB), STATUS_OK);
    assert_int_equal(memory.taken_bytes, 63 * MIB);
    upload_memory_release(&large);
    assert_int_equal(find_room(&second, 32 * MIB), STATUS_OK);
    assert_int_equal(charge(&second, 32 * MIB), STATUS_OK);
    upload_memory_release(&second);
    upload_memory_release(&other);
    expect_nothing_taken();
}

TEST(an_address_may_use_half_of_the_share_of_its_tenant)
{
    static struct tenant tenants[3] = {{.number = 1}, {.number = 2}, {.number = 3}};
    struct upload_share shares[6];
    struct upload_share more;

    memory = (struct upload_memory){.limit_bytes = 64 * MIB};
    /* Two addresses use all memory that one tenant may use. A second tenant with the same addresses
     * uses the rest. */
    for (uint32_t i = 0; i < 4; i++) {
        shares[i] = share_of(&tenants[i / 2], i % 2);
        assert_int_equal(charge(&shares[i], 16 * MIB), STATUS_OK);
        more = share_of(&tenants[i / 2], i % 2);
        assert_int_equal(charge(&more, 2 * MIB), STATUS_UPLOAD_MEMORY);
        assert_int_equal(memory.taken_bytes, (i + 1) * 16 * MIB);
    }
    for (uint32_t i = 0; i < 3; i++) {
        more = share_of(&tenants[i], 7);
        assert_int_equal(charge(&more, 2 * MIB), STATUS_UPLOAD_MEMORY);
        upload_memory_release(&more);
    }
    upload_memory_release(&shares[0]);
    shares[4] = share_of(&tenants[0], 7);
    assert_int_equal(charge(&shares[4], 2 * MIB), STATUS_OK);
    shares[5] = share_of(&tenants[2], 7);
    assert_int_equal(charge(&shares[5], 14 * MIB), STATUS_OK);
    for (size_t i = 1; i < 6; i++) {
        upload_memory_release(&shares[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tenants[i].upload_bytes, 0);
    }
    expect_nothing_taken();
}

TEST(charges_do_not_overflow)
{
    struct upload_share first;
    struct upload_share second;

    memory = (struct upload_memory){.limit_bytes = UINT64_MAX};
    first = share_of(NULL, 1);
    second = share_of(NULL, 1);
    assert_int_equal(charge(&first, UINT64_MAX), STATUS_BODY_TOO_LARGE);
    assert_int_equal(charge(&first, UINT64_MAX / 4), STATUS_OK);
    assert_int_equal(charge(&second, UINT64_MAX / 2), STATUS_UPLOAD_MEMORY);
    assert_int_equal(charge(&second, UINT64_MAX / 2), STATUS_UPLOAD_MEMORY);
    assert_int_equal(charge(&second, UINT64_MAX / 4 - MIB), STATUS_OK);
    upload_memory_release(&first);
    upload_memory_release(&second);
    expect_nothing_taken();
}

TEST(an_upload_without_a_limit_is_not_charged)
{
    struct upload_share share = {0};

    assert_int_equal(find_room(&share, UINT64_MAX), STATUS_OK);
    assert_int_equal(charge(&share, UINT64_MAX), STATUS_OK);
    assert_int_equal(share.bytes, 0);
    upload_memory_release(&share);
}
