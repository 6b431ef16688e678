/* The certificate on the device: what server/solver/certificate.h proves of a matrix on the host,
 * proven of one that lies in device memory, O(rows x m).
 *
 * Rows are checked in batches that the scratch holds: quickly all of a batch, then thoroughly those
 * that this left open. Only the thorough half finds fault. The same for every run, whatever the
 * order of the device's threads. */
#pragma once

#include "gpu/edge_stream.cuh"
#include "gpu/kernel_certificate_search.cuh"
#include "proto/solve_account.h"

#include <stdlib.h>
#include <time.h>

/* Arrays in the scratch begin at multiples of this. */
#define CERTIFICATE_ALIGNMENT 256
/* The most that is taken beside the given scratch, and of the memory that is free: for graphs whose
 * edges would have to travel again for every batch. */
#define CERTIFICATE_EXTRA_BYTES ((uint64_t)4 << 30)
#define CERTIFICATE_EXTRA_PART 2

/* Device memory that is free for the certificate, borrowed for the call. */
struct certificate_memory {
    void *chunk[DEVICE_CHUNKS];
    uint64_t chunk_bytes; /* each; EDGE_STREAM_EDGE_BYTES_MAX at least when there are edges */
    void *scratch;        /* aligned as cudaMalloc does; certificate_bytes_min at least */
    uint64_t scratch_bytes;
};

template <typename element> struct certificate_request {
    struct gpu *gpu;
    const struct graph *graph;
    const struct observer *observer; /* may be NULL */
    struct certificate_matrix<element> matrix;
    struct certificate_memory memory;
    enum kind kind;     /* of the result: from it comes the tolerance */
    uint32_t row_count; /* to check, spread evenly; 0 = as many as verification_row_count says */
    bool solving;       /* a diagonal entry below 0 is a negative cycle, unless it is clamped */
};

/* One call. The rows' arrays lie in the scratch, carved anew for every batch. */
template <typename element, typename weight> struct certificate_run {
    typedef typename certificate_distance<element>::type distance;
    const struct certificate_request<element> *request;
    struct edge_stream<weight> stream;
    struct certificate_rows<distance> rows;
    struct certificate_reach reach;
    struct certificate_tally *tally; /* on the device */
    char *room;                      /* scratch for the rows */
    uint64_t room_bytes;
    uint32_t *sources; /* on the host: the rows of a batch */
    uint32_t *state;   /* on the host: theirs */
    uint32_t row_count;
};

static inline uint64_t certificate_aligned(uint64_t bytes)
{
    return (bytes + CERTIFICATE_ALIGNMENT - 1) / CERTIFICATE_ALIGNMENT * CERTIFICATE_ALIGNMENT;
}

static inline uint64_t certificate_pitch(uint32_t vertex_count)
{
    return ((uint64_t)vertex_count + CERTIFICATE_WORD - 1) / CERTIFICATE_WORD * CERTIFICATE_WORD;
}

/* Scratch beside the rows: the tally and the graph's offsets. */
static inline uint64_t certificate_fixed_bytes(uint32_t vertex_count)
{
    return certificate_aligned(sizeof(struct certificate_tally)) +
           certificate_aligned(((uint64_t)vertex_count + 1) * sizeof(uint64_t));
}

/* Arrays of a batch; their ends are rounded up. */
#define CERTIFICATE_ARRAYS 6

static inline uint64_t certificate_row_bytes(uint32_t vertex_count, uint64_t distance_bytes,
                                             bool thorough)
{
    const uint64_t pitch = certificate_pitch(vertex_count);
    const uint64_t reach = thorough ? sizeof(uint32_t) + sizeof(unsigned long long) : 0;
    return pitch * (distance_bytes + reach) + pitch / 8 + 2 * sizeof(uint32_t);
}

/* Scratch with which row_count rows are checked thoroughly at once; less is enough for more rows in
 * turn, down to that of one. element_bytes: of the matrix on the device. */
