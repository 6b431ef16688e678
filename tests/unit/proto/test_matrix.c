#include "proto/matrix.h"
#include "tests/lib/test.h"

#include <math.h>

TEST(sizes_overflow_into_a_status)
{
    size_t bytes;

    assert_int_equal(matrix_size(3, KIND_F8, &bytes), STATUS_OK);
    assert_int_equal(bytes, 72);
    assert_int_equal(matrix_size(UINT32_MAX, KIND_I4, &bytes), STATUS_TOO_LARGE);
}

TEST(unreachable_is_no_distance)
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

TEST(narrowing_never_loses)
{
    int32_t i4[] = {0, UNREACHABLE_I4, 65534, 0};
    uint16_t u2[4];
    struct matrix from = {2, KIND_I4, i4};
    struct matrix to = {2, KIND_U2, u2};

    assert_int_equal(matrix_narrow(&from, &to), STATUS_OK);
    assert_int_equal(u2[1], UNREACHABLE_U2);
    assert_int_equal(u2[2], 65534);
    i4[2] = 65535;
    assert_int_equal(matrix_narrow(&from, &to), STATUS_WEIGHT_RANGE);
    i4[2] = -1;
    assert_int_equal(matrix_narrow(&from, &to), STATUS_WEIGHT_RANGE);
}
