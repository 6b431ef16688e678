#include "proto/plan.h"
#include "tests/lib/test.h"

TEST(plan_destroy_accepts_half_built_plans)
{
    struct plan *plan = calloc(1, sizeof *plan);

    assert_non_null(plan);
    plan->vertex_at = calloc(4, sizeof *plan->vertex_at);
    plan_destroy(plan);
    plan_destroy(NULL);
    assert_string_equal(plan_kind_name(PLAN_DENSE), "dense");
    assert_string_equal(plan_kind_name(PLAN_NESTED_DISSECTION), "nested_dissection");
}
