#include "server/command/heat_map.h"
#include "tests/unit/svg_fixture.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names_are_kept_once_and_in_order(void **state)
{
    (void)state;
    struct heat_map map = {0};
    char name[8];
    assert_int_equal(heat_map_row(&map, "a"), 0);
    assert_int_equal(heat_map_row(&map, "b"), 1);
    assert_int_equal(heat_map_row(&map, "a"), 0);
    assert_int_equal(heat_map_column(&map, "a"), 0);
    for (int i = 2; i < HEAT_MAP_LIMIT; ++i) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(heat_map_row(&map, name), i);
    }
    assert_int_equal(heat_map_row(&map, "more"), HEAT_MAP_LIMIT);
    assert_int_equal(map.row_count, HEAT_MAP_LIMIT);
}

/* The colour of the one cell of a map. */
static uint32_t colour_of(double value)
{
    struct heat_map map = {.title = "t", .description = "d", .row_axis = "r", .column_axis = "c"};
    struct svg svg = {0};
    heat_map_row(&map, "row");
    heat_map_column(&map, "column");
    map.cells[0][0] = (struct heat_cell){true, value, "tip"};
    assert_int_equal(heat_map_draw(&map, &svg), STATUS_OK);
    const char *cell = strstr(svg.text.bytes, "<rect x=");
    assert_non_null(cell);
    const char *fill = strstr(cell, "fill=\"#");
    assert_non_null(fill);
    const uint32_t colour = (uint32_t)strtoul(fill + 7, NULL, 16);
    svg_finish(&svg);
    return colour;
}

static void colours_run_from_dark_to_bright(void **state)
{
    (void)state;
    assert_int_equal(colour_of(0), 0x440154);
    assert_int_equal(colour_of(-5), 0x440154);
    assert_int_equal(colour_of(100), 0xfde725);
    assert_int_equal(colour_of(250), 0xfde725);
    assert_int_equal(colour_of(100.0 / 9), 0x482878);
    uint32_t green = 0;
    for (int percent = 0; percent <= 100; percent += 5) {
        const uint32_t now = colour_of(percent) >> 8 & 0xff;
        assert_true(now >= green);
        green = now;
    }
}

static void unknown_cells_are_dashes(void **state)
{
    (void)state;
    struct heat_map map = {.title = "t", .description = "d", .row_axis = "r", .column_axis = "c"};
    struct svg svg = {0};
    heat_map_row(&map, "1 < 2");
    heat_map_column(&map, "a");
    heat_map_column(&map, "b");
    map.cells[0][1] = (struct heat_cell){true, 93.25, "tip & more"};
    assert_int_equal(heat_map_draw(&map, &svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    assert_non_null(strstr(svg.text.bytes, ">93.2 %</text>"));
    assert_non_null(strstr(svg.text.bytes, ">-</text>"));
    assert_non_null(strstr(svg.text.bytes, "tip &amp; more"));
    svg_finish(&svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_kept_once_and_in_order),
        cmocka_unit_test(colours_run_from_dark_to_bright),
        cmocka_unit_test(unknown_cells_are_dashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
