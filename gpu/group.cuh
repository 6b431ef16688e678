/* Runs one solve on a group of devices that share the tile rows of the matrix; a single device is a
 * group of one. Each member fills, reduces and downloads its own rows. The first member does so in
 * the caller's thread, each other member in its own thread. The caller's thread launches the rounds
 * of all members (rounds.cuh). Every row is completely on one member, and the host merges the
 * statistics of the members. A plan that omits tiles runs on the first member only
 * (planned_rounds.cuh).
 *
 * Ranks are processes with one device each, so a rank reaches only its own device. Joint solves use
 * the dense plan, and rank 0 receives all rows. A shortage of memory, a cancellation or an alarm
 * may happen on one rank only, so the ranks agree on a status before their next joint operation. A
 * rank that fails between two agreements would leave the others waiting, so it ends all of them. */
#pragma once

#include "gpu/mirror.cuh"
#include "gpu/planned_rounds.cuh"
#include "gpu/rounds.cuh"
#include "gpu/solve.cuh"

#include <pthread.h>

struct group;

struct group_member {
    struct group *group;
    struct solve solve; /* copy of the whole solve with the member's device, account and observer */
    struct solve_account account;
    struct observer observer;
    enum status (*step)(struct group_member *member); /* current step */
    enum status status;                               /* status of the last step */
    pthread_t thread;
    double lowest; /* smallest distance in the member's rows if it is negative, else 0 */
    uint64_t bins[STATISTICS_BINS];
};

struct group {
    const struct solve *whole; /* the caller's solve */
    uint32_t count;            /* number of members in this process */
    struct group_member members[GPU_MEMBERS_MAX];
    struct exchange exchange;
    uint32_t over; /* atomic; 1: members must stop, because one failed or the caller cancelled */
};

/* Returns whether the ranks solve jointly. Each rank needs at least one block of tile rows. */
static inline bool group_has_ranks(const struct solve *solve)
{
    const struct plan *plan = solve->plan;
    const struct ranks *ranks = solve->gpu->ranks;
    return ranks != NULL && ranks->count > 1 && plan->summary.kind == PLAN_DENSE && !solve->small &&
           plan->vertex_count >= solve->gpu->tuning.group_vertices &&
           (plan->tile_count - 1) / TILE_ROWS_BLOCK + 1 >= ranks->count;
}

/* Returns how many devices of this host take part. Each needs at least one block of tile rows. */
static inline uint32_t group_size(const struct solve *solve)
{
    const uint32_t blocks = (solve->plan->tile_count + TILE_ROWS_BLOCK - 1) / TILE_ROWS_BLOCK;
    const uint32_t members = solve->gpu->member_count;
    if (solve->ranks != NULL || solve->small || solve->plan->summary.kind != PLAN_DENSE ||
        solve->plan->vertex_count < solve->gpu->tuning.group_vertices) {
        return 1;
    }
    return members < blocks ? members : blocks;
}

static bool group_is_over(void *context)
{
    struct group *group = ((struct group_member *)context)->group;
    return __atomic_load_n(&group->over, __ATOMIC_RELAXED) != 0;
}

/* Asks the caller's observer whether the solve is cancelled. Only the first member may call this
 * function, because only that member runs in the caller's thread. */
