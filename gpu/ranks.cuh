/* One solve by ranks, processes with a device each: a rank is the member of a group of which the
 * others are out of reach. It fills and computes the rows that are dealt to it, by the
 * dense plan, and brings them home, or the first brings home those of all.
 *
 * What the owner of a round's pivot tiles makes for the others, the closed tiles and their row
 * panels, is sent one round ahead of its use: by NCCL in the order of each device's stream, or else
 * by way of the hosts, from pinned memory to pinned memory; a rank that waits has REST of the round
 * before under way on its device. A symmetric solve would have every rank send its tiles of the
 * pivot's column; here all of the matrix is computed instead.
 *
 * What may fail on one rank alone is agreed before the next thing that all of them do: sending goes
 * on until then. A lost device would leave the others waiting on theirs, where no word reaches
 * them, so it ends all ranks. */
#pragma once

#include "gpu/group_rounds.cuh"
#include "gpu/solve.cuh"

/* Each has a block of tile rows at least. */
static inline bool ranks_can_solve(const struct solve *solve)
{
    const struct plan *plan = solve->plan;
    const struct ranks *ranks = solve->gpu->ranks;
    return ranks != NULL && ranks->count > 1 && plan->summary.kind == PLAN_DENSE && !solve->small &&
           plan->vertex_count >= solve->gpu->tuning.group_vertices &&
           (plan->tile_count - 1) / TILE_ROWS_BLOCK + 1 >= ranks->count;
}

template <typename semiring> struct ranks_rounds {
    struct group_rounds<semiring> group; /* of this device alone, with the rows of its rank */
    const struct ranks *ranks;
    void *host; /* pinned memory for what is sent at once, where it goes by the hosts */
    uint64_t closed_bytes;
    uint64_t panel_bytes;
    enum status status; /* here, since the ranks last agreed */
};

/* ---- Panels ---- */

/* Memory of the owner's device becomes that of all. */
template <typename semiring>
static void ranks_send(struct ranks_rounds<semiring> *own, uint32_t owner, void *memory,
                       uint64_t size)
{
    const struct ranks *ranks = own->ranks;
    const struct gpu *gpu = own->group.members[0].gpu;
    const bool owns = ranks->rank == owner;
    if (gpu->nccl != NULL) {
        if (nccl_broadcast(gpu->nccl, memory, size, owner, gpu->stream) != STATUS_OK) {
            ranks->end(ranks->context);
        }
        return;
    }
    if (own->status == STATUS_OK && owns) {
        own->status = try_translate(
            cudaMemcpyAsync(own->host, memory, size, cudaMemcpyDeviceToHost, gpu->stream));
    }
    /* It has come to the owner's host; elsewhere what came before has left host memory. */
    if (own->status == STATUS_OK) {
        own->status = try_translate(cudaStreamSynchronize(gpu->stream));
    }
    ranks_broadcast(ranks, own->host, size, owner);
    if (own->status == STATUS_OK && !owns) {
        own->status = try_translate(
            cudaMemcpyAsync(memory, own->host, size, cudaMemcpyHostToDevice, gpu->stream));
    }
}

/* A pivot's tile, closed by its owner, which keeps a copy where the others get theirs. */
template <typename semiring>
MUST_CHECK static enum status ranks_close(const struct ranks_rounds<semiring> *own, uint32_t round,
                                          uint32_t pivot, void *closed)
{
    typedef typename semiring::element element;
    const struct rounds<semiring> *rounds = &own->group.members[0];
    const uint64_t width = GPU_TILE * sizeof(element);
    const struct tile_matrix<element> home =
        group_pivot(&own->group, 0, rounds_tile(rounds, round, pivot));
    const struct group_place from = {rounds->gpu, home.elements, home.stride * sizeof(element)};
    STATUS_TRY(group_close(&own->group, 0, round, pivot));
    return group_copy(group_place{rounds->gpu, closed, width}, from, width, GPU_TILE);
}

/* The panels of a pivot: of the second after it has taken the first. */
template <typename semiring>
static void ranks_start_pivot(struct ranks_rounds<semiring> *own, uint32_t round, uint32_t pivot,
                              uint32_t owner)
{
    const struct group_rounds<semiring> *group = &own->group;
    const struct rounds<semiring> *rounds = &group->members[0];
    void *const closed = rounds->workspace->closed[round % WORKSPACE_PARITIES][pivot];
    if (own->status == STATUS_OK && pivot > 0) {
        own->status = interior_launch_next<semiring, true>(
            rounds->matrix, group_interior(group, 0, round, pivot, round, pivot, 1),
            rounds->gpu->stream);
    }
    if (own->status == STATUS_OK && owner == own->ranks->rank) {
        own->status = ranks_close(own, round, pivot, closed);
    }
    ranks_send(own, owner, closed, own->closed_bytes);
    if (own->status == STATUS_OK) {
        own->status = group_make_panels(group, 0, round, pivot);
    }
    ranks_send(own, owner, rounds_operand(rounds, round, pivot).right, own->panel_bytes);
}

