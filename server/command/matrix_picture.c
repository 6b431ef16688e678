#include "server/command/matrix_picture.h"

#include "proto/overview.h"
#include "server/command/heat_map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEFT 20.0
#define TOP 92.0
#define SIDE 512
#define CELLS 128
#define SCALE_LEFT (LEFT + SIDE + 16)
#define SCALE_WIDTH 14.0
#define SCALE_STEPS 32
#define PANEL_LEFT (LEFT + SIDE + 150)
#define PANEL_WIDTH 420.0
#define PANEL_TOP 280.0
#define WIDTH (PANEL_LEFT + PANEL_WIDTH + 24)
#define HEIGHT (TOP + SIDE + 48)
#define BOTTOM (TOP + SIDE)
#define LINE 24.0
/* Seen on light and on dark ground. */
#define UNREACHABLE_COLOUR 0x9aa3ae
#define BAR_COLOUR 0x2f7fb8
/* Colours of cells: as many paths. */
#define SHADES 48

struct picture {
    const struct matrix *matrix;
    const struct statistics *statistics;
    struct svg *svg;
    struct overview overview;
    struct overview_cell *cells; /* row by row */
    double least;                /* of the means */
    double largest;
};

static const void *row_of(const void *context, uint32_t row)
{
    const struct matrix *matrix = context;
    return (const char *)matrix->elements +
           (size_t)row * matrix->vertex_count * kind_size(matrix->kind);
}

static size_t cell_count(const struct picture *picture)
{
    return (size_t)picture->overview.rows.cells * picture->overview.columns.cells;
}

static double mean_of(const struct overview_cell *cell)
{
    return cell->sum / (double)cell->finite;
}

static void look(struct picture *picture)
{
    const uint32_t columns = picture->overview.columns.cells;
    for (uint32_t row = 0; row < picture->overview.rows.cells; ++row) {
        overview_look(&picture->overview, row, row_of, picture->matrix,
                      picture->cells + (size_t)row * columns);
    }
    picture->least = INFINITY;
    picture->largest = -INFINITY;
    for (size_t cell = 0; cell < cell_count(picture); ++cell) {
        if (picture->cells[cell].finite > 0) {
            picture->least = fmin(picture->least, mean_of(&picture->cells[cell]));
            picture->largest = fmax(picture->largest, mean_of(&picture->cells[cell]));
        }
    }
}

/* ---- Cells ---- */

static int shade_of(const struct picture *picture, const struct overview_cell *cell)
{
    const double range = picture->largest - picture->least;
    const double part = range > 0 ? (mean_of(cell) - picture->least) / range : 0;
    return (int)(part * (SHADES - 1) + 0.5);
}

static int edge(uint32_t cell, uint32_t cells)
{
    return (int)(cell * SIDE / cells);
}

/* Neighbours of one shade in a row are one rectangle. */
static void draw_row(const struct picture *picture, uint32_t row, int shade)
{
    const uint32_t columns = picture->overview.columns.cells;
    const uint32_t rows = picture->overview.rows.cells;
    const struct overview_cell *cells = picture->cells + (size_t)row * columns;
    for (uint32_t begin = 0; begin < columns; ++begin) {
        uint32_t end = begin;
        while (end < columns && cells[end].finite > 0 && shade_of(picture, &cells[end]) == shade) {
            ++end;
        }
        if (end > begin) {
            svg_cell(picture->svg, (int)LEFT + edge(begin, columns), (int)TOP + edge(row, rows),
                     edge(end, columns) - edge(begin, columns),
                     edge(row + 1, rows) - edge(row, rows));
            begin = end;
        }
    }
}

static void draw_cells(const struct picture *picture)
{
    svg_rectangle(picture->svg, LEFT, TOP, SIDE, SIDE, UNREACHABLE_COLOUR, NULL);
    for (int shade = 0; shade < SHADES; ++shade) {
        svg_cells_begin(picture->svg, heat_map_colour(100.0 * shade / (SHADES - 1)));
        for (uint32_t row = 0; row < picture->overview.rows.cells; ++row) {
            draw_row(picture, row, shade);
        }
        svg_cells_end(picture->svg);
    }
}

/* Whole numbers where the digits behind the point would say nothing. */
static void print_value(double value, char *words, size_t size)
{
    snprintf(words, size, fabs(value) >= 1000 && fabs(value) < 1e9 ? "%.0f" : "%.4g", value);
}

/* From the largest at the top to the least. */
static void draw_scale(const struct picture *picture)
{
    const double step = (double)SIDE / SCALE_STEPS;
    char words[32];
    if (!(picture->least <= picture->largest)) {
        return;
    }
    for (int i = 0; i < SCALE_STEPS; ++i) {
        svg_rectangle(picture->svg, SCALE_LEFT, TOP + step * i, SCALE_WIDTH, step + 0.5,
                      heat_map_colour(100 - (i + 0.5) * 100 / SCALE_STEPS), NULL);
    }
    for (int quarter = 0; quarter <= 4; ++quarter) {
        const double value = picture->largest - quarter * (picture->largest - picture->least) / 4;
        print_value(value, words, sizeof words);
        svg_words(picture->svg, SCALE_LEFT + SCALE_WIDTH + 8, TOP + SIDE * quarter / 4.0 + 4.5,
                  SVG_START, SVG_MUTED, words);
    }
}

/* ---- Beside the cells ---- */

