/* One solve on the device: fill, edges, rounds or the one launch of a small graph, and the way out,
 * by the dense plan or another; in the number format that the kind, the graph and the options
 * allow. */
#include "gpu/device.cuh"
#include "gpu/gpu.h"
#include "gpu/kernel_fill.cuh"
#include "gpu/kernel_finish.cuh"
#include "gpu/kernel_flow.cuh"
#include "gpu/kernel_planned.cuh"
#include "gpu/kernel_small.cuh"
#include "gpu/kernel_statistics.cuh"
#include "gpu/rounds.cuh"
#include "gpu/staging.h"
#include "gpu/workspace.cuh"

#include <time.h>

/* The way out: finished rows, packed on the device, through the two staging buffers into the
 * caller's matrix. While the host copies one chunk out of staging, the next is on the bus. */

template <typename element, typename result_element> struct download {
    struct gpu *gpu;
    const struct workspace *workspace;
    const struct observer *observer;
    struct tile_matrix<element> matrix;
    struct tile_order order;
    result_element *result;
    uint32_t vertex_count;
    uint32_t chunk_rows; /* rows of a full chunk */
    bool clamp_diagonal;
};

template <typename element, typename result_element>
static uint32_t download_row_count(const struct download<element, result_element> *download,
                                   uint32_t first_row)
{
    const uint32_t left = download->vertex_count - first_row;
    return left < download->chunk_rows ? left : download->chunk_rows;
}

/* Packs the chunk of rows that starts at first_row, on the device. */
template <typename element, typename result_element>
MUST_CHECK static enum status
download_pack(const struct download<element, result_element> *download, uint32_t first_row,
              uint32_t slot)
{
    struct gpu *gpu = download->gpu;
    struct finish_rows rows;
    rows.vertex_count = download->vertex_count;
    rows.first_row = first_row;
    rows.row_count = download_row_count(download, first_row);
    rows.clamp = download->clamp_diagonal;
    rows.order = download->order;
    rows.alarm = gpu->alarm_device;
    return finish_launch(download->matrix, rows, (result_element *)download->workspace->chunk[slot],
                         gpu->stream);
}

/* While the chunk from one row on is packed and sent, the one before it is copied home. */
template <typename element, typename result_element>
MUST_CHECK static enum status
download_rows(const struct download<element, result_element> *download)
{
    struct gpu *gpu = download->gpu;
    const uint32_t n = download->vertex_count;
    const uint32_t step = download->chunk_rows;
    const size_t row_bytes = (size_t)n * sizeof(result_element);
    for (uint64_t row = 0; row < (uint64_t)n + step; row += step) {
        if (row < n) {
            const uint32_t slot = (uint32_t)(row / step % DEVICE_CHUNKS);
            STATUS_TRY(download_pack(download, (uint32_t)row, slot));
            GPU_TRY(cudaMemcpyAsync(gpu->staging[slot], download->workspace->chunk[slot],
                                    download_row_count(download, (uint32_t)row) * row_bytes,
                                    cudaMemcpyDeviceToHost, gpu->stream));
            GPU_TRY(cudaEventRecord(gpu->chunk_done[slot], gpu->stream));
        }
        if (row >= step) {
            const uint32_t before = (uint32_t)(row - step);
            const uint32_t slot = before / step % DEVICE_CHUNKS;
            GPU_TRY(cudaEventSynchronize(gpu->chunk_done[slot]));
            STATUS_TRY(device_alarm(gpu));
            staging_copy(gpu->copier, (char *)download->result + before * row_bytes,
                         gpu->staging[slot], download_row_count(download, before) * row_bytes);
            observer_tell(download->observer, PHASE_WRITING, (double)row / (n + step));
            if (device_cancelled(download->observer)) {
                return STATUS_CANCELLED;
            }
        }
    }
    return STATUS_OK;
}

