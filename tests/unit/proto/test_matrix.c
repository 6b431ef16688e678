#include "proto/matrix.h"
#include "tests/lib/test.h"

#include <math.h>

TEST(a_size_overflow_is_an_error)
{
    size_t bytes;

    assert_int_equal(matrix_size(3, KIND_F8, &bytes), STATUS_OK);
    assert_int_equal(bytes, 72);
    assert_int_equal(matrix_size(UINT32_MAX, KIND_I4, &bytes), STATUS_TOO_LARGE);
}

TEST(unreachable_pairs_have_no_distance)
{
    int32_t i4[] = {0, UNREACHABLE_I4, -5, 0};
    float f4[] = {0, INFINITY, 2.5F, 0};
    struct matrix integers = {2, KIND_I4, i4};
    struct matrix floats = {2, KIND_F4, f4};
    double distance = 1;

    assert_false(matrix_distance(&integers, 0, 1, &distance));
    assert_true(matrix_distance(&integers, 1, 0, &distance) && distance == -5);
    assert_false(matrix_distance(&floats, 0, 1, &distance));
    assert_true(matrix_distance(&floats, 1, 0, &distance) && distance == 2.5);
}
