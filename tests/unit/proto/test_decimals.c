#include "proto/decimals.h"
#include "tests/lib/test.h"

#include <math.h>

TEST(the_decimals_of_a_number_are_counted)
{
    static const struct {
        double value;
        uint32_t least;
        uint32_t count;
    } cases[] = {
        {0, 0, 0},
        {7, 0, 0},
        {7, 3, 3},
        {-2.5, 0, 1},
        {-0.300000001, 0, 9},
        {99999.99, 0, 2},
        {1234567.891, 0, 3},
        {1e-50, 0, 50},
        {3e-290, 0, 290},
        {112589990684262.3, 0, 1},
        {0.1 + 0.2, 0, NO_DECIMALS}, /* 0.30000000000000004 */
        {(double)0.1f, 0, NO_DECIMALS},
        {1.5, 16, NO_DECIMALS},
        {3e-291, 0, NO_DECIMALS},
        {5e-324, 0, NO_DECIMALS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const uint32_t count = decimals_count(cases[i].value, cases[i].least);
        if (count != cases[i].count) {
            print_error("%.17g has %u\n", cases[i].value, count);
            fail();
        }
    }
}

TEST(a_quotient_is_the_double_nearest_to_the_decimal)
{
    assert_true(decimals_divide(1, 2) == 0.01);
    assert_true(decimals_divide(-1, 9) == -1e-9);
    assert_true(decimals_divide(3, 50) == 3e-50);
    assert_true(decimals_divide(49490, 2) == 494.9);
    assert_true(decimals_multiply(494.9, 2) == 49490);
    assert_true(decimals_multiply(3e-290, 291) == 30);
    assert_true(isinf(decimals_divide((double)INFINITY, 30)));
}

/* Dividing an integer up to the limit by the scale and multiplying again must not change it. */
TEST(integers_survive_division_and_multiplication)
{
    uint64_t seed = 1;
    for (int i = 0; i < 100000; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const double integer = (double)(seed >> (14 + i % 50)) * (i % 3 == 0 ? -1 : 1);
        const uint32_t decimals = (uint32_t)i % 30;
        const double quotient = decimals_divide(integer, decimals);
        double product = 0;
        decimals_multiply_all(&quotient, decimals, 1, &product);
        assert_true(decimals_multiply(quotient, decimals) == integer && product == integer);
    }
    const double ends[] = {(double)INFINITY, DECIMALS_LIMIT - 1, 1 - DECIMALS_LIMIT, 0};
    double products[4];
    decimals_multiply_all(ends, 0, 4, products);
    assert_memory_equal(products, ends, sizeof(ends));
}

TEST(integers_are_replaced_in_place_by_quotients)
{
    double *storage = malloc(600 * sizeof(*storage));
    assert_non_null(storage);
    for (size_t count = 0; count < 600; ++count) {
        int32_t *integers = (int32_t *)storage;
        for (size_t i = 0; i < count; ++i) {
            integers[i] = i % 7 == 3 ? UNREACHABLE_I4 : (int32_t)i - 50;
        }
        decimals_divide_all(integers, KIND_I4, 2, count, storage);
        for (size_t i = 0; i < count; ++i) {
            assert_true(storage[i] == (i % 7 == 3 ? (double)INFINITY : ((double)i - 50) / 100));
        }
    }
    free(storage);
    double number = 7;
    decimals_divide_all(&number, KIND_F8, 40, 1, &number);
    assert_true(number == 7e-40);
}
