#include "tests/solver/plan_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Value of unwritten entries. It is less than any distance, so a plan that reads one gives wrong
 * distances. */
#define GARBAGE (-1e15)

#define RULE(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "the plan breaks a rule: %s\n", #condition);                           \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

static bool has_bit(const uint64_t *tiles, const struct plan *plan, uint32_t i, uint32_t j)
{
    const size_t bit = (size_t)i * plan->tile_count + j;
    return (tiles[bit / 64] >> bit % 64 & 1) != 0;
}

static bool is_permutation(const uint32_t *items, uint32_t count, bool *seen)
{
    for (uint32_t index = 0; index < count; ++index) {
        RULE(items[index] < count && !seen[items[index]]);
        seen[items[index]] = true;
    }
    return true;
}

static bool are_tiles_good(const struct plan *plan)
{
    RULE(plan->tile_begin[0] == 0 && plan->tile_begin[plan->tile_count] == plan->vertex_count);
    for (uint32_t t = 0; t < plan->tile_count; ++t) {
        RULE(plan->tile_begin[t] < plan->tile_begin[t + 1]);
        RULE(plan->tile_begin[t + 1] - plan->tile_begin[t] <= plan->tile);
        RULE(has_bit(plan->edge_tiles, plan, t, t));
        for (uint32_t u = 0; u < plan->tile_count; ++u) {
            RULE(!has_bit(plan->edge_tiles, plan, t, u) ||
                 has_bit(plan->reached_tiles, plan, t, u));
            RULE(!plan->symmetric || has_bit(plan->reached_tiles, plan, t, u) ==
                                         has_bit(plan->reached_tiles, plan, u, t));
        }
    }
    return true;
}

static bool are_panels_good(const struct plan *plan, const struct plan_round *round)
{
    uint32_t left = 0;
    uint32_t right = 0;
    for (uint32_t k = 0; k < round->pivot_count; ++k) {
        const struct plan_pivot *pivot = &round->pivots[k];
        RULE(pivot->left_begin == left && pivot->right_begin == right);
        left += pivot->left_count;
        right += pivot->right_count;
        for (uint32_t s = pivot->left_begin; s < left; ++s) {
            RULE(round->left_tiles[s] < plan->tile_count && round->left_tiles[s] != pivot->tile);
        }
        for (uint32_t s = pivot->right_begin; s < right; ++s) {
            RULE(round->right_tiles[s] < plan->tile_count && round->right_tiles[s] != pivot->tile);
        }
    }
    RULE(left == round->left_count && right == round->right_count);
    RULE(!plan->symmetric || round->left_tiles == round->right_tiles);
    return true;
}

static bool is_within(uint32_t index, uint32_t begin, uint32_t count)
{
    return index >= begin && index - begin < count;
}

static bool is_target_good(const struct plan_round *round, const struct plan_target *target)
{
    RULE(target->product_count >= 1);
    for (uint32_t k = 0; k < round->pivot_count; ++k) {
        RULE(target->row_tile != round->pivots[k].tile);
        RULE(target->column_tile != round->pivots[k].tile);
    }
    for (uint32_t p = 0; p < target->product_count; ++p) {
        const struct plan_product *product = &round->products[target->product_begin + p];
        RULE(product->pivot < round->pivot_count);
        const struct plan_pivot *pivot = &round->pivots[product->pivot];
        RULE(is_within(product->left, pivot->left_begin, pivot->left_count));
        RULE(is_within(product->right, pivot->right_begin, pivot->right_count));
        RULE(round->left_tiles[product->left] == target->row_tile);
        RULE(round->right_tiles[product->right] == target->column_tile);
        RULE(p == 0 || product[-1].pivot < product->pivot);
    }
    return true;
}

static bool are_targets_good(const struct plan *plan, const struct plan_round *round)
{
    uint32_t products = 0;
    for (uint32_t t = 0; t < round->target_count; ++t) {
        const struct plan_target *target = &round->targets[t];
        RULE(target->product_begin == products);
        products += target->product_count;
        RULE(products <= round->product_count);
        RULE(!plan->symmetric || target->row_tile >= target->column_tile);
        RULE(t == 0 || target[-1].row_tile < target->row_tile ||
             (target[-1].row_tile == target->row_tile &&
              target[-1].column_tile < target->column_tile));
        if (!is_target_good(round, target)) {
            return false;
        }
    }
    RULE(products == round->product_count);
    return true;
}

