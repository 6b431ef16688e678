/* The certificate on the device, for graphs without weights below 0: what
 * server/solver/certificate.c proves of a matrix on the host, proven of one in device memory.
 *
 * With d the distances of row i, d(i) is 0, each edge (u, v, w) leaves d(v) <= d(u) + w, and every
 * finite d(v) but d(i) is settled by a tight edge, d(v) = d(u) + w, from a vertex that is nearer,
 * or as near and settled before. Walk back along such edges: at each step the distance falls, or it
 * stays and the time of settling falls. So no entry comes twice, the walk ends, and nowhere but in
 * i: when all finite entries are settled each is the length of a path. Vertices on a cycle of
 * length 0 cannot vouch for each other, as one of them would have to be settled first; nor can two
 * floats that are so large that the weight between them vanishes.
 *
 * The passes over the edges repeat until nothing changes. Floats are compared with the least
 * tolerance of the host, that of paths of few edges. The device stops at the first row that it
 * leaves open, and after PASSES_MAX passes, as long chains of weight 0 may take them; the host
 * judges from there on, says what is wrong, or accepts what its wider tolerance of long paths
 * admits: certificate_resume. A graph with a weight below 0 is left to the host whole: there a
 * tight edge need not come from a vertex that is as near.
 *
 * check: one edge per thread, 256 per block, against GROUP_ROWS rows, y over groups of rows; a row
 * is read through L1 at both ends of the edge, neighbouring edges at neighbouring places. Shared
 * memory: where the group's rows are. judge: 256 threads along a row, y over the rows. */
#include "gpu/device.cuh"

#include <math.h>
#include <stdlib.h>

#define BLOCK_THREADS 256
#define GROUP_ROWS 16
/* Settled entries of a batch, one bit each: a cancel is heard between batches. */
#define SETTLED_BYTES_MAX ((uint64_t)2 << 20)
/* A grid has no more along y. */
#define BATCH_ROWS_MAX 65535
/* Far more than the edges of length 0 that follow one another in a road network. */
#define PASSES_MAX 256
#define WORD_BITS 32
#define NO_ROW UINT32_MAX

/* Results of the check that the kernels return to the host. */
struct tally {
    uint32_t open; /* the first row that is not proven, of those to check */
    uint32_t changed;
};

/* Rows [first, first + row_count) of the row_total to check, or of those of them that are chosen,
 * and the graph's edges: all pointers are to the device. Entries within [far_least, far_most] are
 * unreachable. */
template <typename element> struct batch {
    const element *elements;
    uint64_t stride;
    element far_least;
    element far_most;
    struct tile_order order;
    const uint64_t *row_offset;
    const int32_t *weight_i4; /* one of these, as in the graph */
    const double *weight_f8;
    const uint32_t *target;
    const uint32_t *chosen; /* ascending; NULL: all of row_total */
    uint32_t *settled;      /* row_count x words */
    struct tally *tally;
    uint64_t edge_count;
    uint64_t words;
    uint32_t vertex_count;
    uint32_t row_total;
    uint32_t first;
    uint32_t row_count;
    bool directed;
    double tolerance; /* relative, see proto/verification.h */
    double least;     /* added to every magnitude */
};

/* A row of the batch: its vertex, and where the matrix and the device's memory have it. */
struct row {
    uint32_t index; /* in the batch */
    uint32_t source;
    uint64_t position;
    uint64_t local;
};

/* The vertex is the one that verification_row gives. */
template <typename element>
static __device__ __forceinline__ struct row row_of(const struct batch<element> &batch,
                                                    uint32_t index)
{
    struct row row;
    const uint32_t at = batch.first + index;
    const uint64_t which = batch.chosen != nullptr ? batch.chosen[at] : at;
    row.index = index;
    row.source = (uint32_t)(which * batch.vertex_count / batch.row_total);
    row.position = tile_position(batch.order, row.source);
    row.local = tile_row_local(batch.order.rows, row.position);
    return row;
}

template <typename element>
static __device__ __forceinline__ double entry_at(const struct batch<element> &batch,
                                                  const struct row &row, uint64_t position)
{
    if (!tile_holds(batch.order, row.position, position)) {
        return INFINITY;
    }
    const element entry = __ldg(batch.elements + row.local * batch.stride + position);
    const bool far = entry >= batch.far_least && entry <= batch.far_most;
    return far ? INFINITY : (double)entry;
}

template <typename element>
static __device__ __forceinline__ bool is_settled(const struct batch<element> &batch,
                                                  const struct row &row, uint32_t vertex)
{
    const uint32_t word = batch.settled[row.index * batch.words + vertex / WORD_BITS];
    return vertex == row.source || (word >> vertex % WORD_BITS & 1) != 0;
}

