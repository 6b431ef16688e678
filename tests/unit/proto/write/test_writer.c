#include "proto/write/writer.h"
#include "tests/lib/test.h"

#include <math.h>

TEST(elements_are_printed_as_json)
{
    struct text text = {0};

    writer_append_distance(&text, KIND_I4, &(int32_t){-7});
    writer_append_distance(&text, KIND_I4, &(int32_t){UNREACHABLE_I4});
    writer_append_distance(&text, KIND_U2, &(uint16_t){65534});
    writer_append_distance(&text, KIND_U2, &(uint16_t){UNREACHABLE_U2});
    writer_append_distance(&text, KIND_F4, &(float){0.1F});
    writer_append_distance(&text, KIND_F8, &(double){INFINITY});
    writer_append_distance(&text, KIND_F8, &(double){NAN});
    assert_string_equal(text.bytes, "-7null65534null0.1nullnull");
    text_finish(&text);
}

static const struct cell_style json = {',', "null"};

static void expect(enum kind kind, const void *row, const uint32_t *columns, uint32_t first,
                   uint32_t count, const struct cell_style *style, const char *wanted)
{
    char text[8 * CELL_SIZE];
    char *end = writer_print_cells(kind, row, columns, first, count, style, text);

    *end = '\0';
    assert_string_equal(text, wanted);
}

TEST(every_kind_has_a_value_for_unreachable_elements)
{
    const int32_t integers[] = {-7, UNREACHABLE_I4, 2147483647};
    const uint16_t narrow[] = {0, UNREACHABLE_U2, 65534};
    const float singles[] = {0.1F, INFINITY, -2.5F};
    const double doubles[] = {0.1, INFINITY, 1e300};

    expect(KIND_I4, integers, NULL, 0, 3, &json, "-7,null,2147483647");
    expect(KIND_U2, narrow, NULL, 0, 3, &json, "0,null,65534");
    expect(KIND_F4, singles, NULL, 0, 3, &json, "0.1,null,-2.5");
    expect(KIND_F8, doubles, NULL, 0, 3, &json, "0.1,null,1e+300");
}

/* Only damaged data can contain a NaN. */
TEST(nan_is_written_as_unreachable)
{
    const float singles[] = {NAN, 1.5F, -INFINITY};
    const double doubles[] = {-NAN, 1.5, NAN};

    expect(KIND_F4, singles, NULL, 0, 3, &json, "null,1.5,null");
    expect(KIND_F8, doubles, NULL, 0, 3, &json, "null,1.5,null");
}

TEST(columns_are_given_as_a_range_or_a_list)
{
    const int32_t row[] = {10, 11, 12, 13};
    const uint32_t list[] = {3, 0, 3};

    expect(KIND_I4, row, NULL, 1, 2, &json, "11,12");
    expect(KIND_I4, row, list, 0, 3, &json, "13,10,13");
    expect(KIND_I4, row, NULL, 0, 0, &json, "");
}

TEST(the_caller_chooses_the_delimiter_and_the_unreachable_text)
{
    const int32_t row[] = {UNREACHABLE_I4, 5, UNREACHABLE_I4};

    expect(KIND_I4, row, NULL, 0, 3, &(struct cell_style){',', ""}, ",5,");
    expect(KIND_I4, row, NULL, 0, 3, &(struct cell_style){'\n', "inf"}, "inf\n5\ninf");
}
