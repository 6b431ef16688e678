#include "server/http/api/statistics_sweep.h"

#include "proto/decimals.h"
#include "proto/statistics_rows.h"
#include "server/clock.h"
#include "server/http/transport/endpoint.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds that a pool thread computes before it returns to the pool for other work. */
#define TURN_S 5e-3
#define HANDS_MOST 8
_Static_assert(STATISTICS_ROWS == HIERARCHY_LANES, "a batch of rows");
/* Number of batches of rows that guess the diameter: even, so that the last is not reversed. */
#define GUESS_BATCHES 4
/* Seconds that a thread needs per arc and per vertex of a row if it computes 16 rows together. */
#define ARC_S 0.5e-9
#define VERTEX_S 0.6e-9

struct hand {
    struct statistics_sweep *sweep;
    struct result_rows rows;       /* current batch of the guess; later only its search is used */
    uint32_t index;                /* index of the guess's current row in its batch */
    uint32_t count;                /* number of rows in the current batch; 0 = none */
    struct statistics_lanes lanes; /* statistics of this batch */
    double lowest;
    uint64_t bins[STATISTICS_BINS];
};

/* State of a sweep. The HTTP thread (hands[0]) first guesses the diameter, which sets the range of
 * the histogram: beginning with vertices spread over the graph, it alternates between distances to
 * the current vertices and distances from the farthest vertices found. Then all threads together
 * compute every row, in the order of elimination. If the guess was wrong, they compute every row
 * again. */
struct statistics_sweep {
    struct result *result;
    const struct hierarchy *hierarchy;
    const struct conn *conn;   /* valid until statistics_sweep_destroy */
    struct endpoint *endpoint; /* endpoint of conn, valid until its thread ends */
    struct statistics statistics;
    void *storage;                     /* memory of statistics, until moved to the result */
    uint32_t sources[HIERARCHY_LANES]; /* vertices of the guess's current batch */
    uint32_t guess_batches;            /* batches left to compute for the guess */
    double guess;                      /* the longest distance found so far */
    bool is_destroyed;
    atomic_bool is_over;
    atomic_uint next; /* next row to compute */
    atomic_uint done; /* number of rows computed */
    atomic_int status;
    uint32_t working;              /* number of threads with a work item in the pool */
    struct hand hands[HANDS_MOST]; /* state of each thread */
};

/* ---- Functions for any thread ---- */

/* Implements hierarchy_reader. */
static void add_distances(void *context, uint32_t first, uint32_t count, const void *distances)
{
    struct hand *hand = context;
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    statistics_kernel()->add(&hand->lanes, first, count, distances, hand->sweep->statistics.summary,
                             bins);
    for (size_t bin = 0; bin < STATISTICS_BINS; bin++) {
        hand->bins[bin] += (uint64_t)bins[bin] << hand->lanes.is_symmetric;
    }
}

static bool start_batch(struct hand *hand)
{
    struct statistics_sweep *sweep = hand->sweep;
    const uint32_t n = sweep->statistics.vertex_count;
    if (atomic_load(&sweep->next) >= n) {
        return false;
    }
    const uint32_t first = atomic_fetch_add(&sweep->next, HIERARCHY_LANES);
    if (first >= n) {
        return false;
    }
    const uint32_t count = n - first < HIERARCHY_LANES ? n - first : HIERARCHY_LANES;
    const struct hierarchy_summary *summary = &sweep->hierarchy->summary;
    const bool is_integer = summary->kind == KIND_I4 || summary->decimals > 0;
    hand->lanes = (struct statistics_lanes){
        .kind = summary->kind, .is_symmetric = is_integer && !summary->directed, .first = first};
    for (uint32_t lane = 0; lane < HIERARCHY_LANES; lane++) {
        hand->lanes.most[lane] = -INFINITY;
    }
    if ((hand->rows.search == NULL &&
         hierarchy_search_create(sweep->hierarchy, false, &hand->rows.search) != STATUS_OK) ||
        !hierarchy_lanes_begin(hand->rows.search, sweep->hierarchy->shape.vertex_at + first, count,
                               add_distances, hand)) {
        atomic_store(&sweep->status, STATUS_NO_MEMORY);
        return false;
    }
    hand->count = count;
    return true;
}

