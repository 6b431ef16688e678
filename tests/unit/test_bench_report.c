#include "server/command/bench_report.h"
#include "tests/unit/bench_fixture.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void a_rate_counts_the_cube_of_every_graph(void **state)
{
    (void)state;
    struct bench_row row = {.vertex_count = 1000, .graph_count = 1};
    assert_true(bench_report_rate(&row) == 0);
    row.timings.compute_s = 0.5;
    assert_true(bench_report_rate(&row) == 2e9);
    row.graph_count = 10;
    assert_true(bench_report_rate(&row) == 2e10);
    row.directed = true;
    assert_true(bench_report_rate(&row) == 2e10);
}

static void a_percentage_is_of_the_limit_of_its_own_kind(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    struct bench_row row = {.vertex_count = 1000, .graph_count = 1, .timings.compute_s = 1e-4};
    assert_float_equal(bench_report_percent(report, &row), 100, 1e-9);
    row.arithmetic = ARITHMETIC_F4;
    assert_true(bench_report_percent(report, &row) == 0);
    report->limits[ARITHMETIC_F4].relaxations_per_s = 4e13;
    assert_float_equal(bench_report_percent(report, &row), 25, 1e-9);
    assert_float_equal(bench_report_product_percent(report, &report->products[0]), 5, 1e-9);
    bench_fixture_destroy(report);
}

static void intensity_is_work_per_byte(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    assert_true(bench_report_intensity(report, ARITHMETIC_I4) == 16);
    assert_true(bench_report_intensity(report, ARITHMETIC_NARROW) == 32);
    assert_true(bench_report_intensity(report, ARITHMETIC_F8) == 8);
    assert_true(bench_report_product_intensity(&report->products[0]) == 2);
    bench_fixture_destroy(report);
}

static void rates_are_told_in_units_of_the_device(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    assert_string_equal(bench_report_unit_name(report), "T");
    assert_true(bench_report_unit(report) == 1e12);
    snprintf(report->device.solver, sizeof report->device.solver, "cpu");
    assert_string_equal(bench_report_unit_name(report), "G");
    assert_true(bench_report_unit(report) == 1e9);
    bench_fixture_destroy(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_counts_the_cube_of_every_graph),
        cmocka_unit_test(a_percentage_is_of_the_limit_of_its_own_kind),
        cmocka_unit_test(intensity_is_work_per_byte),
        cmocka_unit_test(rates_are_told_in_units_of_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
