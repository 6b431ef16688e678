#include "proto/read/graph_builder.h"
#include "tests/lib/range_fixture.h"
#include "tests/lib/tiles_fixture.h"

#include <math.h>

/* Checks that each byte of the matrix belongs to exactly one element of one tile. */
static void check_cover(uint32_t n, enum kind kind, enum arithmetic arithmetic, bool ordered)
{
    struct tiles_fixture fixture;
    tiles_fixture_open(n, kind, arithmetic, ordered, &fixture);
    const struct cpu_tiles *tiles = &fixture.tiles;
    const size_t size = tiles->element_bytes;
    unsigned char *seen = calloc((size_t)n * n * size + 1, 1);
    assert_non_null(seen);
    for (uint32_t tile = 0; tile < tiles->tile_count * tiles->tile_count; ++tile) {
        const struct cpu_block block =
            cpu_tiles_block(tiles, tile / tiles->tile_count, tile % tiles->tile_count);
        assert_true(block.rows <= CPU_TILE && block.columns <= CPU_TILE);
        const size_t first =
            (size_t)((unsigned char *)block.elements - (unsigned char *)fixture.matrix.elements);
        for (uint32_t row = 0; row < block.rows; ++row) {
            for (size_t byte = 0; byte < block.columns * size; ++byte) {
                ++seen[first + row * block.stride * size + byte];
            }
        }
    }
    for (size_t byte = 0; byte < (size_t)n * n * size; ++byte) {
        assert_int_equal(seen[byte], 1);
    }
    free(seen);
    tiles_fixture_close(&fixture);
}

TEST(tiles_cover_the_matrix_without_overlap)
{
    static const uint32_t sizes[] = {0, 1, 127, 128, 129, 300};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        for (int ordered = 0; ordered < 2; ++ordered) {
            check_cover(sizes[index], KIND_I4, ARITHMETIC_I4, ordered != 0);
            check_cover(sizes[index], KIND_I4, ARITHMETIC_NARROW, ordered != 0);
            check_cover(sizes[index], KIND_F8, ARITHMETIC_F8, ordered != 0);
        }
    }
}

TEST(a_tile_is_contiguous_in_memory)
{
    struct tiles_fixture fixture;
    tiles_fixture_open(300, KIND_I4, ARITHMETIC_I4, false, &fixture);
    const struct cpu_block block = cpu_tiles_block(&fixture.tiles, 1, 2);
    assert_int_equal(block.stride, 44);
    assert_int_equal(block.rows, 128);
    assert_int_equal(block.columns, 44);
    assert_ptr_equal(block.elements,
                     (int32_t *)fixture.matrix.elements + (size_t)128 * 300 + (size_t)128 * 256);
    tiles_fixture_close(&fixture);
}

/* Band b of the triangle has b + 1 tiles. The bands are distributed over the ranks so that all
 * ranks have the same number of tiles. */
TEST(the_tiles_of_a_triangle_are_divided_equally_among_ranks)
{
    for (uint32_t count = 1; count <= 5; ++count) {
        const struct ranks ranks = {.count = count};
        const struct cpu_tiles tiles = {.ranks = &ranks};
        uint32_t of_rank[5] = {0};
        for (uint32_t band = 0; band < 4 * count; ++band) {
            of_rank[cpu_tiles_rank_of(&tiles, band)] += band + 1;
        }
        for (uint32_t rank = 1; rank < count; ++rank) {
            assert_int_equal(of_rank[rank], of_rank[0]);
        }
    }
}

TEST(the_order_of_a_plan_determines_the_tiles)
{
    struct tiles_fixture fixture;
    tiles_fixture_open(300, KIND_F4, ARITHMETIC_F4, true, &fixture);
    const struct cpu_block block = cpu_tiles_block(&fixture.tiles, 1, 2);
    assert_int_equal(block.stride, 50);
    assert_int_equal(block.rows, 37);
    assert_int_equal(block.columns, 50);
    assert_ptr_equal(block.elements,
                     (float *)fixture.matrix.elements + (size_t)50 * 300 + (size_t)37 * 87);
    assert_int_equal(fixture.tiles.position_of[0], 200);
    assert_int_equal(fixture.tiles.tile_of[87], 2);
    assert_int_equal(cpu_tiles_width(&fixture.tiles, 1), 37);
    tiles_fixture_close(&fixture);
}