/* Computes for about a millisecond. Returns false if no row is left, or after a failure. */
static bool compute_rows(struct hand *hand)
{
    struct statistics_sweep *sweep = hand->sweep;
    const struct statistics_lanes *lanes = &hand->lanes;
    if (hand->count == 0 && !start_batch(hand)) {
        return false;
    }
    if (hierarchy_rows_step(hand->rows.search)) {
        for (uint32_t i = 0; i < hand->count; i++) {
            const uint32_t row = sweep->hierarchy->shape.vertex_at[lanes->first + i];
            statistics_put_row(&sweep->statistics, row, lanes->sum[i], (uint32_t)lanes->reached[i],
                               lanes->most[i]);
            hand->lowest = fmin(hand->lowest, lanes->least[i]);
        }
        atomic_fetch_add(&sweep->done, hand->count);
        hand->count = 0;
    }
    return true;
}

static void work_one_turn(void *context)
{
    struct hand *hand = context;
    const double end_s = clock_monotonic_s() + TURN_S;
    while (!atomic_load(&hand->sweep->is_over) && compute_rows(hand) &&
           clock_monotonic_s() < end_s) {
    }
}

/* ---- Functions for the HTTP thread ---- */

static void free_sweep(struct statistics_sweep *sweep)
{
    for (uint32_t i = 0; i < HANDS_MOST; i++) {
        search_pool_finish_rows(&sweep->hands[i].rows);
    }
    result_unref(sweep->result);
    free(sweep->storage);
    free(sweep);
}

/* Queues the thread's next turn unless the sweep has ended or the connection was abandoned. */
static void end_turn(void *context)
{
    struct hand *hand = context;
    struct statistics_sweep *sweep = hand->sweep;
    if (!sweep->is_destroyed && !atomic_load(&sweep->is_over) && !sweep->conn->is_abandoned &&
        endpoint_work(sweep->endpoint, work_one_turn, end_turn, hand) == STATUS_OK) {
        return;
    }
    sweep->working--;
    if (sweep->working == 0 && sweep->is_destroyed) {
        free_sweep(sweep);
    }
}

/* Returns the number of computing threads, including the HTTP thread. */
static uint32_t count_hands(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores < HANDS_MOST ? (uint32_t)cores : HANDS_MOST;
}

enum status statistics_sweep_check(const struct request *request, double rows,
                                   struct problem *reterr)
{
    const double limit_s = request->http_context->config->sweep_limit_s;
    const struct hierarchy *hierarchy;
    const enum status status = result_open_hierarchy(request->result, &hierarchy);
    STATUS_TRY(problem_explain(reterr, status, "%s.", status_info(status)->title));
    const struct hierarchy_summary *summary = &hierarchy->summary;
    const double seconds =
        rows * (ARC_S * (double)summary->arc_count + VERTEX_S * summary->vertex_count);
    if (seconds <= limit_s * count_hands()) {
        return STATUS_OK;
    }
    return problem_refuse_limit(
        reterr, STATUS_NOT_A_MATRIX, limit_s, seconds / count_hands(),
        "Request rows, tables or pairs, solve the graph with result=matrix, or "
        "raise hierarchy.sweep_limit_s.",
        "The result is a hierarchy, and computing the necessary rows would take too long.");
}

enum status statistics_sweep_create(const struct request *request,
                                    struct statistics_sweep **ret_sweep)
{
    const uint32_t n = result_vertex_count(request->result);
    const struct hierarchy *hierarchy;
    STATUS_TRY(result_open_hierarchy(request->result, &hierarchy));
    struct statistics_sweep *sweep = calloc(1, sizeof(*sweep));
    if (sweep == NULL || (sweep->storage = malloc(statistics_size(n))) == NULL) {
        free(sweep);
        return STATUS_NO_MEMORY;
    }
    sweep->statistics = statistics_init(sweep->storage, n, result_kind(request->result));
    sweep->statistics.kind = hierarchy->summary.kind;
    sweep->statistics.decimals = hierarchy->summary.decimals;
    sweep->hierarchy = hierarchy;
    sweep->result = result_ref(request->result);
    sweep->conn = request->conn;
    sweep->endpoint = request->conn->endpoint;
    for (uint32_t i = 0; i < HANDS_MOST; i++) {
        sweep->hands[i].sweep = sweep;
    }
    for (uint32_t i = 0; i < HIERARCHY_LANES; i++) {
        sweep->sources[i] = (uint32_t)((uint64_t)i * n / HIERARCHY_LANES);
    }
    sweep->guess_batches = n > 0 ? GUESS_BATCHES : 0;
    *ret_sweep = sweep;
    return STATUS_OK;
}