static inline uint64_t certificate_bytes(uint32_t vertex_count, uint64_t element_bytes,
                                         uint32_t row_count)
{
    const uint64_t distance_bytes = element_bytes < 4 ? 4 : element_bytes;
    return certificate_fixed_bytes(vertex_count) + CERTIFICATE_ARRAYS * CERTIFICATE_ALIGNMENT +
           row_count * certificate_row_bytes(vertex_count, distance_bytes, true);
}

static inline uint64_t certificate_bytes_min(uint32_t vertex_count, uint64_t element_bytes)
{
    return certificate_bytes(vertex_count, element_bytes, 1);
}

/* Rows that fit the room; 0 when none does. */
template <typename element, typename weight>
static uint32_t certificate_capacity(const struct certificate_run<element, weight> *run,
                                     bool thorough)
{
    typedef typename certificate_distance<element>::type distance;
    const uint64_t row_bytes =
        certificate_row_bytes(run->request->graph->vertex_count, sizeof(distance), thorough);
    const uint64_t ends = CERTIFICATE_ARRAYS * CERTIFICATE_ALIGNMENT;
    const uint64_t rows = run->room_bytes > ends ? (run->room_bytes - ends) / row_bytes : 0;
    return rows < CERTIFICATE_BATCH_MAX ? (uint32_t)rows : CERTIFICATE_BATCH_MAX;
}

static inline void *certificate_carve(char **room, uint64_t bytes)
{
    void *const array = *room;
    *room += certificate_aligned(bytes);
    return array;
}

