#include "server/command/chart.h"

#include <math.h>
#include <stdio.h>

#define WIDTH 960.0
#define HEIGHT 560.0
#define LEFT 78.0
#define RIGHT 700.0
#define TOP 56.0
#define BOTTOM 492.0
#define LEGEND_LEFT 724.0
#define LEGEND_STEP 23.0
/* Ticks of a linear axis, about. */
#define TICKS 6
#define TICK_LIMIT 64

static double place(const struct chart_axis *axis, double value, double from, double to)
{
    double part = (value - axis->low) / (axis->high - axis->low);
    if (axis->base > 0) {
        part = log(value / axis->low) / log(axis->high / axis->low);
    }
    return from + part * (to - from);
}

double chart_x(const struct chart *chart, double value)
{
    return place(&chart->x, value, LEFT, RIGHT);
}

double chart_y(const struct chart *chart, double value)
{
    return place(&chart->y, value, BOTTOM, TOP);
}

/* 1, 2 or 5 times a power of ten. */
static double linear_step(double range)
{
    const double rough = range / TICKS;
    const double power = pow(10, floor(log10(rough)));
    const double digits = rough / power;
    return power * (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10);
}

/* The index-th of 1, 2, 5, 10, 20, 50 and so on, or of the powers of 2; from 1 both ways. */
static double logarithmic_tick(double base, int index)
{
    static const double digits[] = {1, 2, 5};
    if (base == 2) {
        return pow(2, index);
    }
    const int decade = (int)floor(index / 3.0);
    return digits[index - 3 * decade] * pow(10, decade);
}

/* The index-th tick at or above the low end. */
static double tick_at(const struct chart_axis *axis, int index)
{
    /* A value that is a tick but for rounding is one. */
    const double slack = 1e-9;
    if (axis->base > 0) {
        const int steps = axis->base == 2 ? 1 : 3;
        int first = steps * (int)floor(log(axis->low) / log(axis->base));
        while (logarithmic_tick(axis->base, first) < axis->low * (1 - slack)) {
            ++first;
        }
        return logarithmic_tick(axis->base, first + index);
    }
    const double step = linear_step(axis->high - axis->low);
    return step * (ceil(axis->low / step - slack) + index);
}

static void print_tick(double value, char *text, size_t size)
{
    snprintf(text, size, value >= 1e6 ? "%.3g" : value >= 1 ? "%.10g" : "%.4g", value);
}

static void draw_ticks(struct chart *chart, const struct chart_axis *axis, bool across)
{
    char text[32];
    for (int index = 0; index < TICK_LIMIT; ++index) {
        const double value = tick_at(axis, index);
        if (value > axis->high * (1 + 1e-9)) {
            return;
        }
        print_tick(value, text, sizeof text);
        if (across) {
            const double x = chart_x(chart, value);
            svg_line(&chart->svg, x, TOP, x, BOTTOM, SVG_GRID, false);
            svg_words(&chart->svg, x, BOTTOM + 20, SVG_MIDDLE, SVG_MUTED, text);
        } else {
            const double y = chart_y(chart, value);
            svg_line(&chart->svg, LEFT, y, RIGHT, y, SVG_GRID, false);
            svg_words(&chart->svg, LEFT - 8, y + 4.5, SVG_END, SVG_MUTED, text);
        }
    }
}

void chart_begin(struct chart *chart, const char *title, const char *description)
{
    svg_begin(&chart->svg, WIDTH, HEIGHT, title, description);
    draw_ticks(chart, &chart->x, true);
    draw_ticks(chart, &chart->y, false);
    svg_line(&chart->svg, LEFT, TOP, LEFT, BOTTOM, SVG_INK, false);
    svg_line(&chart->svg, LEFT, BOTTOM, RIGHT, BOTTOM, SVG_INK, false);
    svg_words(&chart->svg, (LEFT + RIGHT) / 2, BOTTOM + 46, SVG_MIDDLE, SVG_INK, chart->x.name);
    svg_words_upright(&chart->svg, 24, (TOP + BOTTOM) / 2, chart->y.name);
}

static double legend_y(struct chart *chart)
{
    return TOP + 6 + LEGEND_STEP * chart->legend_lines++;
}

void chart_legend_marker(struct chart *chart, int style, int shape, bool hollow, const char *name)
{
    const double y = legend_y(chart);
    svg_marker(&chart->svg, LEGEND_LEFT + 12, y, style, shape, hollow, NULL);
    svg_words(&chart->svg, LEGEND_LEFT + 32, y + 4.5, SVG_START, SVG_INK, name);
}

void chart_legend_line(struct chart *chart, int style, bool dashed, const char *name)
{
    const double y = legend_y(chart);
    svg_line(&chart->svg, LEGEND_LEFT, y, LEGEND_LEFT + 24, y, style, dashed);
    svg_words(&chart->svg, LEGEND_LEFT + 32, y + 4.5, SVG_START, SVG_INK, name);
}

void chart_legend_note(struct chart *chart, const char *words)
{
    const double y = legend_y(chart);
    svg_words(&chart->svg, LEGEND_LEFT, y + 4.5, SVG_START, SVG_MUTED, words);
}

void chart_level(struct chart *chart, double value, int style, const char *name)
{
    const double y = chart_y(chart, value);
    svg_line(&chart->svg, LEFT, y, RIGHT, y, style, true);
    chart_legend_line(chart, style, true, name);
}
