#include "proto/plan.h"

#include "proto/check.h"

#include <stdlib.h>

void plan_destroy(struct plan *plan)
{
    if (plan == NULL) {
        return;
    }
    free((void *)(uintptr_t)plan->vertex_of);
    free(plan->steps);
    free(plan->lists);
    free(plan);
}

const char *plan_kind_name(enum plan_kind kind)
{
    static const char *const names[] = {
        [PLAN_DENSE] = "dense", [PLAN_NESTED_DISSECTION] = "nested_dissection"};

    CHECK((size_t)kind < sizeof names / sizeof names[0]);
    return names[kind];
}
