/* Many small graphs: packed by the host into a staging buffer, solved one block each, their
 * matrices taken home. Two chunks are under way at a time: while the device has one, the host packs
 * the next or copies the last one out. */
#include "gpu/device.cuh"
#include "gpu/gpu.h"
#include "gpu/kernel_batch.cuh"
#include "gpu/staging.h"
#include "proto/check.h"

#include <stdlib.h>
#include <time.h>

/* Parts of a chunk begin on this, as the kernels' widest access wants it. */
#define PART_ALIGNMENT 16

static const uint32_t class_sides[] = {128, 96, 64, 32};
#define CLASS_COUNT (sizeof(class_sides) / sizeof(class_sides[0]))

/* A chunk: which items, and where its parts lie in its two buffers. */
struct chunk {
    uint32_t first; /* in batch.order */
    uint32_t count;
    uint32_t class_count[CLASS_COUNT]; /* in the order of class_sides, largest first */
    uint64_t edge_count;
    uint64_t weights_at;
    uint64_t ends_at;
    uint64_t in_bytes;
    uint64_t results_at; /* the verdicts are before */
    uint64_t out_bytes;
    double relaxations; /* of all items: what its times are shared out by */
    double pack_s;
};

/* What a chunk under way occupies, beside a staging buffer. */
struct slot {
    struct chunk chunk;
    void *in; /* on the device */
    void *out;
    cudaEvent_t begin; /* around the kernels, with timing */
    cudaEvent_t end;
};