/* Context of one solve: its inputs, its outputs and its memory on the device. */
struct solve {
    struct gpu *gpu;
    const struct graph *graph;
    const struct plan *plan;
    const struct solve_options *options;
    const struct observer *observer;
    struct matrix *result;
    struct solve_account *account;
    struct timings *timings;
    bool small;                 /* one cooperative launch */
    struct schedule *schedule;  /* of a plan that leaves tiles out; else NULL, */
    struct planned_lists lists; /* and this zero */
    struct workspace_shape shape;
    struct workspace workspace;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

template <typename semiring>
static tile_matrix<typename semiring::element> matrix_of(const struct solve *solve)
{
    tile_matrix<typename semiring::element> matrix;
    matrix.elements = (typename semiring::element *)solve->workspace.matrix;
    matrix.stride = solve->workspace.layout.stride;
    return matrix;
}

/* Half of the matrix is enough where the graph is undirected and the solve long. */
static bool is_symmetric(const struct solve *solve)
{
    return solve->schedule != NULL ? solve->schedule->symmetric
                                   : solve->options->symmetric && !solve->small;
}

/* Without barriers. */
template <typename semiring> static bool is_flow(const struct solve *solve)
{
    return solve->small && small_pairs<semiring>() &&
           solve->graph->vertex_count >= solve->gpu->tuning.flow_vertices;
}

template <typename semiring> MUST_CHECK static enum status plan_workspace(struct solve *solve)
{
    const bool shared = is_symmetric(solve) && semiring_packing<semiring>() == 1;
    struct workspace_shape *shape = &solve->shape;
    if (solve->schedule != NULL) {
        workspace_set_planned(shape, solve->plan);
    } else {
        workspace_set_dense(shape, solve->graph->vertex_count,
                            solve->small ? 0 : rounds_pivots(solve->gpu, solve->plan));
    }
    shape->edge_count = solve->graph->edge_count;
    shape->element_bytes = sizeof(typename semiring::element);
    shape->word_bytes = sizeof(typename semiring::word);
    shape->result_bytes = (uint32_t)kind_size(solve->result->kind);
    shape->right_blocks = shared ? 0 : operand_right_blocks<semiring>();
    shape->scratch_bytes = is_flow<semiring>(solve) ? flow_bytes(solve->graph->vertex_count) : 0;
    return workspace_plan(shape, &solve->workspace.layout) ? STATUS_OK : STATUS_NO_DEVICE_MEMORY;
}

/* Counts as filling. */
template <typename semiring> MUST_CHECK static enum status make_schedule(struct solve *solve)
{
    struct schedule_grain grain;
    if (solve->plan->summary.kind == PLAN_DENSE) {
        return STATUS_OK;
    }
    grain.packing = semiring_packing<semiring>();
    grain.slab = ring_pivots<typename semiring::word>();
    grain.units = solve->gpu->multiprocessors * interior_blocks<semiring>();
    const double begin_s = now_s();
    const enum status status = schedule_create(solve->plan, grain, &solve->schedule);
    solve->timings->fill_s += now_s() - begin_s;
    return status;
}

template <typename semiring>
MUST_CHECK static enum status prepare_kernels(const struct solve *solve)
{
    if constexpr (semiring_packing<semiring>() == 1) {
        if constexpr (small_pairs<semiring>()) {
            if (is_flow<semiring>(solve)) {
                return flow_prepare<semiring>();
            }
        }
        if (solve->small) {
            return small_prepare<semiring>();
        }
    }
    STATUS_TRY(panel_prepare<semiring>());
    return solve->schedule != NULL ? planned_prepare<semiring>() : interior_prepare<semiring>();
}

/* The allocation counts as filling, the transfer and scatter of the edges as host to device. */
template <typename semiring> MUST_CHECK static enum status prepare(struct solve *solve)
{
    struct gpu *gpu = solve->gpu;
    const struct schedule *schedule = solve->schedule;
    const double begin_s = now_s();
    STATUS_TRY(prepare_kernels<semiring>(solve));
    STATUS_TRY(workspace_acquire(gpu, &solve->shape, &solve->workspace));
    GPU_TRY(cudaMemsetAsync(gpu->control, 0, sizeof(*gpu->control), gpu->stream));
    if (schedule == NULL) {
        STATUS_TRY(fill_launch<semiring>(matrix_of<semiring>(solve), gpu->stream));
    } else {
        /* The tiles that begin with edges. */
        STATUS_TRY(planned_upload(schedule, solve->plan, solve->workspace.lists, gpu->stream,
                                  &solve->lists));
        STATUS_TRY(fill_tiles_launch<semiring>(matrix_of<semiring>(solve), solve->lists.fills,
                                               schedule->fill_count, gpu->stream));
    }
    GPU_TRY(cudaStreamSynchronize(gpu->stream));
    const double filled_s = now_s();
    solve->timings->fill_s += filled_s - begin_s;
    STATUS_TRY(upload_graph<semiring>(gpu, solve->graph, &solve->workspace, solve->observer,
                                      matrix_of<semiring>(solve), solve->lists.order));
    GPU_TRY(cudaStreamSynchronize(gpu->stream));
    solve->timings->h2d_s += now_s() - filled_s;
    return STATUS_OK;
}

template <typename semiring> MUST_CHECK static enum status compute_small(struct solve *solve)
{
    struct gpu *gpu = solve->gpu;
    const struct tile_matrix<typename semiring::element> matrix = matrix_of<semiring>(solve);
    struct small_step step;
    step.tile_count = (solve->graph->vertex_count + SMALL_TILE - 1) / SMALL_TILE;
    step.clamp = solve->options->clamp_diagonal;
    step.control = gpu->control;
    step.negative = &gpu->alarm_device->negative;
    bool launched = false;
    if constexpr (small_pairs<semiring>()) {
        if (is_flow<semiring>(solve)) {
            STATUS_TRY(flow_launch<semiring>(matrix, step, solve->workspace.scratch,
                                             gpu->multiprocessors, gpu->stream));
            launched = true;
        }
    }
    if (!launched) {
        STATUS_TRY(small_launch<semiring>(matrix, step, gpu->multiprocessors, gpu->stream));
    }
    GPU_TRY(cudaStreamSynchronize(gpu->stream));
    STATUS_TRY(device_alarm(gpu));
    observer_tell_rounds(solve->observer, solve->plan->tile_count, solve->plan->tile_count);
    return STATUS_OK;
}

template <typename semiring> MUST_CHECK static enum status compute_rounds(struct solve *solve)
{
    typedef typename semiring::word word;
    const struct tile_matrix<typename semiring::element> matrix = matrix_of<semiring>(solve);
    if (solve->schedule != NULL) {
        struct planned_rounds<semiring> rounds;
        rounds.gpu = solve->gpu;
        rounds.schedule = solve->schedule;
        rounds.lists = &solve->lists;
        rounds.observer = solve->observer;
        rounds.matrix = matrix;
        rounds.operand.left = (word *)solve->workspace.left[0][0];
        rounds.operand.right = (word *)solve->workspace.right[0][0];
        rounds.clamp_diagonal = solve->options->clamp_diagonal;
        STATUS_TRY(planned_run(&rounds));
    } else {
        struct rounds<semiring> rounds;
        rounds.gpu = solve->gpu;
        rounds.plan = solve->plan;
        rounds.observer = solve->observer;
        rounds.workspace = &solve->workspace;
        rounds.matrix = matrix;
        rounds.pivots = solve->shape.pivots;
        rounds.symmetric = is_symmetric(solve);
        rounds.clamp_diagonal = solve->options->clamp_diagonal;
        STATUS_TRY(rounds_run(&rounds));
    }
    return is_symmetric(solve) ? mirror_launch(matrix, solve->lists.order, solve->gpu->stream)
                               : STATUS_OK;
}

template <typename semiring> MUST_CHECK static enum status compute(struct solve *solve)
{
    struct gpu *gpu = solve->gpu;
    float elapsed_ms = 0;
    enum status status = STATUS_OK;
    GPU_TRY(cudaEventRecord(gpu->begin, gpu->stream));
    if constexpr (semiring_packing<semiring>() == 1) {
        status = solve->small ? compute_small<semiring>(solve) : compute_rounds<semiring>(solve);
    } else {
        status = compute_rounds<semiring>(solve);
    }
    if (status != STATUS_OK) {
        return status;
    }
    GPU_TRY(cudaEventRecord(gpu->end, gpu->stream));
    GPU_TRY(cudaEventSynchronize(gpu->end));
    GPU_TRY(cudaEventElapsedTime(&elapsed_ms, gpu->begin, gpu->end));
    solve->timings->compute_s += (double)elapsed_ms * 1e-3;
    return STATUS_OK;
}

/* Before the matrix leaves. Without the little memory that this takes it is left to the host. */
template <typename semiring> MUST_CHECK static enum status verify(struct solve *solve)
{
    const struct graph *graph = solve->graph;
    const uint64_t steps = graph->edge_count * (graph->directed ? 1 : 2);
    const bool narrow = sizeof(typename semiring::element) == sizeof(uint16_t);
    const enum kind kind = solve->result->kind;
    struct verification *verification = &solve->account->verification;
    struct certificate_request request = {};
    request.gpu = solve->gpu;
    request.graph = graph;
    request.observer = solve->observer;
    request.elements = solve->workspace.matrix;
    request.stride = solve->workspace.layout.stride;
    request.order = solve->lists.order;
    request.kind = kind_is_float(kind) ? kind : narrow ? KIND_U2 : KIND_I4;
    request.row_count = verification_row_count(graph->vertex_count, steps);
    request.solved = true;
    const double begin_s = now_s();
    const enum status status = certificate_verify(&request, verification);
    verification->seconds = now_s() - begin_s;
    if (status == STATUS_NO_DEVICE_MEMORY) {
        memset(verification, 0, sizeof(*verification));
        return STATUS_OK;
    }
    return status;
}

/* The type by which statistics_reaches knows what is unreachable in the matrix at work. */
template <typename element> struct counted {
    typedef element type;
};

template <> struct counted<uint16_t> {
    typedef int16_t type;
};

template <typename semiring, typename result>
static struct download<typename semiring::element, result> download_of(struct solve *solve) {
    struct download<typename semiring::element, result> download;
    download.gpu = solve->gpu;
    download.workspace = &solve->workspace;
    download.observer = solve->observer;
    download.matrix = matrix_of<semiring>(solve);
    download.order = solve->lists.order;
    download.result = (result *)solve->result->elements;
    download.vertex_count = solve->graph->vertex_count;
    /* As large as a staging buffer; a row always fits (workspace_plan). */
    const uint64_t rows =
        solve->workspace.layout.chunk_bytes / (download.vertex_count * sizeof(result));
    download.chunk_rows = rows < download.vertex_count ? (uint32_t)rows : download.vertex_count;
    download.clamp_diagonal = solve->options->clamp_diagonal;
    return download;
}

/* A dense plan's rows are visited in the padded matrix. Those of a plan with an order of its own
 * are put in the vertices' order first, a chunk at a time, once for each of the two passes. visit:
 * enum status (const statistics_rows<element> &). */
template <typename semiring, typename result, typename visitor>
MUST_CHECK static enum status visit_rows(struct solve *solve, visitor visit)
{
    typedef typename counted<typename semiring::element>::type element;
    const struct download<typename semiring::element, result> download =
        download_of<semiring, result>(solve);
    if (solve->schedule == NULL) {
        struct statistics_rows<element> rows;
        rows.elements = (const element *)solve->workspace.matrix;
        rows.stride = solve->workspace.layout.stride;
        rows.vertex_count = download.vertex_count;
        rows.first_row = 0;
        rows.row_count = download.vertex_count;
        return visit(rows);
    }
    struct statistics_rows<result> rows;
    rows.elements = (const result *)solve->workspace.chunk[0];
    rows.stride = download.vertex_count;
    rows.vertex_count = download.vertex_count;
    for (uint64_t row = 0; row < download.vertex_count; row += download.chunk_rows) {
        rows.first_row = (uint32_t)row;
        rows.row_count = download_row_count(&download, rows.first_row);
        STATUS_TRY(download_pack(&download, rows.first_row, 0));
        STATUS_TRY(visit(rows));
    }
    return STATUS_OK;
}

/* Before the matrix leaves: two reads of it. */
template <typename semiring, typename result>
MUST_CHECK static enum status take_statistics(struct solve *solve)
{
    cudaStream_t stream = solve->gpu->stream;
    struct statistics *statistics = solve->account->statistics;
    struct statistics_workspace workspace;
    STATUS_TRY(statistics_workspace_init(&workspace, solve->graph->vertex_count,
                                         solve->workspace.statistics, stream));
    STATUS_TRY((visit_rows<semiring, result>(solve, [&workspace, stream](const auto &rows) {
        return statistics_rows_launch(rows, workspace.columns, stream);
    })));
    STATUS_TRY(statistics_workspace_fetch_rows(&workspace, stream, statistics));
    if (statistics->summary->reachable_pairs > 0) {
        STATUS_TRY((visit_rows<semiring, result>(solve, [&workspace, statistics,
                                                         stream](const auto &rows) {
            return statistics_histogram_launch(rows, statistics->summary, workspace.bins, stream);
        })));
        STATUS_TRY(statistics_workspace_fetch_bins(&workspace, stream, statistics));
    }
    solve->account->statistics_filled = true;
    return STATUS_OK;
}

template <typename semiring, typename result> MUST_CHECK static enum status run(struct solve *solve)
{
    STATUS_TRY(make_schedule<semiring>(solve));
    STATUS_TRY(plan_workspace<semiring>(solve));
    STATUS_TRY(prepare<semiring>(solve));
    STATUS_TRY(compute<semiring>(solve));
    if (solve->options->verify) {
        STATUS_TRY(verify<semiring>(solve));
    }
    const double begin_s = now_s();
    observer_tell(solve->observer, PHASE_WRITING, 0);
    if (solve->account->statistics != NULL) {
        STATUS_TRY((take_statistics<semiring, result>(solve)));
    }
    const struct download<typename semiring::element, result> download =
        download_of<semiring, result>(solve);
    const enum status status = download_rows(&download);
    solve->timings->d2h_s += now_s() - begin_s;
    return status;
}

/* Both integer kinds, in 16 bits or in 32. */
template <typename result> MUST_CHECK static enum status run_integer(struct solve *solve)
{
    return solve->options->narrow && !solve->small &&
                   solve->graph->vertex_count >= solve->gpu->tuning.narrow_vertices
               ? run<semiring_u2, result>(solve)
               : run<semiring_i4, result>(solve);
}

MUST_CHECK static enum status run_kind(struct solve *solve)
{
    const bool any_sign = solve->graph->summary.negative || solve->options->clamp_diagonal;
    switch (solve->result->kind) {
    case KIND_I4:
        return run_integer<int32_t>(solve);
    case KIND_U2:
        return run_integer<uint16_t>(solve);
    case KIND_F4:
        return any_sign ? run<semiring_f4_signed, float>(solve) : run<semiring_f4, float>(solve);
    case KIND_F8:
        return run<semiring_f8, double>(solve);
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
    CHECK(false);
    return STATUS_BAD_PARAMETER;
}

/* After a cancel or a negative cycle kernels may still be under way: they are told to stop, and end
 * before the memory is used for something else. A device that fails in that very moment is lost,
 * whatever was found before. */
MUST_CHECK static enum status drain(struct gpu *gpu)
{
    GPU_TRY(cudaMemcpyAsync(gpu->control, gpu->stop, sizeof(*gpu->stop), cudaMemcpyHostToDevice,
                            gpu->alarm_stream));
    GPU_TRY(cudaStreamSynchronize(gpu->alarm_stream));
    for (uint32_t half = 0; half < DEVICE_HALVES; half++) {
        GPU_TRY(cudaStreamSynchronize(gpu->half[half]));
    }
    GPU_TRY(cudaStreamSynchronize(gpu->stream));
    return STATUS_OK;
}

enum status gpu_solve(struct gpu *gpu, const struct graph *graph, const struct plan *plan,
                      const struct solve_options *options, const struct observer *observer,
                      struct matrix *matrix, struct solve_account *account)
{
    CHECK(plan->tile == GPU_TILE && plan->vertex_count == graph->vertex_count);
    CHECK(gpu_supports(matrix->kind) && matrix->vertex_count == graph->vertex_count);
    if (graph->vertex_count == 0) {
        return STATUS_OK;
    }
    struct solve solve = {};
    solve.gpu = gpu;
    solve.graph = graph;
    solve.plan = plan;
    solve.options = options;
    solve.observer = observer;
    solve.result = matrix;
    solve.account = account;
    solve.timings = &account->timings;
    solve.small =
        plan->summary.kind == PLAN_DENSE && graph->vertex_count <= gpu->tuning.small_vertices;
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    memset(gpu->alarm, 0, sizeof(*gpu->alarm));
    const enum status status = run_kind(&solve);
    const enum status drained = drain(gpu);
    workspace_release(gpu);
    schedule_destroy(solve.schedule);
    return drained == STATUS_OK ? status : drained;
}
