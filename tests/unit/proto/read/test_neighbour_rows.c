#include "proto/read/neighbour_rows.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fixture {
    struct graph_options options;
    struct graph_builder *builder;
    struct neighbour_rows lists;
    struct problem problem;
};

static void begin(struct fixture *fixture)
{
    *fixture = (struct fixture){0};
    assert_int_equal(graph_builder_create(&fixture->options, &fixture->builder), STATUS_OK);
    fixture->lists.builder = fixture->builder;
    fixture->lists.options = &fixture->options;
}

static void end(struct fixture *fixture)
{
    neighbour_rows_finish(&fixture->lists);
    graph_builder_destroy(fixture->builder);
}

/* Neighbours by row, "1 2"; a weight of w is w in every edge. */
static enum status list(struct fixture *fixture, double weight, const char *others)
{
    for (const char *at = others; *at != '\0'; at++) {
        struct neighbour_rows_entry entry = {(uint32_t)(*at - '0'), (uint64_t)(at - others) + 1,
                                             weight};

        if (*at != ' ') {
            assert_int_equal(neighbour_rows_add(&fixture->lists, entry, &fixture->problem),
                             STATUS_OK);
        }
    }
    return neighbour_rows_end_row(&fixture->lists, fixture->lists.row_count + 10,
                                  &fixture->problem);
}

static void lists_in_any_order_agree(void **state)
{
    struct fixture fixture;
    uint32_t ends[2];

    (void)state;
    begin(&fixture);
    assert_int_equal(list(&fixture, 2, "321"), STATUS_OK);
    assert_int_equal(list(&fixture, 2, "20"), STATUS_OK);
    assert_int_equal(list(&fixture, 2, "01"), STATUS_OK);
    assert_int_equal(list(&fixture, 2, "0"), STATUS_OK);
    assert_int_equal(neighbour_rows_end(&fixture.lists, &fixture.problem), STATUS_OK);
    assert_int_equal(graph_builder_edge_count(fixture.builder), 4);
    assert_true(graph_builder_edge(fixture.builder, 3, ends) == 2);
    assert_int_equal(ends[0], 1);
    assert_int_equal(ends[1], 2);
    end(&fixture);
}

static void parallel_edges_are_matched_one_by_one(void **state)
{
    struct fixture fixture;

    (void)state;
    begin(&fixture);
    assert_int_equal(list(&fixture, 1, "11"), STATUS_OK);
    assert_int_equal(list(&fixture, 1, "00"), STATUS_OK);
    assert_int_equal(neighbour_rows_end(&fixture.lists, &fixture.problem), STATUS_OK);
    end(&fixture);
    begin(&fixture);
    assert_int_equal(list(&fixture, 1, "11"), STATUS_OK);
    assert_int_equal(list(&fixture, 1, "0"), STATUS_OK);
    assert_int_equal(neighbour_rows_end(&fixture.lists, &fixture.problem), STATUS_BAD_GRAPH);
    end(&fixture);
}

static void check_refusal(struct fixture *fixture, enum status status, const char *detail,
                          uint64_t line, uint64_t column)
{
    assert_int_equal(status, STATUS_BAD_GRAPH);
    assert_non_null(strstr(fixture->problem.detail, detail));
    assert_int_equal(fixture->problem.line, line);
    assert_int_equal(fixture->problem.column, column);
    end(fixture);
}

static void an_edge_listed_once_is_told_with_its_line(void **state)
{
    struct fixture fixture;
    enum status status;

    (void)state;
    begin(&fixture);
    assert_int_equal(list(&fixture, 1, ""), STATUS_OK);
    status = list(&fixture, 1, "2 0");
    check_refusal(&fixture, status, "Vertex 2 lists vertex 1, but vertex 1 does not", 11, 3);
    begin(&fixture);
    assert_int_equal(list(&fixture, 1, "12"), STATUS_OK);
    assert_int_equal(list(&fixture, 1, ""), STATUS_OK);
    status = list(&fixture, 1, "0");
    check_refusal(&fixture, status, "Vertex 1 lists vertex 2, but vertex 2 does not", 10, 0);
    begin(&fixture);
    assert_int_equal(list(&fixture, 1, "1"), STATUS_OK);
    assert_int_equal(list(&fixture, 1, ""), STATUS_OK);
    status = neighbour_rows_end(&fixture.lists, &fixture.problem);
    check_refusal(&fixture, status, "Vertex 1 lists vertex 2, but vertex 2 does not", 10, 0);
}

static void weights_and_loops_are_judged(void **state)
{
    struct fixture fixture;
    enum status status;

    (void)state;
    begin(&fixture);
    assert_int_equal(list(&fixture, 1, "1"), STATUS_OK);
    status = list(&fixture, 2.5, "0");
    check_refusal(&fixture, status, "weight 2.5 here and 1 in the list of vertex 1", 11, 1);
    begin(&fixture);
    status = list(&fixture, 1, "1 0");
    check_refusal(&fixture, status, "Vertex 1 lists itself", 10, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_in_any_order_agree),
        cmocka_unit_test(parallel_edges_are_matched_one_by_one),
        cmocka_unit_test(an_edge_listed_once_is_told_with_its_line),
        cmocka_unit_test(weights_and_loops_are_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
