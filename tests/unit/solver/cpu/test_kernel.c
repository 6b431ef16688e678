/* Checks each operation of every kernel that this machine supports, in every element type.
 * tests/solver checks complete solves. */
#include "server/solver/cpu/kernel.h"
#include "server/solver/cpu/tiles.h"
#include "tests/lib/test.h"

#include <math.h>

/* Size in bytes of the largest packed operand, for any block and element type. */
#define PACKED_BYTES ((size_t)CPU_TILE * CPU_TILE * CPU_PACKED_ELEMENT)

#define STRIDE (CPU_TILE + 8)
#define GUARD 77

struct operands {
    enum arithmetic arithmetic;
    void *left_packed;
    void *right_packed;
    double left[STRIDE * STRIDE];
    double right[STRIDE * STRIDE];
    double result[STRIDE * STRIDE];
    void *stored; /* elements of the operand that store() wrote */
};

static double unreachable(enum arithmetic arithmetic)
{
    if (arithmetic == ARITHMETIC_I4) {
        return UNREACHABLE_I4;
    }
    return arithmetic == ARITHMETIC_NARROW ? NARROW_UNREACHABLE : (double)INFINITY;
}

static double load(enum arithmetic arithmetic, const void *elements, size_t index)
{
    switch (arithmetic) {
    case ARITHMETIC_I4:
        return ((const int32_t *)elements)[index];
    case ARITHMETIC_NARROW:
        return ((const int16_t *)elements)[index];
    case ARITHMETIC_F4:
        return (double)((const float *)elements)[index];
    case ARITHMETIC_F8:
        return ((const double *)elements)[index];
    case ARITHMETIC_COUNT:
        break;
    }
    return 0;
}

/* Fills the entries with random numbers that are at least `lowest`. An eighth of the entries are
 * unreachable. */
static void draw(enum arithmetic arithmetic, double *entries, uint32_t seed, int lowest)
{
    for (size_t index = 0; index < STRIDE * STRIDE; ++index) {
        seed = seed * 1664525u + 1013904223u;
        entries[index] =
            (seed >> 29) == 0 ? unreachable(arithmetic) : lowest + (double)((seed >> 8) % 1000);
    }
}

static struct operands *make_operands(enum arithmetic arithmetic, int lowest)
{
    struct operands *operands = malloc(sizeof(*operands));
    assert_non_null(operands);
    operands->arithmetic = arithmetic;
    operands->left_packed = aligned_alloc(CPU_ALIGNMENT, PACKED_BYTES);
    operands->right_packed = aligned_alloc(CPU_ALIGNMENT, PACKED_BYTES);
    operands->stored = malloc(STRIDE * STRIDE * sizeof(double));
    assert_true(operands->left_packed != NULL && operands->right_packed != NULL &&
                operands->stored != NULL);
    draw(arithmetic, operands->left, 1, lowest);
    draw(arithmetic, operands->right, 2, lowest);
    draw(arithmetic, operands->result, 3, lowest);
    return operands;
}

static void free_operands(struct operands *operands)
{
    free(operands->left_packed);
    free(operands->right_packed);
    free(operands->stored);
    free(operands);
}

static struct cpu_block store(struct operands *operands, const double *entries, uint32_t rows,
                              uint32_t columns, bool transposed)
{
    for (size_t index = 0; index < STRIDE * STRIDE; ++index) {
        const size_t mirrored = index % STRIDE * STRIDE + index / STRIDE;
        cpu_tiles_store(operands->arithmetic, operands->stored, index,
                        entries[transposed ? mirrored : index]);
    }
    return (struct cpu_block){operands->stored, STRIDE, transposed ? columns : rows,
                              transposed ? rows : columns};
}

static void pack(const struct cpu_operations *operations, struct operands *operands, uint32_t rows,
                 uint32_t depth, uint32_t columns, bool transposed)
{
    const struct cpu_block left = store(operands, operands->left, rows, depth, transposed);
    (transposed ? operations->pack_left_transposed : operations->pack_left)(left,
                                                                            operands->left_packed);
    const struct cpu_block right = store(operands, operands->right, depth, columns, transposed);
    (transposed ? operations->pack_right_transposed
                : operations->pack_right)(right, operands->right_packed);
}

