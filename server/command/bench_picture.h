/* The pictures of a benchmark: speed over size, and roofline (S. Williams, A. Waterman,
 * D. Patterson, "Roofline", CACM 52(4), 2009). Each begins and ends a zeroed svg, which the caller
 * finishes. */
#pragma once

#include "server/command/bench_report.h"
#include "server/command/svg.h"

/* Rates of the rows over the number of vertices, a dashed line for each limit. */
MUST_CHECK enum status bench_picture_speed(const struct bench_report *report, struct svg *svg);
/* Directed rows and products by their relaxations per byte, under what memory and arithmetic allow.
 */
MUST_CHECK enum status bench_picture_roofline(const struct bench_report *report, struct svg *svg);
