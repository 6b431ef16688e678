#include "proto/verification.h"
#include "tests/lib/test.h"

TEST(integers_are_compared_exactly)
{
    assert_true(verification_tolerance(KIND_I4) == 0 && verification_epsilon(KIND_I4) == 0);
    assert_true(verification_tolerance(KIND_U2) == 0 && verification_epsilon(KIND_U2) == 0);
    assert_true(verification_tolerance(KIND_F4) > verification_tolerance(KIND_F8));
    assert_true(verification_tolerance(KIND_F8) > verification_epsilon(KIND_F8));
    assert_true(verification_epsilon(KIND_F8) > 0);
    assert_true(verification_least(KIND_I4) == 0);
    assert_true(verification_least(KIND_F4) > verification_least(KIND_F8));
}

TEST(chosen_rows_begin_with_the_first_row_and_are_evenly_spread)
{
    assert_int_equal(verification_row(10, 4, 0), 0);
    assert_int_equal(verification_row(10, 4, 1), 2);
    assert_int_equal(verification_row(10, 4, 2), 5);
    assert_int_equal(verification_row(10, 4, 3), 7);
    assert_int_equal(verification_row(1u << 26, 1u << 26, (1u << 26) - 1), (1u << 26) - 1);
}
