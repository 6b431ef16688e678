#include "server/command/plan_picture.h"

#include "server/command/heat_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 720.0
#define LEFT 40.0
#define TOP 84.0
#define GAP 44.0
#define LEVEL_HEIGHT 34.0
#define BOTTOM_ROOM 60.0

/* More cells than this along an edge are not told apart, and make a large file. */
#define CELLS_MAX 240

/* A cell that no round writes to. */
#define NEVER UINT32_MAX

/* Cells overlap by so much, or the ground shines through between them. */
#define OVERLAP 0.4

#define EDGE_COLOUR 0x1b1f24

struct picture {
    const struct plan *plan;
    struct svg *svg;
    uint32_t tiles_per_cell;
    uint32_t cell_count; /* along an edge */
    double cell;         /* pixels */
    /* By cell: 0 = has an edge, r + 1 = first written to in round r. */
    uint32_t *first;
};

/* ---- Tiles ---- */

static void note(struct picture *picture, uint32_t row_tile, uint32_t column_tile, uint32_t first)
{
    const size_t row = row_tile / picture->tiles_per_cell;
    const size_t column = column_tile / picture->tiles_per_cell;
    uint32_t *cell = &picture->first[row * picture->cell_count + column];
    *cell = first < *cell ? first : *cell;
}

static void note_edges(struct picture *picture)
{
    const struct plan *plan = picture->plan;
    const size_t tiles = plan->tile_count;
    for (size_t bit = 0; bit < tiles * tiles; ++bit) {
        if (plan->edge_tiles == NULL || (plan->edge_tiles[bit / 64] >> bit % 64 & 1) != 0) {
            note(picture, (uint32_t)(bit / tiles), (uint32_t)(bit % tiles), 0);
        }
    }
}

static void note_rounds(struct picture *picture)
{
    const struct plan *plan = picture->plan;
    for (uint32_t index = 0; plan->rounds != NULL && index < plan->round_count; ++index) {
        const struct plan_round *round = &plan->rounds[index];
        for (uint32_t at = 0; at < round->target_count; ++at) {
            const struct plan_target *target = &round->targets[at];
            if (target->fresh) {
                note(picture, target->row_tile, target->column_tile, index + 1);
            }
            if (target->fresh && plan->symmetric) {
                note(picture, target->column_tile, target->row_tile, index + 1);
            }
        }
    }
}

static uint32_t colour_of(const struct picture *picture, uint32_t first)
{
    return first == 0 ? EDGE_COLOUR
                      : heat_map_colour(100.0 * first / (picture->plan->round_count + 0.0));
}

/* Neighbours of one colour are one rectangle. */
static void draw_row(const struct picture *picture, uint32_t row)
{
    const uint32_t *first = picture->first + (size_t)row * picture->cell_count;
    for (uint32_t begin = 0; begin < picture->cell_count;) {
        uint32_t end = begin + 1;
        while (end < picture->cell_count && first[end] == first[begin]) {
            ++end;
        }
        if (first[begin] != NEVER) {
            svg_rectangle(picture->svg, LEFT + begin * picture->cell, TOP + row * picture->cell,
                          (end - begin) * picture->cell + OVERLAP, picture->cell + OVERLAP,
                          colour_of(picture, first[begin]), NULL);
        }
        begin = end;
    }
}

/* ---- Parts ---- */

static uint32_t end_of(const struct plan *plan, uint32_t part)
{
    return part + 1 < plan->summary.parts ? plan->parts[part + 1].tile : plan->tile_count;
}

static double pixel_of(const struct picture *picture, double tile)
{
    return tile * picture->cell / picture->tiles_per_cell;
}

static void outline_part(const struct picture *picture, uint32_t part)
{
    const double begin = pixel_of(picture, picture->plan->parts[part].tile);
    const double end = pixel_of(picture, end_of(picture->plan, part));
    svg_line(picture->svg, LEFT + begin, TOP + begin, LEFT + end, TOP + begin, SVG_SERIES + 1,
             false);
    svg_line(picture->svg, LEFT + end, TOP + begin, LEFT + end, TOP + end, SVG_SERIES + 1, false);
    svg_line(picture->svg, LEFT + end, TOP + end, LEFT + begin, TOP + end, SVG_SERIES + 1, false);
    svg_line(picture->svg, LEFT + begin, TOP + end, LEFT + begin, TOP + begin, SVG_SERIES + 1,
             false);
}

static uint32_t find_height(const struct plan *plan)
{
    uint32_t height = 0;
    for (uint32_t part = 0; plan->parts != NULL && part < plan->summary.parts; ++part) {
        height = plan->parts[part].height > height ? plan->parts[part].height : height;
    }
    return height;
}

