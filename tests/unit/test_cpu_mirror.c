#include "server/solver/cpu_mirror.h"
#include "tests/unit/tiles_fixture.h"

static struct cpu_pool *pool;

static int create_pool(void **state)
{
    (void)state;
    return cpu_pool_create(3, &pool) == STATUS_OK ? 0 : 1;
}

static int destroy_pool(void **state)
{
    (void)state;
    cpu_pool_destroy(pool);
    return 0;
}

/* Of the lower half, different for each entry within 16 bits. */
static double value(uint32_t row, uint32_t column)
{
    return (row * 131 + column * 7) % 32749;
}

static double load(const struct cpu_tiles *tiles, const void *elements, size_t index)
{
    switch (tiles->arithmetic) {
    case ARITHMETIC_I4:
        return ((const int32_t *)elements)[index];
    case ARITHMETIC_NARROW:
        return ((const int16_t *)elements)[index];
    case ARITHMETIC_F4:
        return (double)((const float *)elements)[index];
    case ARITHMETIC_F8:
    case ARITHMETIC_COUNT:
        break;
    }
    return ((const double *)elements)[index];
}

static void check(uint32_t n, enum kind kind, enum arithmetic arithmetic, bool ordered)
{
    struct tiles_fixture fixture;
    tiles_fixture_open(n, kind, arithmetic, ordered, &fixture);
    const struct cpu_tiles *tiles = &fixture.tiles;
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t row = 0; row < n; ++row) {
            for (uint32_t column = 0; column < n; ++column) {
                const struct cpu_block block =
                    cpu_tiles_block(tiles, tiles->tile_of[row], tiles->tile_of[column]);
                const size_t index = (row - tiles->begin[tiles->tile_of[row]]) * block.stride +
                                     (column - tiles->begin[tiles->tile_of[column]]);
                const double mirrored = row < column ? value(column, row) : value(row, column);
                if (pass == 0) {
                    cpu_tiles_store(arithmetic, block.elements, index,
                                    row < column ? 9 : value(row, column));
                } else {
                    assert_true(load(tiles, block.elements, index) == mirrored);
                }
            }
        }
        if (pass == 0) {
            cpu_mirror_run(pool, tiles);
        }
    }
    tiles_fixture_close(&fixture);
}

static void the_upper_half_becomes_the_lower_one(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 15, 17, 128, 129, 256, 257, 600};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        for (int ordered = 0; ordered < 2; ++ordered) {
            check(sizes[index], KIND_I4, ARITHMETIC_I4, ordered != 0);
            check(sizes[index], KIND_I4, ARITHMETIC_NARROW, ordered != 0);
            check(sizes[index], KIND_F4, ARITHMETIC_F4, ordered != 0);
            check(sizes[index], KIND_F8, ARITHMETIC_F8, ordered != 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_upper_half_becomes_the_lower_one),
    };
    return cmocka_run_group_tests(tests, create_pool, destroy_pool);
}
