#include "server/store/graph_stream.h"

#include "proto/check.h"
#include "server/store/graph_writing.h"
#include "server/store/identity_hash.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Blocks that were used and are kept for the next edges: their pages are there already. */
#define SPARES 16
/* Beside that of whoever began: what is computed gives way to answers, as in libuv's pool. */
#define NICENESS 5

/* One that takes all blocks in turn, on a thread of its own. */
struct taker {
    enum status (*take)(struct graph_stream *stream, const struct row_block *block, size_t edges);
    uint64_t taken; /* blocks */
    enum status status;
};

enum { DIGESTER, WRITER, TAKERS };

struct graph_stream {
    struct row_stream rows;
    gnutls_hash_hd_t hash;         /* of the digester; NULL: taken */
    struct graph_writing *writing; /* of the writer; NULL before its first block, or taken */
    int its_folder;                /* of whoever began */
    int folder;                    /* the same, for as long as the threads may need it */
    uint64_t edge_limit;
    uint64_t block_limit;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t news;  /* for the threads */
    pthread_cond_t left;  /* one of them */
    struct taker taker[TAKERS];
    struct row_block **blocks; /* by number; NULL once both have it */
    uint64_t given;            /* to be filled, the last of which still fills */
    struct row_block *spare[SPARES];
    size_t spares;
    bool ended;   /* no block fills any more: the threads take what is there, and leave */
    bool stopped; /* they leave */
    unsigned holders;
};

static atomic_bool in_use;
/* Of the one there is: announced and not yet written. */
static atomic_uint_fast64_t bytes_to_come;

uint64_t graph_stream_bytes_to_come(void)
{
    return atomic_load(&bytes_to_come);
}

static enum status digest(struct graph_stream *stream, const struct row_block *block, size_t edges)
{
    return identity_hash_edges(stream->hash, block->target, block->weight, sizeof block->weight[0],
                               edges) == 0
               ? STATUS_OK
               : STATUS_NO_MEMORY;
}

/* The file is made here: whoever began does not wait for the disk. */
static enum status write_block(struct graph_stream *stream, const struct row_block *block,
                               size_t edges)
{
    enum status status = STATUS_OK;
    if (stream->writing == NULL) {
        status = graph_writing_begin(stream->folder, stream->edge_limit, WEIGHT_INTEGER,
                                     &stream->writing);
    }
    return status == STATUS_OK
               ? graph_writing_add(stream->writing, block->target, block->weight, edges)
               : status;
}

/* ---- Its threads and its end ---- */

static void free_stream(struct graph_stream *stream)
{
    for (uint64_t number = 0; number < stream->given; number++) {
        free(stream->blocks[number]);
    }
    while (stream->spares > 0) {
        free(stream->spare[--stream->spares]);
    }
    free(stream->blocks);
    graph_writing_drop(stream->writing);
    if (stream->hash != NULL) {
        gnutls_hash_deinit(stream->hash, NULL);
    }
    close(stream->folder);
    pthread_cond_destroy(&stream->left);
    pthread_cond_destroy(&stream->news);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
    atomic_store(&in_use, false);
}

/* One of the threads: locked before, unlocked after. The last one frees all. */
static void leave(struct graph_stream *stream)
{
    const bool last = --stream->holders == 0;
    pthread_cond_broadcast(&stream->left);
    pthread_mutex_unlock(&stream->lock);
    if (last) {
        free_stream(stream);
    }
}

/* Locked before and after, as all that counts the bytes is. */
static void stop_locked(struct graph_stream *stream)
{
    stream->stopped = true;
    atomic_store(&bytes_to_come, 0);
    pthread_cond_broadcast(&stream->news);
}

static uint64_t full_blocks(const struct graph_stream *stream)
{
    return stream->given > 0 ? stream->given - 1 : 0;
}

/* Memory that is not needed any more, to be freed without the lock: NULL where it is kept. */
static struct row_block *give_back_block(struct graph_stream *stream, uint64_t number)
{
    struct row_block *block = stream->blocks[number];
    stream->blocks[number] = NULL;
    if (stream->spares < SPARES) {
        stream->spare[stream->spares++] = block;
        block = NULL;
    }
    return block;
}

