#include "tests/lib/reader_fixture.h"

static void generate(uint64_t seed, struct text *text)
{
    int32_t header[2] = {1 + (int32_t)(fixture_next(&seed) % 30),
                         (int32_t)(fixture_next(&seed) % 50)};

    text_append(text, header, sizeof header);
    for (int32_t i = 0; i < header[1]; i++) {
        int32_t record[3] = {(int32_t)fixture_next(&seed) % header[0],
                             (int32_t)fixture_next(&seed) % header[0],
                             (int32_t)fixture_next(&seed) % 1000};

        text_append(text, record, sizeof record);
    }
}

TEST(any_split_of_the_input_gives_the_same_graph)
{
    check_any_split(FORMAT_NTHU, generate);
}

TEST(a_weight_parameter_is_refused)
{
    struct graph_options options = {.weight = "cost"};
    struct problem problem = {0};
    struct graph *graph = NULL;

    assert_int_equal(
        read_graph(FORMAT_NTHU, &options, "\1\0\0\0\0\0\0\0", 8, 100, &graph, &problem),
        STATUS_BAD_PARAMETER);
    assert_non_null(strstr(problem.detail, "weight=cost"));
}