static double expected(const struct operands *operands, uint32_t depth, size_t i, size_t j,
                       bool fresh)
{
    double least = fresh ? unreachable(operands->arithmetic) : operands->result[i * STRIDE + j];
    for (size_t k = 0; k < depth; ++k) {
        least = fmin(least, operands->left[i * STRIDE + k] + operands->right[k * STRIDE + j]);
    }
    return least;
}

static void check_entries(const struct operands *operands, uint32_t rows, uint32_t depth,
                          uint32_t columns, bool fresh)
{
    for (size_t i = 0; i < STRIDE; ++i) {
        for (size_t j = 0; j < STRIDE; ++j) {
            const bool inside = i < rows && j < columns;
            assert_true(load(operands->arithmetic, operands->stored, i * STRIDE + j) ==
                        (inside ? expected(operands, depth, i, j, fresh)
                                : operands->result[i * STRIDE + j]));
        }
    }
}

static void check_product(const struct cpu_operations *operations, enum arithmetic arithmetic,
                          int lowest, uint32_t rows, uint32_t depth, uint32_t columns)
{
    for (int way = 0; way < 4; ++way) {
        const bool fresh = (way & 1) != 0;
        struct operands *operands = make_operands(arithmetic, lowest);
        pack(operations, operands, rows, depth, columns, (way & 2) != 0);
        const struct cpu_block block = store(operands, operands->result, rows, columns, false);
        operations->multiply(operands->left_packed, operands->right_packed, depth, block, fresh);
        check_entries(operands, rows, depth, columns, fresh);
        free_operands(operands);
    }
}

static void check_shapes(const struct cpu_operations *operations, enum arithmetic arithmetic,
                         int lowest)
{
    static const uint32_t shapes[][3] = {
        {1, 1, 1},   {3, 5, 17},  {4, 128, 31},  {5, 128, 32}, {8, 1, 33},      {9, 2, 63},
        {15, 3, 64}, {16, 4, 65}, {127, 31, 97}, {128, 7, 2},  {128, 128, 128}, {70, 100, 90},
        {9, 3, 11},  {5, 2, 12},  {4, 3, 20},    {2, 3, 23},   {9, 2, 24},      {4, 2, 25},
        {3, 2, 40},  {9, 2, 47},  {7, 3, 48},    {4, 1, 49},   {9, 2, 73},      {5, 3, 120}};
    for (size_t index = 0; index < sizeof(shapes) / sizeof(shapes[0]); ++index) {
        check_product(operations, arithmetic, lowest, shapes[index][0], shapes[index][1],
                      shapes[index][2]);
    }
}

TEST(a_product_of_any_shape_is_correct_and_writes_only_its_block)
{
    for (uint32_t variant = 0; cpu_kernel_usable(variant) != NULL; ++variant) {
        const struct cpu_kernel *kernel = cpu_kernel_usable(variant);
        for (enum arithmetic arithmetic = 0; arithmetic < ARITHMETIC_COUNT; ++arithmetic) {
            check_shapes(cpu_kernel_operations(kernel, arithmetic, false), arithmetic, 0);
            if (arithmetic != ARITHMETIC_NARROW) {
                check_shapes(cpu_kernel_operations(kernel, arithmetic, true), arithmetic, -300);
            }
        }
    }
}

TEST(the_largest_distances_are_added_and_compared_correctly)
{
    static const double largest[ARITHMETIC_COUNT] = {UNREACHABLE_I4 / 2, NARROW_DISTANCE_MAX,
                                                     1 << 23, 1e15};
    for (uint32_t variant = 0; cpu_kernel_usable(variant) != NULL; ++variant) {
        for (enum arithmetic arithmetic = 0; arithmetic < ARITHMETIC_COUNT; ++arithmetic) {
            const struct cpu_operations *operations =
                cpu_kernel_operations(cpu_kernel_usable(variant), arithmetic, false);
            const double end = unreachable(arithmetic);
            struct operands *operands = make_operands(arithmetic, 0);
            const double values[] = {0, 1, largest[arithmetic], end};
            for (size_t index = 0; index < 64; ++index) {
                operands->left[index / 16 * STRIDE] = values[index / 16];
                operands->right[index / 4 % 4] = values[index / 4 % 4];
                operands->result[index / 16 * STRIDE + index / 4 % 4] = end;
            }
            pack(operations, operands, 4, 1, 4, false);
            operations->multiply(operands->left_packed, operands->right_packed, 1,
                                 store(operands, operands->result, 4, 4, false), false);
            for (size_t index = 0; index < 16; ++index) {
                assert_true(load(arithmetic, operands->stored, index / 4 * STRIDE + index % 4) ==
                            fmin(values[index / 4] + values[index % 4], end));
            }
            free_operands(operands);
        }
    }
}

