#include "server/solver/cpu/limits.h"
#include "server/solver/cpu/tiles.h"
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

TEST(every_kind_that_is_computed_has_a_limit)
{
    struct device_limits limits = {0};
    struct cpu_pool *pool = NULL;
    assert_int_equal(cpu_pool_create(2, &pool), STATUS_OK);
    assert_int_equal(cpu_limits_measure(pool, cpu_kernel_find("auto"), &limits), STATUS_OK);
    for (int i = 0; i < ARITHMETIC_COUNT; i++) {
        assert_true(limits.relaxations_per_s[i] > 0);
    }
    assert_true(limits.copy_bytes_per_s > 0);
    assert_true(limits.upload_bytes_per_s == 0 && limits.download_bytes_per_s == 0);
    cpu_pool_destroy(pool);
}

/* Three turns of min(10, itself + 4) from 4 on: 8, 10, 10, and the least of all chains. */
TEST(a_chain_does_what_it_counts)
{
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; index++) {
        const struct cpu_kernel *kernel = cpu_kernel_usable(index);
        int32_t i4[2] = {4, 10};
        int16_t narrow[2] = {4, 10};
        float f4[2] = {4, 10};
        double f8[2] = {4, 10};
        const uint64_t relaxations = kernel->i4->chain(3, i4);
        assert_int_equal(i4[0], 10);
        assert_int_equal(relaxations % (3 * CPU_CHAINS), 0);
        assert_int_equal(kernel->narrow->chain(3, narrow), 2 * relaxations);
        assert_int_equal(narrow[0], 10);
        assert_int_equal(kernel->f4->chain(3, f4), relaxations);
        assert_true(f4[0] == 10);
        assert_int_equal(kernel->f8->chain(3, f8), relaxations / 2);
        assert_true(f8[0] == 10);
    }
}
