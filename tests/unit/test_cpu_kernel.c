/* Every kernel that this machine runs, its operations one by one. Whole solves are in
 * tests/solver. */
#include "server/solver/cpu_kernel.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STRIDE 200
#define GUARD (-77)

struct operands {
    int32_t *left_packed;
    int32_t *right_packed;
    int32_t left[STRIDE * STRIDE];
    int32_t right[STRIDE * STRIDE];
    int32_t result[STRIDE * STRIDE];
    int32_t expected[STRIDE * STRIDE];
};

static void fill(int32_t *elements, uint32_t seed)
{
    for (size_t index = 0; index < STRIDE * STRIDE; ++index) {
        seed = seed * 1664525u + 1013904223u;
        elements[index] = (seed >> 28) == 0 ? UNREACHABLE_I4 : (int32_t)((seed >> 8) % 1000);
    }
}

static struct operands *make_operands(void)
{
    struct operands *operands = malloc(sizeof(*operands));
    assert_non_null(operands);
    const size_t bytes = (size_t)CPU_TILE * CPU_TILE * sizeof(int32_t);
    operands->left_packed = aligned_alloc(CPU_ALIGNMENT, bytes);
    operands->right_packed = aligned_alloc(CPU_ALIGNMENT, bytes);
    assert_true(operands->left_packed != NULL && operands->right_packed != NULL);
    fill(operands->left, 1);
    fill(operands->right, 2);
    fill(operands->result, 3);
    memcpy(operands->expected, operands->result, sizeof(operands->result));
    return operands;
}

static void free_operands(struct operands *operands)
{
    free(operands->left_packed);
    free(operands->right_packed);
    free(operands);
}

static void multiply_plainly(struct operands *operands, uint32_t rows, uint32_t depth,
                             uint32_t columns)
{
    for (size_t i = 0; i < rows; ++i) {
        for (size_t k = 0; k < depth; ++k) {
            for (size_t j = 0; j < columns; ++j) {
                const int32_t through =
                    operands->left[i * STRIDE + k] + operands->right[k * STRIDE + j];
                int32_t *entry = &operands->expected[i * STRIDE + j];
                *entry = through < *entry ? through : *entry;
            }
        }
    }
}

static void check_product(const struct cpu_operations *operations, uint32_t rows, uint32_t depth,
                          uint32_t columns)
{
    struct operands *operands = make_operands();
    multiply_plainly(operands, rows, depth, columns);
    operations->pack_left((struct cpu_block){operands->left, STRIDE, rows, depth},
                          operands->left_packed);
    operations->pack_right((struct cpu_block){operands->right, STRIDE, depth, columns},
                           operands->right_packed);
    operations->multiply(operands->left_packed, operands->right_packed, depth,
                         (struct cpu_block){operands->result, STRIDE, rows, columns});
    assert_memory_equal(operands->result, operands->expected, sizeof(operands->expected));
    free_operands(operands);
}

static void a_product_of_any_shape_is_right_and_stays_in_its_block(void **state)
{
    (void)state;
    static const uint32_t extents[] = {1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 127, CPU_TILE};
    const size_t count = sizeof(extents) / sizeof(extents[0]);
    for (uint32_t variant = 0; cpu_kernel_usable(variant) != NULL; ++variant) {
        const struct cpu_operations *operations =
            cpu_kernel_operations(cpu_kernel_usable(variant), KIND_I4);
        for (size_t index = 0; index < count; ++index) {
            check_product(operations, extents[index], CPU_TILE, CPU_TILE);
            check_product(operations, CPU_TILE, extents[index], CPU_TILE);
            check_product(operations, CPU_TILE, CPU_TILE, extents[index]);
            check_product(operations, extents[index], extents[index], extents[index]);
        }
    }
}

static bool close_ring(const struct cpu_operations *operations, int32_t last, bool clamp,
                       int32_t *tile, uint32_t width)
{
    int32_t *scratch = aligned_alloc(CPU_ALIGNMENT, (size_t)CPU_TILE * CPU_TILE * sizeof(*scratch));
    assert_non_null(scratch);
    for (uint32_t row = 0; row < width; ++row) {
        for (uint32_t column = 0; column < width; ++column) {
            tile[row * STRIDE + column] = row == column ? 0 : UNREACHABLE_I4;
        }
        tile[row * STRIDE + (row + 1) % width] = row + 1 == width ? last : 1;
        tile[row * STRIDE + width] = GUARD;
    }
    const bool closed =
        operations->close((struct cpu_block){tile, STRIDE, width, width}, clamp, scratch);
    free(scratch);
    return closed;
}

static void closing_finds_all_distances_within_the_block(void **state)
{
    (void)state;
    static int32_t tile[STRIDE * STRIDE];
    for (uint32_t variant = 0; cpu_kernel_usable(variant) != NULL; ++variant) {
        const struct cpu_operations *operations =
            cpu_kernel_operations(cpu_kernel_usable(variant), KIND_I4);
        for (uint32_t width = 2; width <= CPU_TILE; width += 9) {
            assert_true(close_ring(operations, 1, false, tile, width));
            for (uint32_t index = 0; index < width * width; ++index) {
                const uint32_t row = index / width;
                const uint32_t column = index % width;
                assert_int_equal(tile[row * STRIDE + column], (column + width - row) % width);
                assert_int_equal(tile[row * STRIDE + width], GUARD);
            }
        }
    }
}

static void closing_stops_at_a_negative_cycle_unless_clamped(void **state)
{
    (void)state;
    static int32_t tile[STRIDE * STRIDE];
    for (uint32_t variant = 0; cpu_kernel_usable(variant) != NULL; ++variant) {
        const struct cpu_operations *operations =
            cpu_kernel_operations(cpu_kernel_usable(variant), KIND_I4);
        assert_true(close_ring(operations, -99, false, tile, 100));
        assert_false(close_ring(operations, -100, false, tile, 100));
        assert_true(close_ring(operations, -100, true, tile, 100));
        assert_int_equal(tile[99 * STRIDE + 99], 0);
    }
}

static void kernels_are_found_by_name_best_first(void **state)
{
    (void)state;
    assert_non_null(cpu_kernel_usable(0));
    assert_ptr_equal(cpu_kernel_find("auto"), cpu_kernel_usable(0));
    assert_ptr_equal(cpu_kernel_find("portable"), &cpu_kernel_portable);
    assert_null(cpu_kernel_find("sse9"));
    assert_null(cpu_kernel_find(""));
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; ++index) {
        assert_ptr_equal(cpu_kernel_find(cpu_kernel_usable(index)->isa), cpu_kernel_usable(index));
    }
}

static void a_kernel_computes_i4_f4_and_f8(void **state)
{
    (void)state;
    const struct cpu_kernel *kernel = cpu_kernel_find("auto");
    assert_ptr_equal(cpu_kernel_operations(kernel, KIND_I4), &kernel->operations_i4);
    assert_ptr_equal(cpu_kernel_operations(kernel, KIND_F4), &kernel->operations_f4);
    assert_ptr_equal(cpu_kernel_operations(kernel, KIND_F8), &kernel->operations_f8);
    assert_null(cpu_kernel_operations(kernel, KIND_U2));
    assert_null(cpu_kernel_operations(kernel, KIND_AUTO));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_of_any_shape_is_right_and_stays_in_its_block),
        cmocka_unit_test(closing_finds_all_distances_within_the_block),
        cmocka_unit_test(closing_stops_at_a_negative_cycle_unless_clamped),
        cmocka_unit_test(kernels_are_found_by_name_best_first),
        cmocka_unit_test(a_kernel_computes_i4_f4_and_f8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
