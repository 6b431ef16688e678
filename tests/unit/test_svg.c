#include "server/command/svg.h"
#include "tests/unit/svg_fixture.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void the_fixture_knows_broken_text(void **state)
{
    (void)state;
    assert_true(svg_fixture_is_well_formed("<a b=\"1 > 2\"><c/>x &lt; y</a>"));
    static const char *const broken[] = {
        "",         "<a>",           "<a></b>",        "</a>",    "<a b=\"1></a>",
        "<a>&</a>", "<a b=\"&x\"/>", "<a><b></a></b>", "<ab></a>"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; ++i) {
        assert_false(svg_fixture_is_well_formed(broken[i]));
    }
}

static void every_shape_leaves_a_well_formed_picture(void **state)
{
    (void)state;
    struct svg svg = {0};
    svg_begin(&svg, 100, 50, "title", "description");
    svg_line(&svg, 0, 0, 10, 10, SVG_GRID, true);
    svg_rectangle(&svg, 1, 2, 3, 4, 0x00ff7f, "tip");
    svg_rectangle(&svg, 1, 2, 3, 4, 0x00ff7f, NULL);
    svg_cells_begin(&svg, 0x7f00ff);
    svg_cell(&svg, 5, 6, 7, 8);
    svg_cell(&svg, 12, 6, 1, 8);
    svg_cells_end(&svg);
    svg_path_begin(&svg, SVG_SERIES, false);
    svg_path_point(&svg, 1.25, 2);
    svg_path_end(&svg);
    for (int shape = 0; shape < 4; ++shape) {
        svg_marker(&svg, 5, 5, SVG_SERIES + shape, shape, shape % 2 == 0, shape < 2 ? "t" : NULL);
    }
    svg_words(&svg, 1, 1, SVG_MIDDLE, SVG_INK, "words");
    svg_words_upright(&svg, 1, 1, "up");
    svg_words_on(&svg, 1, 1, 0x000000, "on");
    assert_int_equal(svg_end(&svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    assert_non_null(strstr(svg.text.bytes, "fill=\"#00ff7f\""));
    assert_non_null(strstr(svg.text.bytes, "fill=\"#7f00ff\" d=\"M5 6h7v8h-7zM12 6h1v8h-1z\"/>"));
    assert_non_null(strstr(svg.text.bytes, "prefers-color-scheme:dark"));
    svg_finish(&svg);
}

static void words_cannot_break_out(void **state)
{
    (void)state;
    struct svg svg = {0};
    svg_begin(&svg, 10, 10, "a<b & \"c\">", "d\x01e");
    svg_words(&svg, 0, 0, SVG_START, SVG_INK, "</text><script>&");
    assert_int_equal(svg_end(&svg), STATUS_OK);
    assert_true(svg_fixture_is_well_formed(svg.text.bytes));
    assert_null(strstr(svg.text.bytes, "<script>"));
    assert_null(strchr(svg.text.bytes, 1));
    assert_non_null(strstr(svg.text.bytes, "a&lt;b &amp; &quot;c&quot;&gt;"));
    svg_finish(&svg);
}

static void words_on_a_colour_can_be_read(void **state)
{
    (void)state;
    struct svg svg = {0};
    svg_words_on(&svg, 0, 0, 0x440154, "dark");
    assert_non_null(strstr(svg.text.bytes, "fill=\"white\""));
    text_clear(&svg.text);
    svg_words_on(&svg, 0, 0, 0xfde725, "bright");
    assert_non_null(strstr(svg.text.bytes, "fill=\"black\""));
    svg_finish(&svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixture_knows_broken_text),
        cmocka_unit_test(every_shape_leaves_a_well_formed_picture),
        cmocka_unit_test(words_cannot_break_out),
        cmocka_unit_test(words_on_a_colour_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
