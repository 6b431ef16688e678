#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct graph *read_text(const char *text)
{
    struct graph_options options = {0};
    struct graph *graph = NULL;

    assert_int_equal(read_graph(FORMAT_DIMACS, &options, text, strlen(text), 5, &graph, NULL),
                     STATUS_OK);
    return graph;
}

static enum status choose(const char *text, enum kind requested, enum kind *ret_kind)
{
    struct graph *graph = read_text(text);
    struct problem problem = {0};
    enum status status = graph_choose_kind(graph, requested, ret_kind, &problem);

    assert_int_equal(problem.status, status);
    graph_destroy(graph);
    return status;
}

static bool chooses(const char *text, enum kind requested, enum kind wanted)
{
    enum kind kind;

    return choose(text, requested, &kind) == STATUS_OK && kind == wanted;
}

static bool refuses(const char *text, enum kind requested)
{
    return choose(text, requested, &(enum kind){KIND_AUTO}) == STATUS_WEIGHT_RANGE;
}

static void kinds_follow_the_bound(void **state)
{
    (void)state;
    assert_true(chooses("p sp 2 1\na 1 2 536870911\n", KIND_AUTO, KIND_I4));
    assert_true(chooses("p sp 2 1\na 1 2 536870912\n", KIND_AUTO, KIND_F8));
    assert_true(chooses("p sp 2 1\na 1 2 0.5\n", KIND_AUTO, KIND_F4));
    assert_true(chooses("p sp 2 1\na 1 2 1.5e300\n", KIND_F8, KIND_F8));
    assert_true(refuses("p sp 2 1\na 1 2 536870912\n", KIND_I4));
    assert_true(refuses("p sp 2 1\na 1 2 9007199254740992\n", KIND_AUTO));
    assert_true(refuses("p sp 2 1\na 1 2 0.5\n", KIND_I4));
    assert_true(refuses("p sp 2 1\na 1 2 1e300\n", KIND_F4));
    assert_true(refuses("p sp 2 1\na 1 2 -1\n", KIND_U2));
    assert_true(chooses("p sp 2 1\na 1 2 1\n", KIND_U2, KIND_U2));
}

static uint32_t components_of(uint32_t vertex_count, const uint64_t *row_offset,
                              const uint32_t *targets)
{
    struct graph graph = {.vertex_count = vertex_count,
                          .edge_count = row_offset[vertex_count],
                          .row_offset = (uint64_t *)row_offset,
                          .target = (uint32_t *)targets};

    assert_int_equal(graph_count_components(&graph), STATUS_OK);
    return graph.summary.components;
}

static void components_are_counted_whatever_the_direction(void **state)
{
    (void)state;
    /* 0-2, 2-4, 5-4, and 1, 3 alone; rows 1, 3 and 4 are empty. */
    assert_int_equal(components_of(6, (uint64_t[]){0, 1, 1, 2, 2, 2, 3}, (uint32_t[]){2, 4, 4}), 3);
    assert_int_equal(components_of(3, (uint64_t[]){0, 2, 3, 4}, (uint32_t[]){1, 2, 0, 0}), 1);
    assert_int_equal(components_of(0, (uint64_t[]){0}, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_follow_the_bound),
        cmocka_unit_test(components_are_counted_whatever_the_direction),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
