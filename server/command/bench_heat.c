#include "server/command/bench_heat.h"

#include "server/command/heat_map.h"

#include <stdio.h>
#include <stdlib.h>

static void take_product(const struct bench_report *report, const struct product_figure *product,
                         struct heat_map *map)
{
    const struct product_form *form = &product->form;
    char row_name[HEAT_MAP_NAME_SIZE];
    char column_name[HEAT_MAP_NAME_SIZE];
    snprintf(row_name, sizeof row_name, "%u \u00d7 %u", form->tile_rows, form->tile_columns);
    snprintf(column_name, sizeof column_name, "%u", form->depth);
    const size_t row = heat_map_row(map, row_name);
    const size_t column = heat_map_column(map, column_name);
    if (row == HEAT_MAP_LIMIT || column == HEAT_MAP_LIMIT) {
        return;
    }
    struct heat_cell *cell = &map->cells[row][column];
    const double percent = bench_report_product_percent(report, product);
    if (cell->known && cell->value >= percent) {
        return;
    }
    cell->known = true;
    cell->value = percent;
    snprintf(cell->tip, sizeof cell->tip,
             "tile %s, depth %u, thread %u \u00d7 %u, slab %u: %.3f ms, %.2f %s", row_name,
             form->depth, form->thread_rows, form->thread_columns, form->slab,
             product->seconds * 1e3, bench_report_product_rate(product) / bench_report_unit(report),
             bench_report_unit_name(report));
}

static void fill_map(const struct bench_report *report, struct heat_map *map)
{
    map->title = "Min-plus product, int32: per cent of the limit";
    map->description = "A grid of tile sizes by depths; each cell is the best part of the "
                       "device's arithmetic limit that a product of that form reached.";
    map->row_axis = "tile, rows \u00d7 columns";
    map->column_axis = "depth: pivots per product";
    for (size_t i = 0; i < report->product_count; ++i) {
        take_product(report, &report->products[i], map);
    }
}

enum status bench_heat_draw(const struct bench_report *report, struct svg *svg)
{
    struct heat_map *map = calloc(1, sizeof *map);
    if (map == NULL) {
        return STATUS_NO_MEMORY;
    }
    fill_map(report, map);
    const enum status status = heat_map_draw(map, svg);
    free(map);
    return status;
}
