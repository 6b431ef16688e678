#include "proto/vertex_names.h"
#include "tests/lib/names_fixture.h"
#include "tests/lib/test.h"

static void check_names(const struct vertex_names *names)
{
    size_t size = vertex_names_encoded_size(names);
    unsigned char *bytes = malloc(size);
    struct vertex_names *back = NULL;

    assert_non_null(bytes);
    vertex_names_encode(names, bytes);
    assert_int_equal(vertex_names_decode(bytes, size - 1, &back), STATUS_CORRUPT);
    assert_int_equal(vertex_names_decode(bytes, size, &back), STATUS_OK);
    assert_int_equal(vertex_names_numeric(back), vertex_names_numeric(names));
    for (uint32_t row = 0; row < vertex_names_count(names); row++) {
        char buffer[VERTEX_NAME_BUFFER];
        uint32_t found;
        const char *name = vertex_names_get(names, row, buffer, &size);

        assert_true(vertex_names_find(back, name, size, &found));
        assert_int_equal(found, row);
    }
    assert_false(vertex_names_find(back, "nobody", 6, &(uint32_t){0}));
    vertex_names_destroy(back);
    free(bytes);
}

TEST(names_in_a_range_are_found_without_a_table)
{
    struct vertex_names *names = NULL;
    uint32_t base = 0;

    assert_int_equal(vertex_names_create_range(5, 1, &names), STATUS_OK);
    assert_true(vertex_names_find(names, "5", 1, &base) && base == 4);
    assert_false(vertex_names_find(names, "0", 1, &base));
    assert_false(vertex_names_find(names, "6", 1, &base));
    assert_false(vertex_names_find(names, "01", 2, &base));
    check_names(names);
    vertex_names_destroy(names);
}

TEST(name_tables_may_contain_strings_or_numbers)
{
    struct vertex_names *strings = names_of((const char *[]){"a", "", "bcd"}, 3, false);
    struct vertex_names *numbers =
        names_of((const char *[]){"9223372036854775807", "-7", "14"}, 3, true);
    struct vertex_names *digits = names_of((const char *[]){"1", "2"}, 2, false);

    check_names(strings);
    check_names(numbers);
    check_names(digits);
    assert_true(vertex_names_numeric(numbers) && !vertex_names_numeric(digits));
    vertex_names_destroy(strings);
    vertex_names_destroy(numbers);
    vertex_names_destroy(digits);
}
