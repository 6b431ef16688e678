/* One solve by a group of devices: each member fills its own rows, computes them
 * (group_rounds.cuh), reduces them, and brings them home, with a thread of its own for all but the
 * rounds.
 *
 * A row is whole on one member, so statistics of rows are what they are on a device alone; the host
 * merges what is said of the whole matrix. */
#pragma once

#include "gpu/group_rounds.cuh"
#include "gpu/solve.cuh"

#include <pthread.h>

struct group;

struct group_member {
    struct group *group;
    struct solve solve; /* with its own device, account and observer */
    struct solve_account account;
    struct observer observer;
    enum status (*step)(struct group_member *member); /* under way */
    enum status status;                               /* of it */
    pthread_t thread;
    double lowest; /* of its distances, when below 0 */
    uint64_t bins[STATISTICS_BINS];
};

struct group {
    const struct solve *whole; /* the caller's */
    uint32_t count;
    struct group_member members[GPU_MEMBERS_MAX];
    uint32_t over; /* atomic: one has failed, or the caller has cancelled: all stop */
};

/* ---- What the members hear ---- */

static bool group_is_over(void *context)
{
    struct group *group = ((struct group_member *)context)->group;
    return __atomic_load_n(&group->over, __ATOMIC_RELAXED) != 0;
}

/* The first member is the thread that solves: the one that the caller's observer knows. */
static bool group_is_cancelled(void *context)
{
    struct group *group = ((struct group_member *)context)->group;
    if (device_cancelled(group->whole->observer)) {
        __atomic_store_n(&group->over, 1, __ATOMIC_RELAXED);
    }
    return group_is_over(context);
}

static void group_tell(void *context, enum solve_phase phase, double share)
{
    observer_tell(((struct group_member *)context)->group->whole->observer, phase, share);
}

