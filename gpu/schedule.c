#include "gpu/schedule.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64
/* Number of arrays copied to the device: five lists, the positions, and a bitmap of used tiles. */
#define SCHEDULE_LISTS 7

/* A schedule under construction, and its working memory. */
struct making {
    const struct plan *plan;
    struct schedule_grain grain;
    struct schedule *schedule;
    struct schedule_target *unsorted; /* entries of one round */
    uint32_t unsorted_count;
    uint32_t *places; /* for sorting: position of the next entry with this number of slabs */
    uint32_t places_count;
};

static uint64_t larger_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void schedule_slots(const struct plan *plan, uint32_t *ret_left, uint32_t *ret_right)
{
    *ret_left = 0;
    *ret_right = 0;
    for (uint32_t index = 0; index < plan->round_count; index++) {
        *ret_left = (uint32_t)larger_of(*ret_left, plan->rounds[index].left_count);
        *ret_right = (uint32_t)larger_of(*ret_right, plan->rounds[index].right_count);
    }
}

static uint64_t words_of(uint32_t tile_count)
{
    return ((uint64_t)tile_count * tile_count + WORD_BITS - 1) / WORD_BITS;
}

/* Returns an upper bound on the number of tiles to fill: all tiles with edges, counted in both
 * halves of a symmetric plan. */
static uint64_t fills_most(const struct plan *plan)
{
    uint64_t fills = 0;
    for (uint64_t word = 0; word < words_of(plan->tile_count); word++) {
        fills += (uint32_t)__builtin_popcountll(plan->edge_tiles[word]);
    }
    return fills;
}

uint64_t schedule_bytes_most(const struct plan *plan, uint64_t alignment)
{
    return fills_most(plan) * sizeof(struct schedule_tile) +
           plan->tile_count * sizeof(struct schedule_pivot) +
           (plan->left_count + plan->right_count) * sizeof(struct schedule_panel) +
           plan->target_count * sizeof(struct schedule_target) +
           plan->product_count * sizeof(struct schedule_product) +
           plan->vertex_count * sizeof(uint32_t) + words_of(plan->tile_count) * sizeof(uint64_t) +
           SCHEDULE_LISTS * alignment;
}

void schedule_destroy(struct schedule *schedule)
{
    if (schedule == NULL) {
        return;
    }
    free(schedule->rounds);
    free(schedule->fills);
    free(schedule->pivots);
    free(schedule->panels);
    free(schedule->targets);
    free(schedule->products);
    free(schedule->position);
    free(schedule);
}

static uint32_t slabs_of(const struct making *making, uint32_t depth)
{
    return (depth + making->grain.slab - 1) / making->grain.slab;
}

static enum status allocate_lists(struct making *making)
{
    const struct plan *plan = making->plan;
    struct schedule *schedule = making->schedule;
    const uint64_t fills = fills_most(plan);
    const uint64_t panels = plan->left_count + (plan->symmetric ? 0 : plan->right_count);
    uint64_t targets_of_round = 0;
    uint64_t products_of_target = 0;
    for (uint32_t index = 0; index < plan->round_count; index++) {
        targets_of_round = larger_of(targets_of_round, plan->rounds[index].target_count);
    }
    for (size_t target = 0; target < plan->target_count; target++) {
        products_of_target = larger_of(products_of_target, plan->targets[target].product_count);
    }
    if (panels > UINT32_MAX || plan->target_count > UINT32_MAX ||
        plan->product_count > UINT32_MAX || fills > UINT32_MAX) {
        return STATUS_NO_DEVICE_MEMORY;
    }
    /* Each array has at least one entry, so that NULL always means out of memory. */
    making->places_count = (uint32_t)(products_of_target * slabs_of(making, plan->tile) + 1);
    making->places = calloc(making->places_count, sizeof(*making->places));
    making->unsorted = calloc(targets_of_round + 1, sizeof(*making->unsorted));
    schedule->rounds = calloc((size_t)plan->round_count + 1, sizeof(*schedule->rounds));
    schedule->fills = calloc(fills + 1, sizeof(*schedule->fills));
    schedule->pivots = calloc((size_t)plan->tile_count + 1, sizeof(*schedule->pivots));
    schedule->panels = calloc(panels + 1, sizeof(*schedule->panels));
    schedule->targets = calloc(plan->target_count + 1, sizeof(*schedule->targets));
    schedule->products = calloc(plan->product_count + 1, sizeof(*schedule->products));
    schedule->position = calloc((size_t)plan->vertex_count + 1, sizeof(*schedule->position));
    const bool complete =
        making->places != NULL && making->unsorted != NULL && schedule->rounds != NULL &&
        schedule->fills != NULL && schedule->pivots != NULL && schedule->panels != NULL &&
        schedule->targets != NULL && schedule->products != NULL && schedule->position != NULL;
    return complete ? STATUS_OK : STATUS_NO_MEMORY;
}