struct batch {
    struct gpu *gpu;
    struct solve_item *items;
    uint32_t *order; /* indices of the items to solve, by class, the largest first */
    uint32_t count;  /* of order */
    struct staging_piece *pieces;
    struct slot slots[DEVICE_CHUNKS];
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t align_part(uint64_t bytes)
{
    return (bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

static uint32_t class_of(uint32_t vertex_count)
{
    uint32_t index = CLASS_COUNT - 1;
    while (class_sides[index] < vertex_count) {
        --index;
    }
    return index;
}

static double relaxations_of(const struct solve_item *item)
{
    const double n = item->graph->vertex_count;
    return n * n * n;
}

static bool is_cancelled(const struct solve_item *item)
{
    const struct observer *observer = item->observer;
    return observer != NULL && observer->cancelled != NULL &&
           observer->cancelled(observer->context);
}

static void tell_progress(const struct solve_item *item)
{
    if (item->observer != NULL && item->observer->progress != NULL) {
        item->observer->progress(item->observer->context, 1, 1);
    }
}

/* ---- Which items go into which chunk ---- */

static uint64_t in_bytes(uint32_t graphs, uint64_t edges, size_t element_bytes, struct chunk *chunk)
{
    chunk->weights_at = align_part(graphs * sizeof(struct batch_graph));
    chunk->ends_at = chunk->weights_at + align_part(edges * element_bytes);
    return chunk->ends_at + align_part(edges * sizeof(uint16_t));
}

static uint64_t result_bytes(const struct solve_item *item, size_t element_bytes)
{
    const uint64_t n = item->graph->vertex_count;
    return align_part(n * n * element_bytes);
}

/* Sets the parts for as many graphs and edges; results: bytes of all matrices. */
static void lay_out(struct chunk *chunk, uint32_t graphs, uint64_t edges, uint64_t results,
                    size_t element_bytes)
{
    chunk->in_bytes = in_bytes(graphs, edges, element_bytes, chunk);
    chunk->results_at = align_part(graphs * sizeof(uint32_t));
    chunk->out_bytes = chunk->results_at + results;
}

/* The items from first on that fit the staging buffers together; one always does. */
static struct chunk next_chunk(const struct batch *batch, uint32_t first, size_t element_bytes)
{
    struct chunk chunk = {};
    uint64_t results = 0;
    chunk.first = first;
    lay_out(&chunk, 0, 0, 0, element_bytes);
    while (first + chunk.count < batch->count) {
        const struct solve_item *item = &batch->items[batch->order[first + chunk.count]];
        const uint64_t edges = chunk.edge_count + item->graph->edge_count;
        struct chunk grown = chunk;
        results += result_bytes(item, element_bytes);
        lay_out(&grown, chunk.count + 1, edges, results, element_bytes);
        if (grown.in_bytes > DEVICE_CHUNK_BYTES || grown.out_bytes > DEVICE_CHUNK_BYTES) {
            break;
        }
        chunk = grown;
        chunk.edge_count = edges;
        chunk.relaxations += relaxations_of(item);
        chunk.class_count[class_of(item->graph->vertex_count)]++;
        chunk.count++;
    }
    CHECK(chunk.count > 0);
    return chunk;
}

static const struct solve_item *item_of(const struct batch *batch, const struct chunk *chunk,
                                        uint32_t index)
{
    return &batch->items[batch->order[chunk->first + index]];
}

/* ---- The way in ---- */

template <typename element>
static void pack_edges(const struct graph *graph, element *weights, uint16_t *ends)
{
    for (uint32_t row = 0; row < graph->vertex_count; ++row) {
        for (uint64_t edge = graph->row_offset[row]; edge < graph->row_offset[row + 1]; ++edge) {
            ends[edge] = (uint16_t)(row << BATCH_SOURCE_SHIFT | graph->target[edge]);
        }
    }
    for (uint64_t edge = 0; edge < graph->edge_count; ++edge) {
        weights[edge] = graph->weight_type == WEIGHT_INTEGER ? (element)graph->weight_i4[edge]
                                                             : (element)graph->weight_f8[edge];
    }
}

template <typename element>
static void pack(const struct batch *batch, const struct chunk *chunk, char *host)
{
    struct batch_graph *const graphs = (struct batch_graph *)host;
    element *const weights = (element *)(host + chunk->weights_at);
    uint16_t *const ends = (uint16_t *)(host + chunk->ends_at);
    uint64_t edge = 0;
    uint64_t result = 0;
    for (uint32_t index = 0; index < chunk->count; ++index) {
        const struct solve_item *item = item_of(batch, chunk, index);
        const struct graph *graph = item->graph;
        struct batch_graph packed = {};
        packed.first_edge = (uint32_t)edge;
        packed.edge_count = (uint32_t)graph->edge_count;
        packed.first_result = (uint32_t)(result / sizeof(element));
        packed.vertex_count = (uint16_t)graph->vertex_count;
        packed.directed = graph->directed;
        packed.clamp = item->options.clamp_diagonal;
        graphs[index] = packed;
        pack_edges(graph, weights + edge, ends + edge);
        edge += graph->edge_count;
        result += result_bytes(item, sizeof(element));
    }
}

template <typename semiring>
MUST_CHECK static enum status launch(const struct slot *slot, cudaStream_t stream)
{
    typedef typename semiring::element element;
    const struct chunk *chunk = &slot->chunk;
    struct batch_chunk<element> parts;
    parts.graphs = (const struct batch_graph *)slot->in;
    parts.weights = (const element *)((const char *)slot->in + chunk->weights_at);
    parts.ends = (const uint16_t *)((const char *)slot->in + chunk->ends_at);
    parts.verdicts = (uint32_t *)slot->out;
    parts.results = (element *)((char *)slot->out + chunk->results_at);
    const uint32_t *const count = chunk->class_count;
    uint32_t first = 0;
    STATUS_TRY((batch_launch<semiring, 128>(parts, first, count[0], stream)));
    first += count[0];
    STATUS_TRY((batch_launch<semiring, 96>(parts, first, count[1], stream)));
    first += count[1];
    STATUS_TRY((batch_launch<semiring, 64>(parts, first, count[2], stream)));
    first += count[2];
    return batch_launch<semiring, 32>(parts, first, count[3], stream);
}

template <typename semiring>
MUST_CHECK static enum status start_chunk(struct batch *batch, uint32_t place)
{
    struct gpu *gpu = batch->gpu;
    struct slot *slot = &batch->slots[place];
    struct chunk *chunk = &slot->chunk;
    const double begin_s = now_s();
    pack<typename semiring::element>(batch, chunk, (char *)gpu->staging[place]);
    GPU_TRY(cudaMemcpyAsync(slot->in, gpu->staging[place], chunk->in_bytes, cudaMemcpyHostToDevice,
                            gpu->stream));
    GPU_TRY(cudaEventRecord(slot->begin, gpu->stream));
    STATUS_TRY(launch<semiring>(slot, gpu->stream));
    GPU_TRY(cudaEventRecord(slot->end, gpu->stream));
    GPU_TRY(cudaMemcpyAsync(gpu->staging[place], slot->out, chunk->out_bytes,
                            cudaMemcpyDeviceToHost, gpu->stream));
    GPU_TRY(cudaEventRecord(gpu->chunk_done[place], gpu->stream));
    chunk->pack_s = now_s() - begin_s;
    return STATUS_OK;
}

/* ---- The way out ---- */

/* Copies the matrices home that are worth it, and gives each item its status. */
template <typename element>
static void copy_home(struct batch *batch, const struct chunk *chunk, const char *host)
{
    const uint32_t *const verdicts = (const uint32_t *)host;
    const char *result = host + chunk->results_at;
    size_t piece_count = 0;
    for (uint32_t index = 0; index < chunk->count; ++index) {
        struct solve_item *item = &batch->items[batch->order[chunk->first + index]];
        const size_t n = item->graph->vertex_count;
        item->status = verdicts[index] != 0 ? STATUS_NEGATIVE_CYCLE : STATUS_OK;
        if (item->status == STATUS_OK) {
            struct staging_piece *piece = &batch->pieces[piece_count++];
            piece->to = item->matrix->elements;
            piece->from = result;
            piece->size = n * n * sizeof(element);
        }
        result += result_bytes(item, sizeof(element));
    }
    staging_copy_pieces(batch->gpu->copier, batch->pieces, piece_count);
}

static void share_out(const struct batch *batch, const struct chunk *chunk, double compute_s,
                      double take_s)
{
    for (uint32_t index = 0; index < chunk->count; ++index) {
        const struct solve_item *item = item_of(batch, chunk, index);
        const double part = relaxations_of(item) / chunk->relaxations;
        struct timings *timings = &item->account->timings;
        timings->h2d_s += part * chunk->pack_s;
        timings->compute_s += part * compute_s;
        timings->d2h_s += part * take_s;
        tell_progress(item);
    }
}

/* Waits for the chunk. What the wait was longer than the kernels counts as the way home. */
template <typename element>
MUST_CHECK static enum status take_chunk(struct batch *batch, uint32_t place)
{
    struct gpu *gpu = batch->gpu;
    const struct slot *slot = &batch->slots[place];
    const double begin_s = now_s();
    float compute_ms = 0;
    GPU_TRY(cudaEventSynchronize(gpu->chunk_done[place]));
    GPU_TRY(cudaEventElapsedTime(&compute_ms, slot->begin, slot->end));
    copy_home<element>(batch, &slot->chunk, (const char *)gpu->staging[place]);
    const double compute_s = compute_ms * 1e-3;
    const double take_s = now_s() - begin_s;
    share_out(batch, &slot->chunk, compute_s, take_s > compute_s ? take_s - compute_s : 0);
    return STATUS_OK;
}

/* ---- Life and death ---- */

/* The buffers fit every chunk. */
template <typename element> MUST_CHECK static enum status acquire(struct batch *batch)
{
    uint64_t most_in = 0;
    uint64_t most_out = 0;
    uint32_t first = 0;
    uint32_t chunks = 0;
    while (first < batch->count) {
        const struct chunk chunk = next_chunk(batch, first, sizeof(element));
        most_in = chunk.in_bytes > most_in ? chunk.in_bytes : most_in;
        most_out = chunk.out_bytes > most_out ? chunk.out_bytes : most_out;
        first += chunk.count;
        ++chunks;
    }
    for (uint32_t i = 0; i < DEVICE_CHUNKS && i < chunks; ++i) {
        GPU_TRY(cudaMalloc(&batch->slots[i].in, most_in));
        GPU_TRY(cudaMalloc(&batch->slots[i].out, most_out));
        /* The gaps between the matrices travel home too. */
        GPU_TRY(cudaMemsetAsync(batch->slots[i].out, 0, most_out, batch->gpu->stream));
        GPU_TRY(cudaEventCreate(&batch->slots[i].begin));
        GPU_TRY(cudaEventCreate(&batch->slots[i].end));
    }
    return STATUS_OK;
}

/* Freeing NULL is nothing; the errors of a lost device have been reported before. */
static void release(struct batch *batch)
{
    for (uint32_t i = 0; i < DEVICE_CHUNKS; ++i) {
        struct slot *slot = &batch->slots[i];
        (void)cudaFree(slot->in);
        (void)cudaFree(slot->out);
        if (slot->begin != NULL) {
            (void)cudaEventDestroy(slot->begin);
        }
        if (slot->end != NULL) {
            (void)cudaEventDestroy(slot->end);
        }
        *slot = {};
    }
}

template <typename semiring> MUST_CHECK static enum status run_chunks(struct batch *batch)
{
    typedef typename semiring::element element;
    uint32_t first = 0;
    uint32_t started = 0;
    STATUS_TRY(acquire<element>(batch));
    while (first < batch->count) {
        const uint32_t place = started % DEVICE_CHUNKS;
        if (started >= DEVICE_CHUNKS) {
            STATUS_TRY(take_chunk<element>(batch, place));
        }
        batch->slots[place].chunk = next_chunk(batch, first, sizeof(element));
        STATUS_TRY(start_chunk<semiring>(batch, place));
        first += batch->slots[place].chunk.count;
        ++started;
    }
    const uint32_t left = started < DEVICE_CHUNKS ? started : DEVICE_CHUNKS;
    for (uint32_t taken = started - left; taken < started; ++taken) {
        STATUS_TRY(take_chunk<element>(batch, taken % DEVICE_CHUNKS));
    }
    return STATUS_OK;
}

/* Cards of some capabilities have too little for the largest matrices of doubles. */
static bool has_shared_memory(const struct gpu *gpu, uint32_t side, size_t element_bytes)
{
    int bytes = 0;
    return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu->ordinal) ==
               cudaSuccess &&
           side * side * element_bytes <= (size_t)bytes;
}

/* The status of an item that has not come home. */
static enum status status_before(const struct solve_item *item, bool fits)
{
    if (is_cancelled(item)) {
        return STATUS_CANCELLED;
    }
    return fits ? STATUS_DEVICE_LOST : STATUS_NO_DEVICE_MEMORY;
}

/* The items of a kind that nobody has cancelled, by class. */
static void choose_items(struct batch *batch, uint32_t item_count, enum kind kind,
                         size_t element_bytes)
{
    batch->count = 0;
    for (uint32_t side = 0; side < CLASS_COUNT; ++side) {
        const bool fits = has_shared_memory(batch->gpu, class_sides[side], element_bytes);
        for (uint32_t index = 0; index < item_count; ++index) {
            struct solve_item *item = &batch->items[index];
            if (item->matrix->kind != kind || item->graph->vertex_count == 0 ||
                class_of(item->graph->vertex_count) != side) {
                continue;
            }
            item->status = status_before(item, fits);
            if (item->status == STATUS_DEVICE_LOST) {
                batch->order[batch->count++] = index;
            }
        }
    }
}

/* Chunks may still be under way after a failure: they end before their memory is given back. Those
 * not taken home share the failure. */
template <typename semiring>
static void run_kind(struct batch *batch, uint32_t item_count, enum kind kind)
{
    choose_items(batch, item_count, kind, sizeof(typename semiring::element));
    enum status status = run_chunks<semiring>(batch);
    const enum status drained = try_translate(cudaStreamSynchronize(batch->gpu->stream));
    release(batch);
    status = drained == STATUS_OK ? status : drained;
    for (uint32_t index = 0; index < batch->count && status != STATUS_OK; ++index) {
        struct solve_item *item = &batch->items[batch->order[index]];
        item->status = item->status == STATUS_DEVICE_LOST ? status : item->status;
    }
}

static void set_all(struct solve_item *items, uint32_t count, enum status status)
{
    for (uint32_t index = 0; index < count; ++index) {
        items[index].status = status;
    }
}

void gpu_solve_batch(struct gpu *gpu, struct solve_item *items, uint32_t count)
{
    struct batch batch = {};
    for (uint32_t index = 0; index < count; ++index) {
        const struct solve_item *item = &items[index];
        CHECK(item->matrix->kind != KIND_U2 && item->matrix->kind != KIND_AUTO);
        CHECK(item->graph->vertex_count <= GPU_BATCH_VERTICES);
        CHECK(item->graph->vertex_count == item->matrix->vertex_count);
    }
    const enum status status = try_translate(cudaSetDevice(gpu->ordinal));
    set_all(items, count, status); /* of a graph without vertices this is all */
    if (status != STATUS_OK) {
        return;
    }
    batch.gpu = gpu;
    batch.items = items;
    batch.order = (uint32_t *)calloc(count > 0 ? count : 1, sizeof(*batch.order));
    batch.pieces = (struct staging_piece *)calloc(count > 0 ? count : 1, sizeof(*batch.pieces));
    if (batch.order == NULL || batch.pieces == NULL) {
        set_all(items, count, STATUS_NO_MEMORY);
    } else {
        run_kind<semiring_i4>(&batch, count, KIND_I4);
        run_kind<semiring_f4_signed>(&batch, count, KIND_F4);
        run_kind<semiring_f8>(&batch, count, KIND_F8);
    }
    free(batch.pieces);
    free(batch.order);
}
