/* The source of every kernel. It has no include guard, because each kernel_<isa>.c includes it once
 * per arithmetic, after these definitions (the first four are in kernel_arithmetics.h):
 *   ELEMENT, UNREACHABLE      the element type and its unreachable value
 *   PACKED_LEFT, LEFT_OF(x)   the type of a packed left element, and element x in packed form
 *   NAME(verb)                the name with the arithmetic's suffix
 *   RELAX(entry, left, right) min(entry, left + right) of vectors entry and right and one packed
 *                             left element
 *   KERNEL_ROWS               rows of the register tile (stays defined)
 *   KERNEL_VECTORS            vectors of each of its rows, 2 or 3 (stays defined)
 *   VECTOR_BYTES              bytes of a vector (stays defined)
 *
 * The register tile is KERNEL_ROWS x KERNEL_VECTORS vectors. It stays in registers over all pivots
 * of a block: each pivot costs KERNEL_ROWS broadcasts and KERNEL_VECTORS loads for KERNEL_ROWS x
 * KERNEL_VECTORS vector relaxations. Its columns are a strip of the right operand; the last strips
 * have only as many vectors as they need. The last register tile of a row or column of tiles begins
 * earlier and overlaps the previous one; relaxing an entry twice changes nothing. A register tile
 * extends beyond the block only if the block has fewer rows than the tile, or fewer columns
 * than a vector. */
#include <string.h>

#define LANES (VECTOR_BYTES / sizeof(ELEMENT))
#define KERNEL_COLUMNS (KERNEL_VECTORS * LANES)
/* Number of pivots that `close` applies at once, and of columns in its copy of the pivot block. */
#define CLOSE_WIDTH 32
#define CLOSE_COLUMNS (CLOSE_WIDTH > LANES ? CLOSE_WIDTH : LANES)

_Static_assert(CPU_TILE % KERNEL_ROWS == 0 && CPU_TILE % LANES == 0,
               "a padded tile is a whole number of rows and vectors of register tiles");
_Static_assert(VECTOR_BYTES <= CPU_ALIGNMENT, "packed operands are aligned for every vector");
_Static_assert(sizeof(PACKED_LEFT) <= CPU_PACKED_ELEMENT && sizeof(ELEMENT) <= CPU_PACKED_ELEMENT,
               "packed operands have room");

typedef ELEMENT NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));
/* A vector at any address: rows of the matrix are not aligned. */
typedef ELEMENT NAME(loose)
    __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(sizeof(ELEMENT))));

static inline ELEMENT *NAME(row_at)(struct cpu_block block, uint32_t row)
{
    return (ELEMENT *)block.elements + row * block.stride;
}

static inline NAME(vector) NAME(splat)(ELEMENT element)
{
    const NAME(vector) none = {0};
    return element - none;
}

/* Returns where the step at `at` begins: the last step begins earlier, to stay in the extent. */
static inline uint32_t NAME(begin_of)(uint32_t at, uint32_t step, uint32_t extent)
{
    return extent >= step && at > extent - step ? extent - step : at;
}

/* A strip of the right operand: one column of register tiles. */
struct NAME(strip) {
    uint32_t first; /* first column */
    uint32_t vectors;
    uint32_t width; /* columns of the vectors */
};

/* Returns the strip whose first new column is `at`. If the remaining columns do not fill a strip,
 * the strip has as many vectors as they fill, rounded up if the strip can begin earlier. */
static inline struct NAME(strip) NAME(strip_at)(uint32_t at, uint32_t columns)
{
    const uint32_t lanes = (uint32_t)LANES;
    const uint32_t rest = columns - at;
    const bool up = columns >= KERNEL_COLUMNS || rest < lanes;
    const uint32_t fitting = (up ? rest + lanes - 1 : rest) / lanes;
    const uint32_t vectors = fitting < KERNEL_VECTORS ? fitting : KERNEL_VECTORS;
    const uint32_t width = vectors * lanes;
    return (struct NAME(strip)){NAME(begin_of)(at, width, columns), vectors, width};
}

