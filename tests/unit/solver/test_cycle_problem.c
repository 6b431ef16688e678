#include "server/solver/steps.h"
#include "tests/unit/graph_fixture.h"

#include "proto/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct graph *read_edges(const char *text, bool directed)
{
    struct graph_options options = {.has_directed = true, .directed = directed};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_EDGES, &options, text, strlen(text), 64, &graph, NULL),
                     STATUS_OK);
    return graph;
}

static void vertices_are_named_in_walking_order(void **state)
{
    struct graph *graph = read_edges("a b 1\nb c 1\nc a 1\n", true);
    static const uint32_t cycle[] = {1, 2, 0};
    struct problem problem = {0};

    (void)state;
    assert_int_equal(cycle_problem_set(graph, cycle, 3, -1.5, &problem), STATUS_NEGATIVE_CYCLE);
    assert_string_equal(problem.detail, "A cycle of 3 edges has length -1.5: b -> c -> a -> b.");
    assert_non_null(strstr(problem.hint, "Going round once more"));
    graph_destroy(graph);
}

static void a_long_cycle_is_cut(void **state)
{
    struct graph *graph = read_edges("1 2\n3 4\n5 6\n7 8\n9 10\n", true);
    static const uint32_t cycle[] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
    struct problem problem = {0};

    (void)state;
    assert_int_equal(cycle_problem_set(graph, cycle, 9, -9, &problem), STATUS_NEGATIVE_CYCLE);
    assert_string_equal(problem.detail, "A cycle of 9 edges has length -9: 10 -> 9 -> 8 -> 7 -> 6 "
                                        "-> 5 -> 4 -> 3 -> ....");
    graph_destroy(graph);
}

/* Sixteen bytes are kept, and no half of a letter. */
static void a_long_name_is_cut_between_letters(void **state)
{
    struct graph *graph = read_edges("abcdefghijklmno\xC3\xA4xyz b 1\n", false);
    static const uint32_t cycle[] = {0, 1};
    struct problem problem = {0};

    (void)state;
    assert_int_equal(cycle_problem_set(graph, cycle, 2, -2, &problem), STATUS_NEGATIVE_CYCLE);
    assert_string_equal(problem.detail, "A cycle of 2 edges has length -2: abcdefghijklmno -> b -> "
                                        "abcdefghijklmno.");
    assert_non_null(strstr(problem.hint, "directed=true"));
    graph_destroy(graph);
}

static void a_loop_is_named_by_its_vertex(void **state)
{
    struct graph *graph = read_edges("a b 1\nb b -3\n", true);
    struct problem problem = {0};

    (void)state;
    assert_int_equal(cycle_problem_set_loop(graph, &problem), STATUS_NEGATIVE_CYCLE);
    assert_string_equal(problem.detail, "Vertex b has an edge to itself below 0.");
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_are_named_in_walking_order),
        cmocka_unit_test(a_long_cycle_is_cut),
        cmocka_unit_test(a_long_name_is_cut_between_letters),
        cmocka_unit_test(a_loop_is_named_by_its_vertex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
