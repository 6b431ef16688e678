/* Checks that a round changes only the tiles in its lists. tests/solver checks complete solves. */
#include "server/solver/cpu/floyd_warshall.h"
#include "tests/lib/tiles_fixture.h"

#define TILES 3
#define VERTICES (TILES * CPU_TILE - 5)
#define HUB (CPU_TILE + 7)

/* Returns the matrix entry (row, column). Each tile is contiguous and row-major. */
static int32_t *entry_at(const struct matrix *matrix, uint32_t row, uint32_t column)
{
    const uint32_t top = row / CPU_TILE * CPU_TILE;
    const uint32_t left = column / CPU_TILE * CPU_TILE;
    const uint32_t rows = VERTICES - top < CPU_TILE ? VERTICES - top : CPU_TILE;
    const uint32_t columns = VERTICES - left < CPU_TILE ? VERTICES - left : CPU_TILE;
    return (int32_t *)matrix->elements + (size_t)top * VERTICES + (size_t)left * rows +
           (size_t)(row - top) * columns + (column - left);
}

/* Makes a matrix whose edges have length 100, except that edges to and from the hub, a vertex in
 * tile 1, have length 1. So a round with pivot tile 1 lowers every entry that it touches to 2 or
 * less. */
static struct matrix make_matrix(void)
{
    struct matrix matrix = {VERTICES, KIND_I4,
                            calloc((size_t)VERTICES * VERTICES, sizeof(int32_t))};
    assert_non_null(matrix.elements);
    for (uint32_t row = 0; row < VERTICES; ++row) {
        for (uint32_t column = 0; column < VERTICES; ++column) {
            const int32_t length = row == HUB || column == HUB ? 1 : 100;
            *entry_at(&matrix, row, column) = row == column ? 0 : length;
        }
    }
    return matrix;
}

/* Runs one round with pivot tile 1. The plan keeps the order of the vertices. */
static void run_round(const struct plan_round *round, struct matrix *matrix)
{
    static uint32_t vertex_at[VERTICES];
    static uint32_t tile_begin[] = {0, CPU_TILE, 2 * CPU_TILE, VERTICES};
    for (uint32_t position = 0; position < VERTICES; ++position) {
        vertex_at[position] = position;
    }
    struct plan_round copy = *round;
    const struct plan plan = {.summary.kind = PLAN_NESTED_DISSECTION,
                              .vertex_count = VERTICES,
                              .tile = CPU_TILE,
                              .tile_count = TILES,
                              .vertex_at = vertex_at,
                              .tile_begin = tile_begin,
                              .rounds = &copy,
                              .round_count = 1};
    const struct cpu_solve_options options = {0};
    struct cpu_tiles tiles;
    assert_int_equal(cpu_tiles_init(&plan, NULL, ARITHMETIC_I4, &tiles), STATUS_OK);
    tiles.elements = matrix->elements;
    assert_int_equal(cpu_floyd_warshall_run(pool, cpu_kernel_find("auto"), &tiles, &options),
                     STATUS_OK);
    cpu_tiles_finish(&tiles);
}

static bool is_listed(uint32_t tile, const uint32_t *tiles, uint32_t count)
{
    bool listed = tile == 1;
    for (uint32_t index = 0; index < count; ++index) {
        listed = listed || tiles[index] == tile;
    }
    return listed;
}

/* Runs a round with these panels and with the targets in the rows and columns of the panels. Checks
 * which entries change. */
static void check(const uint32_t *left, uint32_t left_count, const uint32_t *right,
                  uint32_t right_count)
{
    const struct plan_pivot pivot = {1, 0, left_count, 0, right_count};
    struct plan_target targets[TILES * TILES];
    struct plan_product products[TILES * TILES];
    const uint32_t count = left_count * right_count;
    for (uint32_t index = 0; index < count; ++index) {
        const uint32_t row = index / right_count;
        const uint32_t column = index % right_count;
        products[index] = (struct plan_product){row, column, 0};
        targets[index] = (struct plan_target){left[row], right[column], index, 1, false};
    }
    const struct plan_round round = {&pivot,      1,       left,  left_count, right,
                                     right_count, targets, count, products,   count};
    struct matrix matrix = make_matrix();
    run_round(&round, &matrix);
    for (uint32_t row = 0; row < VERTICES; ++row) {
        for (uint32_t column = 0; column < VERTICES; ++column) {
            const bool touched = is_listed(row / CPU_TILE, left, left_count) &&
                                 is_listed(column / CPU_TILE, right, right_count);
            const int32_t entry = *entry_at(&matrix, row, column);
            assert_true(touched ? entry <= 2 : entry == 0 || entry == 1 || entry == 100);
        }
    }
    free(matrix.elements);
}

