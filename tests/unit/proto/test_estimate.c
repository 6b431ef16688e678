#include "proto/estimate.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static json_t *print(const struct estimate *estimate)
{
    char *text = estimate_print(estimate);
    json_t *root = text == NULL ? NULL : json_loads(text, 0, NULL);

    assert_non_null(root);
    free(text);
    return root;
}

static void what_fits_has_no_reason(void **state)
{
    const struct estimate estimate = {
        .vertex_count = 1000,
        .edge_count = 5000,
        .kind = KIND_I4,
        .solver = "cpu",
        .device = "a processor",
        .host_bytes = 4000000,
        .disk_bytes = 4100000,
        .seconds = 0.25,
        .vertex_limit = 60000,
        .edge_limit = 1000000,
        .free_disk_bytes = 1 << 30,
        .fits = true,
    };
    json_t *root = print(&estimate);

    (void)state;
    assert_int_equal(json_integer_value(json_object_get(root, "n")), 1000);
    assert_int_equal(json_integer_value(json_object_get(root, "m")), 5000);
    assert_string_equal(json_string_value(json_object_get(root, "kind")), "i4");
    assert_true(json_real_value(json_object_get(root, "seconds")) == 0.25);
    assert_true(json_is_true(json_object_get(root, "fits")));
    assert_true(json_is_null(json_object_get(root, "reason")));
    assert_true(json_is_null(json_object_get(root, "hint")));
    assert_true(json_is_null(json_object_get(root, "plan")));
    json_t *limits = json_object_get(root, "limits");
    assert_int_equal(json_integer_value(json_object_get(limits, "vertex_limit")), 60000);
    json_decref(root);
}

static void a_plan_that_was_made_is_told(void **state)
{
    const struct estimate estimate = {
        .solver = "cpu",
        .device = "a processor",
        .planned = true,
        .plan = {PLAN_NESTED_DISSECTION, 43, 25, 0.25, 0.5},
    };
    json_t *root = print(&estimate);
    const json_t *plan = json_object_get(root, "plan");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(plan, "kind")), "nested_dissection");
    assert_int_equal(json_integer_value(json_object_get(plan, "parts")), 43);
    assert_int_equal(json_integer_value(json_object_get(plan, "largest_separator")), 25);
    assert_true(json_real_value(json_object_get(plan, "work_fraction")) == 0.25);
    assert_true(json_real_value(json_object_get(plan, "planning_s")) == 0.5);
    json_decref(root);
}

static void what_does_not_fit_says_why_and_what_would(void **state)
{
    const struct estimate estimate = {
        .kind = KIND_F8,
        .solver = "gpu",
        .device = "a card",
        .seconds = -1,
        .reason = "too \"large\"",
        .hint = "take less",
    };
    json_t *root = print(&estimate);

    (void)state;
    assert_true(json_is_false(json_object_get(root, "fits")));
    assert_true(json_is_null(json_object_get(root, "seconds")));
    assert_string_equal(json_string_value(json_object_get(root, "reason")), "too \"large\"");
    assert_string_equal(json_string_value(json_object_get(root, "hint")), "take less");
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_has_no_reason),
        cmocka_unit_test(a_plan_that_was_made_is_told),
        cmocka_unit_test(what_does_not_fit_says_why_and_what_would),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
