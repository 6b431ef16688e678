#include "server/command/heat_map.h"

#include <stdio.h>
#include <string.h>

#define CELL_WIDTH 92.0
#define CELL_HEIGHT 44.0
#define LEFT 130.0
#define TOP 66.0
#define SCALE_GAP 36.0
#define SCALE_WIDTH 20.0
#define SCALE_STEPS 20
#define RIGHT_ROOM 130.0
#define BOTTOM_ROOM 76.0

static size_t find_or_add(char names[HEAT_MAP_LIMIT][HEAT_MAP_NAME_SIZE], size_t *count,
                          const char *name)
{
    for (size_t i = 0; i < *count; ++i) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    if (*count < HEAT_MAP_LIMIT) {
        snprintf(names[*count], HEAT_MAP_NAME_SIZE, "%s", name);
        return (*count)++;
    }
    return HEAT_MAP_LIMIT;
}

size_t heat_map_row(struct heat_map *map, const char *name)
{
    return find_or_add(map->row_names, &map->row_count, name);
}

size_t heat_map_column(struct heat_map *map, const char *name)
{
    return find_or_add(map->column_names, &map->column_count, name);
}

static uint32_t mix(uint32_t from, uint32_t to, double part)
{
    uint32_t mixed = 0;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        const double low = from >> shift & 0xff;
        const double high = to >> shift & 0xff;
        mixed |= (uint32_t)(low + part * (high - low) + 0.5) << shift;
    }
    return mixed;
}

uint32_t heat_map_colour(double value)
{
    /* Viridis by S. van der Walt and N. Smith, at every ninth of its range. */
    static const uint32_t stops[] = {0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e,
                                     0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};
    const double last = sizeof(stops) / sizeof(stops[0]) - 1;
    const double clamped = value < 0 ? 0 : value > 100 ? 100 : value;
    const double at = clamped / 100 * last;
    const size_t below = at >= last ? (size_t)last - 1 : (size_t)at;
    return mix(stops[below], stops[below + 1], at - (double)below);
}

static void draw_cell(const struct heat_map *map, struct svg *svg, size_t row, size_t column)
{
    const struct heat_cell *cell = &map->cells[row][column];
    const double x = LEFT + CELL_WIDTH * (double)column;
    const double y = TOP + CELL_HEIGHT * (double)row;
    char words[32];
    if (!cell->known) {
        svg_words(svg, x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 5, SVG_MIDDLE, SVG_MUTED, "-");
        return;
    }
    const uint32_t colour = heat_map_colour(cell->value);
    snprintf(words, sizeof words, "%.1f %%", cell->value);
    svg_rectangle(svg, x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, colour, cell->tip);
    svg_words_on(svg, x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 5, colour, words);
}

static void draw_names(const struct heat_map *map, struct svg *svg)
{
    const double bottom = TOP + CELL_HEIGHT * (double)map->row_count;
    for (size_t row = 0; row < map->row_count; ++row) {
        svg_words(svg, LEFT - 10, TOP + CELL_HEIGHT * ((double)row + 0.5) + 5, SVG_END, SVG_INK,
                  map->row_names[row]);
    }
    for (size_t column = 0; column < map->column_count; ++column) {
        svg_words(svg, LEFT + CELL_WIDTH * ((double)column + 0.5), bottom + 20, SVG_MIDDLE, SVG_INK,
                  map->column_names[column]);
    }
    svg_words(svg, LEFT + CELL_WIDTH * (double)map->column_count / 2, bottom + 48, SVG_MIDDLE,
              SVG_INK, map->column_axis);
    svg_words_upright(svg, 24, (TOP + bottom) / 2, map->row_axis);
}

/* From 100 at the top to 0. */
static void draw_scale(const struct heat_map *map, struct svg *svg)
{
    const double x = LEFT + CELL_WIDTH * (double)map->column_count + SCALE_GAP;
    const double height = CELL_HEIGHT * (double)map->row_count;
    const double step = height / SCALE_STEPS;
    char words[32];
    for (int i = 0; i < SCALE_STEPS; ++i) {
        svg_rectangle(svg, x, TOP + step * i, SCALE_WIDTH, step + 0.5,
                      heat_map_colour(100 - (i + 0.5) * 100 / SCALE_STEPS), NULL);
    }
    for (int percent = 0; percent <= 100; percent += 25) {
        snprintf(words, sizeof words, "%d %%", percent);
        svg_words(svg, x + SCALE_WIDTH + 8, TOP + height * (100 - percent) / 100 + 4.5, SVG_START,
                  SVG_MUTED, words);
    }
}

enum status heat_map_draw(const struct heat_map *map, struct svg *svg)
{
    svg_begin(svg, LEFT + CELL_WIDTH * (double)map->column_count + RIGHT_ROOM,
              TOP + CELL_HEIGHT * (double)map->row_count + BOTTOM_ROOM, map->title,
              map->description);
    for (size_t row = 0; row < map->row_count; ++row) {
        for (size_t column = 0; column < map->column_count; ++column) {
            draw_cell(map, svg, row, column);
        }
    }
    draw_names(map, svg);
    draw_scale(map, svg);
    return svg_end(svg);
}
