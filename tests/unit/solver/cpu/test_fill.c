#include "proto/read/graph_builder.h"
#include "server/solver/cpu/tiles.h"
#include "tests/unit/tiles_fixture.h"

#include <math.h>

/* Several tiles. */
#define VERTICES 300

static struct cpu_pool *pool;

static int create_pool(void **state)
{
    (void)state;
    return cpu_pool_create(2, &pool) == STATUS_OK ? 0 : 1;
}

static int destroy_pool(void **state)
{
    (void)state;
    cpu_pool_destroy(pool);
    return 0;
}

/* v -> 299 - v with weight v + unit, for v below 150. */
static struct graph *build(bool directed, double unit)
{
    const struct graph_options options = {0};
    struct graph_builder *builder = NULL;
    struct vertex_names *names = NULL;
    struct graph *graph = NULL;
    assert_int_equal(graph_builder_create(&options, &builder), STATUS_OK);
    assert_int_equal(vertex_names_create_range(VERTICES, 0, &names), STATUS_OK);
    for (uint32_t vertex = 0; vertex < VERTICES / 2; ++vertex) {
        assert_int_equal(
            graph_builder_add_real(builder, vertex, VERTICES - 1 - vertex, vertex + unit),
            STATUS_OK);
    }
    assert_int_equal(graph_builder_finish(builder, &names, NULL, directed, &graph, NULL),
                     STATUS_OK);
    graph_builder_destroy(builder);
    return graph;
}

static double expected(uint32_t row, uint32_t column, bool directed, double unit)
{
    const bool forward = row < column;
    if (row == column) {
        return 0;
    }
    if (row + column != VERTICES - 1 || (directed && !forward)) {
        return INFINITY;
    }
    return (forward ? row : column) + unit;
}

static double load(const struct cpu_tiles *tiles, uint32_t row, uint32_t column)
{
    const uint32_t row_tile = tiles->tile_of[row];
    const uint32_t column_tile = tiles->tile_of[column];
    const struct cpu_block block = cpu_tiles_block(tiles, row_tile, column_tile);
    const size_t index =
        (row - tiles->begin[row_tile]) * block.stride + (column - tiles->begin[column_tile]);
    if (tiles->arithmetic == ARITHMETIC_I4) {
        const int32_t entry = ((int32_t *)block.elements)[index];
        return entry == UNREACHABLE_I4 ? (double)INFINITY : entry;
    }
    if (tiles->arithmetic == ARITHMETIC_NARROW) {
        const int16_t entry = ((int16_t *)block.elements)[index];
        return entry == NARROW_UNREACHABLE ? (double)INFINITY : entry;
    }
    return tiles->arithmetic == ARITHMETIC_F4 ? (double)((float *)block.elements)[index]
                                              : ((double *)block.elements)[index];
}

static uint32_t vertex(const struct cpu_tiles *tiles, uint32_t position)
{
    return tiles->plan->vertex_at != NULL ? tiles->plan->vertex_at[position] : position;
}

static void check(bool directed, double unit, enum kind kind, enum arithmetic arithmetic,
                  bool ordered, bool symmetric)
{
    struct graph *graph = build(directed, unit);
    struct tiles_fixture fixture;
    tiles_fixture_open(VERTICES, kind, arithmetic, ordered, &fixture);
    const struct cpu_tiles *tiles = &fixture.tiles;
    cpu_fill_edges(pool, graph, tiles, symmetric);
    for (uint32_t row = 0; row < VERTICES; ++row) {
        for (uint32_t column = 0; column < VERTICES; ++column) {
            const bool missing = symmetric && tiles->tile_of[row] < tiles->tile_of[column];
            assert_true(
                load(tiles, row, column) ==
                (missing ? 0
                         : expected(vertex(tiles, row), vertex(tiles, column), directed, unit)));
        }
    }
    tiles_fixture_close(&fixture);
    graph_destroy(graph);
}

static void check_kinds(bool directed, bool symmetric)
{
    for (int ordered = 0; ordered < 2; ++ordered) {
        check(directed, 1, KIND_I4, ARITHMETIC_I4, ordered != 0, symmetric);
        check(directed, 0, KIND_I4, ARITHMETIC_I4, ordered != 0, symmetric);
        check(directed, 1, KIND_I4, ARITHMETIC_NARROW, ordered != 0, symmetric);
        check(directed, 0.5, KIND_F4, ARITHMETIC_F4, ordered != 0, symmetric);
        check(directed, 0.5, KIND_F8, ARITHMETIC_F8, ordered != 0, symmetric);
    }
}

static void edges_and_the_diagonal_are_filled_in(void **state)
{
    (void)state;
    check_kinds(true, false);
}

static void undirected_edges_are_filled_in_both_ways(void **state)
{
    (void)state;
    check_kinds(false, false);
}

static void of_a_symmetric_matrix_the_lower_tiles_are_filled(void **state)
{
    (void)state;
    check_kinds(false, true);
}

/* Tile (0, 1) is reached and has no edge, tile (1, 0) is never reached. */
static void a_tile_that_is_fresh_when_reached_is_left_alone(void **state)
{
    (void)state;
    struct graph *graph = build(true, 1);
    struct tiles_fixture fixture;
    tiles_fixture_open(VERTICES, KIND_I4, ARITHMETIC_I4, true, &fixture);
    struct plan *plan = fixture.plan;
    const size_t words = (size_t)plan->tile_count * plan->tile_count / 64 + 1;
    plan->edge_tiles = calloc(words, sizeof(*plan->edge_tiles));
    plan->reached_tiles = calloc(words, sizeof(*plan->reached_tiles));
    assert_true(plan->edge_tiles != NULL && plan->reached_tiles != NULL);
    plan->reached_tiles[0] = 2;
    cpu_fill_edges(pool, graph, &fixture.tiles, false);
    const struct cpu_block fresh = cpu_tiles_block(&fixture.tiles, 0, 1);
    const struct cpu_block unreached = cpu_tiles_block(&fixture.tiles, 1, 0);
    assert_int_equal(*(int32_t *)fresh.elements, 0);
    assert_int_equal(*(int32_t *)unreached.elements, UNREACHABLE_I4);
    tiles_fixture_close(&fixture);
    graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_and_the_diagonal_are_filled_in),
        cmocka_unit_test(undirected_edges_are_filled_in_both_ways),
        cmocka_unit_test(of_a_symmetric_matrix_the_lower_tiles_are_filled),
        cmocka_unit_test(a_tile_that_is_fresh_when_reached_is_left_alone),
    };
    return cmocka_run_group_tests(tests, create_pool, destroy_pool);
}
