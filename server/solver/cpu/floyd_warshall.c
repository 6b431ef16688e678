/* A round closes its pivot tiles D and packs the old right panel R'. Then it updates the left
 * panel, then the targets and the right panel, with one task per tile. A loop of the pool ends when
 * all of its tasks have ended, which is the barrier between the phases. With D closed, the left
 * panel is one min-plus product with its own old values, L = L' (x) D. The right panel is R = D (x)
 * R' in the same way. As D (x) D = D, the targets may use the old R': L (x) R = L' (x) D (x) D (x)
 * R' = L (x) R'. So R' is packed once. In a symmetric matrix, a panel tile is whichever of the two
 * mirrored tiles lies below the diagonal. With several ranks, each closes, updates and stores the
 * tiles of its own bands. The rank that stores a tile broadcasts it: first the closed pivots, then
 * R'. A left tile that mirrors a tile of another rank is computed by both ranks. */
#include "server/solver/cpu/floyd_warshall.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A round of the dense plan pairs all left and right tiles; its lists are made when it begins. */
struct dense_round {
    struct plan_round round;
    struct plan_pivot pivot;
    uint32_t *tiles; /* all tiles except the pivot */
    struct plan_target *targets;
    struct plan_product *products;
};

#define DENSE_TARGET_BYTES                                                                         \
    (sizeof(struct plan_target) + sizeof(struct plan_product) + sizeof(uint32_t))

struct execution {
    struct cpu_pool *pool;
    const struct cpu_operations *operations;
    const struct cpu_tiles *tiles;
    const struct cpu_solve_options *options;
    double share; /* fraction of the work done in previous rounds */
    const struct plan_round *round;
    size_t left_bytes; /* bytes of one packed tile */
    size_t right_bytes;
    unsigned char *scratch;     /* per thread: a left and a right tile */
    unsigned char *pivots_left; /* closed and packed pivot tiles, indexed by pivot of the round */
    unsigned char *pivots_right;
    unsigned char *left; /* packed panels, indexed by slot of the round */
    unsigned char *right;
    struct dense_round dense;
    atomic_bool stopped;
    atomic_bool negative;
};

static size_t packed_tile_bytes(uint32_t element_bytes)
{
    return (size_t)CPU_TILE * CPU_TILE * element_bytes;
}

/* The largest number of slots of each type in any round. */
struct slots {
    size_t pivots;
    size_t left;
    size_t right;
    size_t targets; /* targets that a dense round lists after the panels */
};

static size_t larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct slots count_slots(const struct plan *plan)
{
    const size_t tiles = plan->tile_count;
    struct slots slots = {1, tiles, tiles, tiles * tiles};
    if (plan->rounds == NULL) {
        return slots;
    }
    slots = (struct slots){0};
    for (uint32_t round = 0; round < plan->round_count; round++) {
        slots.pivots = larger_of(slots.pivots, plan->rounds[round].pivot_count);
        slots.left = larger_of(slots.left, plan->rounds[round].left_count);
        slots.right = larger_of(slots.right, plan->rounds[round].right_count);
    }
    return slots;
}

uint64_t cpu_floyd_warshall_bytes(uint32_t threads, const struct plan *plan,
                                  enum arithmetic arithmetic)
{
    const struct slots slots = count_slots(plan);
    const uint32_t element_bytes = cpu_tiles_element_bytes(arithmetic);
    const uint32_t left_bytes = arithmetic == ARITHMETIC_NARROW ? 2 * element_bytes : element_bytes;
    const uint64_t list_bytes = slots.targets * DENSE_TARGET_BYTES;
    /* aligned_alloc requires a multiple of the alignment. */
    return list_bytes + -list_bytes % CPU_ALIGNMENT +
           (threads + slots.pivots + slots.left) * (uint64_t)packed_tile_bytes(left_bytes) +
           (threads + slots.pivots + slots.right) * (uint64_t)packed_tile_bytes(element_bytes);
}

/* Returns whether the solve must stop. Every task calls this, but only the calling thread polls the
 * observer; other threads read the flag that it sets. */
static bool is_stopped(struct execution *execution, uint32_t thread)
{
    if (atomic_load_explicit(&execution->stopped, memory_order_relaxed)) {
        return true;
    }
    if (thread != 0 || !observer_is_cancelled(execution->options->observer)) {
        return false;
    }
    atomic_store_explicit(&execution->stopped, true, memory_order_relaxed);
    return true;
}