template <typename semiring>
MUST_CHECK static enum status ranks_settle(const struct ranks_rounds<semiring> *own)
{
    const struct ranks *ranks = own->ranks;
    if (own->status == STATUS_DEVICE_LOST && own->group.members[0].gpu->nccl != NULL) {
        ranks->end(ranks->context);
    }
    return ranks_agree(ranks, own->status);
}

/* The panels of a round, under way on this device at the end. */
template <typename semiring>
MUST_CHECK static enum status ranks_start_panels(struct ranks_rounds<semiring> *own, uint32_t round)
{
    const struct rounds<semiring> *rounds = &own->group.members[0];
    const struct gpu *gpu = rounds->gpu;
    /* The place of the pivots' block in its deal, and the rank that has it. */
    const uint32_t block = rounds_tile(rounds, round, 0) / TILE_ROWS_BLOCK;
    const struct tile_rows place = {own->ranks->count, block % own->ranks->count};
    const uint32_t owner = tile_rows_place(place, block / own->ranks->count);
    if (own->status == STATUS_OK) {
        own->status = device_alarm(gpu);
    }
    STATUS_TRY(ranks_settle(own));
    for (uint32_t pivot = 0; pivot < rounds_width(rounds, round); pivot++) {
        ranks_start_pivot(own, round, pivot, owner);
    }
    if (own->status == STATUS_OK) {
        own->status = try_translate(
            cudaEventRecord(gpu->panels_done[round % DEVICE_ROUND_EVENTS], gpu->stream));
    }
    return STATUS_OK;
}

/* ---- Rounds ---- */

/* There are two rounds at least. */
template <typename semiring>
MUST_CHECK static enum status ranks_run_rounds(struct ranks_rounds<semiring> *own)
{
    const struct group_rounds<semiring> *group = &own->group;
    const uint32_t count = rounds_count(&group->members[0]);
    STATUS_TRY(ranks_start_panels(own, 0));
    for (uint32_t round = 0; round < count; round++) {
        if (own->status == STATUS_OK && round > 1) {
            own->status = group_finish(group, round - 2);
        }
        if (own->status == STATUS_OK) {
            own->status = group_start(group, round);
        }
        if (round + 1 < count) {
            STATUS_TRY(ranks_start_panels(own, round + 1));
        }
    }
    for (uint32_t round = count - 2; round < count && own->status == STATUS_OK; round++) {
        own->status = group_finish(group, round);
    }
    return ranks_settle(own);
}

template <typename semiring> MUST_CHECK static enum status ranks_compute(const struct solve *solve)
{
    struct gpu *gpu = solve->gpu;
    struct ranks_rounds<semiring> own;
    float elapsed_ms = 0;
    memset(&own, 0, sizeof(own));
    own.group.count = 1;
    own.group.members[0] = dense_rounds<semiring>(solve);
    own.group.rows[0] = solve->lists.order.rows;
    own.group.observer = solve->observer;
    own.ranks = solve->ranks;
    own.closed_bytes = solve->workspace.layout.closed_bytes;
    own.panel_bytes = solve->plan->tile_count * group_slot_bytes<semiring>(false);
    if (gpu->nccl == NULL) {
        own.status = try_translate(cudaMallocHost(
            &own.host, own.closed_bytes > own.panel_bytes ? own.closed_bytes : own.panel_bytes));
    }
    if (own.status == STATUS_OK) {
        own.status = try_translate(cudaEventRecord(gpu->begin, gpu->stream));
    }
    enum status status = ranks_agree(own.ranks, own.status);
    if (status == STATUS_OK) {
        status = ranks_run_rounds(&own);
    }
    /* After a cancel copies may still be under way. */
    const enum status ended = try_translate(cudaStreamSynchronize(gpu->stream));
    (void)cudaFreeHost(own.host);
    if (status == STATUS_OK && ended == STATUS_OK) {
        status = try_translate(cudaEventElapsedTime(&elapsed_ms, gpu->begin, gpu->end));
        solve->timings->compute_s += (double)elapsed_ms * 1e-3;
    }
    own.status = ended != STATUS_OK ? ended : status;
    return ranks_settle(&own);
}

/* ---- All of it ---- */

template <typename semiring, typename result>
MUST_CHECK static enum status ranks_run(const struct solve *whole)
{
    const struct ranks *ranks = whole->ranks;
    struct solve_options options = *whole->options;
    struct solve solve = *whole;
    options.symmetric = false;
    solve.options = &options;
    solve.lists.order.rows.members = ranks->count;
    solve.lists.order.rows.member = ranks->rank;
    observer_tell(solve.observer, PHASE_FILLING, 0);
    enum status status = plan_workspace<semiring>(&solve);
    if (status == STATUS_OK) {
        status = prepare<semiring>(&solve);
    }
    STATUS_TRY(ranks_agree(ranks, status));
    observer_tell(solve.observer, PHASE_SOLVING, 0);
    STATUS_TRY(ranks_compute<semiring>(&solve));
    const double begin_s = now_s();
    observer_tell(solve.observer, PHASE_WRITING, 0);
    const struct download<typename semiring::element, result> download =
        download_of<semiring, result>(&solve);
    status = download_rows(&download);
    solve.timings->d2h_s += now_s() - begin_s;
    return status;
}