static void count_written(const struct graph_stream *stream, enum status status)
{
    if (status != STATUS_OK) {
        atomic_store(&bytes_to_come, 0);
    } else if (!stream->stopped) {
        atomic_fetch_sub(&bytes_to_come, ROW_BLOCK_EDGES * GRAPH_STREAM_BYTES_PER_EDGE);
    }
}

static struct row_block *note_taken(struct graph_stream *stream, struct taker *taker)
{
    const uint64_t number = taker->taken++;
    for (size_t i = 0; i < TAKERS; i++) {
        if (stream->taker[i].taken <= number) {
            return NULL;
        }
    }
    return give_back_block(stream, number);
}

/* Locked before and after. False when there is nothing more to do. */
static bool wait_for_block(struct graph_stream *stream, const struct taker *taker)
{
    while (!stream->stopped && !stream->ended && taker->taken == full_blocks(stream)) {
        pthread_cond_wait(&stream->news, &stream->lock);
    }
    return !stream->stopped && taker->taken < full_blocks(stream);
}

static void run(struct graph_stream *stream, struct taker *taker)
{
    const id_t thread = (id_t)gettid();
    struct row_block *left_over = NULL;
    (void)setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + NICENESS);
    pthread_mutex_lock(&stream->lock);
    while (taker->status == STATUS_OK && wait_for_block(stream, taker)) {
        const struct row_block *block = stream->blocks[taker->taken];
        pthread_mutex_unlock(&stream->lock);
        const enum status status = taker->take(stream, block, ROW_BLOCK_EDGES);
        free(left_over);
        left_over = NULL;
        pthread_mutex_lock(&stream->lock);
        taker->status = status;
        if (taker == &stream->taker[WRITER]) {
            count_written(stream, status);
        }
        if (status == STATUS_OK) {
            left_over = note_taken(stream, taker);
        }
    }
    leave(stream);
    free(left_over);
}

static void *run_digester(void *context)
{
    struct graph_stream *stream = context;
    run(stream, &stream->taker[DIGESTER]);
    return NULL;
}

static void *run_writer(void *context)
{
    struct graph_stream *stream = context;
    run(stream, &stream->taker[WRITER]);
    return NULL;
}

/* On a thread that nobody waits for. */
static bool start(struct graph_stream *stream, void *(*work)(void *context))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, stream) != 0) {
        return false;
    }
    pthread_detach(thread);
    return true;
}

static bool start_taker(struct graph_stream *stream, void *(*run_taker)(void *context))
{
    pthread_mutex_lock(&stream->lock);
    const bool started = start(stream, run_taker);
    stream->holders += started ? 1 : 0;
    pthread_mutex_unlock(&stream->lock);
    return started;
}

static void *run_freeing(void *context)
{
    free_stream(context);
    return NULL;
}

void graph_stream_drop(struct graph_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    pthread_mutex_lock(&stream->lock);
    stop_locked(stream);
    const bool last = --stream->holders == 0;
    pthread_mutex_unlock(&stream->lock);
    /* Closing a large file without a name takes long. */
    if (last && (stream->writing == NULL || !start(stream, run_freeing))) {
        free_stream(stream);
    }
}

/* For the threads to have left. */
static void wait_for_threads(struct graph_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    pthread_cond_broadcast(&stream->news);
    while (stream->holders > 1) {
        pthread_cond_wait(&stream->left, &stream->lock);
    }
    pthread_mutex_unlock(&stream->lock);
}

/* ---- As a row_stream ---- */

/* Memory for a block: one that was used, if there is any. */
static struct row_block *get_block(struct graph_stream *stream)
{
    struct row_block *block = NULL;
    pthread_mutex_lock(&stream->lock);
    if (stream->spares > 0) {
        block = stream->spare[--stream->spares];
    }
    pthread_mutex_unlock(&stream->lock);
    return block != NULL ? block : malloc(sizeof *block);
}

static struct row_block *next(struct row_stream *rows)
{
    struct graph_stream *stream = (struct graph_stream *)rows;
    struct row_block *block = stream->given < stream->block_limit ? get_block(stream) : NULL;
    if (block == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&stream->lock);
    stream->blocks[stream->given++] = block;
    pthread_cond_broadcast(&stream->news);
    pthread_mutex_unlock(&stream->lock);
    return block;
}

