/* That a plan is what is executed: only its tiles are touched. Whole solves are in tests/solver. */
#include "server/solver/cpu_floyd_warshall.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define TILES 3
#define VERTICES (TILES * CPU_TILE - 5)

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

/* One step, pivot tile 1, with the lists given. Every edge has length 100, those from and to the
 * pivot `hub` length 1, so every entry that is touched falls to 2 or less. */
static int32_t *run_step(const uint32_t *row_tiles, uint32_t row_tile_count,
                         const uint32_t *column_tiles, uint32_t column_tile_count)
{
    const uint32_t hub = CPU_TILE + 7;
    struct plan_step step = {
        1, CPU_TILE, row_tiles, row_tile_count, column_tiles, column_tile_count};
    struct plan plan = {.vertex_count = VERTICES,
                        .tile = CPU_TILE,
                        .tile_count = TILES,
                        .steps = &step,
                        .step_count = 1};
    struct matrix matrix = {VERTICES, KIND_I4,
                            calloc((size_t)VERTICES * VERTICES, sizeof(int32_t))};
    assert_non_null(matrix.elements);
    int32_t *elements = matrix.elements;
    for (uint32_t row = 0; row < VERTICES; ++row) {
        for (uint32_t column = 0; column < VERTICES; ++column) {
            const int32_t length = row == hub || column == hub ? 1 : 100;
            elements[(size_t)row * VERTICES + column] = row == column ? 0 : length;
        }
    }
    assert_int_equal(
        cpu_floyd_warshall_run(pool, cpu_kernel_find("auto"), &plan, false, NULL, &matrix),
        STATUS_OK);
    return elements;
}

static bool is_listed(uint32_t tile, const uint32_t *tiles, uint32_t count)
{
    bool listed = tile == 1;
    for (uint32_t index = 0; index < count; ++index) {
        listed = listed || tiles[index] == tile;
    }
    return listed;
}

static void check(const uint32_t *row_tiles, uint32_t row_tile_count, const uint32_t *column_tiles,
                  uint32_t column_tile_count)
{
    int32_t *elements = run_step(row_tiles, row_tile_count, column_tiles, column_tile_count);
    for (uint32_t row = 0; row < VERTICES; ++row) {
        for (uint32_t column = 0; column < VERTICES; ++column) {
            const bool touched = is_listed(row / CPU_TILE, column_tiles, column_tile_count) &&
                                 is_listed(column / CPU_TILE, row_tiles, row_tile_count);
            const int32_t entry = elements[(size_t)row * VERTICES + column];
            assert_true(touched ? entry <= 2 : entry == 0 || entry == 1 || entry == 100);
        }
    }
    free(elements);
}

static void a_step_touches_the_tiles_of_its_lists(void **state)
{
    (void)state;
    static const uint32_t all[] = {0, 1, 2};
    static const uint32_t first[] = {0};
    static const uint32_t last[] = {2};
    static const uint32_t others[] = {0, 2};
    check(all, 3, all, 3);
    check(others, 2, others, 2);
    check(first, 1, last, 1);
    check(last, 1, first, 1);
    check(all, 3, last, 1);
}

static void a_step_without_tiles_closes_its_pivot_only(void **state)
{
    (void)state;
    static const uint32_t pivot[] = {1};
    check(NULL, 0, NULL, 0);
    check(pivot, 1, pivot, 1);
}

static void one_list_may_be_empty(void **state)
{
    (void)state;
    static const uint32_t others[] = {0, 2};
    check(others, 2, NULL, 0);
    check(NULL, 0, others, 2);
}

static void the_panels_are_all_that_is_taken_beside_the_matrix(void **state)
{
    (void)state;
    assert_int_equal(cpu_floyd_warshall_bytes(0, KIND_I4), 3 * 128 * 128 * 4);
    assert_int_equal(cpu_floyd_warshall_bytes(129, KIND_F8), 7 * 128 * 128 * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_touches_the_tiles_of_its_lists),
        cmocka_unit_test(a_step_without_tiles_closes_its_pivot_only),
        cmocka_unit_test(one_list_may_be_empty),
        cmocka_unit_test(the_panels_are_all_that_is_taken_beside_the_matrix),
    };
    return cmocka_run_group_tests(tests, create_pool, destroy_pool);
}