static unsigned char *scratch_of(const struct execution *execution, uint32_t thread)
{
    return execution->scratch + thread * (execution->left_bytes + execution->right_bytes);
}

static void close_pivot(struct execution *execution, uint32_t thread, uint32_t pivot)
{
    const struct cpu_operations *operations = execution->operations;
    const uint32_t tile = execution->round->pivots[pivot].tile;
    if (!cpu_tiles_has(execution->tiles, tile)) {
        return;
    }
    const struct cpu_block block = cpu_tiles_block(execution->tiles, tile, tile);
    unsigned char *left = scratch_of(execution, thread);
    if (!operations->close(block, left, left + execution->left_bytes)) {
        atomic_store_explicit(&execution->negative, true, memory_order_relaxed);
        return;
    }
    operations->pack_left(block, execution->pivots_left + pivot * execution->left_bytes);
    operations->pack_right(block, execution->pivots_right + pivot * execution->right_bytes);
}

/* A tile of the left or right panels. In a symmetric matrix, a tile above the diagonal is stored as
 * its mirror image. */
struct panel_tile {
    uint32_t pivot; /* index in the round */
    uint32_t tile;  /* tile of the pivot */
    uint32_t other;
    uint32_t row; /* row and column of the stored tile; one of them is the pivot's */
    uint32_t column;
};

static struct panel_tile find_panel_tile(const struct execution *execution, uint32_t slot,
                                         bool left)
{
    const struct plan_round *round = execution->round;
    uint32_t low = 0;
    uint32_t high = round->pivot_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        const struct plan_pivot *pivot = &round->pivots[middle];
        const bool at_or_before = (left ? pivot->left_begin : pivot->right_begin) <= slot;
        low = at_or_before ? middle : low;
        high = at_or_before ? high : middle;
    }
    const uint32_t tile = round->pivots[low].tile;
    const uint32_t other = left ? round->left_tiles[slot] : round->right_tiles[slot];
    const bool is_left = execution->options->symmetric ? other > tile : left;
    return (struct panel_tile){low, tile, other, is_left ? other : tile, is_left ? tile : other};
}

/* Closes the pivots and packs R'. Tasks: the pivots, then the right slots. */
static void begin_round(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    const struct cpu_operations *operations = execution->operations;
    const uint32_t pivot_count = execution->round->pivot_count;
    if (task < pivot_count) {
        close_pivot(execution, thread, (uint32_t)task);
        return;
    }
    const uint32_t slot = (uint32_t)task - pivot_count;
    const struct panel_tile at = find_panel_tile(execution, slot, false);
    if (!is_stopped(execution, thread) && cpu_tiles_has(execution->tiles, at.row)) {
        (at.row == at.other ? operations->pack_right_transposed : operations->pack_right)(
            cpu_tiles_block(execution->tiles, at.row, at.column),
            execution->right + slot * execution->right_bytes);
    }
}

/* Updates a left panel tile from L' to L, and packs it. In a symmetric matrix R' has the same
 * slots; if another rank stores the mirror image of a tile, L is packed but not stored. */
static void update_left(void *context, uint32_t thread, uint64_t slot)
{
    struct execution *execution = context;
    const struct cpu_operations *operations = execution->operations;
    const struct cpu_tiles *tiles = execution->tiles;
    const struct panel_tile at = find_panel_tile(execution, (uint32_t)slot, true);
    unsigned char *packed = execution->left + slot * execution->left_bytes;
    if (is_stopped(execution, thread) || !cpu_tiles_has(tiles, at.other)) {
        return;
    }
    const bool stored = cpu_tiles_has(tiles, at.row);
    const uint32_t rows = cpu_tiles_width(tiles, at.row);
    const uint32_t columns = cpu_tiles_width(tiles, at.column);
    const struct cpu_block block =
        stored ? cpu_tiles_block(tiles, at.row, at.column)
               : (struct cpu_block){scratch_of(execution, thread), columns, rows, columns};
    if (at.row == at.other) {
        operations->pack_left(block, packed);
        operations->multiply(packed, execution->pivots_right + at.pivot * execution->right_bytes,
                             columns, block, false);
        operations->pack_left(block, packed);
    } else {
        operations->multiply(execution->pivots_left + at.pivot * execution->left_bytes,
                             execution->right + slot * execution->right_bytes, rows, block,
                             !stored);
        operations->pack_left_transposed(block, packed);
    }
}