static void NAME(pack_left)(struct cpu_block block, void *packed)
{
    PACKED_LEFT *to = packed;
    for (uint32_t at = 0; at < block.rows; at += KERNEL_ROWS) {
        const uint32_t top = NAME(begin_of)(at, KERNEL_ROWS, block.rows);
        for (uint32_t row = 0; row < KERNEL_ROWS; row++) {
            const bool inside = top + row < block.rows;
            const ELEMENT *from = NAME(row_at)(block, inside ? top + row : top);
            for (uint32_t pivot = 0; pivot < block.columns; pivot++) {
                to[pivot * KERNEL_ROWS + row] = LEFT_OF(inside ? from[pivot] : UNREACHABLE);
            }
        }
        to += (size_t)KERNEL_ROWS * block.columns;
    }
}

static void NAME(pack_left_transposed)(struct cpu_block block, void *packed)
{
    PACKED_LEFT *to = packed;
    for (uint32_t at = 0; at < block.columns; at += KERNEL_ROWS) {
        const uint32_t top = NAME(begin_of)(at, KERNEL_ROWS, block.columns);
        const uint32_t inside = block.columns - top;
        /* Two loops, so that the second has no condition per element and is vectorized. */
        for (uint32_t pivot = 0; pivot < block.rows; pivot++) {
            const ELEMENT *from = NAME(row_at)(block, pivot) + top;
            for (uint32_t row = 0; inside < KERNEL_ROWS && row < KERNEL_ROWS; row++) {
                to[row] = LEFT_OF(row < inside ? from[row] : UNREACHABLE);
            }
            for (uint32_t row = 0; inside >= KERNEL_ROWS && row < KERNEL_ROWS; row++) {
                to[row] = LEFT_OF(from[row]);
            }
            to += KERNEL_ROWS;
        }
    }
}

static void NAME(pack_right)(struct cpu_block block, void *packed)
{
    ELEMENT *to = packed;
    for (uint32_t at = 0; at < block.columns;) {
        const struct NAME(strip) strip = NAME(strip_at)(at, block.columns);
        const uint32_t inside = block.columns - strip.first;
        for (uint32_t pivot = 0; pivot < block.rows; pivot++) {
            const ELEMENT *from = NAME(row_at)(block, pivot) + strip.first;
            for (uint32_t column = 0; column < strip.width; column += (uint32_t)LANES) {
                if (inside >= strip.width) {
                    *(NAME(vector) *)(to + column) = *(const NAME(loose) *)(from + column);
                    continue;
                }
                for (uint32_t lane = 0; lane < LANES; lane++) {
                    to[lane] = lane < inside ? from[lane] : UNREACHABLE;
                }
            }
            to += strip.width;
        }
        at += strip.width;
    }
}

static void NAME(pack_right_transposed)(struct cpu_block block, void *packed)
{
    ELEMENT *to = packed;
    for (uint32_t at = 0; at < block.rows;) {
        const struct NAME(strip) strip = NAME(strip_at)(at, block.rows);
        for (uint32_t column = 0; column < strip.width; column++) {
            const bool inside = strip.first + column < block.rows;
            const ELEMENT *from = NAME(row_at)(block, strip.first + (inside ? column : 0));
            for (uint32_t pivot = 0; pivot < block.columns; pivot++) {
                to[pivot * strip.width + column] = inside ? from[pivot] : UNREACHABLE;
            }
        }
        to += (size_t)strip.width * block.columns;
        at += strip.width;
    }
}

/* Updates one register tile at result, `vectors` vectors wide, over `depth` pivots. */
static inline __attribute__((always_inline)) void NAME(relax)(const PACKED_LEFT *left,
                                                              const ELEMENT *right, uint32_t depth,
                                                              ELEMENT *result, size_t stride,
                                                              bool fresh, const uint32_t vectors)
{
    NAME(vector) tile[KERNEL_ROWS][KERNEL_VECTORS];
    for (uint32_t row = 0; row < KERNEL_ROWS; row++) {
        for (uint32_t v = 0; v < vectors; v++) {
            tile[row][v] = fresh ? NAME(splat)(UNREACHABLE)
                                 : *(const NAME(loose) *)(result + row * stride + v * LANES);
        }
    }
    do {
        NAME(vector) from[KERNEL_VECTORS];
        for (uint32_t v = 0; v < vectors; v++) {
            from[v] = *(const NAME(vector) *)(right + v * LANES);
        }
        for (uint32_t row = 0; row < KERNEL_ROWS; row++) {
            if (vectors > 2) {
                /* Sixteen registers have no room for the third vector. The empty asm keeps clang 14
                 * from holding an earlier load in a register and spilling an entry instead. */
                __asm__("" : "+r"(right));
                from[vectors - 1] = *(const NAME(vector) *)(right + (vectors - 1) * LANES);
            }
            for (uint32_t v = 0; v < vectors; v++) {
                tile[row][v] = RELAX(tile[row][v], left[row], from[v]);
            }
        }
        left += KERNEL_ROWS;
        right += vectors * LANES;
    } while (--depth > 0);
    for (uint32_t row = 0; row < KERNEL_ROWS; row++) {
        for (uint32_t v = 0; v < vectors; v++) {
            *(NAME(loose) *)(result + row * stride + v * LANES) = tile[row][v];
        }
    }
}

