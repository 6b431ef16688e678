#include "server/solver/order/pattern.h"

#include "proto/graph.h"
#include "tests/lib/test.h"

/* The pattern of a triangle with vertices 0, 1 and 2, and of an edge between vertices 2 and 3. */
static const int32_t offset_of_triangle[] = {0, 2, 4, 7, 8};
static const int32_t target_of_triangle[] = {1, 2, 0, 2, 0, 1, 3, 2};

static struct pattern make_pattern(void)
{
    struct pattern pattern;
    assert_int_equal(pattern_init(&pattern, 4, 8), STATUS_OK);
    memcpy(pattern.offset, offset_of_triangle, sizeof(offset_of_triangle));
    memcpy(pattern.target, target_of_triangle, sizeof(target_of_triangle));
    return pattern;
}

/* The graph lists the edge between 0 and 1 in both directions; component 1 has only vertex 3. */
TEST(a_pattern_contains_each_entry_once)
{
    static uint64_t row_offset[] = {0, 2, 4, 5, 5};
    static uint32_t targets[] = {1, 2, 0, 2, 3};
    static const uint32_t component[] = {0, 0, 0, 1};
    const struct graph graph = {.vertex_count = 4,
                                .directed = true,
                                .edge_count = 5,
                                .row_offset = row_offset,
                                .target = targets};
    uint32_t mark[4];
    struct pattern pattern;
    assert_int_equal(pattern_make(&graph, NULL, mark, &pattern), STATUS_OK);
    assert_memory_equal(pattern.offset, offset_of_triangle, sizeof(offset_of_triangle));
    assert_int_equal(pattern.target[7], 2);
    pattern_finish(&pattern);
    assert_int_equal(pattern_make(&graph, component, mark, &pattern), STATUS_OK);
    assert_int_equal(pattern.offset[3], 6);
    assert_int_equal(pattern.offset[4], 6);
    pattern_finish(&pattern);
    assert_null(pattern.target);
}

TEST(a_subpattern_has_the_entries_between_its_vertices)
{
    static const uint32_t vertices[] = {3, 2, 1};
    static const uint32_t local[] = {NO_VERTEX, 2, 1, 0};
    static const int32_t offset[] = {0, 1, 3, 4};
    static const int32_t target[] = {1, 2, 0, 1};
    struct pattern pattern = make_pattern();
    struct pattern part = {0};
    pattern.weight[3] = 5;
    assert_int_equal(pattern_cut(&pattern, vertices, 3, local, &part), STATUS_OK);
    assert_int_equal(part.vertex_count, 3);
    assert_memory_equal(part.offset, offset, sizeof(offset));
    assert_memory_equal(part.target, target, sizeof(target));
    assert_int_equal(part.weight[0], 5);
    assert_int_equal(part.weight[1], 1);
    pattern_finish(&part);
    pattern_finish(&pattern);
}