/* Updates R' to R, unless update_left has done so. */
static void update_right(const struct execution *execution, uint32_t slot)
{
    const struct cpu_tiles *tiles = execution->tiles;
    const struct panel_tile at = find_panel_tile(execution, slot, false);
    if (at.row == at.tile && cpu_tiles_has(tiles, at.row) &&
        !(execution->options->symmetric && cpu_tiles_has(tiles, at.other))) {
        execution->operations->multiply(execution->pivots_left + at.pivot * execution->left_bytes,
                                        execution->right + slot * execution->right_bytes,
                                        cpu_tiles_width(tiles, at.row),
                                        cpu_tiles_block(tiles, at.row, at.column), false);
    }
}

static void apply_product(const struct execution *execution, struct plan_product product,
                          struct cpu_block block, bool fresh)
{
    const uint32_t pivot_tile = execution->round->pivots[product.pivot].tile;
    execution->operations->multiply(execution->left + product.left * execution->left_bytes,
                                    execution->right + product.right * execution->right_bytes,
                                    cpu_tiles_width(execution->tiles, pivot_tile), block, fresh);
}

static void update_target(const struct execution *execution, uint64_t task)
{
    const struct plan_round *round = execution->round;
    const struct plan_target *target = &round->targets[task];
    if (!cpu_tiles_has(execution->tiles, target->row_tile)) {
        return;
    }
    const struct cpu_block block =
        cpu_tiles_block(execution->tiles, target->row_tile, target->column_tile);
    for (uint32_t index = 0; index < target->product_count; index++) {
        apply_product(execution, round->products[target->product_begin + index], block,
                      target->fresh && index == 0);
    }
}

/* Updates right panels and targets. Tasks: the right slots, then the targets. */
static void end_round(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    const uint32_t right_count = execution->round->right_count;
    if (is_stopped(execution, thread)) {
        return;
    }
    if (task < right_count) {
        update_right(execution, (uint32_t)task);
    } else {
        update_target(execution, task - right_count);
    }
}

/* Lists the panels and targets of a dense round. Targets are listed by column, so that the right
 * operand stays in the cache. */
static const struct plan_round *list_dense_round(struct dense_round *dense, uint32_t pivot_tile,
                                                 uint32_t others, bool symmetric)
{
    uint32_t count = 0;
    for (uint32_t index = 0; index < others; index++) {
        dense->tiles[index] = index < pivot_tile ? index : index + 1;
    }
    for (uint32_t column = others; column-- > 0;) {
        for (uint32_t row = others; row-- > (symmetric ? column : 0); count++) {
            dense->targets[count] =
                (struct plan_target){dense->tiles[row], dense->tiles[column], count, 1, false};
            dense->products[count] = (struct plan_product){row, column, 0};
        }
    }
    dense->pivot = (struct plan_pivot){pivot_tile, 0, others, 0, others};
    dense->round =
        (struct plan_round){&dense->pivot,  1,     dense->tiles,    others, dense->tiles, others,
                            dense->targets, count, dense->products, count};
    return &dense->round;
}

/* Returns the status on which all ranks agree. */
static enum status agree_on_stop(struct execution *execution)
{
    const enum status status = atomic_load_explicit(&execution->negative, memory_order_relaxed)
                                   ? STATUS_NEGATIVE_CYCLE
                               : is_stopped(execution, 0) ? STATUS_CANCELLED
                                                          : STATUS_OK;
    return ranks_agree(execution->tiles->ranks, status);
}

static uint32_t rank_of_right(const struct execution *execution, uint32_t slot)
{
    return cpu_tiles_rank_of(execution->tiles, find_panel_tile(execution, slot, false).row);
}