/* Calls relax with a constant number of vectors, so that each has specialized code. */
static inline __attribute__((always_inline)) void
NAME(relax_strip)(const PACKED_LEFT *left, const ELEMENT *right, uint32_t depth, ELEMENT *result,
                  size_t stride, bool fresh, uint32_t vectors)
{
    if (vectors == KERNEL_VECTORS) {
        NAME(relax)(left, right, depth, result, stride, fresh, KERNEL_VECTORS);
    } else if (vectors == 1) {
        NAME(relax)(left, right, depth, result, stride, fresh, 1);
    } else {
        NAME(relax)(left, right, depth, result, stride, fresh, 2);
    }
}

/* Updates a register tile that extends beyond the block, in a full-size copy. */
static __attribute__((noinline)) void NAME(relax_edge)(const PACKED_LEFT *left,
                                                       const ELEMENT *right, uint32_t depth,
                                                       struct cpu_block result, bool fresh,
                                                       uint32_t vectors)
{
    ELEMENT tile[KERNEL_ROWS * KERNEL_COLUMNS] __attribute__((aligned(VECTOR_BYTES)));
    for (size_t element = 0; element < KERNEL_ROWS * KERNEL_COLUMNS; element++) {
        tile[element] = UNREACHABLE;
    }
    for (uint32_t row = 0; row < result.rows && !fresh; row++) {
        memcpy(tile + row * KERNEL_COLUMNS, NAME(row_at)(result, row),
               result.columns * sizeof(ELEMENT));
    }
    NAME(relax_strip)(left, right, depth, tile, KERNEL_COLUMNS, false, vectors);
    for (uint32_t row = 0; row < result.rows; row++) {
        memcpy(NAME(row_at)(result, row), tile + row * KERNEL_COLUMNS,
               result.columns * sizeof(ELEMENT));
    }
}

/* Prefetches the next register tile while the current one is computed. */
static inline void NAME(prefetch)(const ELEMENT *next, size_t stride)
{
    for (uint32_t row = 0; row < KERNEL_ROWS; row++) {
        __builtin_prefetch(next + row * stride, 1);
        __builtin_prefetch(next + row * stride + KERNEL_COLUMNS - 1, 1);
    }
}

static void NAME(multiply)(const void *left, const void *right, uint32_t depth,
                           struct cpu_block block, bool fresh)
{
    const ELEMENT *from = right;
    const bool small = block.rows < KERNEL_ROWS || block.columns < LANES;
    for (uint32_t at = 0; at < block.columns;) {
        const struct NAME(strip) strip = NAME(strip_at)(at, block.columns);
        const PACKED_LEFT *to = left;
        for (uint32_t above = 0; above < block.rows; above += KERNEL_ROWS) {
            const uint32_t row = NAME(begin_of)(above, KERNEL_ROWS, block.rows);
            ELEMENT *result = NAME(row_at)(block, row) + strip.first;
            if (small) {
                const uint32_t rows = block.rows - row;
                const uint32_t columns = block.columns - strip.first;
                const struct cpu_block part = {result, block.stride,
                                               rows < KERNEL_ROWS ? rows : KERNEL_ROWS,
                                               columns < strip.width ? columns : strip.width};
                NAME(relax_edge)(to, from, depth, part, fresh, strip.vectors);
            } else {
                NAME(prefetch)(result + KERNEL_ROWS * block.stride, block.stride);
                NAME(relax_strip)(to, from, depth, result, block.stride, fresh, strip.vectors);
            }
            to += (size_t)KERNEL_ROWS * depth;
        }
        from += (size_t)strip.width * depth;
        at += strip.width;
    }
}