static bool are_rounds_good(const struct plan *plan, bool *seen)
{
    uint32_t pivots = 0;
    for (uint32_t r = 0; r < plan->round_count; ++r) {
        const struct plan_round *round = &plan->rounds[r];
        RULE(round->pivot_count >= 1);
        for (uint32_t k = 0; k < round->pivot_count; ++k) {
            RULE(round->pivots[k].tile < plan->tile_count && !seen[round->pivots[k].tile]);
            seen[round->pivots[k].tile] = true;
        }
        pivots += round->pivot_count;
        if (!are_panels_good(plan, round) || !are_targets_good(plan, round)) {
            return false;
        }
    }
    RULE(pivots == plan->tile_count);
    return true;
}

bool plan_reference_judge(const struct plan *plan, uint32_t vertex_count)
{
    RULE(plan->vertex_at != NULL && plan->vertex_count == vertex_count);
    bool *vertices = calloc((size_t)vertex_count + 1, sizeof(*vertices));
    bool *tiles = calloc((size_t)plan->tile_count + 1, sizeof(*tiles));
    CHECK(vertices != NULL && tiles != NULL);
    const bool good = is_permutation(plan->vertex_at, vertex_count, vertices) &&
                      are_tiles_good(plan) && are_rounds_good(plan, tiles);
    free(vertices);
    free(tiles);
    return good;
}

struct execution {
    const struct plan *plan;
    size_t n;
    double *d;         /* distances, indexed by position */
    uint32_t *tile_of; /* indexed by position */
};

static double *entry(const struct execution *run, size_t i, size_t j)
{
    return &run->d[i * run->n + j];
}

static void keep_minimum(double *to, double value)
{
    *to = value < *to ? value : *to;
}

static bool put_edge(const struct execution *run, size_t i, size_t j, double weight)
{
    RULE(has_bit(run->plan->edge_tiles, run->plan, run->tile_of[i], run->tile_of[j]));
    keep_minimum(entry(run, i, j), weight);
    return true;
}

static bool fill(const struct execution *run, const struct edge_list *list)
{
    const struct plan *plan = run->plan;
    uint32_t *place = calloc(run->n + 1, sizeof(*place));
    CHECK(place != NULL);
    for (uint32_t position = 0; position < run->n; ++position) {
        place[plan->vertex_at[position]] = position;
    }
    for (size_t i = 0; i < run->n; ++i) {
        for (size_t j = 0; j < run->n; ++j) {
            const bool filled = has_bit(plan->edge_tiles, plan, run->tile_of[i], run->tile_of[j]);
            *entry(run, i, j) = !filled ? GARBAGE : i == j ? 0 : INFINITY;
        }
    }
    bool good = true;
    for (size_t e = 0; good && e < list->count; ++e) {
        const struct edge edge = list->edges[e];
        const size_t i = place[edge.source];
        const size_t j = place[edge.target];
        good = put_edge(run, i, j, edge.weight) &&
               (list->directed || put_edge(run, j, i, edge.weight));
    }
    free(place);
    return good;
}

static uint32_t begin_of(const struct execution *run, uint32_t tile)
{
    return run->plan->tile_begin[tile];
}

static uint32_t end_of(const struct execution *run, uint32_t tile)
{
    return run->plan->tile_begin[tile + 1];
}

/* Returns whether no finite entry connects tiles p and q. An unwritten tile connects nothing. */
static bool are_apart(const struct execution *run, uint32_t p, uint32_t q)
{
    for (uint32_t i = begin_of(run, p); i < end_of(run, p); ++i) {
        for (uint32_t j = begin_of(run, q); j < end_of(run, q); ++j) {
            const double d = *entry(run, i, j);
            RULE(d == INFINITY || d == GARBAGE);
        }
    }
    return true;
}

static bool are_pivots_apart(const struct execution *run, const struct plan_round *round)
{
    for (uint32_t k = 0; k < round->pivot_count; ++k) {
        for (uint32_t l = 0; l < round->pivot_count; ++l) {
            if (l != k && !are_apart(run, round->pivots[k].tile, round->pivots[l].tile)) {
                return false;
            }
        }
    }
    return true;
}

/* Relaxes tile (i, j) over the tiles (i, p) and (p, j). If i = j = p, this is Floyd-Warshall within
 * the tile. If the result is a panel, its entries may be read before or after their own update
 * without changing the result. */
static void relax(const struct execution *run, uint32_t i, uint32_t p, uint32_t j)
{
    for (uint32_t k = begin_of(run, p); k < end_of(run, p); ++k) {
        for (uint32_t row = begin_of(run, i); row < end_of(run, i); ++row) {
            for (uint32_t column = begin_of(run, j); column < end_of(run, j); ++column) {
                keep_minimum(entry(run, row, column), *entry(run, row, k) + *entry(run, k, column));
            }
        }
    }
}