TEST(an_element_is_stored_in_the_type_of_its_arithmetic)
{
    int32_t i4[2] = {0};
    int16_t narrow[2] = {0};
    float f4[2] = {0};
    double f8[2] = {0};
    cpu_tiles_store(ARITHMETIC_I4, i4, 1, -7);
    cpu_tiles_store(ARITHMETIC_NARROW, narrow, 1, 32766);
    cpu_tiles_store(ARITHMETIC_F4, f4, 1, 0.5);
    cpu_tiles_store(ARITHMETIC_F8, f8, 1, 0.1);
    assert_true(i4[0] == 0 && i4[1] == -7 && narrow[0] == 0 && narrow[1] == 32766);
    assert_true(f4[0] == 0 && f4[1] == 0.5F && f8[0] == 0 && f8[1] == 0.1);
    static const double too_heavy[] = {32767, 32768, 40000, 65535, 65541, 1 << 29};
    for (size_t index = 0; index < sizeof(too_heavy) / sizeof(too_heavy[0]); ++index) {
        cpu_tiles_store(ARITHMETIC_NARROW, narrow, 0, too_heavy[index]);
        assert_int_equal(narrow[0], 32767);
    }
    assert_int_equal(cpu_tiles_element_bytes(ARITHMETIC_I4), 4);
    assert_int_equal(cpu_tiles_element_bytes(ARITHMETIC_NARROW), 2);
    assert_int_equal(cpu_tiles_element_bytes(ARITHMETIC_F4), 4);
    assert_int_equal(cpu_tiles_element_bytes(ARITHMETIC_F8), 8);
}

#define VERTICES 300

/* Makes a graph that has an edge v -> 299 - v with weight v + unit for each v below 150. */
static struct graph *build(bool directed, double unit)
{
    struct range_edge edges[VERTICES / 2];
    for (uint32_t v = 0; v < VERTICES / 2; ++v) {
        edges[v] = (struct range_edge){v, VERTICES - 1 - v, v + unit};
    }
    return range_build(VERTICES, edges, VERTICES / 2, directed);
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

static void check_fill(bool directed, double unit, enum kind kind, enum arithmetic arithmetic,
                       bool ordered, bool symmetric)
{
    struct graph *graph = build(directed, unit);
    struct tiles_fixture fixture;
    tiles_fixture_open(VERTICES, kind, arithmetic, ordered, &fixture);
    const struct cpu_tiles *tiles = &fixture.tiles;
    cpu_tiles_fill(pool, graph, tiles, symmetric);
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
        check_fill(directed, 1, KIND_I4, ARITHMETIC_I4, ordered != 0, symmetric);
        check_fill(directed, 0, KIND_I4, ARITHMETIC_I4, ordered != 0, symmetric);
        check_fill(directed, 1, KIND_I4, ARITHMETIC_NARROW, ordered != 0, symmetric);
        check_fill(directed, 0.5, KIND_F4, ARITHMETIC_F4, ordered != 0, symmetric);
        check_fill(directed, 0.5, KIND_F8, ARITHMETIC_F8, ordered != 0, symmetric);
    }
}

TEST(edges_and_the_diagonal_are_filled_in)
{
    check_kinds(true, false);
}

TEST(undirected_edges_are_filled_in_for_both_directions)
{
    check_kinds(false, false);
}

TEST(lower_tiles_of_a_symmetric_matrix_are_filled)
{
    check_kinds(false, true);
}

/* A round of the plan reaches tile (0, 1), which has no edge. No round reaches tile (1, 0). */
TEST(a_tile_that_is_reached_later_is_not_filled)
{
    struct graph *graph = build(true, 1);
    struct tiles_fixture fixture;
    tiles_fixture_open(VERTICES, KIND_I4, ARITHMETIC_I4, true, &fixture);
    struct plan *plan = fixture.plan;
    const size_t words = (size_t)plan->tile_count * plan->tile_count / 64 + 1;
    plan->edge_tiles = calloc(words, sizeof(*plan->edge_tiles));
    plan->reached_tiles = calloc(words, sizeof(*plan->reached_tiles));
    assert_true(plan->edge_tiles != NULL && plan->reached_tiles != NULL);
    plan->reached_tiles[0] = 2;
    cpu_tiles_fill(pool, graph, &fixture.tiles, false);
    const struct cpu_block fresh = cpu_tiles_block(&fixture.tiles, 0, 1);
    const struct cpu_block unreached = cpu_tiles_block(&fixture.tiles, 1, 0);
    assert_int_equal(*(int32_t *)fresh.elements, 0);
    assert_int_equal(*(int32_t *)unreached.elements, UNREACHABLE_I4);
    tiles_fixture_close(&fixture);
    graph_destroy(graph);
}

TEST_GROUP(create_pool, destroy_pool)