static void *group_run_step(void *context)
{
    struct group_member *member = (struct group_member *)context;
    enum status status = group_enter(member->solve.gpu);
    if (status == STATUS_OK) {
        status = member->step(member);
    }
    member->status = status;
    if (status != STATUS_OK) {
        __atomic_store_n(&member->group->over, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* The first status but OK; one that may be the consequence of another's comes last, a lost device
 * first. */
static enum status group_status(const struct group *group)
{
    enum status merged = STATUS_OK;
    for (uint32_t i = 0; i < group->count; i++) {
        const enum status status = group->members[i].status;
        if (status == STATUS_DEVICE_LOST || merged == STATUS_OK ||
            (merged == STATUS_CANCELLED && status != STATUS_OK)) {
            merged = status;
        }
    }
    return merged;
}

/* A step by all members at once. Where no thread can be started they follow each other. */
MUST_CHECK static enum status group_each(struct group *group,
                                         enum status (*step)(struct group_member *member))
{
    bool started[GPU_MEMBERS_MAX] = {};
    for (uint32_t i = 1; i < group->count; i++) {
        group->members[i].step = step;
        started[i] = pthread_create(&group->members[i].thread, NULL, group_run_step,
                                    &group->members[i]) == 0;
    }
    group->members[0].step = step;
    (void)group_run_step(&group->members[0]);
    for (uint32_t i = 1; i < group->count; i++) {
        if (started[i]) {
            (void)pthread_join(group->members[i].thread, NULL);
        } else {
            (void)group_run_step(&group->members[i]);
        }
    }
    STATUS_TRY(group_enter(group->members[0].solve.gpu));
    return group_status(group);
}

/* ---- Computing ---- */

template <typename semiring>
MUST_CHECK static enum status group_prepare(struct group_member *member)
{
    STATUS_TRY(make_schedule<semiring>(&member->solve));
    STATUS_TRY(plan_workspace<semiring>(&member->solve));
    return prepare<semiring>(&member->solve);
}

/* The tiles above the diagonal that other members have, and its own, from the member's rows: tile
 * row by tile row it transposes the tiles below the diagonal into the memory of its operands, which
 * the rounds have left, and sends each member the column of tiles that is theirs. */
template <typename semiring> MUST_CHECK static enum status group_mirror(struct group_member *member)
{
    typedef typename semiring::element element;
    const struct group *group = member->group;
    const struct solve *solve = &member->solve;
    const struct tile_matrix<element> matrix = matrix_of<semiring>(solve);
    const struct tile_rows *own = &solve->lists.order.rows;
    const uint32_t own_count = tile_rows_count(*own, solve->plan->tile_count);
    element *const sent = (element *)solve->workspace.left[0][0];
    for (uint32_t local = 0; local < own_count; local++) {
        const uint32_t row = tile_rows_global(*own, local);
        for (uint32_t i = 0; i < group->count; i++) {
            const struct solve *to = &group->members[i].solve;
            const uint32_t above = tile_rows_count(to->lists.order.rows, row);
            const struct tile_matrix<element> theirs = matrix_of<semiring>(to);
            element *const column = theirs.elements + (uint64_t)row * GPU_TILE;
            if (to == solve) {
                STATUS_TRY(mirror_own_launch(matrix, solve->lists.order, local, *own, above, column,
                                             matrix.stride, solve->gpu->stream));
                continue;
            }
            STATUS_TRY(mirror_own_launch(matrix, solve->lists.order, local, to->lists.order.rows,
                                         above, sent, GPU_TILE, solve->gpu->stream));
            const uint64_t width = GPU_TILE * sizeof(element);
            const struct group_place from = {solve->gpu, sent, width};
            const struct group_place place = {to->gpu, column, theirs.stride * sizeof(element)};
            if (above > 0) {
                STATUS_TRY(group_copy(place, from, width, (uint64_t)above * GPU_TILE));
            }
        }
    }
    GPU_TRY(cudaStreamSynchronize(solve->gpu->stream));
    return STATUS_OK;
}

/* All rounds, with an account of them. */
template <typename semiring>
MUST_CHECK static enum status group_run_timed(struct group_rounds<semiring> *rounds,
                                              struct solve_account *account)
{
    struct lap_timer timers[GPU_MEMBERS_MAX] = {};
    enum status status = STATUS_OK;
    rounds->timers = timers;
    for (uint32_t i = 0; i < rounds->count && status == STATUS_OK; i++) {
        status = group_enter(rounds->members[i].gpu);
        for (uint32_t event = 0; event < LAP_EVENTS && status == STATUS_OK; event++) {
            status = try_translate(cudaEventCreate(&timers[i].events[event]));
        }
    }
    status = status == STATUS_OK ? group_rounds_run(rounds) : status;
    rounds->timers = NULL;
    for (uint32_t i = 0; i < rounds->count; i++) {
        for (uint32_t event = 0; event < LAP_EVENTS && timers[i].events[event] != NULL; event++) {
            (void)cudaEventDestroy(timers[i].events[event]);
        }
        account->rounds[i].panels_s = timers[i].seconds[LAP_PANELS];
        account->rounds[i].copies_s = timers[i].seconds[LAP_COPIES];
        account->rounds[i].waiting_s = timers[i].seconds[LAP_WAITING];
    }
    return status;
}

template <typename semiring> MUST_CHECK static enum status group_compute_dense(struct group *group)
{
    struct group_rounds<semiring> rounds;
    rounds.count = group->count;
    rounds.observer = group->whole->observer;
    rounds.timers = NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct solve *solve = &group->members[i].solve;
        rounds.rows[i] = solve->lists.order.rows;
        rounds.members[i] = dense_rounds<semiring>(solve);
    }
    return group->whole->options->time_rounds ? group_run_timed(&rounds, group->whole->account)
                                              : group_rounds_run(&rounds);
}

template <typename semiring>
MUST_CHECK static enum status group_compute_planned(struct group *group)
{
    struct planned_rounds<semiring> rounds;
    rounds.count = group->count;
    rounds.observer = group->whole->observer;
    rounds.clamp_diagonal = group->whole->options->clamp_diagonal;
    for (uint32_t i = 0; i < group->count; i++) {
        rounds.members[i] = planned_member_of<semiring>(&group->members[i].solve);
    }
    return planned_run(&rounds);
}

template <typename semiring> MUST_CHECK static enum status group_compute(struct group *group)
{
    const struct solve *first = &group->members[0].solve;
    const double begin_s = now_s();
    for (uint32_t i = 0; i < group->count; i++) {
        const struct gpu *gpu = group->members[i].solve.gpu;
        STATUS_TRY(group_enter(gpu));
        GPU_TRY(cudaEventRecord(gpu->begin, gpu->stream));
    }
    STATUS_TRY(first->schedule != NULL ? group_compute_planned<semiring>(group)
                                       : group_compute_dense<semiring>(group));
    for (uint32_t i = 0; i < group->count; i++) {
        float elapsed_ms = 0;
        const struct gpu *gpu = group->members[i].solve.gpu;
        GPU_TRY(cudaEventSynchronize(gpu->end));
        GPU_TRY(cudaEventElapsedTime(&elapsed_ms, gpu->begin, gpu->end));
        group->members[i].account.timings.compute_s = (double)elapsed_ms * 1e-3;
    }
    if (is_symmetric(first)) {
        STATUS_TRY(group_each(group, group_mirror<semiring>));
    }
    group->whole->timings->compute_s += now_s() - begin_s;
    return STATUS_OK;
}

/* ---- What is said of the matrix ---- */

template <typename semiring, typename result>
MUST_CHECK static enum status group_reduce_rows(struct group_member *member)
{
    struct solve *solve = &member->solve;
    cudaStream_t stream = solve->gpu->stream;
    const struct statistics *statistics = solve->account->statistics;
    const struct statistics_columns *columns = &solve->statistics.columns;
    const struct download<typename semiring::element, result> download =
        download_of<semiring, result>(solve);
    const size_t n = solve->graph->vertex_count;
    STATUS_TRY((reduce_rows<semiring, result>(solve)));
    GPU_TRY(cudaMemcpyAsync(&member->lowest, columns->lowest, sizeof(member->lowest),
                            cudaMemcpyDeviceToHost, stream));
    /* The arrays lie one after the other. */
    double *const eccentricity = (double *)malloc(n * STATISTICS_VERTEX_BYTES);
    if (eccentricity == NULL) {
        return STATUS_NO_MEMORY;
    }
    const union statistics_sum *sum = (const union statistics_sum *)(eccentricity + n);
    const uint32_t *reachable = (const uint32_t *)(sum + n);
    enum status status =
        try_translate(cudaMemcpyAsync(eccentricity, columns->eccentricity,
                                      n * STATISTICS_VERTEX_BYTES, cudaMemcpyDeviceToHost, stream));
    if (status == STATUS_OK) {
        status = try_translate(cudaStreamSynchronize(stream));
    }
    for (uint32_t own = 0; own < download.row_count && status == STATUS_OK; own++) {
        const uint64_t row = download.vertices != NULL ? download.vertices[own]
                                                       : tile_row_global(download.order.rows, own);
        statistics->eccentricity[row] = eccentricity[row];
        statistics->distance_sum[row] = sum[row];
        statistics->reachable[row] = reachable[row];
    }
    free(eccentricity);
    return status;
}

template <typename semiring, typename result>
MUST_CHECK static enum status group_count_rows(struct group_member *member)
{
    cudaStream_t stream = member->solve.gpu->stream;
    STATUS_TRY((count_rows<semiring, result>(&member->solve)));
    GPU_TRY(cudaMemcpyAsync(member->bins, member->solve.statistics.bins, sizeof(member->bins),
                            cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    return STATUS_OK;
}

template <typename semiring, typename result>
MUST_CHECK static enum status group_take_statistics(struct group *group)
{
    struct statistics *statistics = group->whole->account->statistics;
    double lowest = 0;
    STATUS_TRY(group_each(group, group_reduce_rows<semiring, result>));
    for (uint32_t i = 0; i < group->count; i++) {
        lowest = group->members[i].lowest < lowest ? group->members[i].lowest : lowest;
    }
    statistics_summarize(statistics, lowest);
    if (statistics->summary->reachable_pairs > 0) {
        STATUS_TRY(group_each(group, group_count_rows<semiring, result>));
        for (uint32_t i = 0; i < group->count * STATISTICS_BINS; i++) {
            statistics->summary->bins[i % STATISTICS_BINS] +=
                group->members[i / STATISTICS_BINS].bins[i % STATISTICS_BINS];
        }
    }
    group->whole->account->statistics_filled = true;
    return STATUS_OK;
}

template <typename semiring, typename result>
MUST_CHECK static enum status group_download(struct group_member *member)
{
    const struct download<typename semiring::element, result> download =
        download_of<semiring, result>(&member->solve);
    const double begin_s = now_s();
    const enum status status = download_rows(&download);
    member->account.timings.d2h_s += now_s() - begin_s;
    return status;
}

/* ---- All of it ---- */

static void group_init(struct group *group, const struct solve *whole)
{
    const uint32_t blocks = (whole->plan->tile_count + TILE_ROWS_BLOCK - 1) / TILE_ROWS_BLOCK;
    const uint32_t members = whole->gpu->member_count;
    memset(group, 0, sizeof(*group));
    group->whole = whole;
    group->count = members < blocks ? members : blocks;
    for (uint32_t i = 0; i < group->count; i++) {
        struct group_member *member = &group->members[i];
        member->group = group;
        member->account.statistics = whole->account->statistics;
        member->observer.context = member;
        member->observer.cancelled = i == 0 ? group_is_cancelled : group_is_over;
        member->observer.tell = i == 0 ? group_tell : NULL;
        member->solve = *whole;
        member->solve.gpu = whole->gpu->members[i];
        member->solve.account = &member->account;
        member->solve.timings = &member->account.timings;
        member->solve.observer = &member->observer;
        member->solve.lists.order.rows.members = group->count;
        member->solve.lists.order.rows.member = i;
    }
}

/* The way in counts as that of the member that took longest. */
static void group_account(struct group *group)
{
    struct solve_account *account = group->whole->account;
    double fill_s = 0;
    double h2d_s = 0;
    account->device_count = group->count;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct timings *own = &group->members[i].account.timings;
        fill_s = own->fill_s > fill_s ? own->fill_s : fill_s;
        h2d_s = own->h2d_s > h2d_s ? own->h2d_s : h2d_s;
        account->devices[i].fill_s = own->fill_s + own->h2d_s;
        account->devices[i].compute_s = own->compute_s;
        account->devices[i].d2h_s = own->d2h_s;
    }
    account->timings.fill_s += fill_s;
    account->timings.h2d_s += h2d_s;
}

template <typename semiring, typename result>
MUST_CHECK static enum status group_solve(struct group *group)
{
    const struct solve *whole = group->whole;
    observer_tell(whole->observer, PHASE_FILLING, 0);
    STATUS_TRY(group_each(group, group_prepare<semiring>));
    observer_tell(whole->observer, PHASE_SOLVING, 0);
    STATUS_TRY(group_compute<semiring>(group));
    const double begin_s = now_s();
    observer_tell(whole->observer, PHASE_WRITING, 0);
    if (whole->account->statistics != NULL) {
        STATUS_TRY((group_take_statistics<semiring, result>(group)));
    }
    const enum status status = group_each(group, group_download<semiring, result>);
    whole->timings->d2h_s += now_s() - begin_s;
    group_account(group);
    return status;
}

template <typename semiring, typename result>
MUST_CHECK static enum status group_run(const struct solve *whole)
{
    struct group group;
    group_init(&group, whole);
    const enum status status = group_solve<semiring, result>(&group);
    for (uint32_t i = 0; i < group.count; i++) {
        schedule_destroy(group.members[i].solve.schedule);
    }
    return status;
}
