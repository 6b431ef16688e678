/* What apsp bench leaves behind: a JSON document, and pictures beside it. */
#pragma once

#include "server/command/bench_report.h"

/* The document to path, "-" for standard output. */
MUST_CHECK enum status bench_output_json(const struct bench_report *report, const char *path,
                                         struct problem *reterr);
/* Makes the folder when it is missing, and tells before the measuring whether it can be written to.
 */
MUST_CHECK enum status bench_output_prepare(const char *folder, struct problem *reterr);
/* bench.json, speed.svg, roofline.svg and, after a sweep, heat_map.svg. */
MUST_CHECK enum status bench_output_folder(const struct bench_report *report, const char *folder,
                                           struct problem *reterr);
