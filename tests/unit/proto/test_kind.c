#include "proto/kind.h"
#include "tests/lib/test.h"

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
