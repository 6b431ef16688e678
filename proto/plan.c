#include "proto/plan.h"

#include "proto/number.h"

#include <jansson.h>
#include <stdlib.h>

void plan_destroy(struct plan *plan)
{
    if (plan == NULL) {
        return;
    }
    free(plan->vertex_at);
    free(plan->tile_begin);
    free(plan->edge_tiles);
    free(plan->reached_tiles);
    free(plan->rounds);
    free(plan->pivots);
    free(plan->left_tiles);
    free(plan->right_tiles);
    free(plan->targets);
    free(plan->products);
    free(plan);
}

const char *plan_kind_name(enum plan_kind kind)
{
    static const char *const names[] = {
        [PLAN_DENSE] = "dense", [PLAN_NESTED_DISSECTION] = "nested_dissection"};

    return names[kind];
}

struct json_t *plan_summary_json(const struct plan_summary *summary)
{
    json_t *fraction = summary->work_fraction == 1
                           ? json_integer(1)
                           : json_real(number_round(summary->work_fraction));
    return json_pack("{s:s, s:I, s:I, s:o, s:f, s:b}", "kind", plan_kind_name(summary->kind),
                     "parts", (json_int_t)summary->parts, "largest_separator",
                     (json_int_t)summary->largest_separator, "work_fraction", fraction,
                     "planning_s", number_round(summary->planning_s), "cached", summary->cached);
}