static uint32_t width_of(const struct plan *plan, uint32_t tile)
{
    return plan->tile_begin[tile + 1] - plan->tile_begin[tile];
}

/* Lists the left or the right panels of a round. A symmetric plan has no right panels. */
static struct schedule_range add_panels(struct making *making, const struct plan_round *round,
                                        bool left)
{
    struct schedule *schedule = making->schedule;
    const uint32_t pivot_count = left || !making->plan->symmetric ? round->pivot_count : 0;
    const uint32_t *tiles = left ? round->left_tiles : round->right_tiles;
    struct schedule_range range = {schedule->panel_count, 0};
    for (uint32_t index = 0; index < pivot_count; index++) {
        const struct plan_pivot *pivot = &round->pivots[index];
        const uint32_t begin = left ? pivot->left_begin : pivot->right_begin;
        const uint32_t end = begin + (left ? pivot->left_count : pivot->right_count);
        for (uint32_t at = begin; at < end; at++) {
            schedule->panels[schedule->panel_count++] = (struct schedule_panel){
                .tile = tiles[at],
                .pivot = pivot->tile,
                .depth = (uint8_t)width_of(making->plan, pivot->tile),
                .width = (uint8_t)width_of(making->plan, tiles[at]),
            };
        }
    }
    range.count = schedule->panel_count - range.begin;
    return range;
}

static struct schedule_range add_pivots(struct making *making, const struct plan_round *round)
{
    struct schedule *schedule = making->schedule;
    const struct schedule_range range = {schedule->pivot_count, round->pivot_count};
    for (uint32_t index = 0; index < round->pivot_count; index++) {
        const uint32_t tile = round->pivots[index].tile;
        schedule->pivots[schedule->pivot_count++] =
            (struct schedule_pivot){tile, width_of(making->plan, tile)};
    }
    return range;
}

static uint32_t add_products(struct making *making, const struct plan_round *round,
                             const struct plan_target *first, const struct plan_target *second)
{
    struct schedule *schedule = making->schedule;
    const struct plan_product *left = round->products + first->product_begin;
    const struct plan_product *right = round->products + second->product_begin;
    uint32_t slabs = 0;
    for (uint32_t index = 0; index < first->product_count; index++) {
        const uint32_t depth = width_of(making->plan, round->pivots[left[index].pivot].tile);
        schedule->products[schedule->product_count++] = (struct schedule_product){
            left[index].left, {left[index].right, right[index].right}, depth};
        slabs += slabs_of(making, depth);
    }
    return slabs;
}

/* Returns whether two targets in one tile row have the same left operands, product by product. */
static bool are_alike(const struct plan_round *round, const struct plan_target *first,
                      const struct plan_target *second)
{
    const struct plan_product *a = round->products + first->product_begin;
    const struct plan_product *b = round->products + second->product_begin;
    if (first->row_tile != second->row_tile || first->product_count != second->product_count) {
        return false;
    }
    for (uint32_t index = 0; index < first->product_count; index++) {
        if (a[index].left != b[index].left) {
            return false;
        }
    }
    return true;
}

/* Sorts entries by number of slabs, the largest first. Equal entries stay in the plan's order. */
static void sort_targets(struct making *making)
{
    const uint32_t target_count = making->unsorted_count;
    struct schedule *schedule = making->schedule;
    struct schedule_target *to = schedule->targets + schedule->target_count;
    memset(making->places, 0, making->places_count * sizeof(*making->places));
    for (uint32_t index = 0; index < target_count; index++) {
        making->places[making->unsorted[index].slabs]++;
    }
    uint32_t place = 0;
    for (uint32_t slabs = making->places_count; slabs-- > 0;) {
        const uint32_t entries = making->places[slabs];
        making->places[slabs] = place;
        place += entries;
    }
    for (uint32_t index = 0; index < target_count; index++) {
        to[making->places[making->unsorted[index].slabs]++] = making->unsorted[index];
    }
}

