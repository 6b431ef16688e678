#include "server/solver/plan/symbolic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64

/* The tiles that can have a finite entry: one bit per tile. Rows begin on word boundaries, so that
 * two rows are joined word by word. */
struct tile_map {
    uint32_t tile_count; /* tiles along an edge */
    size_t row_words;
    uint64_t *words; /* bits of the tiles, tile_count rows */
};

struct list {
    void *items;
    size_t item_size;
    size_t count;
    size_t capacity;
};

/* A left panel of the current round, listed by its row. */
struct touch {
    uint32_t pivot; /* index of the pivot in the round */
    uint32_t slot;
};

struct pass {
    const struct plan_outline *outline;
    struct plan *plan;
    uint32_t tile_count;
    struct tile_map reached;
    struct list left;
    struct list right; /* right panels; empty if symmetric */
    struct list targets;
    struct list products;
    /* Scratch memory of the current round. */
    struct plan_pivot *pivots; /* pivots of the round, in the plan's array */
    struct list touches;
    uint32_t *touch_begin; /* tile_count + 2: first touch of a row; one place ahead while filled */
    uint64_t *row_targets; /* row_words: bitmap of the columns with targets in one row */
    uint32_t *column_next; /* tile_count entries: number of products of one row by column, then the
                              products' destinations */
    double work;
    const struct plan_cost *cost; /* not NULL: the pass computes only the cost, not the targets */
    double seconds;
};

static uint64_t *row_of(const struct tile_map *map, uint32_t row_tile)
{
    return map->words + row_tile * map->row_words;
}

static bool has_tile(const struct tile_map *map, uint32_t row_tile, uint32_t column_tile)
{
    return (row_of(map, row_tile)[column_tile / WORD_BITS] >> column_tile % WORD_BITS & 1) != 0;
}

static void add_tile(struct tile_map *map, uint32_t row_tile, uint32_t column_tile)
{
    row_of(map, row_tile)[column_tile / WORD_BITS] |= UINT64_C(1) << column_tile % WORD_BITS;
}

/* Adds the tiles of the other row to the row of row_tile. */
static void join_row(struct tile_map *map, uint32_t row_tile, uint32_t other_row_tile)
{
    uint64_t *to = row_of(map, row_tile);
    const uint64_t *from = row_of(map, other_row_tile);
    for (size_t word = 0; word < map->row_words; word++) {
        to[word] |= from[word];
    }
}

/* Adds the tiles to a bitmap of the plan, which has no gaps between rows. A row's last word has no
 * bits beyond the row, so to[1] is in the bitmap. */
static void pack_tiles(const struct tile_map *map, uint64_t *packed)
{
    for (uint32_t row = 0; row < map->tile_count; row++) {
        for (size_t word = 0; word < map->row_words; word++) {
            const uint64_t bits = row_of(map, row)[word];
            const size_t bit = (size_t)row * map->tile_count + word * WORD_BITS;
            const size_t shift = bit % WORD_BITS;
            uint64_t *to = packed + bit / WORD_BITS;
            to[0] |= bits << shift;
            if (shift > 0 && bits >> (WORD_BITS - shift) != 0) {
                to[1] |= bits >> (WORD_BITS - shift);
            }
        }
    }
}

static enum status list_reserve(struct list *list, size_t more)
{
    if (more <= list->capacity - list->count) {
        return STATUS_OK;
    }
    size_t capacity = list->capacity > 0 ? list->capacity : 256;
    while (capacity - list->count < more) {
        if (__builtin_mul_overflow(capacity, 2, &capacity)) {
            return STATUS_NO_MEMORY;
        }
    }
    void *items = reallocarray(list->items, capacity, list->item_size);
    if (items == NULL) {
        return STATUS_NO_MEMORY;
    }
    list->items = items;
    list->capacity = capacity;
    return STATUS_OK;
}

