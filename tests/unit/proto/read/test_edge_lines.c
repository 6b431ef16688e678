#include "proto/read/edge_lines.h"
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line that no scan takes, long enough for those before it to be looked at. */
#define OTHER "# 34567890123456789012345678901234567890\n"

/* Rows + 1 of the numbers 0 to 4; 3 was not seen. */
static const uint32_t rows[] = {5, 1, 9, 0, 2};

/* The lines taken of `text`, in storage of its own length. */
static uint64_t scan(const struct edge_lines *lines, const char *text, struct edge_i4 *edges,
                     uint64_t room, size_t *ret_size)
{
    const struct graph_options options = {0};
    const size_t size = strlen(text);
    struct graph_builder *builder = NULL;
    char *copy = malloc(size);
    uint64_t count;

    assert_non_null(copy);
    memcpy(copy, text, size);
    *ret_size = 0;
    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    count = edge_lines_scan(lines, builder, room, copy, size, ret_size);
    assert_int_equal(count, graph_builder_edge_count(builder));
    for (uint64_t i = 0; i < count; i++) {
        uint32_t ends[2];
        const double weight = graph_builder_edge(builder, i, ends);

        edges[i] = (struct edge_i4){ends[0], ends[1], (int32_t)weight};
    }
    graph_builder_destroy(builder);
    free(copy);
    return count;
}

TEST(lines_become_edges_between_rows)
{
    const struct edge_lines lines = {
        .row_of = rows, .number_limit = 5, .delimiter = ',', .has_weight = true};
    struct edge_i4 edges[4];
    size_t size;

    assert_int_equal(scan(&lines, "0,1,7\n4,2,123456789\r\n2,0,0\n" OTHER, edges, 4, &size), 3);
    assert_int_equal(size, strlen("0,1,7\n4,2,123456789\r\n2,0,0\n"));
    assert_true(edges[0].source == 4 && edges[0].target == 0 && edges[0].weight == 7);
    assert_true(edges[1].source == 1 && edges[1].target == 8 && edges[1].weight == 123456789);
    assert_true(edges[2].source == 8 && edges[2].target == 4 && edges[2].weight == 0);
}

TEST(numbers_are_rows_without_names)
{
    const struct edge_lines lines = {.number_limit = 12345678, .delimiter = ' '};
    struct edge_i4 edge;
    size_t size;

    assert_int_equal(scan(&lines, "12345677 0\n" OTHER, &edge, 1, &size), 1);
    assert_true(edge.source == 12345677 && edge.target == 0 && edge.weight == 1);
    assert_int_equal(scan(&lines, "12345678 0\n" OTHER, &edge, 1, &size), 0);
    assert_int_equal(size, 0);
}

TEST(a_letter_may_stand_in_front_and_numbers_have_a_base)
{
    const struct edge_lines lines = {
        .base = 1, .number_limit = 9, .letter = 'a', .delimiter = ' ', .has_weight = true};
    struct edge_i4 edge;
    size_t size;

    assert_int_equal(scan(&lines, "a 9 1 7\n" OTHER, &edge, 1, &size), 1);
    assert_true(edge.source == 8 && edge.target == 0 && edge.weight == 7);
    assert_int_equal(scan(&lines, "a 10 1 7\n" OTHER, &edge, 1, &size), 0);
    assert_int_equal(scan(&lines, "a 0 1 7\n" OTHER, &edge, 1, &size), 0);
    assert_int_equal(scan(&lines, "e 9 1 7\n" OTHER, &edge, 1, &size), 0);
}

TEST(every_other_line_is_left)
{
    static const char *const others[] = {
        "3,1,7\n",   "5,1,7\n",  "00,1,7\n",    "0,1,7.5\n", "0,1,-7\n",         "0,1\n",
        "0,1,7,8\n", "0;1;7\n",  " 0,1,7\n",    "0,1,\n",    "0,1,1234567890\n", "\n",
        "0,1,7\r0",  "0,1,7 \n", "\"0\",1,7\n", "a,1,7\n",   "0,01,7\n",         ",1,7\n",
    };
    const struct edge_lines lines = {
        .row_of = rows, .number_limit = 5, .delimiter = ',', .has_weight = true};
    struct edge_i4 edges[2];
    size_t size;

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[256];

        snprintf(text, sizeof text, "1,1,5\n%s" OTHER, others[i]);
        assert_int_equal(scan(&lines, text, edges, 2, &size), 1);
        assert_int_equal(size, strlen("1,1,5\n"));
    }
}

/* What may not be whole is left as well, and so is what there is no room for. */
TEST(the_end_of_a_piece_is_not_looked_beyond)
{
    const struct edge_lines lines = {
        .row_of = rows, .number_limit = 5, .delimiter = ',', .has_weight = true};
    struct edge_i4 edge;
    size_t size;

    assert_int_equal(scan(&lines, "0,1,7\n", &edge, 1, &size), 0);
    assert_int_equal(scan(&lines, "0,1,7\n0,1,8\n" OTHER, &edge, 1, &size), 1);
    assert_int_equal(size, strlen("0,1,7\n"));
}
