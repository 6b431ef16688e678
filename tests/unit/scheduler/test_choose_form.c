#include "server/scheduler/choose_form.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/store/label_cache.h"
#include "tests/lib/scheduler_fixture.h"

static const struct quota no_quota;

static enum status choose(struct fixture *fixture, uint32_t vertex_count, uint32_t cost,
                          struct form_look look, struct result_summary *result)
{
    const struct form_question question = {.quota = &no_quota,
                                           .vertex_count = vertex_count,
                                           .edge_count = 20,
                                           .cost = cost,
                                           .look = look};
    struct problem problem;
    return choose_result_form(fixture->scheduler, &question, result, &problem);
}

SCHEDULER_TEST(decimals_that_are_solved_as_i4_have_a_separate_vertex_limit)
{
    struct result_summary result = {0};
    fixture->scheduler->vertex_limit[KIND_F8] = 10;
    fixture->scheduler->vertex_limit[COST_DECIMALS] = 15;
    assert_int_equal(choose(fixture, 15, COST_DECIMALS, (struct form_look){0}, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_MATRIX);
    assert_int_equal(result.bytes, ledger_result_bytes(RESULT_FORM_MATRIX, 15, 20, KIND_F8));
    result = (struct result_summary){.form = RESULT_FORM_MATRIX};
    assert_int_equal(choose(fixture, 15, KIND_F8, (struct form_look){0}, &result),
                     STATUS_TOO_LARGE);
}

SCHEDULER_TEST(auto_chooses_a_hierarchy_above_the_matrix_vertex_limit)
{
    struct result_summary result = {0};
    fixture->scheduler->vertex_limit[KIND_I4] = 10;
    assert_int_equal(choose(fixture, 10, KIND_I4, (struct form_look){0}, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_MATRIX);
    assert_string_equal(result.reason, RESULT_REASON_FITS);
    result = (struct result_summary){0};
    assert_int_equal(choose(fixture, 11, KIND_I4, (struct form_look){0}, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_HIERARCHY);
    assert_string_equal(result.reason, "a matrix of 0.0 MB does not fit");
}

SCHEDULER_TEST(auto_chooses_a_hierarchy_that_is_much_smaller_than_the_matrix)
{
    static const struct {
        struct form_look look;
        enum result_form form;
        const char *reason;
    } cases[] = {
        {{.state = FORM_MEASURED, .bytes = 400000, .label_bytes = 24600000},
         RESULT_FORM_HIERARCHY,
         "a hierarchy of 0.4 MB answers queries as fast as a matrix of 400.2 MB; result=matrix "
         "requests "
         "the matrix"},
        {{.state = FORM_MEASURED, .bytes = 400000, .label_bytes = 24700000},
         RESULT_FORM_MATRIX,
         "the matrix fits, and answers queries faster than a hierarchy of this graph"},
        {{.state = FORM_NO_SEPARATORS, .byte_limit = 25000000},
         RESULT_FORM_MATRIX,
         "the matrix fits, and answers queries faster than a hierarchy of this graph"},
        {{.state = FORM_UNSEEN}, RESULT_FORM_MATRIX, RESULT_REASON_FITS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result_summary result = {0};
        assert_int_equal(choose(fixture, 10000, KIND_I4, cases[i].look, &result), STATUS_OK);
        assert_int_equal(result.form, cases[i].form);
        assert_string_equal(result.reason, cases[i].reason);
    }
}

SCHEDULER_TEST(labels_do_not_count_if_all_rows_fit_the_label_budget)
{
    static const struct {
        uint32_t cost;
        uint64_t bytes;
        uint64_t budget;
        enum result_form form;
    } cases[] = {
        {KIND_I4, 25000000, 800000000, RESULT_FORM_HIERARCHY},
        {KIND_I4, 25000000, 799999999, RESULT_FORM_MATRIX},
        {KIND_I4, 25100000, 800000000, RESULT_FORM_MATRIX},
        {COST_DECIMALS, 50000000, 1600000000, RESULT_FORM_HIERARCHY},
        {COST_DECIMALS, 50000000, 1599999999, RESULT_FORM_MATRIX},
        {KIND_F8, 50000000, 1600000000, RESULT_FORM_MATRIX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result_summary result = {0};
        const struct form_look look = {
            .state = FORM_MEASURED, .bytes = cases[i].bytes, .label_bytes = 1 << 30};
        fixture->scheduler->vertex_limit[cases[i].cost] = 10000;
        label_cache_set_budget(cases[i].budget);
        assert_int_equal(choose(fixture, 10000, cases[i].cost, look, &result), STATUS_OK);
        assert_int_equal(result.form, cases[i].form);
    }
    label_cache_set_budget(1);
}

SCHEDULER_TEST(auto_chooses_a_hierarchy_if_no_matrix_fits_on_disk)
{
    struct result_summary result = {0};
    const struct form_look look = {.state = FORM_MEASURED, .bytes = 1000, .label_bytes = 1 << 30};
    const uint64_t free_bytes = store_free_bytes(fixture->store);
    fixture->config.disk_reserve_bytes = free_bytes > 50000000 ? free_bytes - 50000000 : 0;
    fixture->scheduler->vertex_limit[KIND_I4] = 20000;
    assert_int_equal(choose(fixture, 20000, KIND_I4, look, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_HIERARCHY);
    assert_string_equal(result.reason, "a matrix of 1600.4 MB does not fit on the disk");
    assert_int_equal(result.bytes, 1000);
    result = (struct result_summary){.form = RESULT_FORM_MATRIX};
    assert_int_equal(choose(fixture, 20000, KIND_I4, look, &result), STATUS_DISK_FULL);
}

SCHEDULER_TEST(a_requested_form_is_used_or_refused)
{
    const struct form_look unseen = {0};
    struct result_summary result = {.form = RESULT_FORM_HIERARCHY};
    fixture->scheduler->vertex_limit[KIND_I4] = fixture->scheduler->vertex_limit[KIND_U2] = 10;
    assert_int_equal(choose(fixture, 3, KIND_I4, unseen, &result), STATUS_OK);
    assert_int_equal(result.form, RESULT_FORM_HIERARCHY);
    assert_string_equal(result.reason, RESULT_REASON_ASKED);
    assert_int_equal(choose(fixture, 3, KIND_U2, unseen, &result), STATUS_BAD_PARAMETER);
    result = (struct result_summary){.form = RESULT_FORM_MATRIX};
    assert_int_equal(choose(fixture, 11, KIND_I4, unseen, &result), STATUS_TOO_LARGE);
    result = (struct result_summary){0};
    assert_int_equal(choose(fixture, 11, KIND_U2, unseen, &result), STATUS_TOO_LARGE);
}

SCHEDULER_TEST(a_hierarchy_is_tried_only_for_large_sparse_graphs)
{
    static const struct {
        enum result_form form;
        enum kind kind;
        uint32_t vertex_count;
        uint64_t edge_count;
        bool is_needed;
        bool is_limited;
    } cases[] = {
        {RESULT_FORM_AUTO, KIND_I4, FORM_MATRIX_VERTICES, 100, false, true},
        {RESULT_FORM_AUTO, KIND_I4, FORM_MATRIX_VERTICES + 1, 100, true, true},
        {RESULT_FORM_AUTO, KIND_U2, FORM_MATRIX_VERTICES + 1, 100, false, false},
        {RESULT_FORM_AUTO, KIND_I4, FORM_MATRIX_VERTICES + 1, 20000000, false, true},
        {RESULT_FORM_AUTO, KIND_I4, 10001, 20000000, true, false},
        {RESULT_FORM_HIERARCHY, KIND_I4, 3, 3, true, false},
        {RESULT_FORM_MATRIX, KIND_I4, 9000, 3, false, false},
    };
    fixture->scheduler->vertex_limit[KIND_I4] = 10000;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct form_look look;
        assert_int_equal(form_look_begin(fixture->scheduler, cases[i].form, cases[i].kind,
                                         cases[i].vertex_count, cases[i].edge_count, &look),
                         cases[i].is_needed);
        assert_int_equal(look.byte_limit < UINT64_MAX, cases[i].is_limited);
    }
}

SCHEDULER_TEST(a_gpu_computes_the_matrix_of_a_larger_graph)
{
    struct scheduler_worker *worker = &fixture->scheduler->workers[0];
    const struct worker_facts *own = worker->facts;
    struct worker_facts facts = *own;
    struct form_look look;
    fixture->scheduler->vertex_limit[KIND_I4] = 10000;
    snprintf(facts.device.solver, sizeof(facts.device.solver), "gpu");
    worker->facts = &facts;
    assert_false(form_look_begin(fixture->scheduler, RESULT_FORM_AUTO, KIND_I4,
                                 FORM_MATRIX_VERTICES_GPU, 100, &look));
    assert_true(form_look_begin(fixture->scheduler, RESULT_FORM_AUTO, KIND_I4,
                                FORM_MATRIX_VERTICES_GPU + 1, 100, &look));
    worker->facts = own;
}
