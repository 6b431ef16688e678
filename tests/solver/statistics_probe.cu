#include "tests/solver/statistics_probe.h"

#include "gpu/kernel_statistics.cuh"

struct probe {
    const struct matrix *matrix;
    uint32_t rows_at_once;
    uint32_t bins_at_once;
    struct statistics *statistics;
    double *seconds;
    void *elements; /* in device memory */
    void *memory;   /* device memory for the statistics */
    cudaEvent_t events[2];
    struct statistics_workspace workspace;
};

bool statistics_probe_usable(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

template <typename element>
static struct statistics_rows<element> rows_from(const struct probe *probe, uint32_t first_row,
                                                 uint32_t at_once) {
    const uint32_t left = probe->matrix->vertex_count - first_row;
    struct statistics_rows<element> rows;
    rows.elements =
        (const element *)probe->elements + (uint64_t)first_row * probe->matrix->vertex_count;
    rows.vertex_count = probe->matrix->vertex_count;
    rows.first_row = first_row;
    rows.row_count = left < at_once ? left : at_once;
    rows.rows = tile_rows_deal(1, 0, 1);
    return rows;
}

MUST_CHECK static enum status
begin_pass(struct probe *probe)
{
    GPU_TRY(cudaEventRecord(probe->events[0], NULL));
    return STATUS_OK;
}

MUST_CHECK static enum status end_pass(struct probe *probe, uint32_t pass)
{
    float elapsed_ms = 0;
    GPU_TRY(cudaEventRecord(probe->events[1], NULL));
    GPU_TRY(cudaEventSynchronize(probe->events[1]));
    GPU_TRY(cudaEventElapsedTime(&elapsed_ms, probe->events[0], probe->events[1]));
    probe->seconds[pass] = (double)elapsed_ms * 1e-3;
    return STATUS_OK;
}

template <typename element> MUST_CHECK static enum status reduce_rows(struct probe *probe)
{
    const uint32_t n = probe->matrix->vertex_count;
    STATUS_TRY(begin_pass(probe));
    for (uint64_t row = 0; row < n; row += probe->rows_at_once) {
        STATUS_TRY(
            statistics_rows_launch(rows_from<element>(probe, (uint32_t)row, probe->rows_at_once),
                                   probe->workspace.columns, NULL));
    }
    STATUS_TRY(end_pass(probe, 0));
    double lowest = 0;
    STATUS_TRY(statistics_workspace_fetch_rows(&probe->workspace, NULL,
                                               probe->statistics->eccentricity, &lowest));
    statistics_summarize(probe->statistics, lowest);
    return STATUS_OK;
}

template <typename element> MUST_CHECK static enum status count_bins(struct probe *probe)
{
    const uint32_t n = probe->matrix->vertex_count;
    STATUS_TRY(begin_pass(probe));
    for (uint64_t row = 0; row < n; row += probe->bins_at_once) {
        STATUS_TRY(statistics_histogram_launch(
            rows_from<element>(probe, (uint32_t)row, probe->bins_at_once),
            probe->statistics->summary, probe->workspace.bins, NULL));
    }
    STATUS_TRY(end_pass(probe, 1));
    return statistics_workspace_fetch_bins(&probe->workspace, NULL,
                                           probe->statistics->summary->bins);
}

template <typename element> MUST_CHECK static enum status run(struct probe *probe)
{
    const uint32_t n = probe->matrix->vertex_count;
    const size_t bytes = (size_t)n * n * sizeof(element);
    GPU_TRY(cudaEventCreate(&probe->events[0]));
    GPU_TRY(cudaEventCreate(&probe->events[1]));
    GPU_TRY(cudaMalloc(&probe->elements, bytes));
    GPU_TRY(cudaMemcpy(probe->elements, probe->matrix->elements, bytes, cudaMemcpyHostToDevice));
    GPU_TRY(cudaMalloc(&probe->memory, statistics_workspace_bytes(n)));
    STATUS_TRY(statistics_workspace_init(&probe->workspace, n, probe->memory, NULL));
    STATUS_TRY(reduce_rows<element>(probe));
    if (probe->statistics->summary->reachable_pairs == 0) {
        return STATUS_OK;
    }
    return count_bins<element>(probe);
}

static enum status run_kind(struct probe *probe)
{
    switch (probe->matrix->kind) {
    case KIND_I4:
        return run<int32_t>(probe);
    case KIND_U2:
        return run<uint16_t>(probe);
    case KIND_F4:
        return run<float>(probe);
    default:
        return run<double>(probe);
    }
}

enum status statistics_probe_run(const struct matrix *matrix, uint32_t rows_at_once,
                                 uint32_t bins_at_once, struct statistics *statistics,
                                 double ret_seconds[2])
{
    struct probe probe = {};
    probe.matrix = matrix;
    probe.rows_at_once = rows_at_once;
    probe.bins_at_once = bins_at_once;
    probe.statistics = statistics;
    probe.seconds = ret_seconds;
    const enum status status = run_kind(&probe);
    (void)cudaFree(probe.memory);
    (void)cudaFree(probe.elements);
    if (probe.events[0] != NULL) {
        (void)cudaEventDestroy(probe.events[0]);
    }
    if (probe.events[1] != NULL) {
        (void)cudaEventDestroy(probe.events[1]);
    }
    return status;
}
