/* A grid of coloured cells with a value in each, columns and rows named, and a scale beside it. The
 * colours are those of viridis, which grow evenly brighter for any colour vision. */
#pragma once

#include "server/command/svg.h"

#define HEAT_MAP_LIMIT 16
#define HEAT_MAP_NAME_SIZE 32

struct heat_cell {
    bool known;
    double value; /* 0..100; the colour ends there, the number does not */
    char tip[128];
};

struct heat_map {
    const char *title;
    const char *description;
    const char *row_axis;
    const char *column_axis;
    size_t row_count;
    size_t column_count;
    char row_names[HEAT_MAP_LIMIT][HEAT_MAP_NAME_SIZE];
    char column_names[HEAT_MAP_LIMIT][HEAT_MAP_NAME_SIZE];
    struct heat_cell cells[HEAT_MAP_LIMIT][HEAT_MAP_LIMIT]; /* by row, then column */
};

/* The index of a row or column of that name, added behind the others when it is new.
 * HEAT_MAP_LIMIT when there is no more room. */
size_t heat_map_row(struct heat_map *map, const char *name);
size_t heat_map_column(struct heat_map *map, const char *name);

/* 0xrrggbb of a value, which is clamped to 0..100. */
uint32_t heat_map_colour(double value);

/* Begins and ends a zeroed svg. */
MUST_CHECK enum status heat_map_draw(const struct heat_map *map, struct svg *svg);
