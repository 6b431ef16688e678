#include "proto/kind.h"
#include "tests/lib/test.h"

#include <math.h>

TEST(kinds_map_to_names_and_back)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        enum kind kind;

        assert_true(kind_from_name(kind_name((enum kind)i), &kind));
        assert_int_equal(kind, i);
    }
    assert_false(kind_from_name("i8", &(enum kind){KIND_AUTO}));
}

TEST(each_kind_has_the_size_of_its_elements)
{
    assert_int_equal(kind_size(KIND_AUTO), 0);
    assert_int_equal(kind_size(KIND_I4), 4);
    assert_int_equal(kind_size(KIND_U2), 2);
    assert_int_equal(kind_size(KIND_F4), 4);
    assert_int_equal(kind_size(KIND_F8), 8);
    assert_true(kind_is_float(KIND_F4) && !kind_is_float(KIND_U2));
}

TEST(unreachable_elements_are_infinite)
{
    const int32_t i4[] = {UNREACHABLE_I4, -5};
    const uint16_t u2[] = {UNREACHABLE_U2, 7};
    const float f4[] = {INFINITY, 2.5F};

    assert_true(isinf(kind_element(KIND_I4, i4, 0)) && kind_element(KIND_I4, i4, 1) == -5);
    assert_true(isinf(kind_element(KIND_U2, u2, 0)) && kind_element(KIND_U2, u2, 1) == 7);
    assert_true(isinf(kind_element(KIND_F4, f4, 0)) && kind_element(KIND_F4, f4, 1) == 2.5);
}
