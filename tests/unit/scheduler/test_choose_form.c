#include "server/scheduler/choose_form.h"
#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/scheduler_fixture.h"

static const struct quota no_quota;

static enum status choose(struct fixture *fixture, uint32_t vertex_count, enum kind kind,
                          enum result_form asked, struct result_summary *ret_result)
{
    const struct graph_row row = {.vertex_count = vertex_count, .edge_count = 20};
    struct problem problem;
    *ret_result = (struct result_summary){.form = asked};
    return choose_result_form(fixture->scheduler, &no_quota, &row, kind, 0, ret_result, &problem);
}

SCHEDULER_TEST(auto_is_a_hierarchy_beyond_the_vertices_of_a_matrix)
{
    struct result_summary result;
    fixture->scheduler->vertex_limit[KIND_I4] = 10;
    assert_int_equal(choose(fixture, 10, KIND_I4, RESULT_FORM_AUTO, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_MATRIX);
    assert_int_equal(result.reason, RESULT_REASON_FITS);
    assert_int_equal(choose(fixture, 11, KIND_I4, RESULT_FORM_AUTO, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_HIERARCHY);
    assert_int_equal(result.reason, RESULT_REASON_VERTICES);
}

SCHEDULER_TEST(a_form_that_is_asked_for_is_kept_or_refused)
{
    struct result_summary result;
    fixture->scheduler->vertex_limit[KIND_I4] = fixture->scheduler->vertex_limit[KIND_U2] = 10;
    assert_int_equal(choose(fixture, 3, KIND_I4, RESULT_FORM_HIERARCHY, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_HIERARCHY);
    assert_int_equal(result.reason, RESULT_REASON_ASKED);
    assert_int_equal(choose(fixture, 11, KIND_I4, RESULT_FORM_MATRIX, &result), STATUS_TOO_LARGE);
    assert_int_equal(choose(fixture, 11, KIND_U2, RESULT_FORM_AUTO, &result), STATUS_TOO_LARGE);
    assert_int_equal(choose(fixture, 3, KIND_U2, RESULT_FORM_HIERARCHY, &result),
                     STATUS_BAD_PARAMETER);
}