/* Broadcasts the pivots and R' in as few messages as possible, then waits for all of them. */
static void share_operands(const struct execution *execution)
{
    const struct plan_round *round = execution->round;
    const struct cpu_tiles *tiles = execution->tiles;
    const struct ranks *ranks = tiles->ranks;
    for (uint32_t i = 0; i < round->pivot_count; i++) {
        const uint32_t root = cpu_tiles_rank_of(tiles, round->pivots[i].tile);
        ranks->start_broadcast(ranks->context, execution->pivots_right + i * execution->right_bytes,
                               execution->right_bytes, root);
        if (execution->options->symmetric) {
            ranks->start_broadcast(ranks->context,
                                   execution->pivots_left + i * execution->left_bytes,
                                   execution->left_bytes, root);
        }
    }
    for (uint32_t slot = 0, end = 0; slot < round->right_count; slot = end) {
        const uint32_t root = rank_of_right(execution, slot);
        while (end < round->right_count && rank_of_right(execution, end) == root) {
            end++;
        }
        ranks->start_broadcast(ranks->context, execution->right + slot * execution->right_bytes,
                               (end - slot) * execution->right_bytes, root);
    }
    ranks->complete_broadcasts(ranks->context);
}

static enum status run_round(struct execution *execution)
{
    const struct plan_round *round = execution->round;
    const struct plan *plan = execution->tiles->plan;
    cpu_pool_run(execution->pool, (uint64_t)round->pivot_count + round->right_count, begin_round,
                 execution);
    STATUS_TRY(agree_on_stop(execution));
    if (execution->tiles->ranks != NULL) {
        share_operands(execution);
    }
    cpu_pool_run(execution->pool, round->left_count, update_left, execution);
    const double share_of_all = plan->rounds == NULL
                                    ? 1.0 / plan->round_count
                                    : (double)(round->target_count + round->product_count) /
                                          (double)(plan->target_count + plan->product_count);
    cpu_pool_watch(execution->pool, execution->options->observer, PHASE_SOLVING, execution->share,
                   share_of_all);
    execution->share += share_of_all;
    cpu_pool_run(execution->pool, (uint64_t)round->right_count + round->target_count, end_round,
                 execution);
    return agree_on_stop(execution);
}

/* Executes the rounds of the plan. A plan has at most 2^25 tiles, so no size overflows. */
enum status cpu_floyd_warshall_run(struct cpu_pool *pool, const struct cpu_kernel *kernel,
                                   const struct cpu_tiles *tiles,
                                   const struct cpu_solve_options *options)
{
    const struct plan *plan = tiles->plan;
    const struct observer *observer = options->observer;
    CHECK(plan->vertex_at == NULL || plan->symmetric == options->symmetric);
    const struct cpu_operations *operations =
        cpu_kernel_operations(kernel, tiles->arithmetic, options->negative);
    const uint32_t threads = cpu_pool_threads(pool);
    const struct slots slots = count_slots(plan);
    struct execution execution = {
        .pool = pool,
        .operations = operations,
        .tiles = tiles,
        .options = options,
        .left_bytes = packed_tile_bytes(operations->left_bytes),
        .right_bytes = packed_tile_bytes(operations->element_bytes),
    };
    unsigned char *const storage =
        aligned_alloc(CPU_ALIGNMENT, cpu_floyd_warshall_bytes(threads, plan, tiles->arithmetic));
    enum status status = storage != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    status = ranks_agree(tiles->ranks, status);
    if (status == STATUS_OK) {
        execution.scratch = storage;
        execution.pivots_left = storage + threads * (execution.left_bytes + execution.right_bytes);
        execution.pivots_right = execution.pivots_left + slots.pivots * execution.left_bytes;
        execution.left = execution.pivots_right + slots.pivots * execution.right_bytes;
        execution.right = execution.left + slots.left * execution.left_bytes;
        struct dense_round *const dense = &execution.dense;
        dense->targets = (void *)(execution.right + slots.right * execution.right_bytes);
        dense->products = (struct plan_product *)(dense->targets + slots.targets);
        dense->tiles = (uint32_t *)(dense->products + slots.targets);
    }
    for (uint32_t index = 0; status == STATUS_OK && index < plan->round_count; index++) {
        execution.round = plan->rounds != NULL
                              ? &plan->rounds[index]
                              : list_dense_round(&execution.dense, index, plan->tile_count - 1,
                                                 options->symmetric);
        status = run_round(&execution);
        if (status == STATUS_OK && observer != NULL && observer->progress != NULL) {
            observer->progress(observer->context, index + 1, plan->round_count);
        }
    }
    free(storage);
    return status;
}
