#include "server/command/bench_table.h"
#include "tests/unit/bench_fixture.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef void print(const struct bench_report *report, FILE *stream);

static void print_everything(const struct bench_report *report, FILE *stream)
{
    bench_table_print_device(report, stream);
    bench_table_print_limit(report, ARITHMETIC_I4, stream);
    bench_table_print_limit(report, ARITHMETIC_F4, stream);
    bench_table_print_memory(report, stream);
    bench_table_print_product(report, &report->products[0], stream);
    bench_table_print_row(report, &report->rows[0], stream);
    bench_table_print_skip(&report->skips[0], stream);
}

static void assert_printed(print *printed, const struct bench_report *report, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    printed(report, stream);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void every_figure_has_its_line(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    assert_printed(
        print_everything, report,
        "gpu: Card <A&B>, , 100 units, 0.0 GB, driver CUDA 13.1, built with CUDA 13.0\n"
        "limit i4: 10.00 T, 66.7 per clock and multiprocessor at 1500 MHz\n"
        "memory: copy 2000.0 GB/s read and written, to device 50.0 GB/s, from device 40.0 GB/s\n"
        "product tile=64x64 depth=16: thread 8x8, slab 16: 0.032 ms, 0.50 T, 5.0 % of the limit\n"
        "solve n=1024 i4 directed: 1.074 ms, 1.00 T, 10.0 % of the limit, fill 0.00 ms, h2d 0.00 "
        "ms, d2h 0.00 ms, 5 runs\n"
        "solve n=40000 f8 undirected: left out, needs more\n");
    bench_fixture_destroy(report);
}

static void the_table_has_a_line_per_row(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    report->row_count = 2;
    report->rows[1].graph_count = 10;
    assert_printed(bench_table_print, report,
                   "\n| n | kind | edges | ms | T | % of limit | fill ms | h2d ms | d2h ms |\n"
                   "|---:|---|---|---:|---:|---:|---:|---:|---:|\n"
                   "| 1024 | i4 | directed | 1.074 | 1.00 | 10.0 | 0.00 | 0.00 | 0.00 |\n"
                   "| 10 x 1024 | i4 | undirected | 0.537 | 20.00 | 200.0 | 0.00 | 0.00 | 0.00 "
                   "|\n");
    bench_fixture_destroy(report);
}

static void a_table_without_rows_is_nothing(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    report->row_count = 0;
    assert_printed(bench_table_print, report, "");
    bench_fixture_destroy(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_has_its_line),
        cmocka_unit_test(the_table_has_a_line_per_row),
        cmocka_unit_test(a_table_without_rows_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
