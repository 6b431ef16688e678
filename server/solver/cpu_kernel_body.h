/* The source of every kernel; no include guard, as it is included once per element kind by each
 * cpu_kernel_<isa>.c, which defines before:
 *   ELEMENT, UNREACHABLE   the element type and its unreachable value
 *   NAME(verb)             the name with the kind's suffix
 *   MINIMUM(a, b)          of two vectors, lane by lane
 *   KERNEL_ROWS            rows of the register tile (kept over the inclusions)
 *   VECTOR_BYTES           bytes of a vector (kept over the inclusions)
 *
 * The register tile is KERNEL_ROWS x two vectors: it stays in registers over all pivots of a block,
 * each pivot costs KERNEL_ROWS broadcasts and two loads for 2 KERNEL_ROWS vector relaxations. */
#include <string.h>

#define LANES (VECTOR_BYTES / sizeof(ELEMENT))
#define KERNEL_COLUMNS (2 * LANES)

_Static_assert(CPU_TILE % KERNEL_ROWS == 0 && CPU_TILE % KERNEL_COLUMNS == 0,
               "a padded tile is a whole number of register tiles");
_Static_assert(VECTOR_BYTES <= CPU_ALIGNMENT, "packed operands are aligned for every vector");

typedef ELEMENT NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));
/* The same lanes where the matrix has them: rows start anywhere. */
typedef ELEMENT NAME(loose)
    __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(sizeof(ELEMENT))));
typedef long long NAME(mask) __attribute__((vector_size(VECTOR_BYTES), may_alias));

static inline ELEMENT *NAME(row_at)(struct cpu_block block, uint32_t row)
{
    return (ELEMENT *)block.elements + row * block.stride;
}

static void NAME(pack_left)(struct cpu_block block, void *packed)
{
    ELEMENT *to = packed;
    for (uint32_t top = 0; top < block.rows; top += KERNEL_ROWS) {
        const uint32_t rows = block.rows - top < KERNEL_ROWS ? block.rows - top : KERNEL_ROWS;
        for (uint32_t row = 0; row < KERNEL_ROWS; ++row) {
            const ELEMENT *from = NAME(row_at)(block, row < rows ? top + row : top);
            for (uint32_t pivot = 0; pivot < block.columns; ++pivot) {
                to[pivot * KERNEL_ROWS + row] = row < rows ? from[pivot] : UNREACHABLE;
            }
        }
        to += (size_t)KERNEL_ROWS * block.columns;
    }
}

static inline void NAME(pack_row)(const ELEMENT *from, size_t columns, ELEMENT *to)
{
    if (columns >= KERNEL_COLUMNS) {
        *(NAME(vector) *)to = *(const NAME(loose) *)from;
        *(NAME(vector) *)(to + LANES) = *(const NAME(loose) *)(from + LANES);
        return;
    }
    for (size_t column = 0; column < KERNEL_COLUMNS; ++column) {
        to[column] = column < columns ? from[column] : UNREACHABLE;
    }
}

static void NAME(pack_right)(struct cpu_block block, void *packed)
{
    ELEMENT *to = packed;
    for (uint32_t left = 0; left < block.columns; left += (uint32_t)KERNEL_COLUMNS) {
        for (uint32_t pivot = 0; pivot < block.rows; ++pivot) {
            NAME(pack_row)(NAME(row_at)(block, pivot) + left, block.columns - left, to);
            to += KERNEL_COLUMNS;
        }
    }
}

/* One register tile over depth pivots, in place at result. */
static inline void NAME(relax)(const ELEMENT *left, const ELEMENT *right, uint32_t depth,
                               ELEMENT *result, size_t stride)
{
    NAME(vector) tile[KERNEL_ROWS][2];
    for (uint32_t row = 0; row < KERNEL_ROWS; ++row) {
        tile[row][0] = *(const NAME(loose) *)(result + row * stride);
        tile[row][1] = *(const NAME(loose) *)(result + row * stride + LANES);
    }
    for (uint32_t pivot = 0; pivot < depth; ++pivot) {
        const NAME(vector) low = *(const NAME(vector) *)right;
        const NAME(vector) high = *(const NAME(vector) *)(right + LANES);
        for (uint32_t row = 0; row < KERNEL_ROWS; ++row) {
            tile[row][0] = MINIMUM(tile[row][0], left[row] + low);
            tile[row][1] = MINIMUM(tile[row][1], left[row] + high);
        }
        left += KERNEL_ROWS;
        right += KERNEL_COLUMNS;
    }
    for (uint32_t row = 0; row < KERNEL_ROWS; ++row) {
        *(NAME(loose) *)(result + row * stride) = tile[row][0];
        *(NAME(loose) *)(result + row * stride + LANES) = tile[row][1];
    }
}

/* A register tile that hangs over the edge of the block: through a whole one beside it. */
static __attribute__((noinline)) void NAME(relax_edge)(const ELEMENT *left, const ELEMENT *right,
                                                       uint32_t depth, struct cpu_block result)
{
    ELEMENT tile[KERNEL_ROWS * KERNEL_COLUMNS];
    for (size_t element = 0; element < KERNEL_ROWS * KERNEL_COLUMNS; ++element) {
        tile[element] = UNREACHABLE;
    }
    for (uint32_t row = 0; row < result.rows; ++row) {
        memcpy(tile + row * KERNEL_COLUMNS, NAME(row_at)(result, row),
               result.columns * sizeof(ELEMENT));
    }
    NAME(relax)(left, right, depth, tile, KERNEL_COLUMNS);
    for (uint32_t row = 0; row < result.rows; ++row) {
        memcpy(NAME(row_at)(result, row), tile + row * KERNEL_COLUMNS,
               result.columns * sizeof(ELEMENT));
    }
}