/* The batch of sources[0, count): on the device, their rows read. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_load(struct certificate_run<element, weight> *run,
                                               const uint32_t *sources, uint32_t count,
                                               bool thorough)
{
    typedef typename certificate_distance<element>::type distance;
    struct certificate_rows<distance> *rows = &run->rows;
    const uint64_t entries = rows->pitch * count;
    char *room = run->room;
    rows->row_count = count;
    rows->distances = (distance *)certificate_carve(&room, entries * sizeof(distance));
    rows->settled = (uint32_t *)certificate_carve(&room, entries / 8);
    rows->state = (uint32_t *)certificate_carve(&room, count * sizeof(uint32_t));
    uint32_t *const places = (uint32_t *)certificate_carve(&room, count * sizeof(uint32_t));
    rows->sources = places;
    if (thorough) {
        run->reach.magnitude =
            (unsigned long long *)certificate_carve(&room, entries * sizeof(unsigned long long));
        run->reach.hops = (uint32_t *)certificate_carve(&room, entries * sizeof(uint32_t));
    }
    GPU_TRY(cudaMemcpyAsync(places, sources, count * sizeof(uint32_t), cudaMemcpyHostToDevice,
                            run->stream.gpu->stream));
    return certificate_rows_launch(run->request->matrix, *rows, run->stream.gpu->stream);
}

template <typename element, typename weight>
MUST_CHECK static enum status certificate_reset(struct certificate_run<element, weight> *run)
{
    struct certificate_tally tally;
    tally.violation = CERTIFICATE_NO_VIOLATION;
    tally.open = 0;
    tally.changed = 0;
    GPU_TRY(cudaMemcpyAsync(run->tally, &tally, sizeof(tally), cudaMemcpyHostToDevice,
                            run->stream.gpu->stream));
    return STATUS_OK;
}

/* Waits for all that was launched. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_read(struct certificate_run<element, weight> *run,
                                               struct certificate_tally *ret_tally)
{
    cudaStream_t stream = run->stream.gpu->stream;
    GPU_TRY(
        cudaMemcpyAsync(ret_tally, run->tally, sizeof(*ret_tally), cudaMemcpyDeviceToHost, stream));
    GPU_TRY(cudaStreamSynchronize(stream));
    return STATUS_OK;
}

template <typename element, typename weight>
MUST_CHECK static enum status certificate_count_open(struct certificate_run<element, weight> *run,
                                                     uint32_t *ret_open)
{
    struct certificate_tally tally;
    STATUS_TRY(certificate_reset(run));
    STATUS_TRY(certificate_tally_launch(run->rows, run->stream.gpu->stream));
    STATUS_TRY(certificate_read(run, &tally));
    *ret_open = tally.open;
    return STATUS_OK;
}

/* Settles what is as far as a settled neighbour, until nothing changes. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_spread(struct certificate_run<element, weight> *run)
{
    typedef typename certificate_distance<element>::type distance;
    const struct certificate_rows<distance> &rows = run->rows;
    cudaStream_t stream = run->stream.gpu->stream;
    struct certificate_tally tally;
    do {
        STATUS_TRY(certificate_reset(run));
        STATUS_TRY(edge_stream_visit(
            &run->stream, [&rows, stream](const struct certificate_edges<weight> &edges) {
                return certificate_spread_launch(rows, edges, stream);
            }));
        STATUS_TRY(certificate_read(run, &tally));
    } while (tally.changed != 0);
    return STATUS_OK;
}

/* Moves the rows that are not proven to the front of sources. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_keep_open(struct certificate_run<element, weight> *run,
                                                    uint32_t *ret_left)
{
    const uint32_t count = run->rows.row_count;
    uint32_t left = 0;
    GPU_TRY(cudaMemcpyAsync(run->state, run->rows.state, count * sizeof(uint32_t),
                            cudaMemcpyDeviceToHost, run->stream.gpu->stream));
    GPU_TRY(cudaStreamSynchronize(run->stream.gpu->stream));
    for (uint32_t row = 0; row < count; ++row) {
        if (run->state[row] != 0) {
            run->sources[left++] = run->sources[row];
        }
    }
    *ret_left = left;
    return STATUS_OK;
}

template <typename element, typename weight>
MUST_CHECK static enum status certificate_quick(struct certificate_run<element, weight> *run,
                                                uint32_t count, uint32_t *ret_left)
{
    typedef typename certificate_distance<element>::type distance;
    const struct certificate_rows<distance> &rows = run->rows;
    cudaStream_t stream = run->stream.gpu->stream;
    uint32_t open = 0;
    STATUS_TRY(certificate_load(run, run->sources, count, false));
    STATUS_TRY(edge_stream_visit(&run->stream,
                                 [&rows, stream](const struct certificate_edges<weight> &edges) {
                                     return certificate_check_launch(rows, edges, stream);
                                 }));
    STATUS_TRY(certificate_count_open(run, &open));
    if (open > 0) {
        STATUS_TRY(certificate_spread(run));
        STATUS_TRY(certificate_count_open(run, &open));
    }
    return certificate_keep_open(run, ret_left);
}

static inline double certificate_value(int32_t distance)
{
    return distance == UNREACHABLE_I4 ? INFINITY : distance;
}

static inline double certificate_value(float distance)
{
    return distance;
}

static inline double certificate_value(double distance)
{
    return distance;
}

/* What the key of a violation says, by the graph's vertices. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_explain(struct certificate_run<element, weight> *run,
                                                  unsigned long long key, const uint32_t *sources,
                                                  struct violation *violation)
{
    typedef typename certificate_distance<element>::type distance;
    const struct graph *graph = run->request->graph;
    const uint64_t row = key >> CERTIFICATE_KEY_ROW;
    const uint64_t place = key & CERTIFICATE_KEY_PLACE;
    const bool back = (key >> CERTIFICATE_KEY_BACK & 1) != 0;
    violation->kind = (enum violation_kind)(key >> CERTIFICATE_KEY_KIND & 3);
    violation->source = sources[row];
    violation->target = (uint32_t)place;
    violation->by = violation->source;
    if (violation->kind == VIOLATION_EDGE) {
        const uint32_t source = edge_stream_row(graph, place);
        violation->by = back ? graph->target[place] : source;
        violation->target = back ? source : graph->target[place];
    }
    distance value;
    GPU_TRY(cudaMemcpyAsync(&value, run->rows.distances + row * run->rows.pitch + violation->target,
                            sizeof(value), cudaMemcpyDeviceToHost, run->stream.gpu->stream));
    GPU_TRY(cudaStreamSynchronize(run->stream.gpu->stream));
    violation->distance = certificate_value(value);
    return STATUS_NOT_VERIFIED;
}

/* Levels of the search until one reaches nothing. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_search(struct certificate_run<element, weight> *run)
{
    typedef typename certificate_distance<element>::type distance;
    const struct certificate_rows<distance> &rows = run->rows;
    const struct certificate_reach &reach = run->reach;
    cudaStream_t stream = run->stream.gpu->stream;
    struct certificate_tally tally;
    uint32_t level = 0;
    STATUS_TRY(certificate_begin_launch(rows, reach, stream));
    do {
        ++level;
        STATUS_TRY(certificate_reset(run));
        STATUS_TRY(edge_stream_visit(
            &run->stream,
            [&rows, &reach, level, stream](const struct certificate_edges<weight> &edges) {
                return certificate_search_launch(rows, reach, edges, level, stream);
            }));
        STATUS_TRY(certificate_read(run, &tally));
    } while (tally.changed != 0);
    return STATUS_OK;
}

template <typename element, typename weight>
MUST_CHECK static enum status certificate_thorough(struct certificate_run<element, weight> *run,
                                                   const uint32_t *sources, uint32_t count,
                                                   struct violation *violation)
{
    typedef typename certificate_distance<element>::type distance;
    const struct certificate_rows<distance> &rows = run->rows;
    const struct certificate_reach &reach = run->reach;
    cudaStream_t stream = run->stream.gpu->stream;
    struct certificate_tally tally;
    STATUS_TRY(certificate_load(run, sources, count, true));
    STATUS_TRY(certificate_search(run));
    STATUS_TRY(certificate_reset(run));
    STATUS_TRY(certificate_judge_entries_launch(rows, reach, stream));
    STATUS_TRY(edge_stream_visit(
        &run->stream, [&rows, &reach, stream](const struct certificate_edges<weight> &edges) {
            return certificate_judge_edges_launch(rows, reach, edges, stream);
        }));
    STATUS_TRY(certificate_read(run, &tally));
    return tally.violation == CERTIFICATE_NO_VIOLATION
               ? STATUS_OK
               : certificate_explain(run, tally.violation, sources, violation);
}

/* Rows [first, first + count) of those to check. With weights below 0 the quick half would leave
 * nearly all of them open. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_batch(struct certificate_run<element, weight> *run,
                                                uint32_t first, uint32_t count,
                                                struct violation *violation)
{
    const struct graph *graph = run->request->graph;
    const uint32_t at_once = certificate_capacity(run, true);
    uint32_t left = count;
    for (uint32_t row = 0; row < count; ++row) {
        run->sources[row] = verification_row(graph->vertex_count, run->row_count, first + row);
    }
    if (!graph->summary.negative) {
        STATUS_TRY(certificate_quick(run, count, &left));
    }
    for (uint32_t begin = 0; begin < left; begin += at_once) {
        const uint32_t rest = left - begin;
        STATUS_TRY(certificate_thorough(run, run->sources + begin, rest < at_once ? rest : at_once,
                                        violation));
    }
    return STATUS_OK;
}

template <typename element, typename weight>
MUST_CHECK static enum status certificate_batches(struct certificate_run<element, weight> *run,
                                                  struct violation *violation)
{
    const struct certificate_request<element> *request = run->request;
    const uint32_t fits = certificate_capacity(run, false);
    const uint32_t step = fits < run->row_count ? fits : run->row_count;
    enum status status = STATUS_OK;
    if (certificate_capacity(run, true) == 0) {
        return STATUS_NO_DEVICE_MEMORY;
    }
    run->sources = (uint32_t *)calloc(step, sizeof(uint32_t));
    run->state = (uint32_t *)calloc(step, sizeof(uint32_t));
    if (run->sources == NULL || run->state == NULL) {
        status = STATUS_NO_MEMORY;
    }
    for (uint64_t first = 0; status == STATUS_OK && first < run->row_count; first += step) {
        const uint32_t left = run->row_count - (uint32_t)first;
        status =
            device_cancelled(request->observer)
                ? STATUS_CANCELLED
                : certificate_batch(run, (uint32_t)first, left < step ? left : step, violation);
    }
    free(run->sources);
    free(run->state);
    return status;
}

/* The fixed part of the scratch is filled, the rest is for the rows. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_start(struct certificate_run<element, weight> *run,
                                                void *scratch, uint64_t scratch_bytes)
{
    const struct graph *graph = run->request->graph;
    const uint64_t offset_bytes = ((uint64_t)graph->vertex_count + 1) * sizeof(uint64_t);
    const uint64_t fixed_bytes = certificate_fixed_bytes(graph->vertex_count);
    char *room = (char *)scratch;
    if (scratch_bytes < fixed_bytes) {
        return STATUS_NO_DEVICE_MEMORY;
    }
    run->tally = (struct certificate_tally *)certificate_carve(&room, sizeof(*run->tally));
    uint64_t *const offsets = (uint64_t *)certificate_carve(&room, offset_bytes);
    run->room = room;
    run->room_bytes = scratch_bytes - fixed_bytes;
    run->rows.tally = run->tally;
    run->stream.row_offset = offsets;
    GPU_TRY(cudaMemcpyAsync(offsets, graph->row_offset, offset_bytes, cudaMemcpyHostToDevice,
                            run->stream.gpu->stream));
    return STATUS_OK;
}

/* Free device memory is asked for only where it spares the edges further journeys; NULL when there
 * is none to spare. */
