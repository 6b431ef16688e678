/* The steps of a solve on one device, for its own rows: fill the matrix, upload edges, compute
 * statistics, and download rows. group.cuh runs the steps and connects the devices. */
#pragma once

#include "gpu/device.cuh"
#include "gpu/gpu.h"
#include "gpu/kernel_fill.cuh"
#include "gpu/kernel_finish.cuh"
#include "gpu/kernel_planned.cuh"
#include "gpu/kernel_small.cuh"
#include "gpu/kernel_statistics.cuh"
#include "gpu/rounds.cuh"
#include "gpu/staging.h"
#include "gpu/workspace.cuh"

#include <time.h>

/* Addresses of the lists of a schedule in device memory. */
struct solve_lists {
    const struct schedule_tile *fills;
    const struct schedule_pivot *pivots;
    const struct schedule_panel *panels;
    const struct schedule_target *targets;
    const struct schedule_product *products;
    struct tile_order order;
};

/* One solve: its inputs, its outputs and its memory on the device. */
struct solve {
    struct gpu *gpu;
    const struct graph *graph;
    const struct plan *plan;
    const struct solve_options *options;
    const struct observer *observer;
    struct matrix *result;
    struct solve_account *account;
    bool small;                /* whether the graph is solved in one cooperative launch */
    const struct ranks *ranks; /* ranks of a joint solve, or NULL */
    struct schedule *schedule; /* NULL for the dense plan */
    struct solve_lists lists;  /* zero for the dense plan, except order.rows */
    struct workspace_shape shape;
    struct workspace workspace;
    struct statistics_workspace statistics;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Returns whether only half of the matrix is computed: for undirected graphs that are not small. */
static bool is_symmetric(const struct solve *solve)
{
    return solve->schedule != NULL ? solve->plan->symmetric
                                   : solve->options->symmetric && !solve->small;
}

/* Finished rows are downloaded in chunks: the device packs a chunk of rows, a transfer moves it
 * into one of two staging buffers, and the host copies it into the caller's matrix. While the host
 * copies one chunk, the next chunk is being transferred. */

template <typename semiring, typename result> struct download {
    const struct solve *solve;
    struct tile_rows rows; /* tile rows of this device or, on rank 0, of the sending rank */
    uint32_t row_count;    /* number of rows of the matrix in these tile rows */
    uint32_t chunk_rows;   /* number of rows of a full chunk */
    size_t row_bytes;      /* size of a packed row */
};

/* Returns how many of the vertex_count rows of the matrix are on this device. */
static inline uint32_t download_rows_of(const struct tile_rows &rows, uint32_t vertex_count)
{
    const uint32_t tiles = (uint32_t)(((uint64_t)vertex_count + GPU_TILE - 1) / GPU_TILE);
    const uint32_t padding = tiles * GPU_TILE - vertex_count;
    return tile_rows_count(rows, tiles) * GPU_TILE -
           (tile_rows_owns(rows, tiles - 1) ? padding : 0);
}

/* Returns how many of the device's rows [own, own + count) are consecutive in the matrix. */
static inline uint32_t download_run(const struct tile_rows &rows, uint32_t own, uint32_t count)
{
    const uint32_t block = TILE_ROWS_BLOCK * GPU_TILE;
    const uint32_t left = block - own % block;
    return rows.members == 1 || count < left ? count : left;
}

template <typename semiring, typename result>
static struct download<semiring, result> download_of(const struct solve *solve) {
    struct download<semiring, result> download;
    download.solve = solve;
    download.rows = solve->lists.order.rows;
    download.row_count = download_rows_of(download.rows, solve->graph->vertex_count);
    download.row_bytes = solve->graph->vertex_count * sizeof(result);
    /* A chunk has all rows that fit in a staging buffer. workspace_plan has checked that one
     * fits. */
    const uint64_t rows = solve->workspace.layout.chunk_bytes / download.row_bytes;
    /* All ranks compute the same chunk size, so that rank 0 knows how many rows it receives. */
    const uint32_t most = download.rows.most * GPU_TILE;
    download.chunk_rows = rows < most ? (uint32_t)rows : most;
    return download;
}

template <typename semiring, typename result>
static uint32_t download_row_count(const struct download<semiring, result> *download,
                                   uint32_t first_row)
{
    const uint32_t left = download->row_count - first_row;
    return left < download->chunk_rows ? left : download->chunk_rows;
}

/* Packs the chunk of rows that starts at first_row into device memory. */
template <typename semiring, typename result>
MUST_CHECK static enum status download_pack(const struct download<semiring, result> *download,
                                            uint32_t first_row, uint32_t slot)
{
    const struct solve *solve = download->solve;
    struct finish_rows rows;
    rows.vertex_count = solve->graph->vertex_count;
    rows.first_row = first_row;
    rows.row_count = download_row_count(download, first_row);
    rows.order = solve->lists.order;
    rows.alarm = solve->gpu->alarm_device;
    return finish_launch(workspace_matrix<semiring>(&solve->workspace), rows,
                         (result *)solve->workspace.chunk[slot], solve->gpu->stream);
}

/* Copies the chunk of rows that starts at first_row from a staging buffer to the result. */
template <typename semiring, typename result>
static void download_copy(const struct download<semiring, result> *download, uint32_t first_row,
                          uint32_t slot)
{
    const struct solve *solve = download->solve;
    const uint32_t end = first_row + download_row_count(download, first_row);
    const struct scaling scaling = solve->options->scaling;
    struct staging_copy copy = {};
    copy.from = solve->gpu->staging[slot];
    copy.kind = scaling.kind;
    copy.decimals = scaling.decimals;
    const size_t result_bytes = scaling.decimals > 0 ? sizeof(double) : sizeof(result);
    for (uint32_t own = first_row; own < end;) {
        const uint32_t count = download_run(download->rows, own, end - own);
        const uint64_t row = tile_row_global(download->rows, own);
        copy.to = (char *)solve->result->elements + row * solve->graph->vertex_count * result_bytes;
        copy.size = count * download->row_bytes;
        staging_copy(solve->gpu->copier, &copy);
        copy.from = (const char *)copy.from + copy.size;
        own += count;
    }
}

/* Packs the chunk of rows that starts at first_row, and starts its transfer to the host. */
template <typename semiring, typename result>
MUST_CHECK static enum status download_start(const struct download<semiring, result> *download,
                                             uint32_t first_row, uint32_t slot)
{
    const struct gpu *gpu = download->solve->gpu;
    STATUS_TRY(download_pack(download, first_row, slot));
    GPU_TRY(cudaMemcpyAsync(gpu->staging[slot], download->solve->workspace.chunk[slot],
                            download_row_count(download, first_row) * download->row_bytes,
                            cudaMemcpyDeviceToHost, gpu->stream));
    return try_translate(cudaEventRecord(gpu->chunk_done[slot], gpu->stream));
}

/* Delivers a chunk that has arrived in a staging buffer. A rank other than 0 sends the chunk to
 * rank 0; otherwise the chunk is copied into the result. */
template <typename semiring, typename result>
static void download_deliver(const struct download<semiring, result> *download, uint32_t first_row,
                             uint32_t slot)
{
    const struct ranks *ranks = download->solve->ranks;
    if (ranks_is_first(ranks)) {
        download_copy(download, first_row, slot);
        return;
    }
    ranks->gather(ranks->context, download->solve->gpu->staging[slot],
                  download_row_count(download, first_row) * download->row_bytes, ranks->rank);
}

/* Downloads this device's rows. A chunk is delivered while the next chunk is transferred. */
template <typename semiring, typename result>
MUST_CHECK static enum status download_rows(const struct download<semiring, result> *download)
{
    const struct solve *solve = download->solve;
    const uint32_t step = download->chunk_rows;
    uint32_t slot = 0;
    for (uint64_t row = 0; row < (uint64_t)download->row_count + step; row += step) {
        const uint32_t slot_before = (slot + DEVICE_CHUNKS - 1) % DEVICE_CHUNKS;
        if (row < download->row_count) {
            STATUS_TRY(download_start(download, (uint32_t)row, slot));
        }
        if (row >= step) {
            GPU_TRY(cudaEventSynchronize(solve->gpu->chunk_done[slot_before]));
            download_deliver(download, (uint32_t)(row - step), slot_before);
        }
        /* Ranks agree on alarms and cancellation only after all rows have been delivered. */
        if (solve->ranks == NULL) {
            STATUS_TRY(device_alarm(solve->gpu));
            STATUS_TRY(observer_is_cancelled(solve->observer) ? STATUS_CANCELLED : STATUS_OK);
        }
        observer_tell(solve->observer, PHASE_WRITING, (double)row / (download->row_count + step));
        slot = (slot + 1) % DEVICE_CHUNKS;
    }
    return STATUS_OK;
}

/* On rank 0, receives the rows of the other ranks, one rank after another. */
template <typename semiring, typename result>
static void download_others(const struct download<semiring, result> *own)
{
    const struct solve *solve = own->solve;
    const struct ranks *ranks = solve->ranks;
    auto download = *own;
    for (uint32_t rank = 1; rank < ranks->count; rank++) {
        download.rows.member = rank;
        download.row_count = download_rows_of(download.rows, solve->graph->vertex_count);
        for (uint32_t row = 0; row < download.row_count; row += download.chunk_rows) {
            ranks->gather(ranks->context, solve->gpu->staging[0],
                          download_row_count(&download, row) * own->row_bytes, rank);
            download_copy(&download, row, 0);
        }
    }
}

template <typename semiring> MUST_CHECK static enum status plan_workspace(struct solve *solve)
{
    const bool shared = is_symmetric(solve) && semiring_packing<semiring>() == 1;
    struct workspace_shape *shape = &solve->shape;
    const struct tile_rows *rows = &solve->lists.order.rows;
    if (solve->schedule != NULL) {
        workspace_set_planned(shape, solve->plan);
    } else {
        workspace_set_dense(shape, solve->graph->vertex_count,
                            solve->small ? 0 : rounds_pivots(solve->gpu, solve->plan),
                            rows->members, rows->member);
    }
    shape->edge_count = solve->graph->edge_count;
    shape->element_bytes = sizeof(typename semiring::element);
    shape->word_bytes = sizeof(typename semiring::word);
    shape->result_bytes =
        (uint32_t)kind_size(solve_computed_kind(solve->options, solve->result->kind));
    shape->right_blocks = shared ? 0 : operand_right_blocks<semiring>();
    return workspace_plan(shape, &solve->workspace.layout) ? STATUS_OK : STATUS_NO_DEVICE_MEMORY;
}

/* Creates the schedule if the plan omits tiles. The time is added to fill_s. */
template <typename semiring> MUST_CHECK static enum status make_schedule(struct solve *solve)
{
    struct schedule_grain grain;
    if (solve->plan->summary.kind == PLAN_DENSE) {
        return STATUS_OK;
    }
    grain.packing = semiring_packing<semiring>();
    grain.slab = ring_pivots<typename semiring::word>();
    const double begin_s = now_s();
    const enum status status = schedule_create(solve->plan, grain, &solve->schedule);
    solve->account->timings.fill_s += now_s() - begin_s;
    return status;
}

template <typename semiring>
MUST_CHECK static enum status prepare_kernels(const struct solve *solve)
{
    if constexpr (semiring_packing<semiring>() == 1) {
        if (solve->small) {
            return try_prepare(small_kernel<semiring>,
                               sizeof(struct small_shared<typename semiring::element>));
        }
    }
    STATUS_TRY(try_prepare(panel_kernel<semiring>, panel_shared_bytes<semiring>()));
    return solve->schedule != NULL ? try_prepare(planned_kernel<semiring>, PLANNED_SHARED_BYTES)
                                   : try_prepare(interior_kernel<semiring>, INTERIOR_SHARED_BYTES);
}

/* Waits for the end of a step to measure its time. Small solves do not wait, which saves 11 us. */
MUST_CHECK static enum status await_step(const struct solve *solve)
{
    if (!solve->small) {
        GPU_TRY(cudaStreamSynchronize(solve->gpu->stream));
    }
    return STATUS_OK;
}

/* Uploads the lists of the schedule. They may be freed in host memory on return, because
 * cudaMemcpyAsync has then copied their pageable memory. */
MUST_CHECK static inline enum status upload_lists(struct solve *solve)
{
    const struct schedule *schedule = solve->schedule;
    const struct plan *plan = solve->plan;
    struct solve_lists *lists = &solve->lists;
    const uint64_t bits = (uint64_t)plan->tile_count * plan->tile_count;
    cudaStream_t stream = solve->gpu->stream;
    char *rest = (char *)solve->workspace.lists;
    const auto upload = [&rest, stream](const auto *from, uint64_t count, auto **ret_list) {
        const uint64_t bytes = count * sizeof(*from);
        void *const to = workspace_cut(&rest, workspace_align(bytes));
        *ret_list = (decltype(from))to;
        return try_translate(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    };
    STATUS_TRY(upload(schedule->fills, schedule->fill_count, &lists->fills));
    STATUS_TRY(upload(schedule->pivots, schedule->pivot_count, &lists->pivots));
    STATUS_TRY(upload(schedule->panels, schedule->panel_count, &lists->panels));
    STATUS_TRY(upload(schedule->targets, schedule->target_count, &lists->targets));
    STATUS_TRY(upload(schedule->products, schedule->product_count, &lists->products));
    STATUS_TRY(upload(schedule->position, plan->vertex_count, &lists->order.position));
    STATUS_TRY(upload(plan->reached_tiles, (bits + 63) / 64, &lists->order.held));
    lists->order.tile_count = plan->tile_count;
    return STATUS_OK;
}

/* Prepares the matrix on the device. fill_s is the time of allocating and filling the matrix, h2d_s
 * of transferring and scattering the edges. In a small solve both include only the host's time. */
template <typename semiring> MUST_CHECK static enum status prepare(struct solve *solve)
{
    struct gpu *gpu = solve->gpu;
    const struct tile_rows *rows = &solve->lists.order.rows;
    const uint32_t tile_count = solve->plan->tile_count;
    const double begin_s = now_s();
    STATUS_TRY(prepare_kernels<semiring>(solve));
    STATUS_TRY(workspace_acquire(gpu, &solve->shape, &solve->workspace));
    GPU_TRY(cudaMemsetAsync(gpu->control, 0, sizeof(*gpu->control), gpu->stream));
    if (rows->members > 1) { /* sent pieces contain slots that no kernel writes */
        GPU_TRY(cudaMemsetAsync(solve->workspace.left[0][0], 0,
                                solve->workspace.layout.operand_bytes, gpu->stream));
    }
    uint32_t fill_count = tile_rows_count(*rows, tile_count) * tile_count;
    if (solve->schedule != NULL) {
        STATUS_TRY(upload_lists(solve));
        fill_count = solve->schedule->fill_count;
    }
    STATUS_TRY(fill_launch<semiring>(workspace_matrix<semiring>(&solve->workspace),
                                     solve->lists.fills, fill_count, *rows, gpu->stream));
    STATUS_TRY(await_step(solve));
    const double filled_s = now_s();
    solve->account->timings.fill_s += filled_s - begin_s;
    STATUS_TRY(upload_graph<semiring>(gpu, solve->graph, &solve->workspace, solve->observer,
                                      solve->lists.order));
    STATUS_TRY(await_step(solve));
    solve->account->timings.h2d_s += now_s() - filled_s;
    return STATUS_OK;
}

template <typename semiring> MUST_CHECK static enum status compute_small(const struct solve *solve)
{
    const struct gpu *gpu = solve->gpu;
    struct small_step step;
    step.tile_count = (solve->graph->vertex_count + SMALL_TILE - 1) / SMALL_TILE;
    step.control = gpu->control;
    step.negative = &gpu->alarm_device->negative;
    return small_launch<semiring>(workspace_matrix<semiring>(&solve->workspace), step,
                                  gpu->multiprocessors, gpu->stream);
}

/* Packs all rows of this device, one chunk at a time, and calls visit(rows) for each chunk, where
 * rows is a const statistics_rows<result> &. visit returns a status. */
template <typename semiring, typename result, typename visitor>
MUST_CHECK static enum status visit_rows(struct solve *solve, visitor visit)
{
    const struct download<semiring, result> download = download_of<semiring, result>(solve);
    struct statistics_rows<result> rows = {
    };
    rows.elements = (const result *)solve->workspace.chunk[0];
    rows.vertex_count = solve->graph->vertex_count;
    rows.rows = download.rows;
    for (uint64_t own = 0; own < download.row_count; own += download.chunk_rows) {
        rows.first_row = (uint32_t)own;
        rows.row_count = download_row_count(&download, rows.first_row);
        STATUS_TRY(download_pack(&download, rows.first_row, 0));
        STATUS_TRY(visit(rows));
    }
    return STATUS_OK;
}

/* Computes the statistics of each row, in the first of two passes over the rows. */
template <typename semiring, typename result>
MUST_CHECK static enum status reduce_rows(struct solve *solve)
{
    cudaStream_t stream = solve->gpu->stream;
    struct statistics_workspace *workspace = &solve->statistics;
    STATUS_TRY(statistics_workspace_init(workspace, solve->graph->vertex_count,
                                         solve->workspace.statistics, stream));
    return visit_rows<semiring, result>(solve, [workspace, stream](const auto &rows) {
        return statistics_rows_launch(rows, workspace->columns, stream);
    });
}

/* Counts the distances in the histogram bins that the summary defines, in the second pass. */
template <typename semiring, typename result>
MUST_CHECK static enum status count_rows(struct solve *solve)
{
    cudaStream_t stream = solve->gpu->stream;
    const struct statistics_summary *summary = solve->account->statistics->summary;
    unsigned long long *bins = solve->statistics.bins;
    return visit_rows<semiring, result>(solve, [summary, bins, stream](const auto &rows) {
        return statistics_histogram_launch(rows, summary, bins, stream);
    });
}