/* Sets the number of rows, and of words in each half of the block, that are not padding. */
static void set_extent(const struct making *making, bool pair, struct schedule_target *target)
{
    const uint32_t half = making->plan->tile / 2;
    const uint32_t first = width_of(making->plan, target->columns[0]);
    const uint32_t second = width_of(making->plan, target->columns[1]);
    target->rows = (uint8_t)width_of(making->plan, target->row);
    if (making->grain.packing > 1) {
        target->words[0] = (uint8_t)((first + 1) / 2);
        target->words[1] = (uint8_t)(pair ? (second + 1) / 2 : 0);
    } else {
        target->words[0] = (uint8_t)(first < half ? first : half);
        target->words[1] = (uint8_t)(first - target->words[0]);
    }
}

static void add_targets(struct making *making, const struct plan_round *round,
                        struct schedule_round *made)
{
    struct schedule *schedule = making->schedule;
    making->unsorted_count = 0;
    for (uint32_t index = 0; index < round->target_count;) {
        const struct plan_target *first = &round->targets[index];
        const bool pair = making->grain.packing > 1 && index + 1 < round->target_count &&
                          are_alike(round, first, first + 1);
        const struct plan_target *second = pair ? first + 1 : first;
        struct schedule_target *target = &making->unsorted[making->unsorted_count++];
        target->row = first->row_tile;
        target->columns[0] = first->column_tile;
        target->columns[1] = second->column_tile;
        target->product_begin = schedule->product_count;
        target->slabs = add_products(making, round, first, second);
        target->flags = (uint8_t)((first->fresh ? SCHEDULE_FRESH_FIRST : 0) |
                                  (second->fresh ? SCHEDULE_FRESH_SECOND : 0));
        set_extent(making, pair, target);
        index += pair ? 2 : 1;
    }
    sort_targets(making);
    made->targets = (struct schedule_range){schedule->target_count, making->unsorted_count};
    schedule->target_count += making->unsorted_count;
}

static void make_lists(struct making *making)
{
    const struct plan *plan = making->plan;
    struct schedule *schedule = making->schedule;
    for (uint32_t tile = 0; tile < plan->tile_count; tile++) {
        const uint32_t begin = plan->tile_begin[tile];
        for (uint32_t at = begin; at < plan->tile_begin[tile + 1]; at++) {
            schedule->position[plan->vertex_at[at]] = tile * plan->tile + at - begin;
        }
    }
    /* In a symmetric plan, skips the tiles above the diagonal, which the mirror step writes. */
    for (uint32_t row = 0; row < plan->tile_count; row++) {
        for (uint32_t column = 0; column < plan->tile_count; column++) {
            const uint64_t bit = (uint64_t)row * plan->tile_count + column;
            if ((plan->edge_tiles[bit / WORD_BITS] >> bit % WORD_BITS & 1) != 0 &&
                (!plan->symmetric || row >= column)) {
                schedule->fills[schedule->fill_count++] = (struct schedule_tile){row, column};
            }
        }
    }
    for (uint32_t index = 0; index < plan->round_count; index++) {
        const struct plan_round *round = &plan->rounds[index];
        struct schedule_round *made = &schedule->rounds[index];
        made->pivots = add_pivots(making, round);
        made->rights = add_panels(making, round, false);
        made->lefts = add_panels(making, round, true);
        add_targets(making, round, made);
    }
}

enum status schedule_create(const struct plan *plan, struct schedule_grain grain,
                            struct schedule **ret_schedule)
{
    struct making making = {.plan = plan, .grain = grain};
    making.schedule = calloc(1, sizeof(*making.schedule));
    if (making.schedule == NULL) {
        return STATUS_NO_MEMORY;
    }
    const enum status status = allocate_lists(&making);
    if (status == STATUS_OK) {
        make_lists(&making);
    }
    free(making.places);
    free(making.unsorted);
    if (status != STATUS_OK) {
        schedule_destroy(making.schedule);
        return status;
    }
    *ret_schedule = making.schedule;
    return STATUS_OK;
}