/* Closes a block (runs Floyd-Warshall in it) that contains a ring. The ring's edges have length 1,
 * except that the last edge has length `last`. */
static bool close_ring(const struct cpu_operations *operations, struct operands *operands,
                       double last, uint32_t width)
{
    for (uint32_t row = 0; row < width; ++row) {
        for (uint32_t column = 0; column < width; ++column) {
            operands->result[row * STRIDE + column] =
                row == column ? 0 : unreachable(operands->arithmetic);
        }
        operands->result[row * STRIDE + (row + 1) % width] = row + 1 == width ? last : 1;
        operands->result[row * STRIDE + width] = GUARD;
    }
    return operations->close(store(operands, operands->result, width, width, false),
                             operands->left_packed, operands->right_packed);
}

static void check_ring(const struct cpu_operations *operations, struct operands *operands,
                       uint32_t width)
{
    assert_true(close_ring(operations, operands, 1, width));
    for (uint32_t index = 0; index < width * width; ++index) {
        const uint32_t row = index / width;
        const uint32_t column = index % width;
        assert_true(load(operands->arithmetic, operands->stored, row * STRIDE + column) ==
                    (column + width - row) % width);
        assert_true(load(operands->arithmetic, operands->stored, row * STRIDE + width) == GUARD);
    }
}

TEST(floyd_warshall_in_a_block_finds_all_distances_within_the_block)
{
    for (enum arithmetic arithmetic = 0; arithmetic < ARITHMETIC_COUNT; ++arithmetic) {
        struct operands *operands = make_operands(arithmetic, 0);
        for (uint32_t variant = 0; cpu_kernel_usable(variant) != NULL; ++variant) {
            for (uint32_t width = 2; width <= CPU_TILE; width += 9) {
                check_ring(cpu_kernel_operations(cpu_kernel_usable(variant), arithmetic, false),
                           operands, width);
            }
        }
        free_operands(operands);
    }
}

TEST(floyd_warshall_in_a_block_reports_a_negative_cycle)
{
    static const enum arithmetic signed_ones[] = {ARITHMETIC_I4, ARITHMETIC_F4, ARITHMETIC_F8};
    for (size_t index = 0; index < sizeof(signed_ones) / sizeof(signed_ones[0]); ++index) {
        struct operands *operands = make_operands(signed_ones[index], 0);
        for (uint32_t variant = 0; cpu_kernel_usable(variant) != NULL; ++variant) {
            const struct cpu_operations *operations =
                cpu_kernel_operations(cpu_kernel_usable(variant), signed_ones[index], true);
            assert_true(close_ring(operations, operands, -99, 100));
            assert_false(close_ring(operations, operands, -100, 100));
        }
        free_operands(operands);
    }
}

TEST(kernels_are_listed_best_first_and_found_by_name)
{
    assert_non_null(cpu_kernel_usable(0));
    assert_ptr_equal(cpu_kernel_find("auto"), cpu_kernel_usable(0));
    assert_ptr_equal(cpu_kernel_find("portable"), &cpu_kernel_portable);
    assert_null(cpu_kernel_find("sse9"));
    assert_null(cpu_kernel_find(""));
    for (uint32_t index = 0; cpu_kernel_usable(index) != NULL; ++index) {
        assert_ptr_equal(cpu_kernel_find(cpu_kernel_usable(index)->isa), cpu_kernel_usable(index));
    }
}
