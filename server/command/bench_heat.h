/* The sweep of a benchmark as a heat map: per cent of the limit by tile and depth, the best of the
 * forms that share them. */
#pragma once

#include "server/command/bench_report.h"
#include "server/command/svg.h"

/* Begins and ends a zeroed svg, which the caller finishes. Products beyond HEAT_MAP_LIMIT tiles or
 * depths are left out. */
MUST_CHECK enum status bench_heat_draw(const struct bench_report *report, struct svg *svg);
