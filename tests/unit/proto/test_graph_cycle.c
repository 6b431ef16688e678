#include "proto/graph_cycle.h"
#include "tests/lib/graph_fixture.h"

#include "proto/text.h"
#include "tests/lib/test.h"

static size_t cycle_of(const char *text, double *ret_weight)
{
    struct graph *graph = read_text(FORMAT_DIMACS, text);
    struct negative_cycle cycle;

    assert_int_equal(graph_negative_cycle(graph, NULL, &cycle), STATUS_OK);
    if (cycle.length == 3) {
        assert_int_equal((cycle.vertices[0] + 1) % 3, cycle.vertices[1]);
    }
    *ret_weight = cycle.weight;
    free(cycle.vertices);
    graph_destroy(graph);
    return cycle.length;
}

TEST(the_vertices_of_a_cycle_are_listed_in_the_order_of_its_edges)
{
    double weight;

    assert_int_equal(cycle_of("p sp 4 4\na 1 2 1\na 2 3 1\na 3 1 -3\na 4 1 1\n", &weight), 3);
    assert_true(weight == -1);
    assert_int_equal(cycle_of("p sp 3 3\na 1 2 1\na 2 3 1\na 3 1 -2\n", &weight), 0);
    assert_int_equal(cycle_of("p sp 2 2\na 1 2 5\na 2 2 -4\n", &weight), 1);
    assert_true(weight == -4);
}

TEST(rounding_does_not_create_a_negative_cycle)
{
    double weight;

    assert_int_equal(cycle_of("p sp 3 3\na 1 2 -0.1\na 2 3 -0.2\na 3 1 0.3\n", &weight), 0);
    assert_int_equal(cycle_of("p sp 3 3\na 1 2 0.1\na 2 3 0.2\na 3 1 -0.3\n", &weight), 0);
    assert_int_equal(cycle_of("p sp 3 3\na 1 2 0.1\na 2 3 0.2\na 3 1 -0.31\n", &weight), 3);
}

/* The cycle contains all vertices, and its length is slightly below zero. The search would take
 * minutes if each pass over the edges advanced it by only one vertex. */
TEST(long_cycles_with_ascending_or_descending_vertex_numbers_are_found)
{
    const unsigned n = 60000;

    for (int upward = 0; upward < 2; upward++) {
        struct text text = {0};
        double weight;

        text_printf(&text, "p sp %u %u\n", n, n);
        for (unsigned v = 1; v < n; v++) {
            text_printf(&text, "a %u %u -5\n", upward ? v : v + 1, upward ? v + 1 : v);
        }
        text_printf(&text, "a %u %u %u\n", upward ? n : 1, upward ? 1 : n, 5 * (n - 1) - 1);
        assert_int_equal(text_status(&text), STATUS_OK);
        assert_int_equal(cycle_of(text.bytes, &weight), n);
        assert_true(weight == -1);
        text_finish(&text);
    }
}
