/* What apsp plan tells of a plan, for people and for programs. */
#pragma once

#include "proto/graph.h"
#include "proto/plan.h"

#include <stdio.h>

struct plan_report {
    const struct graph *graph;
    const struct plan *plan;
    const char *solver; /* whose figures chose it */
    double expected_s;  /* of a solve by it, by these figures */
    double dense_s;     /* and by the dense plan */
};

void plan_report_print_text(const struct plan_report *report, FILE *stream);
/* One line. STATUS_NO_MEMORY, STATUS_IO. */
MUST_CHECK enum status plan_report_print_json(const struct plan_report *report, FILE *stream);
