/* A round closes its pivot tiles D, then updates their panels, then the targets, a task for each
 * tile; a loop of the pool ends only when all of its tasks have, which is the barrier between the
 * phases.
 *
 * With D closed the right panel is one min-plus product with its own old values, R = D (x) R'. The
 * left panel is L = L' (x) D likewise, and as D (x) D = D the targets may take the old L':
 * L (x) R = L' (x) D (x) D (x) R' = L' (x) R. So L' is packed once.
 *
 * Of a symmetric matrix a panel tile is one of the two that mirror each other, whichever lies below
 * the diagonal; it is packed both ways.
 *
 * Of several ranks each closes, updates and stores the tiles of its own bands. The closed pivots
 * are broadcast, then the right panels, each by the rank that has the pivot's band; of a symmetric
 * matrix all panel tiles, by the ranks that have them. */
#include "server/solver/cpu/tiles.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

struct execution {
    struct cpu_pool *pool;
    const struct cpu_operations *operations;
    const struct cpu_tiles *tiles;
    const struct cpu_floyd_warshall_options *options;
    const struct observer *observer;
    double share; /* of the work, in the rounds before */
    const struct plan_round *round;
    size_t left_bytes; /* of one packed tile */
    size_t right_bytes;
    unsigned char *scratch;     /* of each thread, a left and a right tile */
    unsigned char *pivots_left; /* closed, packed, by the round's pivots */
    unsigned char *pivots_right;
    unsigned char *left; /* panels, packed, by the round's slots */
    unsigned char *right;
    /* The dense plan's round in hand. */
    struct plan_round dense_round;
    struct plan_pivot dense_pivot;
    uint32_t *dense_tiles; /* all but the pivot */
    atomic_bool stopped;
    atomic_bool negative;
};

static bool is_dense(const struct execution *execution)
{
    return execution->tiles->plan->vertex_at == NULL;
}

/* ---- Memory ---- */

static size_t packed_tile_bytes(uint32_t element_bytes)
{
    return (size_t)CPU_TILE * CPU_TILE * element_bytes;
}

/* Most of each that a round has. */
struct slots {
    size_t pivots;
    size_t left;
    size_t right;
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct slots count_slots(const struct plan *plan)
{
    struct slots slots = {1, plan->tile_count, plan->tile_count};
    if (plan->rounds == NULL) {
        return slots;
    }
    slots = (struct slots){0};
    for (uint32_t round = 0; round < plan->round_count; round++) {
        slots.pivots = larger(slots.pivots, plan->rounds[round].pivot_count);
        slots.left = larger(slots.left, plan->rounds[round].left_count);
        slots.right = larger(slots.right, plan->rounds[round].right_count);
    }
    return slots;
}

uint64_t cpu_floyd_warshall_bytes(uint32_t threads, const struct plan *plan,
                                  enum arithmetic arithmetic)
{
    const struct slots slots = count_slots(plan);
    const uint32_t element_bytes = cpu_tiles_element_bytes(arithmetic);
    const uint32_t left_bytes = arithmetic == ARITHMETIC_NARROW ? 2 * element_bytes : element_bytes;
    return (threads + slots.pivots + slots.left) * (uint64_t)packed_tile_bytes(left_bytes) +
           (threads + slots.pivots + slots.right) * (uint64_t)packed_tile_bytes(element_bytes);
}

/* ---- The phases ---- */

/* Asked by every task; only the calling thread may ask the observer, the others hear of it. */
static bool is_stopped(struct execution *execution, uint32_t thread)
{
    const struct observer *observer = execution->observer;
    if (atomic_load_explicit(&execution->stopped, memory_order_relaxed)) {
        return true;
    }
    if (thread != 0 || observer == NULL || !observer->cancelled(observer->context)) {
        return false;
    }
    atomic_store_explicit(&execution->stopped, true, memory_order_relaxed);
    return true;
}

static void close_pivot(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    const struct cpu_operations *operations = execution->operations;
    const uint32_t tile = execution->round->pivots[task].tile;
    if (!cpu_tiles_has(execution->tiles, tile)) {
        return;
    }
    const struct cpu_block block = cpu_tiles_block(execution->tiles, tile, tile);
    unsigned char *left =
        execution->scratch + thread * (execution->left_bytes + execution->right_bytes);
    if (!operations->close(block, execution->options->clamp_diagonal, left,
                           left + execution->left_bytes)) {
        atomic_store_explicit(&execution->negative, true, memory_order_relaxed);
        return;
    }
    operations->pack_left(block, execution->pivots_left + task * execution->left_bytes);
    operations->pack_right(block, execution->pivots_right + task * execution->right_bytes);
}

/* The pivot that a slot of the left or right panels belongs to: the last that begins at or before
 * it. */
static uint32_t pivot_of_slot(const struct plan_round *round, uint32_t slot, bool left)
{
    uint32_t low = 0;
    uint32_t high = round->pivot_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        const struct plan_pivot *pivot = &round->pivots[middle];
        const bool at_or_before = (left ? pivot->left_begin : pivot->right_begin) <= slot;
        low = at_or_before ? middle : low;
        high = at_or_before ? high : middle;
    }
    return low;
}