/* Asks for the next register tile, which comes while this one is computed. */
static inline void NAME(prefetch)(const ELEMENT *next, size_t stride)
{
    for (uint32_t row = 0; row < KERNEL_ROWS; ++row) {
        __builtin_prefetch(next + row * stride, 1);
        __builtin_prefetch(next + row * stride + KERNEL_COLUMNS - 1, 1);
    }
}

static void NAME(multiply)(const void *left, const void *right, uint32_t depth,
                           struct cpu_block block)
{
    const ELEMENT *from = right;
    for (uint32_t column = 0; column < block.columns; column += (uint32_t)KERNEL_COLUMNS) {
        const ELEMENT *to = left;
        for (uint32_t row = 0; row < block.rows; row += KERNEL_ROWS) {
            struct cpu_block result = {NAME(row_at)(block, row) + column, block.stride,
                                       block.rows - row, block.columns - column};
            if (result.rows >= KERNEL_ROWS && result.columns >= KERNEL_COLUMNS) {
                const ELEMENT *next = NAME(row_at)(result, KERNEL_ROWS);
                NAME(prefetch)(next, block.stride);
                NAME(relax)(to, from, depth, result.elements, block.stride);
            } else {
                result.rows = result.rows < KERNEL_ROWS ? result.rows : KERNEL_ROWS;
                result.columns =
                    result.columns < KERNEL_COLUMNS ? result.columns : (uint32_t)KERNEL_COLUMNS;
                NAME(relax_edge)(to, from, depth, result);
            }
            to += (size_t)KERNEL_ROWS * depth;
        }
        from += KERNEL_COLUMNS * depth;
    }
}

/* All rows of the padded tile over one pivot, two vectors of columns at a time. to: the pivot's
 * column, copied, as it is overwritten with itself meanwhile. */
static inline void NAME(close_pivot)(ELEMENT *tile, uint32_t pivot, const ELEMENT *to,
                                     uint32_t rows)
{
    for (uint32_t column = 0; column < CPU_TILE; column += (uint32_t)KERNEL_COLUMNS) {
        const ELEMENT *from = tile + pivot * CPU_TILE + column;
        const NAME(vector) low = *(const NAME(vector) *)from;
        const NAME(vector) high = *(const NAME(vector) *)(from + LANES);
        for (uint32_t row = 0; row < rows; ++row) {
            NAME(vector) *result = (NAME(vector) *)(tile + row * CPU_TILE + column);
            result[0] = MINIMUM(result[0], to[row] + low);
            result[1] = MINIMUM(result[1], to[row] + high);
        }
    }
}

static bool NAME(close_tile)(ELEMENT *tile, uint32_t width, bool clamp)
{
    ELEMENT to[CPU_TILE];
    for (uint32_t pivot = 0; pivot < width; ++pivot) {
        ELEMENT *diagonal = tile + pivot * CPU_TILE + pivot;
        if (*diagonal < 0) {
            if (!clamp) {
                return false;
            }
            *diagonal = 0;
        }
        for (uint32_t row = 0; row < width; ++row) {
            to[row] = tile[row * CPU_TILE + pivot];
        }
        NAME(close_pivot)(tile, pivot, to, width);
    }
    return true;
}

static bool NAME(close)(struct cpu_block block, bool clamp, void *scratch)
{
    ELEMENT *tile = scratch;
    for (uint32_t row = 0; row < block.rows; ++row) {
        memcpy(tile + row * CPU_TILE, NAME(row_at)(block, row), block.columns * sizeof(ELEMENT));
        for (uint32_t column = block.columns; column < CPU_TILE; ++column) {
            tile[row * CPU_TILE + column] = UNREACHABLE;
        }
    }
    if (!NAME(close_tile)(tile, block.rows, clamp)) {
        return false;
    }
    for (uint32_t row = 0; row < block.rows; ++row) {
        memcpy(NAME(row_at)(block, row), tile + row * CPU_TILE, block.columns * sizeof(ELEMENT));
    }
    return true;
}

static uint64_t NAME(chain)(uint64_t turns, void *values)
{
    ELEMENT *given = values;
    const ELEMENT step = given[0];
    const ELEMENT bound = given[1];
    const NAME(vector) none = {0};
    NAME(vector) chain[CPU_CHAINS];
    for (size_t i = 0; i < CPU_CHAINS; ++i) {
        chain[i] = none + step;
    }
    for (uint64_t turn = 0; turn < turns; ++turn) {
        for (size_t i = 0; i < CPU_CHAINS; ++i) {
            chain[i] = MINIMUM(none + bound, chain[i] + step);
        }
    }
    for (size_t i = 1; i < CPU_CHAINS; ++i) {
        chain[0] += chain[i];
    }
    given[0] = chain[0][0];
    return turns * CPU_CHAINS * LANES;
}

#undef LANES
#undef KERNEL_COLUMNS
#undef ELEMENT
#undef UNREACHABLE
#undef NAME
#undef MINIMUM
