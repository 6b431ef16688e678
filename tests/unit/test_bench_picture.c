#include "server/command/bench_heat.h"
#include "server/command/bench_picture.h"
#include "tests/unit/bench_fixture.h"
#include "tests/unit/svg_fixture.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef enum status maker(const struct bench_report *report, struct svg *svg);

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        ++count;
    }
    return count;
}

static struct svg draw(maker *make, const struct bench_report *report)
{
    struct svg svg = {0};
    assert_int_equal(make(report, &svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    assert_int_equal(count_of(svg.text.bytes, "nan"), 0);
    assert_int_equal(count_of(svg.text.bytes, "inf"), 0);
    return svg;
}

static void every_row_is_a_point_of_the_speed_picture(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    struct svg svg = draw(bench_picture_speed, report);
    assert_int_equal(count_of(svg.text.bytes, "<title>n = "), report->row_count);
    assert_int_equal(count_of(svg.text.bytes, "limit i4, 10.0 T"), 1);
    assert_int_equal(count_of(svg.text.bytes, "limit f4"), 0);
    assert_int_equal(count_of(svg.text.bytes, "Card &lt;A&amp;B&gt;"), 2);
    svg_finish(&svg);
    bench_fixture_destroy(report);
}

static void directed_rows_and_products_are_under_the_roof(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    struct svg svg = draw(bench_picture_roofline, report);
    assert_int_equal(count_of(svg.text.bytes, "<title>n = "), report->row_count / 2);
    assert_int_equal(count_of(svg.text.bytes, "<title>product, "), BENCH_FIXTURE_PRODUCTS);
    assert_int_equal(count_of(svg.text.bytes, "<polyline"), 1);
    svg_finish(&svg);
    bench_fixture_destroy(report);
}

/* Of two forms with one tile and depth the faster is shown, and the other's place is empty. */
static void a_cell_shows_the_best_of_its_forms(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    report->products[6].form = report->products[0].form;
    report->products[6].form.slab = 32;
    struct svg svg = draw(bench_heat_draw, report);
    assert_int_equal(count_of(svg.text.bytes, "<title>tile "), 11);
    assert_int_equal(count_of(svg.text.bytes, ">-</text>"), 1);
    assert_int_equal(count_of(svg.text.bytes, "depth 16, thread 8 \u00d7 8, slab 32: "), 1);
    assert_int_equal(count_of(svg.text.bytes, "depth 16, thread 8 \u00d7 8, slab 16: "), 0);
    char percent[32];
    snprintf(percent, sizeof percent, ">%.1f %%</text>",
             bench_report_product_percent(report, &report->products[6]));
    assert_non_null(strstr(svg.text.bytes, percent));
    svg_finish(&svg);
    bench_fixture_destroy(report);
}

static void pictures_of_nothing_are_pictures(void **state)
{
    (void)state;
    struct bench_report *report = calloc(1, sizeof *report);
    assert_non_null(report);
    struct svg speed = draw(bench_picture_speed, report);
    struct svg roofline = draw(bench_picture_roofline, report);
    svg_finish(&speed);
    svg_finish(&roofline);
    free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_a_point_of_the_speed_picture),
        cmocka_unit_test(directed_rows_and_products_are_under_the_roof),
        cmocka_unit_test(a_cell_shows_the_best_of_its_forms),
        cmocka_unit_test(pictures_of_nothing_are_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