static bool group_is_cancelled(void *context)
{
    struct group *group = ((struct group_member *)context)->group;
    if (observer_is_cancelled(group->whole->observer)) {
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
    enum status status = exchange_enter(member->solve.gpu);
    STATUS_THEN(status, member->step(member));
    member->status = status;
    if (status != STATUS_OK) {
        __atomic_store_n(&member->group->over, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Merges the members' statuses. A lost device takes precedence over other errors. Other errors take
 * precedence over a cancellation, because a member's error cancels the other members. */
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

/* Runs a step on all members in parallel. A member whose thread cannot be started runs its step
 * afterwards in the caller's thread. */
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
    STATUS_TRY(exchange_enter(group->members[0].solve.gpu));
    return group_status(group);
}

template <typename semiring>
MUST_CHECK static enum status group_prepare(struct group_member *member)
{
    STATUS_TRY(make_schedule<semiring>(&member->solve));
    STATUS_TRY(plan_workspace<semiring>(&member->solve));
    return prepare<semiring>(&member->solve);
}

template <typename semiring>
MUST_CHECK static enum status group_compute_dense(const struct group *group)
{
    struct rounds<semiring> rounds;
    const struct solve *first = &group->members[0].solve;
    rounds.exchange = &group->exchange;
    rounds.plan = first->plan;
    rounds.observer = group->whole->observer;
    rounds.pivots = first->shape.pivots;
    rounds.symmetric = is_symmetric(first);
    return rounds_run(&rounds);
}

template <typename semiring> MUST_CHECK static enum status group_launch(const struct group *group)
{
    const struct solve *first = &group->members[0].solve;
    if constexpr (semiring_packing<semiring>() == 1) {
        if (first->small) {
            return compute_small<semiring>(first);
        }
    }
    STATUS_TRY(first->schedule != NULL ? planned_run<semiring>(first, group->whole->observer)
                                       : group_compute_dense<semiring>(group));
    return is_symmetric(first) ? mirror_run<semiring>(&group->exchange, first->plan->tile_count)
                               : STATUS_OK;
}

/* Launches the rounds and measures their time by two events on each member. The time of the slowest
 * member is the time of the group. */
template <typename semiring> MUST_CHECK static enum status group_time(struct group *group)
{
    double compute_s = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct gpu *gpu = group->members[i].solve.gpu;
        STATUS_TRY(exchange_enter(gpu));
        GPU_TRY(cudaEventRecord(gpu->begin, gpu->stream));
    }
    STATUS_TRY(group_launch<semiring>(group));
    for (uint32_t i = 0; i < group->count; i++) {
        const struct gpu *gpu = group->members[i].solve.gpu;
        STATUS_TRY(exchange_enter(gpu));
        GPU_TRY(cudaEventRecord(gpu->end, gpu->stream));
    }
    for (uint32_t i = 0; i < group->count; i++) {
        float elapsed_ms = 0;
        const struct gpu *gpu = group->members[i].solve.gpu;
        GPU_TRY(cudaEventSynchronize(gpu->end));
        GPU_TRY(cudaEventElapsedTime(&elapsed_ms, gpu->begin, gpu->end));
        STATUS_TRY(device_alarm(gpu));
        const double own_s = (double)elapsed_ms * 1e-3;
        group->members[i].account.timings.compute_s = own_s;
        compute_s = own_s > compute_s ? own_s : compute_s;
    }
    group->whole->account->timings.compute_s += compute_s;
    return STATUS_OK;
}

/* Ends all ranks if this rank has failed in a way that no agreement covers, such as device loss. */
static enum status group_end_ranks(const struct group *group, enum status status)
{
    const struct ranks *ranks = group->whole->ranks;
    const bool is_covered = status == STATUS_OK || status == STATUS_CANCELLED ||
                            status == STATUS_NEGATIVE_CYCLE || status == STATUS_WEIGHT_RANGE;
    if (ranks != NULL && !is_covered) {
        ranks->end(ranks->context);
    }
    return status;
}

template <typename semiring> MUST_CHECK static enum status group_compute(struct group *group)
{
    const struct solve *whole = group->whole;
    const enum status status = group_end_ranks(group, group_time<semiring>(group));
    STATUS_TRY(ranks_agree(whole->ranks, status));
    if (whole->small) {
        observer_tell_rounds(whole->observer, whole->plan->tile_count, whole->plan->tile_count);
    }
    return STATUS_OK;
}

/* Computes the statistics of this member's rows on the device, and copies them to the caller. */
template <typename semiring, typename result>
MUST_CHECK static enum status group_reduce_rows(struct group_member *member)
{
    struct solve *solve = &member->solve;
    const struct statistics *statistics = solve->account->statistics;
    const struct tile_rows rows = solve->lists.order.rows;
    const uint32_t n = solve->graph->vertex_count;
    STATUS_TRY((reduce_rows<semiring, result>(solve)));
    double *const eccentricity = (double *)malloc((size_t)n * STATISTICS_VERTEX_BYTES);
    if (eccentricity == NULL) {
        return STATUS_NO_MEMORY;
    }
    const union statistics_sum *sum = (const union statistics_sum *)(eccentricity + n);
    const uint32_t *reachable = (const uint32_t *)(sum + n);
    const enum status status = statistics_workspace_fetch_rows(
        &solve->statistics, solve->gpu->stream, eccentricity, &member->lowest);
    for (uint32_t own = 0; own < download_rows_of(rows, n) && status == STATUS_OK; own++) {
        const uint64_t row = tile_row_global(rows, own);
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
    STATUS_TRY((count_rows<semiring, result>(&member->solve)));
    return statistics_workspace_fetch_bins(&member->solve.statistics, member->solve.gpu->stream,
                                           member->bins);
}

template <typename semiring, typename result>
MUST_CHECK static enum status group_fill_statistics(struct group *group)
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
    const struct solve *solve = &member->solve;
    const struct download<semiring, result> download = download_of<semiring, result>(solve);
    const double begin_s = now_s();
    const enum status status = group_end_ranks(member->group, download_rows(&download));
    if (solve->ranks != NULL && ranks_is_first(solve->ranks)) {
        download_others(&download);
    }
    member->account.timings.d2h_s += now_s() - begin_s;
    return status;
}

/* Makes the ranks agree on alarms and cancellation after they have delivered their rows. */
MUST_CHECK static enum status group_agree(const struct group *group)
{
    const struct solve *first = &group->members[0].solve;
    enum status found = device_alarm(first->gpu);
    if (found == STATUS_OK && observer_is_cancelled(first->observer)) {
        found = STATUS_CANCELLED;
    }
    return group->whole->ranks != NULL ? ranks_agree(group->whole->ranks, found) : STATUS_OK;
}

/* Initializes the members, and clears the alarms of an earlier solve. */
static void group_init(struct group *group, const struct solve *whole)
{
    const struct ranks *ranks = whole->ranks;
    memset(group, 0, sizeof(*group));
    group->whole = whole;
    group->count = group_size(whole);
    group->exchange.count = group->count;
    group->exchange.ranks = ranks;
    for (uint32_t i = 0; i < group->count; i++) {
        struct group_member *member = &group->members[i];
        member->group = group;
        member->account.statistics = whole->account->statistics;
        member->observer.context = member;
        member->observer.cancelled = i == 0 ? group_is_cancelled : group_is_over;
        member->observer.tell = i == 0 ? group_tell : NULL;
        member->solve = *whole;
        member->solve.gpu = whole->gpu->members[i];
        memset(member->solve.gpu->alarm, 0, sizeof(*member->solve.gpu->alarm));
        member->solve.account = &member->account;
        member->solve.observer = &member->observer;
        member->solve.lists.order.rows =
            ranks != NULL ? tile_rows_deal(ranks->count, ranks->rank, whole->plan->tile_count)
                          : tile_rows_deal(group->count, i, whole->plan->tile_count);
        group->exchange.members[i] = {member->solve.gpu, &member->solve.workspace,
                                      &member->solve.lists.order};
    }
}

/* Reports the filling and upload times of the slowest member as the times of the group. */
static void group_account(struct group *group)
{
    struct solve_account *account = group->whole->account;
    double fill_s = 0;
    double h2d_s = 0;
    account->device_count = group->count > 1 ? group->count : 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct timings *own = &group->members[i].account.timings;
        fill_s = own->fill_s > fill_s ? own->fill_s : fill_s;
        h2d_s = own->h2d_s > h2d_s ? own->h2d_s : h2d_s;
        if (group->count > 1) {
            account->devices[i].fill_s = own->fill_s + own->h2d_s;
            account->devices[i].compute_s = own->compute_s;
            account->devices[i].d2h_s = own->d2h_s;
        }
    }
    account->timings.fill_s += fill_s;
    account->timings.h2d_s += h2d_s;
}

template <typename semiring, typename result>
MUST_CHECK static enum status group_solve(struct group *group)
{
    const struct solve *whole = group->whole;
    observer_tell(whole->observer, PHASE_FILLING, 0);
    STATUS_TRY(ranks_agree(whole->ranks, group_each(group, group_prepare<semiring>)));
    observer_tell(whole->observer, PHASE_SOLVING, 0);
    STATUS_TRY(group_compute<semiring>(group));
    const double begin_s = now_s();
    observer_tell(whole->observer, PHASE_WRITING, 0);
    /* With ranks, the caller on rank 0 computes the statistics from the matrix. */
    if (whole->account->statistics != NULL && whole->ranks == NULL) {
        STATUS_TRY((group_fill_statistics<semiring, result>(group)));
    }
    enum status status = group_each(group, group_download<semiring, result>);
    STATUS_THEN(status, group_agree(group));
    whole->account->timings.d2h_s += now_s() - begin_s;
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