/* The last block is taken here: it is not full. */
static enum status end(struct row_stream *rows, size_t edges)
{
    struct graph_stream *stream = (struct graph_stream *)rows;
    enum status status = STATUS_OK;
    CHECK(stream->given > 0);
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    pthread_mutex_unlock(&stream->lock);
    wait_for_threads(stream);
    for (size_t i = 0; i < TAKERS && status == STATUS_OK; i++) {
        struct taker *taker = &stream->taker[i];
        if (taker->status == STATUS_OK) {
            taker->status = taker->take(stream, stream->blocks[stream->given - 1], edges);
        }
        status = taker->status;
    }
    atomic_store(&bytes_to_come, 0);
    return status;
}

static void stop(struct row_stream *rows)
{
    struct graph_stream *stream = (struct graph_stream *)rows;
    pthread_mutex_lock(&stream->lock);
    stop_locked(stream);
    pthread_mutex_unlock(&stream->lock);
}

/* From memory while a thread still has to take it, which none does any more, else from the file. */
static enum status read_block(struct row_stream *rows, uint64_t number, size_t edges,
                              uint32_t *targets, int32_t *weights)
{
    struct graph_stream *stream = (struct graph_stream *)rows;
    CHECK(number < stream->given && edges <= ROW_BLOCK_EDGES);
    CHECK(stream->ended || stream->stopped);
    wait_for_threads(stream);
    struct row_block *block = stream->blocks[number];
    if (block == NULL) {
        CHECK(edges == ROW_BLOCK_EDGES && number < stream->taker[WRITER].taken);
        return graph_writing_read(stream->writing, number, targets, weights);
    }
    memcpy(targets, block->target, edges * sizeof *targets);
    if (weights != NULL) {
        memcpy(weights, block->weight, edges * sizeof *weights);
        free(block);
        stream->blocks[number] = NULL;
    }
    return STATUS_OK;
}

struct row_stream *graph_stream_rows(struct graph_stream *stream)
{
    return &stream->rows;
}

/* ---- Whole ---- */

static const struct row_stream_class stream_class = {next, end, stop, read_block};

/* Without its threads. */
static struct graph_stream *create(int folder, uint64_t edge_limit)
{
    struct graph_stream *stream = malloc(sizeof *stream);
    if (stream == NULL) {
        return NULL;
    }
    *stream = (struct graph_stream){
        .rows = {&stream_class},
        .its_folder = folder,
        .folder = openat(folder, ".", O_DIRECTORY | O_RDONLY | O_CLOEXEC),
        .edge_limit = edge_limit,
        .block_limit = edge_limit / ROW_BLOCK_EDGES + 1,
        .taker = {[DIGESTER] = {.take = digest}, [WRITER] = {.take = write_block}},
        .holders = 1,
    };
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->news, NULL);
    pthread_cond_init(&stream->left, NULL);
    stream->blocks = calloc(stream->block_limit, sizeof(struct row_block *));
    return stream;
}

static bool start_threads(struct graph_stream *stream)
{
    return start_taker(stream, run_digester) && start_taker(stream, run_writer);
}

struct graph_stream *graph_stream_begin(int folder, uint64_t edge_limit)
{
    if (atomic_exchange(&in_use, true)) {
        return NULL;
    }
    struct graph_stream *stream = create(folder, edge_limit);
    if (stream == NULL) {
        atomic_store(&in_use, false);
        return NULL;
    }
    atomic_store(&bytes_to_come, edge_limit * GRAPH_STREAM_BYTES_PER_EDGE);
    if (stream->blocks == NULL || stream->folder < 0 || identity_hash_begin(&stream->hash) != 0 ||
        !start_threads(stream)) {
        graph_stream_drop(stream);
        return NULL;
    }
    return stream;
}

gnutls_hash_hd_t graph_stream_take_hash(struct graph_stream *stream)
{
    gnutls_hash_hd_t hash = stream->hash;
    CHECK(hash != NULL);
    stream->hash = NULL;
    return hash;
}

enum status graph_stream_take_draft(struct graph_stream *stream, const struct graph *graph,
                                    struct graph_draft *ret_draft)
{
    struct graph_writing *writing = stream->writing;
    CHECK(writing != NULL);
    stream->writing = NULL;
    const enum status status = graph_writing_end(writing, graph, ret_draft);
    if (status == STATUS_OK) {
        ret_draft->file.folder = stream->its_folder;
    }
    return status;
}
