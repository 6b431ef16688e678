#include "server/command/svg.h"

/* The ground is light unless the reader's screen is dark; each series has a colour for either. */
static const char style_sheet[] =
    "<style>\n"
    "text{font-family:system-ui,'Segoe UI','DejaVu Sans',Arial,sans-serif;font-size:13px}\n"
    ".title{font-size:17px;font-weight:600}\n"
    ".ground{fill:#fdfdfd}.ink{fill:#1b1f24}.muted{fill:#57606a}\n"
    ".line{fill:none;stroke-width:2}.thin{stroke-width:1}\n"
    ".s0{stroke:#1b1f24}.s1{stroke:#57606a}.s2{stroke:#d8dee4}\n"
    ".s3{stroke:#0072b2}.s4{stroke:#d55e00}.s5{stroke:#008f68}.s6{stroke:#b0558c}.s7{stroke:#"
    "8c959f}\n"
    ".f3{fill:#0072b2}.f4{fill:#d55e00}.f5{fill:#008f68}.f6{fill:#b0558c}.f7{fill:#8c959f}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".ground{fill:#0f141a}.ink{fill:#e6edf3}.muted{fill:#9da7b1}\n"
    ".s0{stroke:#e6edf3}.s1{stroke:#9da7b1}.s2{stroke:#2d353e}\n"
    ".s3{stroke:#56b4e9}.s4{stroke:#ff9147}.s5{stroke:#2fc79a}.s6{stroke:#e59cc8}.s7{stroke:#"
    "7d8791}\n"
    ".f3{fill:#56b4e9}.f4{fill:#ff9147}.f5{fill:#2fc79a}.f6{fill:#e59cc8}.f7{fill:#7d8791}\n"
    "}\n"
    "</style>\n";

#define MARKER_RADIUS 4.5
/* Brighter colours carry dark words: luma of ITU-R BT.601, out of 255. */
#define BRIGHT 105

static void append_escaped(struct text *text, const char *words)
{
    for (; *words != '\0'; ++words) {
        switch (*words) {
        case '&':
            text_append_string(text, "&amp;");
            break;
        case '<':
            text_append_string(text, "&lt;");
            break;
        case '>':
            text_append_string(text, "&gt;");
            break;
        case '"':
            text_append_string(text, "&quot;");
            break;
        default:
            /* XML has no other control characters. */
            text_append_char(text, (unsigned char)*words < ' ' ? ' ' : *words);
        }
    }
}

static void append_element(struct text *text, const char *name, const char *words)
{
    text_printf(text, "<%s>", name);
    append_escaped(text, words);
    text_printf(text, "</%s>", name);
}

void svg_begin(struct svg *svg, double width, double height, const char *title,
               const char *description)
{
    struct text *text = &svg->text;
    text_printf(text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
                "height=\"%g\" role=\"img\">\n",
                width, height, width, height);
    append_element(text, "title", title);
    append_element(text, "desc", description);
    text_append_char(text, '\n');
    text_append_string(text, style_sheet);
    text_printf(text, "<rect class=\"ground\" width=\"%g\" height=\"%g\"/>\n", width, height);
    text_append_string(text, "<text class=\"ink title\" x=\"20\" y=\"30\">");
    append_escaped(text, title);
    text_append_string(text, "</text>\n");
}

enum status svg_end(struct svg *svg)
{
    text_append_string(&svg->text, "</svg>\n");
    return text_status(&svg->text);
}

void svg_finish(struct svg *svg)
{
    text_finish(&svg->text);
}

static const char *dashes(bool dashed)
{
    return dashed ? " stroke-dasharray=\"6 4\"" : "";
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2, int style, bool dashed)
{
    text_printf(&svg->text,
                "<line class=\"s%d %s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"%s/>\n",
                style, style < SVG_SERIES ? "thin" : "line", x1, y1, x2, y2, dashes(dashed));
}

/* The end of an element: with the tip inside, or empty. */
static void append_tip(struct text *text, const char *name, const char *tip)
{
    if (tip == NULL) {
        text_append_string(text, "/>\n");
        return;
    }
    text_append_char(text, '>');
    append_element(text, "title", tip);
    text_printf(text, "</%s>\n", name);
}

void svg_rectangle(struct svg *svg, double x, double y, double width, double height,
                   uint32_t colour, const char *tip)
{
    text_printf(&svg->text,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"", x, y,
                width, height, colour);
    append_tip(&svg->text, "rect", tip);
}

/* Without smoothing, which would leave seams between neighbours. */
void svg_cells_begin(struct svg *svg, uint32_t colour)
{
    text_printf(&svg->text, "<path shape-rendering=\"crispEdges\" fill=\"#%06x\" d=\"", colour);
}

void svg_cell(struct svg *svg, int x, int y, int width, int height)
{
    text_printf(&svg->text, "M%d %dh%dv%dh-%dz", x, y, width, height, width);
}

void svg_cells_end(struct svg *svg)
{
    text_append_string(&svg->text, "\"/>\n");
}

void svg_path_begin(struct svg *svg, int style, bool dashed)
{
    text_printf(&svg->text, "<polyline class=\"line s%d\"%s points=\"", style, dashes(dashed));
}

void svg_path_point(struct svg *svg, double x, double y)
{
    text_printf(&svg->text, "%.1f,%.1f ", x, y);
}

void svg_path_end(struct svg *svg)
{
    text_append_string(&svg->text, "\"/>\n");
}

/* A closed polygon through count points around x, y, in units of the marker's radius. */
static void append_polygon(struct text *text, double x, double y, const double (*corners)[2],
                           size_t count)
{
    text_append_string(text, " points=\"");
    for (size_t i = 0; i < count; ++i) {
        text_printf(text, "%.1f,%.1f ", x + corners[i][0] * MARKER_RADIUS,
                    y + corners[i][1] * MARKER_RADIUS);
    }
    text_append_char(text, '"');
}

void svg_marker(struct svg *svg, double x, double y, int style, int shape, bool hollow,
                const char *tip)
{
    static const double square[][2] = {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
    static const double triangle[][2] = {{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}};
    static const double diamond[][2] = {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}};
    struct text *text = &svg->text;
    const char *name = shape == 0 ? "circle" : "polygon";
    text_printf(text, "<%s class=\"s%d ", name, style);
    if (hollow) {
        text_append_string(text, "ground\" stroke-width=\"1.6\"");
    } else {
        text_printf(text, "f%d\"", style);
    }
    if (shape == 0) {
        text_printf(text, " cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", x, y, MARKER_RADIUS);
    } else if (shape == 1) {
        append_polygon(text, x, y, square, 4);
    } else if (shape == 2) {
        append_polygon(text, x, y, triangle, 3);
    } else {
        append_polygon(text, x, y, diamond, 4);
    }
    append_tip(text, name, tip);
}

static const char *anchor_name(enum svg_anchor anchor)
{
    return anchor == SVG_START ? "start" : anchor == SVG_MIDDLE ? "middle" : "end";
}

void svg_words(struct svg *svg, double x, double y, enum svg_anchor anchor, int style,
               const char *words)
{
    text_printf(&svg->text, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                style == SVG_MUTED ? "muted" : "ink", x, y, anchor_name(anchor));
    append_escaped(&svg->text, words);
    text_append_string(&svg->text, "</text>\n");
}

void svg_words_upright(struct svg *svg, double x, double y, const char *words)
{
    text_printf(&svg->text,
                "<text class=\"ink\" text-anchor=\"middle\" "
                "transform=\"translate(%.1f %.1f) rotate(-90)\">",
                x, y);
    append_escaped(&svg->text, words);
    text_append_string(&svg->text, "</text>\n");
}

void svg_words_on(struct svg *svg, double x, double y, uint32_t colour, const char *words)
{
    const double luma = 0.299 * (double)(colour >> 16 & 0xff) +
                        0.587 * (double)(colour >> 8 & 0xff) + 0.114 * (double)(colour & 0xff);
    text_printf(&svg->text, "<text fill=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                luma > BRIGHT ? "black" : "white", x, y);
    append_escaped(&svg->text, words);
    text_append_string(&svg->text, "</text>\n");
}