static enum status acquire_plan(const struct graph *graph, const struct plan_outline *outline,
                                struct plan *plan)
{
    const size_t tiles = outline->tile_count;
    const size_t bitmap_words = (tiles * tiles + WORD_BITS - 1) / WORD_BITS;
    plan->summary.kind = PLAN_NESTED_DISSECTION;
    plan->vertex_count = graph->vertex_count;
    plan->tile = outline->tile;
    plan->tile_count = outline->tile_count;
    plan->symmetric = outline->symmetric;
    plan->vertex_at = calloc((size_t)graph->vertex_count + 1, sizeof(*plan->vertex_at));
    plan->tile_begin = calloc(tiles + 1, sizeof(*plan->tile_begin));
    plan->edge_tiles = calloc(bitmap_words + 1, sizeof(*plan->edge_tiles));
    plan->reached_tiles = calloc(bitmap_words + 1, sizeof(*plan->reached_tiles));
    plan->rounds = calloc(tiles + 1, sizeof(*plan->rounds));
    plan->pivots = calloc(tiles + 1, sizeof(*plan->pivots));
    if (plan->vertex_at == NULL || plan->tile_begin == NULL || plan->edge_tiles == NULL ||
        plan->reached_tiles == NULL || plan->rounds == NULL || plan->pivots == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(plan->vertex_at, outline->vertex_at, graph->vertex_count * sizeof(*plan->vertex_at));
    memcpy(plan->tile_begin, outline->tile_begin, (tiles + 1) * sizeof(*plan->tile_begin));
    return STATUS_OK;
}

static uint32_t width_of(const struct plan *plan, uint32_t tile)
{
    return plan->tile_begin[tile + 1] - plan->tile_begin[tile];
}

static enum status reach_first(struct pass *pass, const struct graph *graph)
{
    const struct plan_outline *outline = pass->outline;
    uint32_t *tile_of = malloc(((size_t)graph->vertex_count + 1) * sizeof(*tile_of));
    if (tile_of == NULL) {
        return STATUS_NO_MEMORY;
    }
    CHECK(!(outline->symmetric && graph->directed));
    CHECK(outline->tile_begin[pass->tile_count] == graph->vertex_count);
    for (uint32_t tile = 0; tile < pass->tile_count; tile++) {
        CHECK(width_of(pass->plan, tile) - 1 < outline->tile);
        for (uint32_t at = outline->tile_begin[tile]; at < outline->tile_begin[tile + 1]; at++) {
            tile_of[outline->vertex_at[at]] = tile;
        }
        add_tile(&pass->reached, tile, tile);
    }
    for (uint32_t source = 0; source < graph->vertex_count; source++) {
        for (uint64_t edge = graph->row_offset[source]; edge < graph->row_offset[source + 1];
             edge++) {
            const uint32_t other = tile_of[graph->target[edge]];
            add_tile(&pass->reached, tile_of[source], other);
            if (!graph->directed) {
                add_tile(&pass->reached, other, tile_of[source]);
            }
        }
    }
    free(tile_of);
    return STATUS_OK;
}

/* Lists the panels of a pivot: the reached tiles of its column or row, except its diagonal tile. */
static enum status list_reached(struct pass *pass, uint32_t tile, bool column, struct list *list)
{
    const enum status status = list_reserve(list, pass->tile_count);
    uint32_t *items = list->items;
    for (uint32_t other = 0; status == STATUS_OK && other < pass->tile_count; other++) {
        if (other != tile &&
            has_tile(&pass->reached, column ? other : tile, column ? tile : other)) {
            items[list->count++] = other;
        }
    }
    return status;
}

static double sum_widths(const struct plan *plan, const uint32_t *tiles, uint32_t count)
{
    uint64_t width = 0;
    for (uint32_t index = 0; index < count; index++) {
        width += width_of(plan, tiles[index]);
    }
    return (double)width;
}

/* Adds the next pivot to the round: lists its panels and adds their work. List positions are
 * relative to the beginning of the round. */
static enum status list_panels(struct pass *pass, uint32_t tile, struct plan_round *round)
{
    const struct plan *plan = pass->plan;
    const size_t left_begin = pass->left.count;
    const size_t right_begin = pass->right.count;
    STATUS_TRY(list_reached(pass, tile, true, &pass->left));
    if (!plan->symmetric) {
        STATUS_TRY(list_reached(pass, tile, false, &pass->right));
    }
    struct plan_pivot pivot = {.tile = tile,
                               .left_begin = round->left_count,
                               .left_count = (uint32_t)(pass->left.count - left_begin),
                               .right_begin = round->right_count,
                               .right_count = (uint32_t)(pass->right.count - right_begin)};
    const uint32_t *left = (const uint32_t *)pass->left.items + left_begin;
    const uint32_t *right = (const uint32_t *)pass->right.items + right_begin;
    if (plan->symmetric) {
        pivot.right_begin = pivot.left_begin;
        pivot.right_count = pivot.left_count;
        right = left;
    }
    const double width = width_of(plan, tile);
    pass->work += width * (width + sum_widths(plan, left, pivot.left_count)) *
                  (width + sum_widths(plan, right, pivot.right_count));
    pass->pivots[round->pivot_count++] = pivot;
    round->left_count = pivot.left_begin + pivot.left_count;
    round->right_count = pivot.right_begin + pivot.right_count;
    return STATUS_OK;
}

/* Chooses the pivots of a round, at least one. The products of a round are counted in 32 bits, so
 * the round ends before the count overflows. */
static enum status choose_pivots(struct pass *pass, uint32_t first, struct plan_round *round)
{
    const struct plan_outline *outline = pass->outline;
    const uint64_t most = UINT32_MAX - (uint64_t)pass->tile_count * pass->tile_count;
    uint64_t products = 0;
    enum status status = list_panels(pass, outline->pivot[first], round);
    for (uint32_t next = first + 1; status == STATUS_OK && next < pass->tile_count; next++) {
        const struct plan_pivot *last = &pass->pivots[round->pivot_count - 1];
        const uint32_t tile = outline->pivot[next];
        products += (uint64_t)last->left_count * last->right_count;
        bool fits = products <= most;
        for (uint32_t index = 0; fits && index < round->pivot_count; index++) {
            const uint32_t other = pass->pivots[index].tile;
            fits = !has_tile(&pass->reached, tile, other) && !has_tile(&pass->reached, other, tile);
        }
        if (!fits) {
            break;
        }
        status = list_panels(pass, tile, round);
    }
    return status;
}

/* Sorts the left panels by row, with a counting sort. */
static enum status sort_touches(struct pass *pass, const struct plan_round *round,
                                const uint32_t *left)
{
    pass->touches.count = 0;
    STATUS_TRY(list_reserve(&pass->touches, round->left_count));
    struct touch *touches = pass->touches.items;
    uint32_t *begin = pass->touch_begin;
    memset(begin, 0, ((size_t)pass->tile_count + 2) * sizeof(*begin));
    for (uint32_t slot = 0; slot < round->left_count; slot++) {
        ++begin[left[slot] + 2];
    }
    for (uint32_t row = 2; row <= pass->tile_count; row++) {
        begin[row] += begin[row - 1];
    }
    for (uint32_t index = 0; index < round->pivot_count; index++) {
        const struct plan_pivot *pivot = &pass->pivots[index];
        for (uint32_t i = 0; i < pivot->left_count; i++) {
            const uint32_t slot = pivot->left_begin + i;
            touches[begin[left[slot] + 1]++] = (struct touch){.pivot = index, .slot = slot};
        }
    }
    return STATUS_OK;
}

/* Returns how many of the pivot's right panels, from the first on, have targets in this row. */
static uint32_t count_columns(const struct pass *pass, const struct plan_pivot *pivot,
                              const uint32_t *right, uint32_t row)
{
    uint32_t count = pivot->right_count;
    while (pass->plan->symmetric && count > 0 && right[pivot->right_begin + count - 1] > row) {
        count--;
    }
    return count;
}

/* Counts each column's products in column_next; marks columns with products in row_targets. */
static size_t count_row(struct pass *pass, const uint32_t *right, uint32_t row)
{
    const struct touch *touches = pass->touches.items;
    size_t count = 0;
    for (uint32_t t = pass->touch_begin[row]; t < pass->touch_begin[row + 1]; t++) {
        const struct plan_pivot *pivot = &pass->pivots[touches[t].pivot];
        const uint32_t columns = count_columns(pass, pivot, right, row);
        for (uint32_t i = 0; i < columns; i++) {
            const uint32_t column = right[pivot->right_begin + i];
            pass->row_targets[column / WORD_BITS] |= UINT64_C(1) << column % WORD_BITS;
            pass->column_next[column]++;
        }
        count += columns;
    }
    return count;
}

/* Lists row_targets and clears it. Turns each count in column_next into a first product's index. */
static void list_targets(struct pass *pass, struct plan_round *round, uint32_t row)
{
    struct plan_target *targets = pass->targets.items;
    for (size_t word = 0; word < pass->reached.row_words; word++) {
        for (uint64_t bits = pass->row_targets[word]; bits != 0; bits &= bits - 1) {
            const uint32_t column = (uint32_t)(word * WORD_BITS) + (uint32_t)__builtin_ctzll(bits);
            const uint32_t count = pass->column_next[column];
            targets[pass->targets.count++] =
                (struct plan_target){.row_tile = row,
                                     .column_tile = column,
                                     .product_begin = round->product_count,
                                     .product_count = count,
                                     .fresh = !has_tile(&pass->reached, row, column)};
            pass->column_next[column] = round->product_count;
            round->product_count += count;
            round->target_count++;
        }
        pass->row_targets[word] = 0;
    }
}

/* Lists the products of one row. products: the array of the round's products. */
static void list_products(struct pass *pass, const uint32_t *right, uint32_t row,
                          struct plan_product *products)
{
    const struct touch *touches = pass->touches.items;
    for (uint32_t t = pass->touch_begin[row]; t < pass->touch_begin[row + 1]; t++) {
        const struct touch touch = touches[t];
        const struct plan_pivot *pivot = &pass->pivots[touch.pivot];
        const uint32_t columns = count_columns(pass, pivot, right, row);
        for (uint32_t i = 0; i < columns; i++) {
            const uint32_t slot = pivot->right_begin + i;
            products[pass->column_next[right[slot]]++] =
                (struct plan_product){.left = touch.slot, .right = slot, .pivot = touch.pivot};
        }
    }
}

static enum status list_row_targets(struct pass *pass, struct plan_round *round,
                                    const uint32_t *right, uint32_t row)
{
    const size_t products = count_row(pass, right, row);
    const size_t targets_most = products < pass->tile_count ? products : pass->tile_count;
    STATUS_TRY(list_reserve(&pass->products, products));
    STATUS_TRY(list_reserve(&pass->targets, targets_most));
    struct plan_product *of_round =
        (struct plan_product *)pass->products.items + pass->products.count - round->product_count;
    const size_t first = pass->targets.count;
    list_targets(pass, round, row);
    list_products(pass, right, row, of_round);
    pass->products.count += products;
    const struct plan_target *targets = pass->targets.items;
    for (size_t target = first; target < pass->targets.count; target++) {
        pass->column_next[targets[target].column_tile] = 0;
    }
    return STATUS_OK;
}

/* Lists the targets of a round and their products. */
static enum status list_work(struct pass *pass, struct plan_round *round)
{
    enum status status = sort_touches(pass, round, round->left_tiles);
    for (uint32_t row = 0; status == STATUS_OK && row < pass->tile_count; row++) {
        if (pass->touch_begin[row] < pass->touch_begin[row + 1]) {
            status = list_row_targets(pass, round, round->right_tiles, row);
        }
    }
    return status;
}

static enum status list_round(struct pass *pass, uint32_t first_pivot, struct plan_round *round)
{
    const size_t left_begin = pass->left.count;
    const size_t right_begin = pass->right.count;
    pass->pivots = pass->plan->pivots + first_pivot;
    STATUS_TRY(choose_pivots(pass, first_pivot, round));
    const uint32_t *left = (const uint32_t *)pass->left.items + left_begin;
    round->pivots = pass->pivots;
    round->left_tiles = left;
    round->right_tiles = (const uint32_t *)pass->right.items + right_begin;
    if (pass->plan->symmetric) {
        round->right_tiles = left;
    }
    if (pass->cost != NULL) {
        pass->seconds += plan_cost_round(pass->cost, pass->plan, round);
    } else {
        STATUS_TRY(list_work(pass, round));
    }
    /* The order does not matter: independent pivots do not change each other's rows. */
    for (uint32_t index = 0; index < round->pivot_count; index++) {
        const struct plan_pivot *pivot = &pass->pivots[index];
        for (uint32_t i = 0; i < pivot->left_count; i++) {
            join_row(&pass->reached, left[pivot->left_begin + i], pivot->tile);
        }
    }
    return STATUS_OK;
}

/* Passes the lists to the plan, which frees them even if it is incomplete. The lists moved in
 * memory while they grew; from now on the rounds point into them. */
static void point_rounds(const struct pass *pass)
{
    struct plan *plan = pass->plan;
    plan->left_tiles = pass->left.items;
    plan->left_count = pass->left.count;
    plan->right_tiles = pass->right.items;
    plan->right_count = pass->right.count;
    plan->targets = pass->targets.items;
    plan->target_count = pass->targets.count;
    plan->products = pass->products.items;
    plan->product_count = pass->products.count;
    const struct plan_pivot *pivots = plan->pivots;
    const uint32_t *left = plan->left_tiles;
    const uint32_t *right = plan->symmetric ? left : plan->right_tiles;
    const struct plan_target *targets = plan->targets;
    const struct plan_product *products = plan->products;
    for (uint32_t index = 0; index < plan->round_count; index++) {
        struct plan_round *round = &plan->rounds[index];
        round->pivots = pivots;
        round->left_tiles = left;
        round->right_tiles = right;
        round->targets = targets;
        round->products = products;
        pivots += round->pivot_count;
        left += round->left_count;
        right += round->right_count;
        targets += round->target_count;
        products += round->product_count;
    }
}

/* Makes the plan, or with a cost model only its rounds, until their time exceeds limit_s. */
static enum status run_pass(const struct graph *graph, const struct plan_outline *outline,
                            const struct plan_cost *cost, double limit_s, double *ret_seconds,
                            struct plan **ret_plan)
{
    CHECK(outline->tile_count <= PLAN_TILES_MAX);
    const size_t tiles = outline->tile_count;
    const size_t row_words = (tiles + WORD_BITS - 1) / WORD_BITS;
    struct plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        return STATUS_NO_MEMORY;
    }
    struct pass pass = {
        .outline = outline,
        .plan = plan,
        .tile_count = outline->tile_count,
        .reached = {.tile_count = outline->tile_count,
                    .row_words = row_words,
                    .words = calloc(tiles + 1, (row_words + 1) * sizeof(*pass.reached.words))},
        .cost = cost,
        .left = {.item_size = sizeof(*plan->left_tiles)},
        .right = {.item_size = sizeof(*plan->right_tiles)},
        .targets = {.item_size = sizeof(*plan->targets)},
        .products = {.item_size = sizeof(*plan->products)},
        .touches = {.item_size = sizeof(struct touch)},
        .touch_begin = calloc(tiles + 2, sizeof(*pass.touch_begin)),
        .row_targets = calloc(row_words + 1, sizeof(*pass.row_targets)),
        .column_next = calloc(tiles + 1, sizeof(*pass.column_next)),
    };
    enum status status = acquire_plan(graph, outline, plan);
    if (pass.reached.words == NULL || pass.touch_begin == NULL || pass.row_targets == NULL ||
        pass.column_next == NULL) {
        status = STATUS_NO_MEMORY;
    }
    STATUS_THEN(status, reach_first(&pass, graph));
    if (status == STATUS_OK) {
        pack_tiles(&pass.reached, plan->edge_tiles);
    }
    for (uint32_t pivot = 0;
         status == STATUS_OK && pass.seconds <= limit_s && pivot < pass.tile_count;) {
        struct plan_round *round = &plan->rounds[plan->round_count++];
        status = list_round(&pass, pivot, round);
        pivot += round->pivot_count;
    }
    if (status == STATUS_OK) {
        const double n = plan->vertex_count;
        plan->summary.work_fraction = n > 0 ? pass.work / (n * n * n) : 1;
        pack_tiles(&pass.reached, plan->reached_tiles);
    }
    point_rounds(&pass);
    free(pass.touches.items);
    free(pass.reached.words);
    free(pass.touch_begin);
    free(pass.row_targets);
    free(pass.column_next);
    if (status != STATUS_OK) {
        plan_destroy(plan);
        return status;
    }
    *ret_seconds = pass.seconds;
    *ret_plan = plan;
    return STATUS_OK;
}

enum status plan_symbolic_make(const struct graph *graph, const struct plan_outline *outline,
                               struct plan **ret_plan)
{
    double seconds = 0;
    return run_pass(graph, outline, NULL, INFINITY, &seconds, ret_plan);
}

enum status plan_symbolic_cost(const struct graph *graph, const struct plan_outline *outline,
                               const struct plan_cost *cost, double limit_s, double *ret_seconds)
{
    struct plan *plan = NULL;
    STATUS_TRY(run_pass(graph, outline, cost, limit_s, ret_seconds, &plan));
    plan_destroy(plan);
    return STATUS_OK;
}