static void mirror(const struct execution *run, uint32_t i, uint32_t j)
{
    for (uint32_t row = begin_of(run, i); row < end_of(run, i); ++row) {
        for (uint32_t column = begin_of(run, j); column < end_of(run, j); ++column) {
            *entry(run, column, row) = *entry(run, row, column);
        }
    }
}

static void empty(const struct execution *run, uint32_t i, uint32_t j)
{
    for (uint32_t row = begin_of(run, i); row < end_of(run, i); ++row) {
        for (uint32_t column = begin_of(run, j); column < end_of(run, j); ++column) {
            *entry(run, row, column) = INFINITY;
        }
    }
}

static bool close_pivot(const struct execution *run, uint32_t p)
{
    relax(run, p, p, p);
    for (uint32_t i = begin_of(run, p); i < end_of(run, p); ++i) {
        if (*entry(run, i, i) < 0) {
            return false;
        }
    }
    return true;
}

static void update_panels(const struct execution *run, const struct plan_round *round,
                          const struct plan_pivot *pivot)
{
    for (uint32_t s = pivot->left_begin; s < pivot->left_begin + pivot->left_count; ++s) {
        relax(run, round->left_tiles[s], pivot->tile, pivot->tile);
        if (run->plan->symmetric) {
            mirror(run, round->left_tiles[s], pivot->tile);
        }
    }
    const uint32_t right_count = run->plan->symmetric ? 0 : pivot->right_count;
    for (uint32_t s = pivot->right_begin; s < pivot->right_begin + right_count; ++s) {
        relax(run, pivot->tile, pivot->tile, round->right_tiles[s]);
    }
}

static void update_target(const struct execution *run, const struct plan_round *round,
                          const struct plan_target *target)
{
    if (target->fresh) {
        empty(run, target->row_tile, target->column_tile);
    }
    for (uint32_t index = 0; index < target->product_count; ++index) {
        const struct plan_product *product = &round->products[target->product_begin + index];
        relax(run, round->left_tiles[product->left], round->pivots[product->pivot].tile,
              round->right_tiles[product->right]);
    }
    if (run->plan->symmetric) {
        mirror(run, target->row_tile, target->column_tile);
    }
}

static enum plan_verdict run_round(const struct execution *run, const struct plan_round *round)
{
    if (!are_pivots_apart(run, round)) {
        return PLAN_BROKEN;
    }
    for (uint32_t k = 0; k < round->pivot_count; ++k) {
        if (!close_pivot(run, round->pivots[k].tile)) {
            return PLAN_NEGATIVE_CYCLE;
        }
    }
    for (uint32_t k = 0; k < round->pivot_count; ++k) {
        update_panels(run, round, &round->pivots[k]);
    }
    for (uint32_t t = 0; t < round->target_count; ++t) {
        update_target(run, round, &round->targets[t]);
    }
    return PLAN_SOLVED;
}

static void give_back(const struct execution *run, double *distances)
{
    const struct plan *plan = run->plan;
    for (size_t i = 0; i < run->n; ++i) {
        for (size_t j = 0; j < run->n; ++j) {
            const bool reached =
                has_bit(plan->reached_tiles, plan, run->tile_of[i], run->tile_of[j]);
            distances[plan->vertex_at[i] * run->n + plan->vertex_at[j]] =
                reached ? *entry(run, i, j) : INFINITY;
        }
    }
}

enum plan_verdict plan_reference_solve(const struct edge_list *list, const struct plan *plan,
                                       double *distances)
{
    const size_t n = plan->vertex_count;
    struct execution run = {.plan = plan,
                            .n = n,
                            .d = calloc(n * n + 1, sizeof(*run.d)),
                            .tile_of = calloc(n + 1, sizeof(*run.tile_of))};
    CHECK(run.d != NULL && run.tile_of != NULL);
    for (uint32_t tile = 0; tile < plan->tile_count; ++tile) {
        for (uint32_t place = begin_of(&run, tile); place < end_of(&run, tile); ++place) {
            run.tile_of[place] = tile;
        }
    }
    enum plan_verdict verdict = fill(&run, list) ? PLAN_SOLVED : PLAN_BROKEN;
    for (uint32_t r = 0; r < plan->round_count && verdict == PLAN_SOLVED; ++r) {
        verdict = run_round(&run, &plan->rounds[r]);
    }
    if (verdict == PLAN_SOLVED) {
        give_back(&run, distances);
    }
    free(run.d);
    free(run.tile_of);
    return verdict;
}