static double part_x(const struct picture *picture, uint32_t part)
{
    const double middle =
        ((double)picture->plan->parts[part].tile + end_of(picture->plan, part)) / 2;
    return LEFT + pixel_of(picture, middle);
}

static double part_y(const struct picture *picture, uint32_t part, uint32_t height)
{
    return TOP + SIDE + GAP + LEVEL_HEIGHT * (height - picture->plan->parts[part].height);
}

static void draw_branch(const struct picture *picture, uint32_t part, uint32_t height)
{
    const uint32_t above = picture->plan->parts[part].above;
    if (above != PLAN_NO_PART) {
        svg_line(picture->svg, part_x(picture, part), part_y(picture, part, height),
                 part_x(picture, above), part_y(picture, above, height), SVG_MUTED, false);
    }
}

static void draw_part(const struct picture *picture, uint32_t part, uint32_t height)
{
    const struct plan *plan = picture->plan;
    const uint32_t begin = plan->parts[part].tile;
    const uint32_t end = end_of(plan, part);
    const bool separator = plan->parts[part].height > 0;
    char tip[96];
    snprintf(tip, sizeof tip, "%s of %u vertices in %u tiles", separator ? "separator" : "part",
             plan->tile_begin[end] - plan->tile_begin[begin], end - begin);
    svg_marker(picture->svg, part_x(picture, part), part_y(picture, part, height),
               SVG_SERIES + (separator ? 1 : 0), separator ? 3 : 0, false, tip);
}

static void draw_parts(const struct picture *picture)
{
    const struct plan *plan = picture->plan;
    const uint32_t height = find_height(plan);
    const uint32_t count = plan->parts != NULL ? plan->summary.parts : 0;
    for (uint32_t part = 0; part < count; ++part) {
        outline_part(picture, part);
        draw_branch(picture, part, height);
    }
    for (uint32_t part = 0; part < count; ++part) {
        draw_part(picture, part, height);
    }
}

/* ---- The whole ---- */

static void draw_words(const struct picture *picture)
{
    const struct plan *plan = picture->plan;
    char words[160];
    snprintf(words, sizeof words,
             "%u vertices, %u x %u tiles of up to %u, %u rounds, %.3g %% of "
             "the work",
             plan->vertex_count, plan->tile_count, plan->tile_count, plan->tile, plan->round_count,
             100 * plan->summary.work_fraction);
    svg_words(picture->svg, LEFT, 52, SVG_START, SVG_INK, words);
    svg_words(
        picture->svg, LEFT, 72, SVG_START, SVG_MUTED,
        "dark: has an edge; else by the round that first writes to it, from violet to yellow");
    if (plan->parts != NULL) {
        svg_words(picture->svg, LEFT,
                  TOP + SIDE + GAP + LEVEL_HEIGHT * find_height(plan) + BOTTOM_ROOM / 2 + 10,
                  SVG_START, SVG_MUTED, "diamonds: separators, over the parts that they separate");
    }
}

static void draw(struct picture *picture, const char *name)
{
    const double height =
        TOP + SIDE + GAP +
        (picture->plan->parts != NULL ? LEVEL_HEIGHT * find_height(picture->plan) + BOTTOM_ROOM
                                      : 0);
    char title[128];
    snprintf(title, sizeof title, "Plan of %.100s", name);
    svg_begin(picture->svg, LEFT + SIDE + LEFT, height, title,
              "A square of tiles, coloured by the round that first writes to each, over the tree "
              "of parts and separators.");
    for (uint32_t row = 0; row < picture->cell_count; ++row) {
        draw_row(picture, row);
    }
    draw_parts(picture);
    draw_words(picture);
}

enum status plan_picture_draw(const struct plan *plan, const char *name, struct svg *svg)
{
    const uint32_t tiles_per_cell = plan->tile_count / CELLS_MAX + 1;
    const uint32_t cell_count = (plan->tile_count + tiles_per_cell - 1) / tiles_per_cell;
    struct picture picture = {.plan = plan,
                              .svg = svg,
                              .tiles_per_cell = tiles_per_cell,
                              .cell_count = cell_count,
                              .cell = cell_count > 0 ? SIDE / cell_count : SIDE};
    picture.first = malloc(((size_t)cell_count * cell_count + 1) * sizeof(*picture.first));
    if (picture.first == NULL) {
        return STATUS_NO_MEMORY;
    }
    memset(picture.first, 0xFF, (size_t)cell_count * cell_count * sizeof(*picture.first));
    note_edges(&picture);
    note_rounds(&picture);
    draw(&picture, name);
    free(picture.first);
    return svg_end(svg);
}
