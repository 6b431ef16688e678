/* One step of the plan closes the diagonal tile D on the calling thread, then all threads make the
 * row panel, then the rest; a loop of the pool ends only when all of its tasks have, which is the
 * barrier between the phases.
 *
 * With D closed the row panel is one min-plus product with its own old values, R = D (x) R'. The
 * column panel is L = L' (x) D likewise, and as D (x) D = D the interior may take the old L':
 * L (x) R = L' (x) D (x) D (x) R' = L' (x) R. So L' is packed once, and its update is one more tile
 * of the interior, with D at its right. */
#include "server/solver/cpu_floyd_warshall.h"

#include "proto/check.h"

#include <stdatomic.h>
#include <stdlib.h>

struct execution {
    struct cpu_pool *pool;
    const struct cpu_operations *operations;
    const struct plan *plan;
    const struct observer *observer;
    struct matrix *matrix;
    const struct plan_step *step;
    size_t element_bytes;
    size_t packed_bytes;          /* of one packed tile */
    unsigned char *scratch;       /* diagonal tile in the making */
    unsigned char *diagonal_left; /* closed and packed, for the row panel */
    unsigned char *diagonal_right;
    unsigned char *left;  /* old column panel, packed, by position in column_tiles */
    unsigned char *right; /* new row panel, packed, by position in row_tiles */
    unsigned char *storage;
    atomic_bool stopped;
};

static uint32_t extent(const struct execution *execution, uint32_t tile)
{
    const uint32_t rest = execution->matrix->vertex_count - tile * CPU_TILE;
    return rest < CPU_TILE ? rest : CPU_TILE;
}

static struct cpu_block tile_at(const struct execution *execution, uint32_t row_tile,
                                uint32_t column_tile)
{
    const size_t stride = execution->matrix->vertex_count;
    const size_t offset = (size_t)row_tile * CPU_TILE * stride + (size_t)column_tile * CPU_TILE;
    return (struct cpu_block){(unsigned char *)execution->matrix->elements +
                                  offset * execution->element_bytes,
                              stride, extent(execution, row_tile), extent(execution, column_tile)};
}

static size_t packed_tile_bytes(enum kind kind)
{
    return (size_t)CPU_TILE * CPU_TILE * kind_size(kind);
}

uint64_t cpu_floyd_warshall_bytes(uint32_t vertex_count, enum kind kind)
{
    const uint64_t tiles = ((uint64_t)vertex_count + CPU_TILE - 1) / CPU_TILE;
    return (3 + 2 * tiles) * packed_tile_bytes(kind);
}

/* The panels have room for all tiles in every step. At most 2^25 tiles: nothing here overflows. */
static enum status allocate(struct execution *execution)
{
    const size_t tiles = execution->plan->tile_count;
    const size_t bytes = execution->packed_bytes;
    execution->storage = aligned_alloc(CPU_ALIGNMENT, (3 + 2 * tiles) * bytes);
    if (execution->storage == NULL) {
        return STATUS_NO_MEMORY;
    }
    execution->scratch = execution->storage;
    execution->diagonal_left = execution->storage + bytes;
    execution->diagonal_right = execution->storage + 2 * bytes;
    execution->left = execution->storage + 3 * bytes;
    execution->right = execution->left + tiles * bytes;
    return STATUS_OK;
}

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

static enum status close_diagonal(struct execution *execution, bool clamp)
{
    const struct plan_step *step = execution->step;
    const struct cpu_block block = tile_at(execution, step->pivot_tile, step->pivot_tile);
    CHECK(step->width == block.rows);
    if (!execution->operations->close(block, clamp, execution->scratch)) {
        return STATUS_NEGATIVE_CYCLE;
    }
    execution->operations->pack_left(block, execution->diagonal_left);
    execution->operations->pack_right(block, execution->diagonal_right);
    return STATUS_OK;
}

static void update_row_panel(struct execution *execution, uint32_t position)
{
    const struct plan_step *step = execution->step;
    const uint32_t tile = step->row_tiles[position];
    if (tile == step->pivot_tile) {
        return;
    }
    const struct cpu_operations *operations = execution->operations;
    const struct cpu_block block = tile_at(execution, step->pivot_tile, tile);
    unsigned char *packed = execution->right + position * execution->packed_bytes;
    operations->pack_right(block, packed);
    operations->multiply(execution->diagonal_left, packed, step->width, block);
    operations->pack_right(block, packed);
}

