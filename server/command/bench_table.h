/* The figures of apsp bench as text for people: a line per figure as soon as it is known, and the
 * table at the end. */
#pragma once

#include "server/command/bench_report.h"

#include <stdio.h>

void bench_table_print_device(const struct bench_report *report, FILE *stream);
void bench_table_print_limit(const struct bench_report *report, enum arithmetic arithmetic,
                             FILE *stream);
void bench_table_print_memory(const struct bench_report *report, FILE *stream);
void bench_table_print_row(const struct bench_report *report, const struct bench_row *row,
                           FILE *stream);
void bench_table_print_skip(const struct bench_skip *skip, FILE *stream);
void bench_table_print_product(const struct bench_report *report,
                               const struct product_figure *product, FILE *stream);
/* Of all rows, in their order. */
void bench_table_print(const struct bench_report *report, FILE *stream);
