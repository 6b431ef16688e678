/* The report of apsp bench as one JSON document, schema "apsp-bench/1", described in
 * tests/bench/README.md. Times are seconds, rates per second, memory bytes; what was not measured
 * is null. */
#pragma once

#include "proto/text.h"
#include "server/command/bench_report.h"

/* Appends the document with a newline at its end. STATUS_NO_MEMORY. */
MUST_CHECK enum status bench_document_print(const struct bench_report *report, struct text *text);
