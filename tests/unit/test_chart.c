#include "server/command/chart.h"
#include "tests/unit/svg_fixture.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct chart make_chart(double low, double high, double base)
{
    return (struct chart){.x = {"x", 1, 1024, 2}, .y = {"y", low, high, base}};
}

static void values_lie_between_the_ends_of_their_axis(void **state)
{
    (void)state;
    const struct chart linear = make_chart(0, 10, 0);
    const struct chart logarithmic = make_chart(0.01, 100, 10);
    const double middle = (chart_y(&linear, 0) + chart_y(&linear, 10)) / 2;
    assert_true(chart_y(&linear, 0) > chart_y(&linear, 10));
    assert_float_equal(chart_y(&linear, 5), middle, 1e-6);
    assert_float_equal(chart_y(&logarithmic, 1), middle, 1e-3);
    assert_float_equal(chart_x(&linear, 32), (chart_x(&linear, 1) + chart_x(&linear, 1024)) / 2,
                       1e-3);
}

static void assert_ticks(struct chart chart, const char *const *present, const char *absent)
{
    char words[32];
    chart_begin(&chart, "title", "description");
    assert_int_equal(svg_end(&chart.svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(chart.svg.text.bytes));
    for (; *present != NULL; ++present) {
        snprintf(words, sizeof words, "\"end\">%s</text>", *present);
        assert_non_null(strstr(chart.svg.text.bytes, words));
    }
    snprintf(words, sizeof words, "\"end\">%s</text>", absent);
    assert_null(strstr(chart.svg.text.bytes, words));
    svg_finish(&chart.svg);
}

static void ticks_are_round_numbers_within_the_axis(void **state)
{
    (void)state;
    assert_ticks(make_chart(0, 28, 0), (const char *const[]){"0", "5", "10", "25", NULL}, "30");
    assert_ticks(make_chart(0, 0.07, 0), (const char *const[]){"0", "0.01", "0.07", NULL}, "0.08");
    assert_ticks(make_chart(0.3, 30, 10),
                 (const char *const[]){"0.5", "1", "2", "5", "10", "20", NULL}, "0.2");
    assert_ticks(make_chart(0.1, 30, 10), (const char *const[]){"0.1", "20", NULL}, "50");
    assert_ticks(make_chart(3, 70, 2), (const char *const[]){"4", "8", "64", NULL}, "128");
}

static void the_legend_grows_downwards(void **state)
{
    (void)state;
    struct chart chart = make_chart(0, 10, 0);
    chart_begin(&chart, "title", "description");
    chart_level(&chart, 5, SVG_SERIES, "half");
    chart_legend_marker(&chart, SVG_SERIES, 0, false, "first");
    chart_legend_line(&chart, SVG_SERIES, true, "second");
    chart_legend_note(&chart, "third & last");
    assert_int_equal(chart.legend_lines, 4);
    assert_int_equal(svg_end(&chart.svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(chart.svg.text.bytes));
    assert_non_null(strstr(chart.svg.text.bytes, "third &amp; last"));
    svg_finish(&chart.svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_lie_between_the_ends_of_their_axis),
        cmocka_unit_test(ticks_are_round_numbers_within_the_axis),
        cmocka_unit_test(the_legend_grows_downwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
