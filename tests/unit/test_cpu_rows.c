#include "proto/solve_options.h"
#include "server/solver/cpu_rows.h"
#include "tests/unit/tiles_fixture.h"

#include <math.h>

/* Several tasks of rows. */
#define VERTICES 1500

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

/* Different along a row and along a column; now and then none. */
static double distance(uint32_t row, uint32_t column)
{
    return (row + column) % 13 == 0 ? (double)INFINITY : (row * 31 + column * 17) % 29989;
}

/* drifted: what is unreachable is stored as a little less. */
static double stored(enum arithmetic arithmetic, double value, bool drifted)
{
    if (isinf(value) && arithmetic == ARITHMETIC_I4) {
        return drifted ? UNREACHABLE_I4_DRIFT + 1 : UNREACHABLE_I4;
    }
    return isinf(value) && arithmetic == ARITHMETIC_NARROW ? NARROW_UNREACHABLE : value;
}

static void check(uint32_t n, enum kind kind, enum arithmetic arithmetic, bool drifted)
{
    struct tiles_fixture fixture;
    tiles_fixture_open(n, kind, arithmetic, true, &fixture);
    struct matrix matrix = {n, kind, malloc((size_t)n * n * kind_size(kind))};
    const uint32_t *vertex_at = fixture.plan->vertex_at;
    assert_non_null(matrix.elements);
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            cpu_tiles_store(
                arithmetic, fixture.tiles.elements, (size_t)row * n + column,
                stored(arithmetic, distance(vertex_at[row], vertex_at[column]), drifted));
        }
    }
    cpu_rows_write(pool, &fixture.tiles, drifted, &matrix);
    for (uint32_t row = 0; row < n; ++row) {
        for (uint32_t column = 0; column < n; ++column) {
            double found = INFINITY;
            if (!matrix_distance(&matrix, row, column, &found)) {
                found = INFINITY;
            }
            assert_true(found == distance(row, column));
        }
    }
    free(matrix.elements);
    tiles_fixture_close(&fixture);
}

static void rows_are_written_in_the_order_of_the_vertices(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 87, 300, VERTICES};
    for (size_t index = 0; index < sizeof(sizes) / sizeof(sizes[0]); ++index) {
        check(sizes[index], KIND_I4, ARITHMETIC_I4, false);
        check(sizes[index], KIND_I4, ARITHMETIC_NARROW, false);
        check(sizes[index], KIND_F4, ARITHMETIC_F4, false);
        check(sizes[index], KIND_F8, ARITHMETIC_F8, false);
    }
}

static void drifted_integers_become_unreachable(void **state)
{
    (void)state;
    check(300, KIND_I4, ARITHMETIC_I4, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_written_in_the_order_of_the_vertices),
        cmocka_unit_test(drifted_integers_become_unreachable),
    };
    return cmocka_run_group_tests(tests, create_pool, destroy_pool);
}
