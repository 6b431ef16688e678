/* A plot with two axes on an SVG picture: places of values, grid, ticks and a legend beside it. */
#pragma once

#include "server/command/svg.h"

struct chart_axis {
    const char *name;
    double low; /* above 0 when logarithmic */
    double high;
    double base; /* 0: linear; 2: ticks at its powers; 10: at 1, 2 and 5 times its powers */
};

struct chart {
    struct svg svg;
    struct chart_axis x;
    struct chart_axis y;
    uint32_t legend_lines; /* written so far */
};

/* x and y are set before; the rest is zeroed. */
void chart_begin(struct chart *chart, const char *title, const char *description);
double chart_x(const struct chart *chart, double value);
double chart_y(const struct chart *chart, double value);
void chart_legend_marker(struct chart *chart, int style, int shape, bool hollow, const char *name);
void chart_legend_line(struct chart *chart, int style, bool dashed, const char *name);
void chart_legend_note(struct chart *chart, const char *words);
/* A dashed horizontal line over the whole plot, named in the legend: two may lie close together. */
void chart_level(struct chart *chart, double value, int style, const char *name);