void statistics_sweep_destroy(struct statistics_sweep *sweep)
{
    if (sweep == NULL) {
        return;
    }
    sweep->is_destroyed = true;
    atomic_store(&sweep->is_over, true);
    if (sweep->working == 0) {
        free_sweep(sweep);
    }
}

/* Returns the first vertex whose distance in the row equals the row's eccentricity. */
static uint32_t find_farthest(const struct statistics *statistics, uint32_t row, enum kind kind,
                              const void *distances)
{
    const double farthest = decimals_divide(statistics->eccentricity[row], statistics->decimals);
    uint32_t vertex = 0;
    while (vertex + 1 < statistics->vertex_count &&
           kind_element(kind, distances, vertex) != farthest) {
        vertex++;
    }
    return vertex;
}

/* Processes one row of the diameter guess. The other threads start once the guess is complete. */
static enum status guess_diameter(struct statistics_sweep *sweep)
{
    struct statistics *statistics = &sweep->statistics;
    struct hand *hand = &sweep->hands[0];
    const enum kind kind = result_kind(sweep->result);
    const void *distances;
    if (hand->index == 0) {
        hand->rows.axis = (struct axis){sweep->sources, 0, HIERARCHY_LANES};
        hand->rows.is_reversed = sweep->guess_batches % 2 == 0;
    }
    STATUS_TRY(result_distances(sweep->result, hand->index, &hand->rows, &distances));
    if (distances == NULL) {
        return STATUS_OK;
    }
    uint32_t *source = &sweep->sources[hand->index++];
    /* Reversed rows only choose sources, because float sums may round differently there. */
    double unused = 0;
    statistics_kernel()->reduce(statistics, *source, kind, distances,
                                hand->rows.is_reversed ? &unused : &hand->lowest);
    if (!hand->rows.is_reversed) {
        sweep->guess = fmax(sweep->guess, statistics->eccentricity[*source]);
    }
    *source = find_farthest(statistics, *source, kind, distances);
    if (hand->index == HIERARCHY_LANES) {
        search_pool_finish_rows(&hand->rows);
        hand->index = 0;
        sweep->guess_batches--;
    }
    if (sweep->guess_batches == 0) {
        statistics_lay_bins(statistics, hand->lowest, sweep->guess);
        for (uint32_t i = 1; i < count_hands(); i++) {
            sweep->working += endpoint_work(sweep->endpoint, work_one_turn, end_turn,
                                            &sweep->hands[i]) == STATUS_OK;
        }
    }
    return STATUS_OK;
}

/* Ends a pass over all rows: starts a second pass, or stores the statistics in the result. */
static void end_pass(struct statistics_sweep *sweep)
{
    struct statistics_summary *summary = sweep->statistics.summary;
    const struct statistics_summary guessed = *summary;
    double lowest = 0;
    for (uint32_t i = 0; i < HANDS_MOST; i++) {
        lowest = sweep->hands[i].lowest < lowest ? sweep->hands[i].lowest : lowest;
    }
    statistics_summarize(&sweep->statistics, lowest);
    if (summary->reachable_pairs > 0 &&
        (summary->bin_begin != guessed.bin_begin || summary->bin_width != guessed.bin_width)) {
        for (uint32_t i = 0; i < HANDS_MOST; i++) {
            memset(sweep->hands[i].bins, 0, sizeof(sweep->hands[i].bins));
        }
        atomic_store(&sweep->done, 0);
        atomic_store(&sweep->next, 0);
        return;
    }
    for (size_t i = 0; i < (size_t)HANDS_MOST * STATISTICS_BINS; i++) {
        summary->bins[i % STATISTICS_BINS] +=
            sweep->hands[i / STATISTICS_BINS].bins[i % STATISTICS_BINS];
    }
    atomic_store(&sweep->is_over, true);
    if (sweep->statistics.decimals > 0) {
        statistics_divide(&sweep->statistics);
    }
    result_keep_statistics(sweep->result, &sweep->storage);
}

enum status statistics_sweep_step(struct statistics_sweep *sweep, bool *ret_done)
{
    *ret_done = false;
    if (sweep->guess_batches > 0) {
        return guess_diameter(sweep);
    }
    if (!compute_rows(&sweep->hands[0]) &&
        atomic_load(&sweep->done) == sweep->statistics.vertex_count) {
        end_pass(sweep);
    }
    *ret_done = atomic_load(&sweep->is_over);
    return (enum status)atomic_load(&sweep->status);
}
