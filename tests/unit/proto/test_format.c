#include "proto/format.h"
#include "tests/lib/test.h"

TEST(formats_are_found_by_name_media_type_and_file_extension)
{
    assert_int_equal(format_from_name("dimacs"), FORMAT_DIMACS);
    assert_int_equal(format_from_name("bmp"), FORMAT_NONE);
    assert_int_equal(format_from_media_type("Text/CSV; charset=utf-8"), FORMAT_EDGES);
    assert_int_equal(format_from_media_type("text/csvx"), FORMAT_NONE);
    assert_int_equal(format_from_path("a/b.GR", false), FORMAT_DIMACS);
    assert_int_equal(format_from_path("b.gr", true), FORMAT_NONE);
    assert_int_equal(format_from_path("a.gr/b", false), FORMAT_NONE);
    assert_int_equal(format_from_path("x.npy", true), FORMAT_NPY);
    assert_int_equal(format_from_path("x.csv", true), FORMAT_CSV);
    assert_int_equal(format_from_path("x.csv", false), FORMAT_EDGES);
}

TEST(generic_content_types_are_recognized)
{
    assert_true(format_media_type_is_vague(NULL));
    assert_true(format_media_type_is_vague("application/x-www-form-urlencoded"));
    assert_false(format_media_type_is_vague("application/json"));
}
