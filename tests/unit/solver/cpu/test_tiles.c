#include "tests/unit/tiles_fixture.h"

#include <string.h>

/* Each byte of the matrix belongs to exactly one element of one tile. */
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

static void tiles_cover_the_matrix_without_overlap(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 127, 128, 129, 300};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        for (int ordered = 0; ordered < 2; ++ordered) {
            check_cover(sizes[index], KIND_I4, ARITHMETIC_I4, ordered != 0);
            check_cover(sizes[index], KIND_I4, ARITHMETIC_NARROW, ordered != 0);
            check_cover(sizes[index], KIND_F8, ARITHMETIC_F8, ordered != 0);
        }
    }
}

static void a_tile_is_one_piece_of_memory(void **state)
{
    (void)state;
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

static void an_order_has_tiles_of_its_own(void **state)
{
    (void)state;
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

static void an_element_is_stored_as_its_arithmetic_wants(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_cover_the_matrix_without_overlap),
        cmocka_unit_test(a_tile_is_one_piece_of_memory),
        cmocka_unit_test(an_order_has_tiles_of_its_own),
        cmocka_unit_test(an_element_is_stored_as_its_arithmetic_wants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
