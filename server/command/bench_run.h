/* The measuring itself: probes, solves and sweep of one device, into a report. */
#pragma once

#include "server/command/bench_report.h"

#include <stdio.h>

/* solver: borrowed, of the device that is measured. Figures are told to stream as they come.
 * STATUS_CANCELLED after SIGINT; what does not fit the device or the host is left out and noted,
 * every other failure ends the run. The report is the caller's to finish either way. */
MUST_CHECK enum status bench_run(struct solver *solver, const struct bench_options *options,
                                 FILE *stream, struct bench_report *report, struct problem *reterr);