template <typename element, typename weight>
static void *certificate_take_extra(const struct certificate_run<element, weight> *run,
                                    uint64_t *ret_bytes)
{
    const struct certificate_memory *memory = &run->request->memory;
    const uint32_t vertices = run->request->graph->vertex_count;
    const uint64_t wanted = certificate_bytes(vertices, sizeof(element), run->row_count);
    uint64_t bytes = wanted < CERTIFICATE_EXTRA_BYTES ? wanted : CERTIFICATE_EXTRA_BYTES;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    void *extra = NULL;
    if (edge_stream_stays(&run->stream) ||
        cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
        return NULL;
    }
    const uint64_t spare = free_bytes / CERTIFICATE_EXTRA_PART;
    bytes = bytes < spare ? bytes : spare;
    if (bytes <= memory->scratch_bytes) {
        return NULL;
    }
    if (cudaMalloc(&extra, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    *ret_bytes = bytes;
    return extra;
}

/* In solving, a diagonal entry below 0 is not a wrong answer but a graph without one. */
template <typename element, typename weight>
MUST_CHECK static enum status certificate_judge_cycle(struct certificate_run<element, weight> *run)
{
    const struct certificate_request<element> *request = run->request;
    struct certificate_tally tally;
    if (!request->solving || request->matrix.clamp_diagonal || !request->graph->summary.negative) {
        return STATUS_OK;
    }
    STATUS_TRY(certificate_reset(run));
    STATUS_TRY(certificate_diagonal_launch(request->matrix, request->graph->vertex_count,
                                           run->tally, run->stream.gpu->stream));
    STATUS_TRY(certificate_read(run, &tally));
    return tally.changed != 0 ? STATUS_NEGATIVE_CYCLE : STATUS_OK;
}

template <typename element, typename weight>
MUST_CHECK static enum status
certificate_weighted(const struct certificate_request<element> *request, const weight *weights,
                     uint32_t row_count, struct violation *violation)
{
    struct certificate_run<element, weight> run = {
    };
    run.request = request;
    run.row_count = row_count;
    run.stream.gpu = request->gpu;
    run.stream.graph = request->graph;
    run.stream.observer = request->observer;
    run.stream.weights = weights;
    run.stream.chunk_edges = edge_stream_capacity<weight>(request->memory.chunk_bytes);
    for (uint32_t slot = 0; slot < DEVICE_CHUNKS; ++slot) {
        run.stream.chunk[slot] = request->memory.chunk[slot];
    }
    run.rows.vertex_count = request->graph->vertex_count;
    run.rows.pitch = certificate_pitch(request->graph->vertex_count);
    run.rows.tolerance = verification_tolerance(request->kind);
    run.rows.epsilon = verification_epsilon(request->kind);
    run.rows.least = verification_least(request->kind);
    if (run.stream.chunk_edges == 0 && request->graph->edge_count > 0) {
        return STATUS_NO_DEVICE_MEMORY;
    }
    uint64_t extra_bytes = 0;
    void *const extra = certificate_take_extra(&run, &extra_bytes);
    enum status status = extra != NULL ? certificate_start(&run, extra, extra_bytes)
                                       : certificate_start(&run, request->memory.scratch,
                                                           request->memory.scratch_bytes);
    if (status == STATUS_OK) {
        status = certificate_judge_cycle(&run);
    }
    if (status == STATUS_OK) {
        status = certificate_batches(&run, violation);
    }
    /* Work may be under way after a cancel: nothing may outlive the memory that it uses. */
    const enum status drained = try_translate(cudaStreamSynchronize(request->gpu->stream));
    (void)cudaFree(extra);
    return drained == STATUS_OK ? status : drained;
}

static inline double certificate_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Proves that the matrix on the device is right, after all that is queued on the device's stream;
 * nothing is left there when it returns. Staging, chunk buffers and scratch are overwritten, the
 * matrix is only read. STATUS_NOT_VERIFIED with the violation in the verification,
 * STATUS_NEGATIVE_CYCLE (when solving), STATUS_CANCELLED, STATUS_NO_MEMORY,
 * STATUS_NO_DEVICE_MEMORY when the scratch is too small, STATUS_DEVICE_LOST. */
template <typename element>
MUST_CHECK static enum status certificate_verify(const struct certificate_request<element> *request,
                                                 struct verification *ret_verification)
{
    const struct graph *graph = request->graph;
    const uint64_t steps = graph->edge_count * (graph->directed ? 1 : 2);
    uint32_t rows = request->row_count;
    if (rows == 0) {
        rows = verification_row_count(graph->vertex_count, steps, graph->summary.negative);
    }
    rows = rows < graph->vertex_count ? rows : graph->vertex_count;
    struct verification verification = {};
    const double begin_s = certificate_now_s();
    enum status status = STATUS_OK;
    if (rows > 0) {
        status = graph->weight_type == WEIGHT_INTEGER
                     ? certificate_weighted<element, int32_t>(request, graph->weight_i4, rows,
                                                              &verification.violation)
                     : certificate_weighted<element, double>(request, graph->weight_f8, rows,
                                                             &verification.violation);
    }
    verification.done = status == STATUS_OK;
    verification.on_device = true;
    verification.rows = rows;
    verification.of = graph->vertex_count;
    verification.edges = graph->edge_count;
    verification.tolerance = verification_tolerance(request->kind);
    verification.seconds = certificate_now_s() - begin_s;
    *ret_verification = verification;
    return status;
}

/* A matrix as the rounds of a solve leave it: integers may have drifted below unreachable. */
static inline void certificate_set_solved(struct certificate_matrix<int32_t> *matrix)
{
    matrix->far_least = UNREACHABLE_I4_DRIFT + 1;
    matrix->far_most = INT32_MAX;
}

static inline void certificate_set_solved(struct certificate_matrix<uint16_t> *matrix)
{
    matrix->far_least = NARROW_UNREACHABLE;
    matrix->far_most = UINT16_MAX;
}

static inline void certificate_set_solved(struct certificate_matrix<float> *matrix)
{
    matrix->far_least = matrix->far_most = INFINITY;
}

static inline void certificate_set_solved(struct certificate_matrix<double> *matrix)
{
    matrix->far_least = matrix->far_most = INFINITY;
}
