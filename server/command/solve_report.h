/* What a solve tells at its end: some lines for people, or one JSON object with the members that a
 * job's document has. */
#pragma once

#include "proto/job_document.h"
#include "server/solver/solve.h"

#include <stdio.h>

struct solve_report {
    const struct graph *graph; /* NULL when it could not be read */
    enum kind kind;
    const struct solve_outcome *outcome;
    double parse_s;
    double write_s;
    double total_s;
    const struct problem *problem; /* status STATUS_OK: solved */
};

/* summary, plan, timings, solver, device; verified, verification or problem where they apply. One
 * line. */
MUST_CHECK enum status solve_report_print_json(const struct solve_report *report, FILE *stream);
void solve_report_print_text(const struct solve_report *report, FILE *stream);