TEST(a_round_touches_only_the_tiles_in_its_lists)
{
    static const uint32_t first[] = {0};
    static const uint32_t last[] = {2};
    static const uint32_t others[] = {0, 2};
    check(others, 2, others, 2);
    check(first, 1, last, 1);
    check(last, 1, first, 1);
    check(others, 2, last, 1);
}

TEST(a_round_without_panels_changes_only_its_pivot)
{
    check(NULL, 0, NULL, 0);
}

TEST(either_list_of_panels_may_be_empty)
{
    static const uint32_t others[] = {0, 2};
    check(others, 2, NULL, 0);
    check(NULL, 0, others, 2);
}

/* Pivot tiles 0 and 1 are independent and share a target. Paths through tile 0 have length 4, and
 * paths through tile 1 have length 2. The old value of a fresh target, -9, must be ignored. */
TEST(a_target_is_the_minimum_over_all_its_pivots)
{
    for (int fresh = 0; fresh < 2; ++fresh) {
        static const uint32_t tiles[] = {2, 2};
        const struct plan_pivot pivots[] = {{0, 0, 1, 0, 1}, {1, 1, 1, 1, 1}};
        const struct plan_product products[] = {{0, 0, 0}, {1, 1, 1}};
        const struct plan_target target = {2, 2, 0, 2, fresh != 0};
        const struct plan_round round = {pivots, 2, tiles, 2, tiles, 2, &target, 1, products, 2};
        struct matrix matrix = make_matrix();
        for (uint32_t row = 0; row < VERTICES; row++) {
            for (uint32_t column = 0; column < VERTICES; column++) {
                const bool pivot = row < CPU_TILE || column < CPU_TILE;
                *entry_at(&matrix, row, column) = row == column ? 0 : (pivot ? 2 : 1);
            }
        }
        int32_t *entry = entry_at(&matrix, VERTICES - 1, VERTICES - 2);
        *entry = fresh != 0 ? -9 : 7;
        run_round(&round, &matrix);
        assert_int_equal(*entry, 2);
        free(matrix.elements);
    }
}

TEST(a_dense_plan_needs_no_lists)
{
    const struct cpu_solve_options options = {0};
    struct plan *plan = NULL;
    struct matrix matrix = make_matrix();
    struct cpu_tiles tiles;
    assert_int_equal(planner_dense(VERTICES, CPU_TILE, &plan), STATUS_OK);
    assert_int_equal(cpu_tiles_init(plan, NULL, ARITHMETIC_I4, &tiles), STATUS_OK);
    tiles.elements = matrix.elements;
    assert_int_equal(cpu_floyd_warshall_run(pool, cpu_kernel_find("auto"), &tiles, &options),
                     STATUS_OK);
    /* Two edges of length 1 connect any two vertices through the hub. */
    for (size_t index = 0; index < (size_t)VERTICES * VERTICES; ++index) {
        assert_true(((int32_t *)matrix.elements)[index] <= 2);
    }
    cpu_tiles_finish(&tiles);
    plan_destroy(plan);
    free(matrix.elements);
}

TEST(a_round_of_many_pivots_has_many_panels)
{
    struct plan_round rounds[] = {{.pivot_count = 1, .left_count = 5, .right_count = 2},
                                  {.pivot_count = 4, .left_count = 3, .right_count = 7}};
    const struct plan plan = {.rounds = rounds, .round_count = 2};
    assert_int_equal(cpu_floyd_warshall_bytes(2, &plan, ARITHMETIC_NARROW),
                     128 * 128 * ((2 + 4 + 5) * 4 + (2 + 4 + 7) * 2));
}

static uint64_t dense_bytes(uint32_t threads, uint32_t vertex_count, enum arithmetic arithmetic)
{
    struct plan *dense = NULL;
    assert_int_equal(planner_dense(vertex_count, CPU_TILE, &dense), STATUS_OK);
    const uint64_t bytes = cpu_floyd_warshall_bytes(threads, dense, arithmetic);
    plan_destroy(dense);
    return bytes;
}

TEST(only_panels_and_lists_need_memory_besides_the_matrix)
{
    const size_t target_bytes =
        sizeof(struct plan_target) + sizeof(struct plan_product) + sizeof(uint32_t);
    const size_t all_bytes = (4 * target_bytes + CPU_ALIGNMENT - 1) / CPU_ALIGNMENT * CPU_ALIGNMENT;
    assert_int_equal(dense_bytes(1, 0, ARITHMETIC_I4), 2 * 2 * 128 * 128 * 4);
    assert_int_equal(dense_bytes(2, 129, ARITHMETIC_F8), 2 * 5 * 128 * 128 * 8 + all_bytes);
    assert_int_equal(dense_bytes(1, 100, ARITHMETIC_NARROW) % CPU_ALIGNMENT, 0);
}

TEST_GROUP(create_pool, destroy_pool)