static void pack_column_panel(struct execution *execution, uint32_t position)
{
    const struct plan_step *step = execution->step;
    const uint32_t tile = step->column_tiles[position];
    if (tile != step->pivot_tile) {
        execution->operations->pack_left(tile_at(execution, tile, step->pivot_tile),
                                         execution->left + position * execution->packed_bytes);
    }
}

/* Tasks: the row panel's tiles, then the column panel's. */
static void update_panels(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    if (is_stopped(execution, thread)) {
        return;
    }
    if (task < execution->step->row_tile_count) {
        update_row_panel(execution, (uint32_t)task);
    } else {
        pack_column_panel(execution, (uint32_t)(task - execution->step->row_tile_count));
    }
}

/* Tasks: row by row of tiles, so that a packed tile of the column panel stays in the cache; first
 * in each row the panel's own tile, whose right operand is the diagonal. */
static void update_interior(void *context, uint32_t thread, uint64_t task)
{
    struct execution *execution = context;
    const struct plan_step *step = execution->step;
    const uint64_t tasks_per_row = (uint64_t)step->row_tile_count + 1;
    const size_t column = task / tasks_per_row;
    const size_t place = task % tasks_per_row;
    const uint32_t row_tile = step->column_tiles[column];
    const uint32_t column_tile = place == 0 ? step->pivot_tile : step->row_tiles[place - 1];
    if (row_tile == step->pivot_tile || (place > 0 && column_tile == step->pivot_tile) ||
        is_stopped(execution, thread)) {
        return;
    }
    const unsigned char *right = place == 0
                                     ? execution->diagonal_right
                                     : execution->right + (place - 1) * execution->packed_bytes;
    execution->operations->multiply(execution->left + column * execution->packed_bytes, right,
                                    step->width, tile_at(execution, row_tile, column_tile));
}

static bool has_other_tiles(const struct plan_step *step, const uint32_t *tiles, uint32_t count)
{
    return count > 1 || (count == 1 && tiles[0] != step->pivot_tile);
}

static enum status run_step(struct execution *execution, const struct plan_step *step, bool clamp)
{
    execution->step = step;
    const enum status status = close_diagonal(execution, clamp);
    if (status != STATUS_OK) {
        return status;
    }
    if (has_other_tiles(step, step->row_tiles, step->row_tile_count) ||
        has_other_tiles(step, step->column_tiles, step->column_tile_count)) {
        cpu_pool_run(execution->pool, (uint64_t)step->row_tile_count + step->column_tile_count,
                     update_panels, execution);
        cpu_pool_run(execution->pool,
                     ((uint64_t)step->row_tile_count + 1) * step->column_tile_count,
                     update_interior, execution);
    }
    return is_stopped(execution, 0) ? STATUS_CANCELLED : STATUS_OK;
}

static enum status run_steps(struct execution *execution, bool clamp)
{
    const struct plan *plan = execution->plan;
    const struct observer *observer = execution->observer;
    for (uint32_t index = 0; index < plan->step_count; ++index) {
        const enum status status = run_step(execution, &plan->steps[index], clamp);
        if (status != STATUS_OK) {
            return status;
        }
        if (observer != NULL) {
            observer->progress(observer->context, index + 1, plan->step_count);
        }
    }
    return STATUS_OK;
}

enum status cpu_floyd_warshall_run(struct cpu_pool *pool, const struct cpu_kernel *kernel,
                                   const struct plan *plan, bool clamp_diagonal,
                                   const struct observer *observer, struct matrix *matrix)
{
    CHECK(plan->tile == CPU_TILE && plan->vertex_count == matrix->vertex_count);
    CHECK(plan->vertex_of == NULL);
    struct execution execution = {
        .pool = pool,
        .operations = cpu_kernel_operations(kernel, matrix->kind),
        .plan = plan,
        .observer = observer,
        .matrix = matrix,
        .element_bytes = kind_size(matrix->kind),
        .packed_bytes = packed_tile_bytes(matrix->kind),
    };
    CHECK(execution.operations != NULL);
    enum status status = allocate(&execution);
    if (status == STATUS_OK) {
        status = run_steps(&execution, clamp_diagonal);
    }
    free(execution.storage);
    return status;
}
