#include "proto/read/edge_columns.h"
#include "tests/lib/test.h"

#include <string.h>

static struct field field_of(const char *name)
{
    return (struct field){name, strlen(name), 1};
}

static size_t rank_of(const char *name, const char *wanted)
{
    return edge_columns_rank(field_of(name), wanted);
}

TEST(names_of_weights_have_ranks)
{
    static const char *const others[] = {"", "weights", "weight_lbs", "lanes", "we", "_", "value2"};

    assert_true(rank_of("weight", "") < rank_of("cost", ""));
    assert_true(rank_of("cost", "") < rank_of("length", ""));
    assert_int_equal(rank_of("Length (km)", ""), rank_of("length", ""));
    assert_int_equal(rank_of(" _Weight:float", ""), 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_true(rank_of(others[i], "") == NO_COLUMN);
    }
}

TEST(a_wanted_name_is_the_only_one)
{
    assert_int_equal(rank_of("km", "km"), 0);
    assert_true(rank_of("Km", "km") == NO_COLUMN);
    assert_true(rank_of("weight", "km") == NO_COLUMN);
    assert_true(rank_of("none", "none") == NO_COLUMN);
    assert_true(edge_columns_are_unweighted("none") && !edge_columns_are_unweighted(""));
}

TEST(a_first_line_with_a_number_is_data)
{
    const struct edge_row known = {2, {field_of("Source"), field_of("Target")}};
    const struct edge_row words = {3, {field_of("a"), field_of("b"), field_of("c")}};
    const struct edge_row data = {3, {field_of("a"), field_of("b"), field_of("7")}};

    assert_int_equal(edge_columns_judge(&known), EDGE_HEADER_YES);
    assert_int_equal(edge_columns_judge(&words), EDGE_HEADER_PERHAPS);
    assert_int_equal(edge_columns_judge(&data), EDGE_HEADER_NO);
}
