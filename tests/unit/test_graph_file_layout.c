#include "server/store/graph_file_layout.h"

#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct graph_file_header header_of(uint32_t version, uint64_t edges, uint64_t room)
{
    return (struct graph_file_header){.version = version,
                                      .vertex_count = 10,
                                      .edge_count = edges,
                                      .edge_room = room,
                                      .names_size = 12,
                                      .weight_type = WEIGHT_REAL};
}

static void parts_lie_behind_one_another(void **state)
{
    struct graph_file_layout layout;
    struct graph_file_header header = header_of(3, 5, 5);

    (void)state;
    assert_true(graph_file_layout_of(&header, &layout));
    assert_int_equal(layout.targets_at, 144);
    assert_int_equal(layout.weights_at, 144 + 24);
    assert_int_equal(layout.offsets_at, 168 + 40);
    assert_int_equal(layout.names_at, 208 + 88);
    assert_int_equal(layout.owner_at, 296 + 16);
    assert_int_equal(layout.file_size, 312 + 8);
    assert_int_equal(layout.hole_size, 0);

    header = header_of(3, 5, 1000);
    assert_true(graph_file_layout_of(&header, &layout));
    assert_int_equal(layout.weights_at, 144 + 4000);
    assert_int_equal(layout.targets_size, 20);
    assert_int_equal(layout.hole_size, 4 * 995);
    assert_int_equal(layout.file_size, 144 + 4000 + 40 + 88 + 16 + 8);
}

static void older_versions_have_their_own_order(void **state)
{
    struct graph_file_layout layout;
    struct graph_file_header header = header_of(2, 5, 5);

    (void)state;
    assert_true(graph_file_layout_of(&header, &layout));
    assert_int_equal(layout.names_at, 136);
    assert_int_equal(layout.offsets_at, 136 + 16);
    assert_int_equal(layout.targets_at, 152 + 88);
    assert_int_equal(layout.weights_at, 240 + 24);
    assert_int_equal(layout.owner_at, 264 + 40);
    assert_int_equal(layout.file_size, 304 + 8);
    header.version = 1;
    assert_true(graph_file_layout_of(&header, &layout));
    assert_int_equal(layout.file_size, 304);
}

/* They ended with the checksum, where there is room now. */
static void older_headers_have_no_room(void **state)
{
    struct graph *graph = fixture_path_graph(4, WEIGHT_INTEGER, 1);
    struct graph_file_header header = graph_file_header_of(graph);

    (void)state;
    header.edge_room = 7;
    header.header_checksum = graph_file_header_checksum(&header);
    header = graph_file_header_from(&header);
    assert_int_equal(header.edge_room, 7);
    assert_true(graph_file_header_is_sound(&header));
    header.edge_room = 8;
    assert_false(graph_file_header_is_sound(&header));

    header.version = 2;
    header.edge_room = graph_file_header_checksum(&header);
    header.header_checksum = UINT64_C(0x123456);
    header = graph_file_header_from(&header);
    assert_int_equal(header.edge_room, 3);
    assert_true(graph_file_header_is_sound(&header));
    graph_destroy(graph);
}

static void counts_that_fit_no_file_are_refused(void **state)
{
    struct graph_file_layout layout;
    const struct graph_file_header headers[] = {
        header_of(3, 6, 5),
        header_of(3, 5, UINT64_MAX / 4 + 1),
        header_of(3, UINT64_MAX / 8 + 1, UINT64_MAX / 8 + 1),
        header_of(3, UINT64_MAX / 16, UINT64_MAX / 4),
        header_of(2, UINT64_MAX / 8, UINT64_MAX / 8),
    };

    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        assert_false(graph_file_layout_of(&headers[i], &layout));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_lie_behind_one_another),
        cmocka_unit_test(older_versions_have_their_own_order),
        cmocka_unit_test(older_headers_have_no_room),
        cmocka_unit_test(counts_that_fit_no_file_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
