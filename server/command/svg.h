/* A picture as SVG text: shapes, markers and escaped words, in colours that follow the reader's
 * light or dark screen. Pixels count from the upper left. The series colours are those of Okabe and
 * Ito, told apart with any colour vision; markers differ in shape as well. */
#pragma once

#include "proto/text.h"

/* A zeroed struct is a picture that was not begun; svg_finish frees. */
struct svg {
    struct text text;
};

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

/* The classes of the style sheet. */
enum svg_style {
    SVG_INK,   /* words and axes */
    SVG_MUTED, /* lesser words */
    SVG_GRID,
    SVG_SERIES /* the first of SVG_SERIES_COUNT series: SVG_SERIES + index */
};
#define SVG_SERIES_COUNT 5

/* title and description are read aloud in place of the picture. */
void svg_begin(struct svg *svg, double width, double height, const char *title,
               const char *description);
/* STATUS_NO_MEMORY when any part was lost. The text is complete then. */
MUST_CHECK enum status svg_end(struct svg *svg);
void svg_finish(struct svg *svg);

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, int style, bool dashed);
/* A rectangle in one colour, 0xrrggbb; tip (may be NULL) is shown under the pointer. */
void svg_rectangle(struct svg *svg, double x, double y, double width, double height,
                   uint32_t colour, const char *tip);
/* Many rectangles in one colour, at whole pixels, given one by one. */
void svg_cells_begin(struct svg *svg, uint32_t colour);
void svg_cell(struct svg *svg, int x, int y, int width, int height);
void svg_cells_end(struct svg *svg);
/* An open line through points given one by one. */
void svg_path_begin(struct svg *svg, int style, bool dashed);
void svg_path_point(struct svg *svg, double x, double y);
void svg_path_end(struct svg *svg);
/* shape 0..3: circle, square, triangle, diamond; hollow ones are filled with the ground. */
void svg_marker(struct svg *svg, double x, double y, int style, int shape, bool hollow,
                const char *tip);
void svg_words(struct svg *svg, double x, double y, enum svg_anchor anchor, int style,
               const char *words);
/* Upwards, centred at x, y: the name of a vertical axis. */
void svg_words_upright(struct svg *svg, double x, double y, const char *words);
/* On a coloured rectangle: dark or light, whichever can be read on it. */
void svg_words_on(struct svg *svg, double x, double y, uint32_t colour, const char *words);
