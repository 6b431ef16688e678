#include "proto/matrix.h"
#include "tests/lib/test.h"

TEST(a_size_overflow_is_an_error)
{
    size_t bytes;

    assert_int_equal(matrix_size(3, KIND_F8, &bytes), STATUS_OK);
    assert_int_equal(bytes, 72);
    assert_int_equal(matrix_size(UINT32_MAX, KIND_I4, &bytes), STATUS_TOO_LARGE);
}
