#include "proto/write/grid.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N 5

static uint16_t elements[N][N];

static const void *row_of(const void *context, uint32_t row)
{
    (void)context;
    return elements[row];
}

static struct grid make(const struct axis *rows, const struct axis *columns)
{
    for (int i = 0; i < N * N; i++) {
        elements[i / N][i % N] = (uint16_t)(i % 7 == 3 ? UNREACHABLE_U2 : 1000 + i);
    }
    return (struct grid){KIND_U2, NULL, *rows, *columns, row_of, NULL};
}

/* Every window of the bytes, against the elements one by one. */
static void expect_windows(const struct axis *rows, const struct axis *columns, enum kind as)
{
    const struct grid grid = make(rows, columns);
    unsigned char whole[4 * 64];
    unsigned char part[4 * 64];
    uint64_t size;

    for (uint32_t i = 0; i < grid_cells(&grid); i++) {
        const uint16_t value =
            elements[axis_at(rows, i / columns->count)][axis_at(columns, i % columns->count)];
        const int32_t wide = value == UNREACHABLE_U2 ? UNREACHABLE_I4 : value;

        if (as == KIND_I4) {
            memcpy(whole + 4 * i, &wide, 4);
        } else {
            memcpy(whole + 2 * i, &value, 2);
        }
    }
    assert_int_equal(grid_size(&grid, as, &size), STATUS_OK);
    assert_int_equal(size, grid_cells(&grid) * kind_size(as));
    for (size_t first = 0; first < size; first++) {
        for (size_t count = 0; count <= size - first; count++) {
            assert_int_equal(grid_copy(&grid, as, first, count, part), STATUS_OK);
            assert_memory_equal(part, whole + first, count);
        }
    }
}

static void any_part_can_be_copied(void **state)
{
    static const uint32_t list[] = {4, 0, 0, 2};
    const struct axis all = {NULL, 0, N};
    const struct axis run = {NULL, 1, 3};
    const struct axis some = {list, 0, 4};
    const struct axis axes[] = {all, run, some};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            expect_windows(&axes[i], &axes[j], KIND_U2);
            expect_windows(&axes[i], &axes[j], KIND_I4);
        }
    }
}

static void no_size_overflows(void **state)
{
    const struct axis huge = {NULL, 0, UINT32_MAX};
    const struct grid grid = {KIND_F8, NULL, huge, huge, row_of, NULL};
    uint64_t size;

    (void)state;
    assert_true(grid_cells(&grid) == (uint64_t)UINT32_MAX * UINT32_MAX);
    assert_int_equal(grid_size(&grid, KIND_F8, &size), STATUS_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_part_can_be_copied),
        cmocka_unit_test(no_size_overflows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
