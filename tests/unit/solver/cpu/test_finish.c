#include "server/solver/cpu/tiles.h"
#include "tests/unit/tiles_fixture.h"

#include <math.h>

/* Several tiles, the last of them narrow. */
#define VERTICES 700

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

/* The distance of two vertices: for a symmetric matrix the same both ways; now and then none. */
static double distance(uint32_t row, uint32_t column, bool symmetric)
{
    const uint32_t low = symmetric && column < row ? column : row;
    const uint32_t high = symmetric && column < row ? row : column;
    return (low + high) % 11 == 0 ? (double)INFINITY : (low * 31 + high * 17) % 9973;
}

static double stored_distance(enum arithmetic arithmetic, double value)
{
    if (isinf(value) && arithmetic == ARITHMETIC_I4) {
        return UNREACHABLE_I4;
    }
    return isinf(value) && arithmetic == ARITHMETIC_NARROW ? NARROW_UNREACHABLE : value;
}

/* What a solve leaves: tiles in the order of the plan, of a symmetric one the lower half (and on
 * the diagonal what is nearly the same twice). */
static void solve(const struct cpu_tiles *tiles, bool symmetric)
{
    for (uint32_t row = 0; row < tiles->vertex_count; ++row) {
        for (uint32_t column = 0; column < tiles->vertex_count; ++column) {
            const uint32_t *vertex_at = tiles->plan->vertex_at;
            const uint32_t row_tile = tiles->tile_of[row];
            const uint32_t column_tile = tiles->tile_of[column];
            const struct cpu_block block = cpu_tiles_block(tiles, row_tile, column_tile);
            const double value =
                distance(vertex_at != NULL ? vertex_at[row] : row,
                         vertex_at != NULL ? vertex_at[column] : column, symmetric);
            const bool missing = symmetric && row < column;
            cpu_tiles_store(tiles->arithmetic, block.elements,
                            (row - tiles->begin[row_tile]) * block.stride +
                                (column - tiles->begin[column_tile]),
                            missing ? 1 : stored_distance(tiles->arithmetic, value));
        }
    }
}

static void check(uint32_t n, enum kind kind, enum arithmetic arithmetic, bool ordered,
                  bool symmetric)
{
    const struct cpu_finish_options options = {.symmetric = symmetric};
    struct tiles_fixture fixture;
    tiles_fixture_open(n, kind, arithmetic, ordered, &fixture);
    solve(&fixture.tiles, symmetric);
    assert_int_equal(cpu_finish_run(pool, &fixture.tiles, &options, &fixture.matrix), STATUS_OK);
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            double found = INFINITY;
            if (!matrix_distance(&fixture.matrix, row, column, &found)) {
                found = INFINITY;
            }
            assert_true(found == distance(row, column, symmetric));
        }
    }
    tiles_fixture_close(&fixture);
}

static void check_kinds(bool ordered, bool symmetric)
{
    static const uint32_t sizes[] = {1, 2, 128, 129, 257, VERTICES};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        check(sizes[index], KIND_I4, ARITHMETIC_I4, ordered, symmetric);
        check(sizes[index], KIND_I4, ARITHMETIC_NARROW, ordered, symmetric);
        check(sizes[index], KIND_F4, ARITHMETIC_F4, ordered, symmetric);
        check(sizes[index], KIND_F8, ARITHMETIC_F8, ordered, symmetric);
    }
}

static void tiles_become_rows(void **state)
{
    (void)state;
    check_kinds(false, false);
}

static void an_order_is_taken_back(void **state)
{
    (void)state;
    check_kinds(true, false);
}

static void the_lower_half_is_mirrored(void **state)
{
    (void)state;
    check_kinds(false, true);
    check_kinds(true, true);
}

static void drifted_integers_become_unreachable(void **state)
{
    (void)state;
    static const int32_t before[] = {UNREACHABLE_I4_DRIFT, UNREACHABLE_I4_DRIFT + 1,
                                     UNREACHABLE_I4 - 1, -UNREACHABLE_I4_DRIFT};
    static const int32_t after[] = {UNREACHABLE_I4_DRIFT, UNREACHABLE_I4, UNREACHABLE_I4,
                                    -UNREACHABLE_I4_DRIFT};
    const struct cpu_finish_options drifted = {.drifted = true};
    for (int ordered = 0; ordered < 2; ++ordered) {
        struct tiles_fixture fixture;
        tiles_fixture_open(300, KIND_I4, ARITHMETIC_I4, ordered != 0, &fixture);
        int32_t *elements = fixture.matrix.elements;
        for (size_t index = 0; index < (size_t)300 * 300; ++index) {
            elements[index] = before[index % 4];
        }
        assert_int_equal(cpu_finish_run(pool, &fixture.tiles, &drifted, &fixture.matrix),
                         STATUS_OK);
        size_t counts[4] = {0};
        for (size_t index = 0; index < (size_t)300 * 300; ++index) {
            for (size_t value = 0; value < 4; ++value) {
                counts[value] += elements[index] == after[value] ? 1 : 0;
            }
        }
        assert_true(counts[0] == 22500 && counts[1] == 45000 && counts[3] == 22500);
        tiles_fixture_close(&fixture);
    }
}

static void a_diagonal_below_zero_is_found_or_lifted(void **state)
{
    (void)state;
    float f4[4] = {0, -5, -5, -1e-6F};
    double f8[4] = {-1e-12, -5, -5, 0};
    struct matrix narrow = {2, KIND_F4, f4};
    struct matrix wide = {2, KIND_F8, f8};
    assert_false(cpu_finish_check_diagonal(&narrow, false));
    assert_false(cpu_finish_check_diagonal(&wide, false));
    assert_true(cpu_finish_check_diagonal(&narrow, true));
    assert_true(cpu_finish_check_diagonal(&wide, true));
    assert_true(f4[3] == 0 && f8[0] == 0 && f4[1] < 0 && f8[2] < 0);
    assert_true(cpu_finish_check_diagonal(&narrow, false));
}

static void a_band_and_a_row_are_taken_for_each_thread(void **state)
{
    (void)state;
    assert_int_equal(cpu_finish_bytes(2, 1000, ARITHMETIC_I4), 2 * 129 * 1000 * 4);
    assert_int_equal(cpu_finish_bytes(3, 100, ARITHMETIC_NARROW), 3 * 101 * 100 * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_become_rows),
        cmocka_unit_test(an_order_is_taken_back),
        cmocka_unit_test(the_lower_half_is_mirrored),
        cmocka_unit_test(drifted_integers_become_unreachable),
        cmocka_unit_test(a_diagonal_below_zero_is_found_or_lifted),
        cmocka_unit_test(a_band_and_a_row_are_taken_for_each_thread),
    };
    return cmocka_run_group_tests(tests, create_pool, destroy_pool);
}
