#include "proto/verification.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void integers_are_compared_exactly(void **state)
{
    (void)state;
    assert_true(verification_tolerance(KIND_I4) == 0 && verification_epsilon(KIND_I4) == 0);
    assert_true(verification_tolerance(KIND_U2) == 0 && verification_epsilon(KIND_U2) == 0);
    assert_true(verification_tolerance(KIND_F4) > verification_tolerance(KIND_F8));
    assert_true(verification_tolerance(KIND_F8) > verification_epsilon(KIND_F8));
    assert_true(verification_epsilon(KIND_F8) > 0);
    assert_true(verification_least(KIND_I4) == 0);
    assert_true(verification_least(KIND_F4) > verification_least(KIND_F8));
}

static void all_rows_are_checked_while_that_is_affordable(void **state)
{
    (void)state;
    assert_int_equal(verification_row_count(0, 0), 0);
    assert_int_equal(verification_row_count(1, 0), 1);
    assert_int_equal(verification_row_count(63, 63 * 62), 63);
    assert_int_equal(verification_row_count(49109, 242354), 49109);
    assert_int_equal(verification_row_count(1 << 14, 1 << 28), 1 << 14);
}

static void beyond_that_as_many_as_the_budget_allows(void **state)
{
    (void)state;
    assert_int_equal(verification_row_count(1 << 15, 1 << 30), 1 << 12);
    assert_int_equal(verification_row_count(1 << 20, (uint64_t)1 << 40), 64);
    /* Without edges it is the rows' own length that costs. */
    assert_int_equal(verification_row_count(1 << 22, 0), 1 << 20);
}

static void chosen_rows_ascend_from_the_first_and_are_spread(void **state)
{
    (void)state;
    assert_int_equal(verification_row(10, 4, 0), 0);
    assert_int_equal(verification_row(10, 4, 1), 2);
    assert_int_equal(verification_row(10, 4, 2), 5);
    assert_int_equal(verification_row(10, 4, 3), 7);
    assert_int_equal(verification_row(1u << 26, 1u << 26, (1u << 26) - 1), (1u << 26) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_compared_exactly),
        cmocka_unit_test(all_rows_are_checked_while_that_is_affordable),
        cmocka_unit_test(beyond_that_as_many_as_the_budget_allows),
        cmocka_unit_test(chosen_rows_ascend_from_the_first_and_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