static void draw_figure(const struct picture *picture, int line, const char *name,
                        const char *value)
{
    const double y = TOP + 12 + LINE * line;
    svg_words(picture->svg, PANEL_LEFT, y, SVG_START, SVG_MUTED, name);
    svg_words(picture->svg, PANEL_LEFT + 150, y, SVG_START, SVG_INK, value);
}

static void draw_number(const struct picture *picture, int line, const char *name, double value)
{
    char words[32];
    snprintf(words, sizeof words, "%.9g", value);
    draw_figure(picture, line, name,
                picture->statistics->summary->reachable_pairs > 0 ? words : "none");
}

static void draw_figures(const struct picture *picture)
{
    const struct statistics_summary *summary = picture->statistics->summary;
    const double n = picture->matrix->vertex_count;
    char words[64];
    snprintf(words, sizeof words, "%" PRIu32, picture->matrix->vertex_count);
    draw_figure(picture, 0, "vertices", words);
    draw_figure(picture, 1, "distances in", kind_name(picture->matrix->kind));
    draw_number(picture, 2, "diameter", summary->diameter);
    draw_number(picture, 3, "radius", summary->radius);
    draw_number(picture, 4, "mean distance", summary->mean_distance);
    snprintf(words, sizeof words, "%" PRIu64 " (%.3g %%)", summary->reachable_pairs,
             n > 1 ? 100 * (double)summary->reachable_pairs / (n * (n - 1)) : 0);
    draw_figure(picture, 5, "reachable pairs", words);
}

/* Behind the last bin that counts there may be empty ones. */
static int bins_of(const struct statistics_summary *summary, double *ret_most)
{
    int bins = 1;
    *ret_most = 1;
    for (int bin = 0; bin < STATISTICS_BINS; ++bin) {
        bins = summary->bins[bin] > 0 ? bin + 1 : bins;
        *ret_most = fmax(*ret_most, (double)summary->bins[bin]);
    }
    return bins;
}

static void draw_bar(const struct picture *picture, int bin, double step, double most)
{
    const struct statistics_summary *summary = picture->statistics->summary;
    const double tall = (BOTTOM - PANEL_TOP) * (double)summary->bins[bin] / most;
    const double from = summary->bin_begin + bin * summary->bin_width;
    char tip[96];
    snprintf(tip, sizeof tip, "%.6g to %.6g: %" PRIu64 " pairs", from, from + summary->bin_width,
             summary->bins[bin]);
    if (summary->bins[bin] > 0) {
        svg_rectangle(picture->svg, PANEL_LEFT + step * bin + 0.5, BOTTOM - tall, step - 1, tall,
                      BAR_COLOUR, tip);
    }
}

static void draw_histogram(const struct picture *picture)
{
    const struct statistics_summary *summary = picture->statistics->summary;
    char words[64];
    double most;
    const int bins = bins_of(summary, &most);
    if (summary->reachable_pairs == 0) {
        svg_words(picture->svg, PANEL_LEFT, PANEL_TOP, SVG_START, SVG_MUTED,
                  "no vertex reaches another");
        return;
    }
    for (int bin = 0; bin < bins; ++bin) {
        draw_bar(picture, bin, PANEL_WIDTH / bins, most);
    }
    svg_line(picture->svg, PANEL_LEFT, BOTTOM, PANEL_LEFT + PANEL_WIDTH, BOTTOM, SVG_INK, false);
    snprintf(words, sizeof words, "pairs by distance, %.0f at most in a bin", most);
    svg_words(picture->svg, PANEL_LEFT, PANEL_TOP - 16, SVG_START, SVG_MUTED, words);
    for (int part = 0; part <= 4; ++part) {
        print_value(summary->bin_begin + part / 4.0 * bins * summary->bin_width, words,
                    sizeof words);
        svg_words(picture->svg, PANEL_LEFT + PANEL_WIDTH * part / 4, BOTTOM + 20,
                  part == 4 ? SVG_END : SVG_MIDDLE, SVG_MUTED, words);
    }
}

static void draw(const struct picture *picture, const char *name)
{
    char title[128];
    snprintf(title, sizeof title, "Distances of %.100s", name);
    svg_begin(picture->svg, WIDTH, HEIGHT, title,
              "The matrix of distances, coloured from violet for near to yellow for far, and a "
              "histogram of the distances.");
    svg_words(picture->svg, LEFT, 54, SVG_START, SVG_MUTED,
              "rows: from, columns: to; colours: the mean distance of a block; grey: unreachable");
    svg_words(picture->svg, LEFT, 74, SVG_START, SVG_MUTED,
              overview_is_sample(&picture->overview) ? "judged by a sample of each block" : "");
    draw_cells(picture);
    draw_scale(picture);
    draw_figures(picture);
    draw_histogram(picture);
}

enum status matrix_picture_draw(const struct matrix *matrix, const struct statistics *statistics,
                                const char *name, struct svg *svg)
{
    const struct overview_axis all = {.count = matrix->vertex_count};
    struct picture picture = {
        .matrix = matrix,
        .statistics = statistics,
        .svg = svg,
        .overview = overview_plan(matrix->kind, all, all, CELLS),
    };
    picture.cells = calloc(cell_count(&picture) + 1, sizeof(*picture.cells));
    if (picture.cells == NULL) {
        return STATUS_NO_MEMORY;
    }
    look(&picture);
    draw(&picture, name);
    free(picture.cells);
    return svg_end(svg);
}