template <typename element>
static __device__ __forceinline__ void leave_open(const struct batch<element> &batch,
                                                  const struct row &row)
{
    if (batch.tally->open > batch.first + row.index) {
        atomicMin(&batch.tally->open, batch.first + row.index);
    }
}

/* One way along an edge, from a vertex at `near` to one at `there`: exact in integers. Written so
 * that a NaN is an objection too. */
template <typename element>
static __device__ __forceinline__ void check_step(const struct batch<element> &batch,
                                                  const struct row &row, double near, double there,
                                                  double length, uint32_t from, uint32_t to)
{
    if (near == INFINITY) {
        return;
    }
    const double along = near + length;
    const double slack = batch.tolerance * (fabs(near) + length + batch.least);
    if (there == INFINITY || !(there <= along + slack)) {
        leave_open(batch, row);
    } else if (along - there <= slack &&
               (near < there || (near == there && is_settled(batch, row, from))) &&
               !is_settled(batch, row, to)) {
        atomicOr(&batch.settled[row.index * batch.words + to / WORD_BITS], 1u << to % WORD_BITS);
        batch.tally->changed = 1;
    }
}

/* The vertex that an edge leaves. */
static __device__ __forceinline__ uint32_t edge_source(const uint64_t *row_offset,
                                                       uint32_t vertex_count, uint64_t edge)
{
    uint32_t low = 0;
    uint32_t high = vertex_count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (__ldg(row_offset + middle) <= edge) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

template <typename element>
static __global__ void __launch_bounds__(BLOCK_THREADS) check_kernel(struct batch<element> batch)
{
    __shared__ struct row rows[GROUP_ROWS];
    const uint32_t first = blockIdx.y * GROUP_ROWS;
    const uint32_t count = min(GROUP_ROWS, batch.row_count - first);
    const uint64_t edge = (uint64_t)blockIdx.x * BLOCK_THREADS + threadIdx.x;
    if (threadIdx.x < count) {
        rows[threadIdx.x] = row_of(batch, first + threadIdx.x);
    }
    __syncthreads();
    if (edge >= batch.edge_count) {
        return;
    }
    const uint32_t from = edge_source(batch.row_offset, batch.vertex_count, edge);
    const uint32_t to = batch.target[edge];
    const uint64_t from_position = tile_position(batch.order, from);
    const uint64_t to_position = tile_position(batch.order, to);
    const double length =
        batch.weight_i4 != nullptr ? batch.weight_i4[edge] : batch.weight_f8[edge];
    for (uint32_t i = 0; i < count; i++) {
        const double near = entry_at(batch, rows[i], from_position);
        const double there = entry_at(batch, rows[i], to_position);
        check_step(batch, rows[i], near, there, length, from, to);
        if (!batch.directed) {
            check_step(batch, rows[i], there, near, length, to, from);
        }
    }
}

/* A row stays open when its vertex is not at 0, or a finite entry is not settled. */
template <typename element>
static __global__ void __launch_bounds__(BLOCK_THREADS) judge_kernel(struct batch<element> batch)
{
    const struct row row = row_of(batch, blockIdx.y);
    const uint32_t vertex = blockIdx.x * BLOCK_THREADS + threadIdx.x;
    if (vertex >= batch.vertex_count) {
        return;
    }
    const double distance = entry_at(batch, row, tile_position(batch.order, vertex));
    const bool right = vertex == row.source
                           ? distance == 0
                           : distance == INFINITY || is_settled(batch, row, vertex);
    if (!right) {
        leave_open(batch, row);
    }
}

/* *ret_open is the first row of the batch that is not proven. */
template <typename element>
MUST_CHECK static enum status check_batch(const struct batch<element> &batch, cudaStream_t stream,
                                          uint32_t *ret_open)
{
    const dim3 edge_grid((uint32_t)((batch.edge_count + BLOCK_THREADS - 1) / BLOCK_THREADS),
                         (batch.row_count + GROUP_ROWS - 1) / GROUP_ROWS);
    const dim3 entry_grid((batch.vertex_count + BLOCK_THREADS - 1) / BLOCK_THREADS,
                          batch.row_count);
    const uint64_t settled_bytes = batch.row_count * batch.words * sizeof(uint32_t);
    struct tally tally;
    uint32_t passes = 0;
    GPU_TRY(cudaMemsetAsync(batch.settled, 0, settled_bytes, stream));
    do {
        tally.open = NO_ROW;
        tally.changed = 0;
        GPU_TRY(cudaMemcpyAsync(batch.tally, &tally, sizeof(tally), cudaMemcpyDefault, stream));
        if (batch.edge_count > 0) {
            check_kernel<<<edge_grid, BLOCK_THREADS, 0, stream>>>(batch);
            GPU_TRY(cudaGetLastError());
        }
        judge_kernel<<<entry_grid, BLOCK_THREADS, 0, stream>>>(batch);
        GPU_TRY(cudaGetLastError());
        GPU_TRY(cudaMemcpyAsync(&tally, batch.tally, sizeof(tally), cudaMemcpyDefault, stream));
        GPU_TRY(cudaStreamSynchronize(stream));
    } while (tally.open != NO_ROW && tally.changed != 0 && ++passes < PASSES_MAX);
    *ret_open = tally.open;
    return STATUS_OK;
}

/* Batches of `step` rows of `count`, until a row is left open. */
template <typename element>
MUST_CHECK static enum status check_rows(const struct certificate_request *request,
                                         struct batch<element> *batch, uint32_t count,
                                         uint32_t step, uint64_t *ret_proven)
{
    uint32_t open = NO_ROW;
    for (uint64_t first = 0; open == NO_ROW && first < count; first += step) {
        const uint32_t left = count - (uint32_t)first;
        if (device_cancelled(request->observer)) {
            return STATUS_CANCELLED;
        }
        batch->first = (uint32_t)first;
        batch->row_count = left < step ? left : step;
        STATUS_TRY(check_batch(*batch, request->gpu->stream, &open));
    }
    *ret_proven = open == NO_ROW ? count : open;
    return STATUS_OK;
}

/* Row offsets, weights, targets, chosen rows, settled bits and the tally are parts of one piece of
 * device memory, in this order, as offsets and weights may be 8 bytes wide. chosen: `count` of the
 * rows to check; NULL: these are all. */
template <typename element>
MUST_CHECK static enum status run(const struct certificate_request *request, element far_least,
                                  element far_most, const uint32_t *chosen, uint32_t count,
                                  uint64_t *ret_proven)
{
    const struct graph *graph = request->graph;
    cudaStream_t stream = request->gpu->stream;
    const bool integers = graph->weight_type == WEIGHT_INTEGER;
    const uint64_t n = graph->vertex_count;
    const uint64_t words = (n + WORD_BITS - 1) / WORD_BITS;
    const uint64_t fits = SETTLED_BYTES_MAX / (words * sizeof(uint32_t));
    const uint64_t most = fits < BATCH_ROWS_MAX ? fits : BATCH_ROWS_MAX;
    const uint32_t step = (uint32_t)(most < count ? most : count);
    const uint64_t offset_bytes = (n + 1) * sizeof(uint64_t);
    const uint64_t weight_bytes = graph->edge_count * (integers ? sizeof(int32_t) : sizeof(double));
    const uint64_t target_bytes = graph->edge_count * sizeof(uint32_t);
    const uint64_t chosen_bytes = chosen != NULL ? count * sizeof(uint32_t) : 0;
    char *memory = NULL;
    GPU_TRY(cudaMalloc(&memory, offset_bytes + weight_bytes + target_bytes + chosen_bytes +
                                    step * words * sizeof(uint32_t) + sizeof(struct tally)));
    char *const weights = memory + offset_bytes;
    char *const target = weights + weight_bytes;
    char *const rows = target + target_bytes;
    batch<element> batch = {};
    batch.elements = (const element *)request->elements;
    batch.stride = request->stride;
    batch.far_least = far_least;
    batch.far_most = far_most;
    batch.order = request->order;
    batch.row_offset = (const uint64_t *)memory;
    batch.weight_i4 = integers ? (const int32_t *)weights : nullptr;
    batch.weight_f8 = (const double *)weights;
    batch.target = (const uint32_t *)target;
    batch.chosen = chosen != NULL ? (const uint32_t *)rows : nullptr;
    batch.settled = (uint32_t *)(rows + chosen_bytes);
    batch.tally = (struct tally *)(batch.settled + step * words);
    batch.edge_count = graph->edge_count;
    batch.words = words;
    batch.vertex_count = graph->vertex_count;
    batch.row_total = request->row_count;
    batch.directed = graph->directed;
    batch.tolerance = verification_tolerance(request->kind);
    batch.least = verification_least(request->kind);
    const struct {
        void *to;
        const void *from;
        uint64_t bytes;
    } arrays[] = {
        {memory, graph->row_offset, offset_bytes},
        {weights, integers ? (const void *)graph->weight_i4 : graph->weight_f8, weight_bytes},
        {target, graph->target, target_bytes},
        {rows, chosen, chosen_bytes}};
    cudaError_t error = cudaSuccess;
    for (const auto &array : arrays) {
        if (array.bytes > 0 && array.from != NULL && error == cudaSuccess) {
            error = cudaMemcpyAsync(array.to, array.from, array.bytes, cudaMemcpyDefault, stream);
        }
    }
    enum status status = try_translate(error);
    if (status == STATUS_OK) {
        status = check_rows(request, &batch, count, step, ret_proven);
    }
    (void)cudaFree(memory);
    return status;
}

MUST_CHECK static enum status run_kind(const struct certificate_request *request,
                                       const uint32_t *chosen, uint32_t count, uint64_t *ret_proven)
{
    switch (request->kind) {
    case KIND_I4:
        return run<int32_t>(request, request->solved ? UNREACHABLE_I4_DRIFT + 1 : UNREACHABLE_I4,
                            request->solved ? INT32_MAX : UNREACHABLE_I4, chosen, count,
                            ret_proven);
    case KIND_U2:
        return run<uint16_t>(request, request->solved ? NARROW_UNREACHABLE : UNREACHABLE_U2,
                             UNREACHABLE_U2, chosen, count, ret_proven);
    case KIND_F4:
        return run<float>(request, INFINITY, INFINITY, chosen, count, ret_proven);
    case KIND_F8:
        return run<double>(request, INFINITY, INFINITY, chosen, count, ret_proven);
    case KIND_AUTO:
    case KIND_COUNT:
        break;
    }
    return STATUS_BAD_PARAMETER;
}

/* A member of a group checks the rows that it has: all before the first that it leaves open are
 * proven as far as they are its own. */
MUST_CHECK static enum status run_own(const struct certificate_request *request,
                                      uint64_t *ret_proven)
{
    const struct tile_rows *rows = &request->order.rows;
    const uint32_t n = request->graph->vertex_count;
    uint32_t *chosen = (uint32_t *)malloc((request->row_count + (size_t)1) * sizeof(*chosen));
    uint32_t count = 0;
    uint64_t proven = 0;
    if (chosen == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t index = 0; index < request->row_count; index++) {
        const uint32_t vertex = verification_row(n, request->row_count, index);
        const uint32_t at = request->position != NULL ? request->position[vertex] : vertex;
        if (tile_rows_owns(*rows, at / GPU_TILE)) {
            chosen[count++] = index;
        }
    }
    const enum status status = count > 0 ? run_kind(request, chosen, count, &proven) : STATUS_OK;
    *ret_proven = proven < count ? chosen[proven] : request->row_count;
    free(chosen);
    return status;
}

/* Whether the device decides, and not the host. */
static bool has_no_negative(const struct graph *graph)
{
    return graph->edge_count == 0 || graph->summary.min_weight >= 0;
}

enum status certificate_verify(const struct certificate_request *request,
                               struct verification *ret_verification)
{
    const struct graph *graph = request->graph;
    struct verification verification = {};
    enum status status = STATUS_OK;
    if (has_no_negative(graph)) {
        verification.on_device = true;
        verification.rows = request->row_count;
        verification.of = graph->vertex_count;
        verification.edges = graph->edge_count;
        verification.tolerance = verification_tolerance(request->kind);
        if (graph->vertex_count > 0) {
            status = request->order.rows.members > 0
                         ? run_own(request, &verification.proven)
                         : run_kind(request, NULL, request->row_count, &verification.proven);
        }
        verification.done = status == STATUS_OK && verification.proven == verification.rows;
    }
    *ret_verification = verification;
    return status;
}

enum status gpu_certify(struct gpu *gpu, const struct graph *graph, const struct matrix *matrix,
                        uint32_t row_count, const struct observer *observer,
                        struct verification *ret_verification)
{
    const uint32_t n = matrix->vertex_count;
    const uint64_t bytes = (uint64_t)n * n * kind_size(matrix->kind);
    struct certificate_request request = {};
    void *elements = NULL;
    CHECK(graph->vertex_count == n && matrix->kind != KIND_AUTO);
    GPU_TRY(cudaSetDevice(gpu->ordinal));
    request.gpu = gpu;
    request.graph = graph;
    request.observer = observer;
    request.stride = n;
    request.kind = matrix->kind;
    request.row_count = row_count < n ? row_count : n;
    if (n == 0 || !has_no_negative(graph)) {
        return certificate_verify(&request, ret_verification); /* reads no element */
    }
    GPU_TRY(cudaMalloc(&elements, bytes));
    request.elements = elements;
    enum status status = try_translate(
        cudaMemcpyAsync(elements, matrix->elements, bytes, cudaMemcpyDefault, gpu->stream));
    if (status == STATUS_OK) {
        status = certificate_verify(&request, ret_verification);
    }
    (void)cudaFree(elements);
    return status;
}