/* Updates all rows of the copy for one pivot, one vector of columns at a time. to: a copy of the
 * pivot's column, because the loop overwrites the column itself. */
static inline void NAME(close_pivot)(ELEMENT *tile, uint32_t pivot, const PACKED_LEFT *to,
                                     uint32_t rows)
{
    for (size_t column = 0; column < CLOSE_COLUMNS; column += LANES) {
        const NAME(vector) from = *(const NAME(vector) *)(tile + pivot * CLOSE_COLUMNS + column);
        for (uint32_t row = 0; row < rows; row++) {
            NAME(vector) *entry = (NAME(vector) *)(tile + row * CLOSE_COLUMNS + column);
            *entry = RELAX(*entry, to[row], from);
        }
    }
}

static bool NAME(close_copy)(ELEMENT *tile, uint32_t width)
{
    PACKED_LEFT to[CLOSE_WIDTH];
    for (uint32_t pivot = 0; pivot < width; pivot++) {
        if (tile[pivot * CLOSE_COLUMNS + pivot] < 0) {
            return false;
        }
        for (uint32_t row = 0; row < width; row++) {
            to[row] = LEFT_OF(tile[row * CLOSE_COLUMNS + pivot]);
        }
        NAME(close_pivot)(tile, pivot, to, width);
    }
    return true;
}

/* Closes a block of at most CLOSE_WIDTH vertices in a padded copy. */
static bool NAME(close_small)(struct cpu_block block)
{
    ELEMENT tile[CLOSE_WIDTH * CLOSE_COLUMNS] __attribute__((aligned(VECTOR_BYTES)));
    for (size_t element = 0; element < CLOSE_WIDTH * CLOSE_COLUMNS; element++) {
        tile[element] = UNREACHABLE;
    }
    for (uint32_t row = 0; row < block.rows; row++) {
        memcpy(tile + row * CLOSE_COLUMNS, NAME(row_at)(block, row),
               block.columns * sizeof(ELEMENT));
    }
    if (!NAME(close_copy)(tile, block.rows)) {
        return false;
    }
    for (uint32_t row = 0; row < block.rows; row++) {
        memcpy(NAME(row_at)(block, row), tile + row * CLOSE_COLUMNS,
               block.columns * sizeof(ELEMENT));
    }
    return true;
}

/* Blocked Floyd-Warshall within the block: closes CLOSE_WIDTH pivots, updates their rows, then the
 * whole block. A closed block C satisfies C (x) C = C, so updating the rows and columns of the
 * pivots again is harmless, and the columns may have their old values. */
static bool NAME(close)(struct cpu_block block, void *left, void *right)
{
    for (uint32_t first = 0; first < block.rows; first += CLOSE_WIDTH) {
        const uint32_t rest = block.rows - first;
        const uint32_t width = rest < CLOSE_WIDTH ? rest : CLOSE_WIDTH;
        const struct cpu_block pivots = {NAME(row_at)(block, first) + first, block.stride, width,
                                         width};
        const struct cpu_block rows = {NAME(row_at)(block, first), block.stride, width,
                                       block.columns};
        const struct cpu_block columns = {(ELEMENT *)block.elements + first, block.stride,
                                          block.rows, width};
        if (!NAME(close_small)(pivots)) {
            return false;
        }
        if (width == block.rows) {
            return true;
        }
        NAME(pack_left)(pivots, left);
        NAME(pack_right)(rows, right);
        NAME(multiply)(left, right, width, rows, false);
        NAME(pack_left)(columns, left);
        NAME(pack_right)(rows, right);
        NAME(multiply)(left, right, width, block, false);
    }
    return true;
}

static const struct cpu_operations NAME(operations) = {
    .element_bytes = sizeof(ELEMENT),
    .left_bytes = sizeof(PACKED_LEFT),
    .pack_left = NAME(pack_left),
    .pack_right = NAME(pack_right),
    .pack_left_transposed = NAME(pack_left_transposed),
    .pack_right_transposed = NAME(pack_right_transposed),
    .multiply = NAME(multiply),
    .close = NAME(close),
};

#undef LANES
#undef KERNEL_COLUMNS
#undef CLOSE_WIDTH
#undef CLOSE_COLUMNS
#undef ELEMENT
#undef PACKED_LEFT
#undef LEFT_OF
#undef UNREACHABLE
#undef NAME
#undef RELAX