/* (i, p), from the old L' to L. */
static void update_left(struct execution *execution, uint32_t slot)
{
    const struct cpu_operations *operations = execution->operations;
    const uint32_t pivot = pivot_of_slot(execution->round, slot, true);
    const uint32_t tile = execution->round->pivots[pivot].tile;
    const struct cpu_block block =
        cpu_tiles_block(execution->tiles, execution->round->left_tiles[slot], tile);
    unsigned char *packed = execution->left + slot * execution->left_bytes;
    operations->pack_left(block, packed);
    operations->multiply(packed, execution->pivots_right + pivot * execution->right_bytes,
                         block.columns, block, false);
}

/* (p, j), from the old R' to R. */
static void update_right(struct execution *execution, uint32_t slot)
{
    const struct cpu_operations *operations = execution->operations;
    const uint32_t pivot = pivot_of_slot(execution->round, slot, false);
    const uint32_t tile = execution->round->pivots[pivot].tile;
    const struct cpu_block block =
        cpu_tiles_block(execution->tiles, tile, execution->round->right_tiles[slot]);
    unsigned char *packed = execution->right + slot * execution->right_bytes;
    operations->pack_right(block, packed);
    operations->multiply(execution->pivots_left + pivot * execution->left_bytes, packed, block.rows,
                         block, false);
    operations->pack_right(block, packed);
}

/* Whichever of (i, p) and (p, i) lies below the diagonal, packed both ways. */
static void update_both(struct execution *execution, uint32_t slot)
{
    const struct cpu_operations *operations = execution->operations;
    const uint32_t pivot = pivot_of_slot(execution->round, slot, true);
    const uint32_t tile = execution->round->pivots[pivot].tile;
    const uint32_t other = execution->round->left_tiles[slot];
    const bool below = other > tile;
    const struct cpu_block block =
        cpu_tiles_block(execution->tiles, below ? other : tile, below ? tile : other);
    unsigned char *left = execution->left + slot * execution->left_bytes;
    unsigned char *right = execution->right + slot * execution->right_bytes;
    if (below) {
        update_left(execution, slot);
        operations->pack_right_transposed(block, right);
    } else {
        operations->pack_right(block, right);
        operations->multiply(execution->pivots_left + pivot * execution->left_bytes, right,
                             block.rows, block, false);
        operations->pack_right(block, right);
        operations->pack_left_transposed(block, left);
    }
}

/* The band of the panel tile that a slot stands for. */
static uint32_t band_of_slot(const struct execution *execution, uint32_t slot, bool left)
{
    const struct plan_round *round = execution->round;
    const uint32_t pivot = round->pivots[pivot_of_slot(round, slot, left)].tile;
    const uint32_t other = left ? round->left_tiles[slot] : pivot;
    return execution->options->symmetric && pivot > other ? pivot : other;
}

/* Tasks: the left slots, then, unless the matrix is symmetric, the right ones. */
static void update_panel(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    const uint32_t left_count = execution->round->left_count;
    const bool is_left = task < left_count;
    const uint32_t slot = (uint32_t)(is_left ? task : task - left_count);
    if (is_stopped(execution, thread) ||
        !cpu_tiles_has(execution->tiles, band_of_slot(execution, slot, is_left))) {
        return;
    }
    if (execution->options->symmetric) {
        update_both(execution, slot);
    } else if (is_left) {
        update_left(execution, slot);
    } else {
        update_right(execution, slot);
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

static void update_target(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    const struct plan_round *round = execution->round;
    const struct plan_target *target = &round->targets[task];
    if (is_stopped(execution, thread) || !cpu_tiles_has(execution->tiles, target->row_tile)) {
        return;
    }
    const struct cpu_block block =
        cpu_tiles_block(execution->tiles, target->row_tile, target->column_tile);
    for (uint32_t index = 0; index < target->product_count; index++) {
        apply_product(execution, round->products[target->product_begin + index], block,
                      target->fresh && index == 0);
    }
}

/* Task of a round of the dense plan, where every slot meets every other: column by column, as the
 * right operand is the one to keep in the cache. */
static void update_dense_target(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    const uint32_t slots = execution->round->left_count;
    const bool symmetric = execution->options->symmetric;
    if (is_stopped(execution, thread)) {
        return;
    }
    uint64_t place = task / slots;
    if (symmetric) {
        /* The row of a triangle, each row one longer than that above, that the task is in. */
        place = (uint64_t)((sqrt(8 * (double)task + 1) - 1) / 2);
        while (place * (place + 1) / 2 > task) {
            place--;
        }
        while ((place + 1) * (place + 2) / 2 <= task) {
            place++;
        }
    }
    const uint64_t column = symmetric ? slots - 1 - place : place;
    const uint64_t row =
        symmetric ? slots - 1 - (task - place * (place + 1) / 2) : task - place * slots;
    const struct plan_product product = {(uint32_t)row, (uint32_t)column, 0};
    if (!cpu_tiles_has(execution->tiles, execution->dense_tiles[row])) {
        return;
    }
    apply_product(execution, product,
                  cpu_tiles_block(execution->tiles, execution->dense_tiles[row],
                                  execution->dense_tiles[column]),
                  false);
}

/* ---- The rounds ---- */

static void set_dense_round(struct execution *execution, uint32_t pivot_tile)
{
    const uint32_t others = execution->tiles->tile_count - 1;
    for (uint32_t index = 0; index < others; index++) {
        execution->dense_tiles[index] = index < pivot_tile ? index : index + 1;
    }
    execution->dense_pivot = (struct plan_pivot){pivot_tile, 0, others, 0, others};
    execution->dense_round = (struct plan_round){.pivots = &execution->dense_pivot,
                                                 .pivot_count = 1,
                                                 .left_tiles = execution->dense_tiles,
                                                 .left_count = others,
                                                 .right_tiles = execution->dense_tiles,
                                                 .right_count = others};
    execution->round = &execution->dense_round;
}

/* How far all ranks are well. */
static enum status agree(struct execution *execution)
{
    const enum status status = atomic_load_explicit(&execution->negative, memory_order_relaxed)
                                   ? STATUS_NEGATIVE_CYCLE
                               : is_stopped(execution, 0) ? STATUS_CANCELLED
                                                          : STATUS_OK;
    return ranks_agree(execution->tiles->ranks, status);
}

static void share_pivots(const struct execution *execution)
{
    const struct ranks *ranks = execution->tiles->ranks;
    for (uint32_t i = 0; ranks != NULL && i < execution->round->pivot_count; i++) {
        const uint32_t root = cpu_tiles_rank_of(execution->tiles, execution->round->pivots[i].tile);
        ranks->broadcast(ranks->context, execution->pivots_left + i * execution->left_bytes,
                         execution->left_bytes, root);
        ranks->broadcast(ranks->context, execution->pivots_right + i * execution->right_bytes,
                         execution->right_bytes, root);
    }
}

static void share_panels(const struct execution *execution)
{
    const struct ranks *ranks = execution->tiles->ranks;
    const struct plan_round *round = execution->round;
    if (ranks == NULL) {
        return;
    }
    for (uint32_t i = 0; !execution->options->symmetric && i < round->pivot_count; i++) {
        const struct plan_pivot *pivot = &round->pivots[i];
        ranks->broadcast(ranks->context,
                         execution->right + pivot->right_begin * execution->right_bytes,
                         pivot->right_count * execution->right_bytes,
                         cpu_tiles_rank_of(execution->tiles, pivot->tile));
    }
    for (uint32_t slot = 0; execution->options->symmetric && slot < round->left_count; slot++) {
        const uint32_t root =
            cpu_tiles_rank_of(execution->tiles, band_of_slot(execution, slot, true));
        ranks->broadcast(ranks->context, execution->left + slot * execution->left_bytes,
                         execution->left_bytes, root);
        ranks->broadcast(ranks->context, execution->right + slot * execution->right_bytes,
                         execution->right_bytes, root);
    }
}

static enum status run_round(struct execution *execution)
{
    const struct plan_round *round = execution->round;
    const bool symmetric = execution->options->symmetric;
    const uint64_t slots = round->left_count;
    cpu_pool_run(execution->pool, round->pivot_count, close_pivot, execution);
    const enum status status = agree(execution);
    if (status != STATUS_OK) {
        return status;
    }
    share_pivots(execution);
    cpu_pool_run(execution->pool, slots + (symmetric ? 0 : round->right_count), update_panel,
                 execution);
    share_panels(execution);
    const struct plan *plan = execution->tiles->plan;
    const double share = is_dense(execution)
                             ? 1.0 / plan->round_count
                             : (double)(round->target_count + round->product_count) /
                                   (double)(plan->target_count + plan->product_count);
    cpu_pool_watch(execution->pool, execution->observer, PHASE_SOLVING, execution->share, share);
    execution->share += share;
    if (is_dense(execution)) {
        cpu_pool_run(execution->pool, symmetric ? slots * (slots + 1) / 2 : slots * slots,
                     update_dense_target, execution);
    } else {
        cpu_pool_run(execution->pool, round->target_count, update_target, execution);
    }
    return agree(execution);
}

/* At most 2^25 tiles: no size overflows. */
enum status cpu_floyd_warshall_run(struct cpu_pool *pool, const struct cpu_kernel *kernel,
                                   const struct cpu_tiles *tiles,
                                   const struct cpu_floyd_warshall_options *options,
                                   const struct observer *observer)
{
    const struct plan *plan = tiles->plan;
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
        .observer = observer,
        .left_bytes = packed_tile_bytes(operations->left_bytes),
        .right_bytes = packed_tile_bytes(operations->element_bytes),
    };
    unsigned char *const storage =
        aligned_alloc(CPU_ALIGNMENT, cpu_floyd_warshall_bytes(threads, plan, tiles->arithmetic));
    execution.dense_tiles = malloc((plan->tile_count + 1) * sizeof(*execution.dense_tiles));
    enum status status =
        storage != NULL && execution.dense_tiles != NULL ? STATUS_OK : STATUS_NO_MEMORY;
    status = ranks_agree(tiles->ranks, status);
    if (status == STATUS_OK) {
        execution.scratch = storage;
        execution.pivots_left = storage + threads * (execution.left_bytes + execution.right_bytes);
        execution.pivots_right = execution.pivots_left + slots.pivots * execution.left_bytes;
        execution.left = execution.pivots_right + slots.pivots * execution.right_bytes;
        execution.right = execution.left + slots.left * execution.left_bytes;
    }
    for (uint32_t index = 0; status == STATUS_OK && index < plan->round_count; index++) {
        if (is_dense(&execution)) {
            set_dense_round(&execution, index);
        } else {
            execution.round = &plan->rounds[index];
        }
        status = run_round(&execution);
        if (status == STATUS_OK && observer != NULL && observer->progress != NULL) {
            observer->progress(observer->context, index + 1, plan->round_count);
        }
    }
    free(execution.dense_tiles);
    free(storage);
    return status;
}
