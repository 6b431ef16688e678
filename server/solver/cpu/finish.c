/* Makes three passes over the matrix. First the upper half of a symmetric matrix is mirrored, tile
 * by tile. Then the tiles of each band become rows, whose columns are permuted to the order of the
 * vertices. Last, the rows are permuted. The tiles and the rows of a band overlap in memory, so
 * each thread converts a band through a copy of it; if the tiles are stored separately, each row is
 * written to its final place through a copy of a few rows. The first of several ranks has the
 * matrix; it receives the bands of the other ranks a few at a time. */
#include "server/solver/cpu/finish.h"

#include "proto/decimals.h"
#include "proto/statistics_rows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Number of 4-byte elements per cache line: the transposition works on whole cache lines. */
#define LINE 16
/* Bytes of each row that a task of move_stripe moves: few enough for many tasks, and enough to
 * stream. */
#define STRIPE_BYTES 2048
/* Number of rows that are copied at once from separate tiles: few enough to stay in the cache. */
#define ROWS_COPIED 8
/* A system call faults in the pages of a row of at least this size, because that is three times as
 * fast as page faults. */
#define POPULATE_BYTES ((size_t)32 << 10)

/* Mirroring takes about this share of the time of the passes over a symmetric matrix. */
#define MIRROR_SHARE 0.4
/* The first of the two statistics passes takes about this share of their time. */
#define REDUCE_SHARE 0.43

struct finish {
    const struct cpu_tiles *tiles;
    const struct cpu_solve_options *options;
    struct matrix *matrix;
    bool beside;           /* the tiles are stored outside the matrix */
    unsigned char *copies; /* per thread: a band or ROWS_COPIED rows, and one permuted row */
    size_t copied_rows;
    size_t copy_bytes;
    unsigned char *bands; /* first rank only: buffer for the received bands of other ranks */
    size_t band_bytes;
    unsigned char *other_band; /* the received band whose tiles are to be mirrored */
    uint32_t other;            /* index of the received band */
    uint32_t first;            /* first band of the current step */
    uint32_t *leaders;         /* one row of each cycle of the permutation */
    uint32_t leader_count;
    atomic_bool exceeds; /* a distance does not fit u2 */
};

/* Transposes a block. `size` is constant in each call, so that the loops are specialized. */
static inline void transpose_block(struct cpu_block from, struct cpu_block to, size_t size)
{
    const unsigned char *source = from.elements;
    unsigned char *target = to.elements;
    for (size_t row0 = 0; row0 < from.rows; row0 += LINE) {
        const size_t row1 = from.rows - row0 < LINE ? from.rows : row0 + LINE;
        for (size_t column = 0; column < from.columns; column++) {
            for (size_t row = row0; row < row1; row++) {
                memcpy(target + (column * to.stride + row) * size,
                       source + (row * from.stride + column) * size, size);
            }
        }
    }
}

static void mirror_tile(struct cpu_block from, struct cpu_block to, size_t size)
{
    if (size == sizeof(uint16_t)) {
        transpose_block(from, to, sizeof(uint16_t));
    } else if (size == sizeof(uint32_t)) {
        transpose_block(from, to, sizeof(uint32_t));
    } else {
        transpose_block(from, to, sizeof(uint64_t));
    }
}

/* Mirrors a band. The diagonal tile is mirrored too, because floats on the two sides of the
 * diagonal may differ by rounding. */
static void mirror_band(const struct cpu_tiles *tiles, uint32_t band)
{
    const size_t size = tiles->element_bytes;
    if (!cpu_tiles_has(tiles, band)) {
        return;
    }
    const struct cpu_block own = cpu_tiles_block(tiles, band, band);
    unsigned char *elements = own.elements;
    for (size_t row = 1; row < own.rows; row++) {
        for (size_t column = 0; column < row; column++) {
            memcpy(elements + (column * own.stride + row) * size,
                   elements + (row * own.stride + column) * size, size);
        }
    }
    for (uint32_t tile = band + 1; tiles->ranks == NULL && tile < tiles->tile_count; tile++) {
        mirror_tile(cpu_tiles_block(tiles, tile, band), cpu_tiles_block(tiles, band, tile), size);
    }
}

/* A task mirrors a band near the start and one near the end, so that all tasks take equal time. */
static void mirror_bands(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct cpu_tiles *tiles = ((const struct finish *)context)->tiles;
    const uint32_t other = tiles->tile_count - 1 - (uint32_t)task;
    mirror_band(tiles, (uint32_t)task);
    if (other != task) {
        mirror_band(tiles, other);
    }
}

/* A task mirrors one tile of the received band into a band above it. */
static void mirror_other(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct finish *finish = context;
    const struct cpu_tiles *tiles = finish->tiles;
    const uint32_t band = (uint32_t)task;
    const uint32_t rows = cpu_tiles_width(tiles, finish->other);
    const uint32_t columns = cpu_tiles_width(tiles, band);
    const struct cpu_block from = {finish->other_band +
                                       (size_t)tiles->begin[band] * rows * tiles->element_bytes,
                                   columns, rows, columns};
    if (cpu_tiles_has(tiles, band)) {
        mirror_tile(from, cpu_tiles_block(tiles, band, finish->other), tiles->element_bytes);
    }
}

/* Mirrors bands of other ranks. A band begins with the tiles left of the diagonal, without gaps. */
static enum status mirror_others(struct cpu_pool *pool, struct finish *finish)
{
    const struct cpu_tiles *tiles = finish->tiles;
    const struct ranks *ranks = tiles->ranks;
    const size_t row_bytes = (size_t)tiles->vertex_count * tiles->element_bytes;
    unsigned char *storage = malloc(CPU_TILE * row_bytes + 1);
    const enum status status = ranks_agree(ranks, storage != NULL ? STATUS_OK : STATUS_NO_MEMORY);
    for (uint32_t band = 1; status == STATUS_OK && band < tiles->tile_count; band++) {
        const size_t size =
            (size_t)tiles->begin[band] * cpu_tiles_width(tiles, band) * tiles->element_bytes;
        finish->other = band;
        finish->other_band =
            cpu_tiles_has(tiles, band) ? cpu_tiles_block(tiles, band, 0).elements : storage;
        ranks_broadcast(ranks, finish->other_band, size, cpu_tiles_rank_of(tiles, band));
        cpu_pool_run(pool, band, mirror_other, finish);
    }
    free(storage);
    return status;
}

/* Returns a band that is stored here or was received from another rank. */
static const unsigned char *band_elements(const struct finish *finish, uint32_t band)
{
    return cpu_tiles_has(finish->tiles, band)
               ? cpu_tiles_block(finish->tiles, band, 0).elements
               : finish->bands + (band - finish->first) * finish->band_bytes;
}

/* Copies rows [first, end) of a band from tiles to row-major form, in the plan's vertex order. */
static void copy_rows(const struct finish *finish, uint32_t band, uint32_t first, uint32_t end,
                      unsigned char *ret_copy)
{
    const struct cpu_tiles *tiles = finish->tiles;
    const size_t size = tiles->element_bytes;
    const unsigned char *block = band_elements(finish, band);
    for (uint32_t tile = 0; tile < tiles->tile_count; tile++) {
        unsigned char *to = ret_copy + tiles->begin[tile] * size;
        const size_t columns = cpu_tiles_width(tiles, tile);
        for (uint32_t row = first; row < end; row++) {
            memcpy(to + (row - first) * size * tiles->vertex_count, block + row * size * columns,
                   columns * size);
        }
        block += cpu_tiles_width(tiles, band) * columns * size;
    }
}

/* Permutes a row's columns. `size` is constant in each call, so that the loops are specialized. */
static inline void permute_row(const unsigned char *row, const uint32_t *position_of, uint32_t n,
                               unsigned char *ret_row, size_t size)
{
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        memcpy(ret_row + vertex * size, row + position_of[vertex] * size, size);
    }
}

/* Permutes the columns from the order of the plan to the order of the vertices. */
static void order_row(const struct cpu_tiles *tiles, const unsigned char *row,
                      unsigned char *ret_row)
{
    const uint32_t n = tiles->vertex_count;
    if (tiles->element_bytes == sizeof(uint16_t)) {
        permute_row(row, tiles->position_of, n, ret_row, sizeof(uint16_t));
    } else if (tiles->element_bytes == sizeof(uint32_t)) {
        permute_row(row, tiles->position_of, n, ret_row, sizeof(uint32_t));
    } else {
        permute_row(row, tiles->position_of, n, ret_row, sizeof(uint64_t));
    }
}

/* Converts a row to u2. Returns false if a distance does not fit. */
static bool convert_row_to_u2(const struct cpu_tiles *tiles, const void *row, uint16_t *ret_row)
{
    const int16_t *narrow = row;
    const int32_t *wide = row;
    const uint32_t n = tiles->vertex_count;
    bool fits = true;
    if (tiles->arithmetic == ARITHMETIC_NARROW) {
        for (uint32_t i = 0; i < n; i++) {
            ret_row[i] = narrow[i] == NARROW_UNREACHABLE ? UNREACHABLE_U2 : (uint16_t)narrow[i];
        }
        return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        fits &= wide[i] == UNREACHABLE_I4 || (wide[i] >= 0 && wide[i] < UNREACHABLE_U2);
        ret_row[i] = wide[i] == UNREACHABLE_I4 ? UNREACHABLE_U2 : (uint16_t)wide[i];
    }
    return fits;
}

/* Widens 16-bit integers, and makes unreachable integers canonical. */
static void convert_row(const struct cpu_tiles *tiles, const void *row, int32_t *ret_row)
{
    const int16_t *narrow = row;
    const int32_t *wide = row;
    const uint32_t n = tiles->vertex_count; /* a local copy, because ret_row might alias it */
    if (tiles->arithmetic == ARITHMETIC_NARROW) {
        for (uint32_t i = 0; i < n; i++) {
            ret_row[i] = narrow[i] == NARROW_UNREACHABLE ? UNREACHABLE_I4 : narrow[i];
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        ret_row[i] = wide[i] > UNREACHABLE_I4_DRIFT ? UNREACHABLE_I4 : wide[i];
    }
}

static bool is_converted(const struct finish *finish)
{
    return finish->tiles->arithmetic == ARITHMETIC_NARROW || finish->matrix->kind == KIND_U2 ||
           (finish->options->negative && finish->tiles->arithmetic == ARITHMETIC_I4);
}

/* Converts a row of a band to a row of the matrix. spare: scratch space for one row. Scaled
 * integers are divided by 10^decimals in place, after the columns are permuted. */
static void write_row(struct finish *finish, const unsigned char *row, unsigned char *spare,
                      unsigned char *to)
{
    const struct cpu_tiles *tiles = finish->tiles;
    const uint32_t n = tiles->vertex_count;
    const uint32_t decimals = finish->options->decimals;
    if (!is_converted(finish) && tiles->position_of == NULL) {
        memcpy(to, row, (size_t)n * tiles->element_bytes);
    } else if (!is_converted(finish)) {
        order_row(tiles, row, to);
    } else {
        if (tiles->position_of != NULL) {
            order_row(tiles, row, spare);
            row = spare;
        }
        if (finish->matrix->kind != KIND_U2) {
            convert_row(tiles, row, (int32_t *)(void *)to);
        } else if (!convert_row_to_u2(tiles, row, (uint16_t *)(void *)to)) {
            atomic_store(&finish->exceeds, true);
        }
    }
    if (decimals > 0) {
        const enum kind kind = tiles->arithmetic == ARITHMETIC_F8 ? KIND_F8 : KIND_I4;
        decimals_divide_all(to, kind, decimals, n, (double *)(void *)to);
    }
}

/* Returns the number of tasks per band: one, or one per group of rows that is copied at once. */
static uint32_t tasks_of_band(const struct finish *finish)
{
    return finish->beside ? CPU_TILE / ROWS_COPIED : 1;
}

static void finish_rows(void *context, uint32_t thread, uint64_t task)
{
    struct finish *finish = context;
    const struct cpu_tiles *tiles = finish->tiles;
    const uint32_t band = finish->first + (uint32_t)(task / tasks_of_band(finish));
    const uint32_t width = cpu_tiles_width(tiles, band);
    const uint32_t copied = finish->beside ? ROWS_COPIED : width;
    const uint32_t first = (uint32_t)(task % tasks_of_band(finish)) * copied;
    const uint32_t end = first + copied < width ? first + copied : width;
    const size_t from_bytes = (size_t)tiles->vertex_count * tiles->element_bytes;
    const size_t to_bytes = (size_t)tiles->vertex_count * kind_size(finish->matrix->kind);
    unsigned char *copy = finish->copies + thread * finish->copy_bytes;
    if (first < end) {
        copy_rows(finish, band, first, end, copy);
    }
    for (uint32_t i = first; i < end; i++) {
        const unsigned char *row = copy + (i - first) * from_bytes;
        const uint32_t position = tiles->begin[band] + i;
        const size_t place = finish->beside && tiles->position_of != NULL
                                 ? tiles->plan->vertex_at[position]
                                 : position;
        unsigned char *to = (unsigned char *)finish->matrix->elements + place * to_bytes;
        if (finish->beside && to_bytes >= POPULATE_BYTES) {
            const size_t ahead = (uintptr_t)to % (size_t)sysconf(_SC_PAGESIZE);
            (void)madvise(to - ahead, to_bytes + ahead, MADV_POPULATE_WRITE);
        }
        write_row(finish, row, copy + finish->copied_rows * from_bytes, to);
    }
}

/* On the first rank, receives the bands [first, end) of the other ranks. */
static void gather_bands(const struct finish *finish, uint32_t end)
{
    const struct cpu_tiles *tiles = finish->tiles;
    const struct ranks *ranks = tiles->ranks;
    for (uint32_t band = finish->first; ranks != NULL && band < end; band++) {
        const uint32_t from = cpu_tiles_rank_of(tiles, band);
        const size_t size = (size_t)tiles->vertex_count * tiles->element_bytes;
        if (from != 0 && (ranks->rank == 0 || ranks->rank == from)) {
            ranks->gather(ranks->context, (void *)band_elements(finish, band),
                          size * cpu_tiles_width(tiles, band), from);
        }
    }
}

static enum status allocate_copies(const struct cpu_pool *pool, struct finish *finish)
{
    const struct cpu_tiles *tiles = finish->tiles;
    const size_t row_bytes = (size_t)tiles->vertex_count * tiles->element_bytes;
    size_t most = finish->beside ? ROWS_COPIED : 0;
    for (uint32_t tile = 0; tile < tiles->tile_count && !finish->beside; tile++) {
        const size_t width = cpu_tiles_width(tiles, tile);
        most = width > most ? width : most;
    }
    finish->copied_rows = most;
    finish->copy_bytes = (most + 1) * row_bytes;
    /* Keeps the rows of the next thread aligned, even after an odd number of 2-byte elements. */
    finish->copy_bytes += -finish->copy_bytes % sizeof(uint64_t);
    finish->copies = malloc(finish->copy_bytes * cpu_pool_threads(pool) + 1);
    if (tiles->ranks != NULL && tiles->ranks->rank == 0) {
        finish->band_bytes = CPU_TILE * row_bytes;
        finish->bands = malloc(tiles->ranks->count * finish->band_bytes + 1);
    }
    const bool enough =
        finish->copies != NULL && (finish->bands != NULL || finish->band_bytes == 0);
    return ranks_agree(tiles->ranks, enough ? STATUS_OK : STATUS_NO_MEMORY);
}

static enum status finish_bands(struct cpu_pool *pool, struct finish *finish)
{
    const struct cpu_tiles *tiles = finish->tiles;
    const struct ranks *ranks = tiles->ranks;
    const enum status status = allocate_copies(pool, finish);
    for (uint32_t end = status == STATUS_OK ? tiles->tile_count : 0; end > 0; end = finish->first) {
        /* Bands [first, end) may be converted in parallel once all later bands are done: elements
         * widen by a factor of two or four, so a band moves two or four times as far into the
         * storage. Without widening, or with rows stored elsewhere, all bands may be converted in
         * parallel. A rank converts one band at a time. */
        const uint64_t widening = kind_size(finish->matrix->kind) / tiles->element_bytes;
        const uint32_t *begin = tiles->begin;
        finish->first = widening > 1 && !finish->beside ? end - 1 : 0;
        while (finish->first > 0 && widening * begin[finish->first - 1] >= begin[end]) {
            finish->first--;
        }
        if (ranks != NULL && end > ranks->count) {
            finish->first = end - ranks->count;
        }
        const double mirrored = finish->options->symmetric ? MIRROR_SHARE : 0;
        const double share = (1 - mirrored) / tiles->tile_count;
        gather_bands(finish, end);
        if (ranks_is_first(ranks)) {
            cpu_pool_watch(pool, finish->options->observer, PHASE_WRITING,
                           mirrored + share * (tiles->tile_count - end),
                           share * (end - finish->first));
            cpu_pool_run(pool, (uint64_t)(end - finish->first) * tasks_of_band(finish), finish_rows,
                         finish);
        }
    }
    free(finish->copies);
    free(finish->bands);
    return status;
}

/* Permutes rows. A permutation consists of cycles: along each cycle, rows move by one place, and
 * the first row is held in a buffer. A task moves a stripe of every row, so that one long cycle
 * occupies all threads. */
static void move_stripe(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct finish *finish = context;
    const uint32_t *position_of = finish->tiles->position_of;
    const size_t row_bytes = (size_t)finish->matrix->vertex_count * kind_size(finish->matrix->kind);
    const size_t begin = task * STRIPE_BYTES;
    const size_t size = row_bytes - begin < STRIPE_BYTES ? row_bytes - begin : STRIPE_BYTES;
    unsigned char *stripe = (unsigned char *)finish->matrix->elements + begin;
    unsigned char held[STRIPE_BYTES];
    for (uint32_t i = 0; i < finish->leader_count; i++) {
        const uint32_t leader = finish->leaders[i];
        uint32_t row = leader;
        memcpy(held, stripe + leader * row_bytes, size);
        for (uint32_t from; (from = position_of[row]) != leader; row = from) {
            memcpy(stripe + row * row_bytes, stripe + from * row_bytes, size);
        }
        memcpy(stripe + row * row_bytes, held, size);
    }
}

static enum status order_rows(struct cpu_pool *pool, struct finish *finish)
{
    const uint32_t n = finish->tiles->vertex_count;
    const uint32_t *position_of = finish->tiles->position_of;
    const size_t row_bytes = (size_t)n * kind_size(finish->matrix->kind);
    bool *seen = calloc((size_t)n + 1, sizeof(*seen));
    finish->leaders = malloc(((size_t)n + 1) * sizeof(*finish->leaders));
    if (seen == NULL || finish->leaders == NULL) {
        free(seen);
        free(finish->leaders);
        return STATUS_NO_MEMORY;
    }
    for (uint32_t row = 0; row < n; row++) {
        if (!seen[row] && position_of[row] != row) {
            finish->leaders[finish->leader_count++] = row;
        }
        for (uint32_t at = row; !seen[at]; at = position_of[at]) {
            seen[at] = true;
        }
    }
    cpu_pool_run(pool, (row_bytes + STRIPE_BYTES - 1) / STRIPE_BYTES, move_stripe, finish);
    free(seen);
    free(finish->leaders);
    return STATUS_OK;
}

enum status cpu_finish_run(struct cpu_pool *pool, const struct cpu_tiles *tiles,
                           const struct cpu_solve_options *options, struct matrix *matrix)
{
    const bool beside = tiles->ranks != NULL || tiles->elements != matrix->elements;
    struct finish finish = {.tiles = tiles, .options = options, .matrix = matrix, .beside = beside};
    const bool ordered = tiles->position_of != NULL;
    enum status status = STATUS_OK;
    if (options->symmetric) {
        cpu_pool_watch(pool, options->observer, PHASE_WRITING, 0, MIRROR_SHARE);
        cpu_pool_run(pool, (tiles->tile_count + (uint64_t)1) / 2, mirror_bands, &finish);
    }
    if (options->symmetric && tiles->ranks != NULL) {
        status = mirror_others(pool, &finish);
    }
    if (status != STATUS_OK || (tiles->tile_count <= 1 && !ordered && !beside &&
                                !is_converted(&finish) && options->decimals == 0)) {
        return status;
    }
    status = finish_bands(pool, &finish);
    if (status == STATUS_OK && atomic_load(&finish.exceeds)) {
        return STATUS_WEIGHT_RANGE;
    }
    return status == STATUS_OK && ordered && !beside ? order_rows(pool, &finish) : status;
}

uint64_t cpu_finish_bytes(uint32_t threads, uint32_t vertex_count, enum arithmetic arithmetic)
{
    const uint64_t band = vertex_count < CPU_TILE ? vertex_count : CPU_TILE;
    return threads * (band + 1) * vertex_count * cpu_tiles_element_bytes(arithmetic);
}

static const void *row_at(const struct matrix *matrix, uint32_t row)
{
    return (const char *)matrix->elements +
           (size_t)row * matrix->vertex_count * kind_size(matrix->kind);
}

/* Rows that one task of the pool reads. */
#define TASK_ROWS 16

struct reduction {
    const struct matrix *matrix;
    struct statistics *statistics;
    _Atomic double lowest; /* smallest distance if it is negative, else 0 */
    atomic_uint_least64_t bins[STATISTICS_BINS];
};

/* Returns the row after the last row that a task reads. */
static uint32_t task_end(const struct matrix *matrix, uint64_t task)
{
    const uint64_t end = (task + 1) * TASK_ROWS;
    return end < matrix->vertex_count ? (uint32_t)end : matrix->vertex_count;
}

static void reduce_rows(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    struct reduction *reduction = context;
    const struct matrix *matrix = reduction->matrix;
    const uint32_t end = task_end(matrix, task);
    double lowest = 0;
    for (uint32_t row = (uint32_t)(task * TASK_ROWS); row < end; row++) {
        statistics_kernel()->reduce(reduction->statistics, row, matrix->kind, row_at(matrix, row),
                                    &lowest);
    }
    double known = atomic_load(&reduction->lowest);
    while (lowest < known && !atomic_compare_exchange_weak(&reduction->lowest, &known, lowest)) {
    }
}

static void count_rows(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    struct reduction *reduction = context;
    const uint32_t end = task_end(reduction->matrix, task);
    uint32_t bins[STATISTICS_BINS + 1] = {0}; /* 32 bits suffice for rows that fit in memory */
    for (uint32_t row = (uint32_t)(task * TASK_ROWS); row < end; row++) {
        statistics_kernel()->count(reduction->statistics, row, reduction->matrix->kind,
                                   row_at(reduction->matrix, row), bins);
    }
    for (uint32_t bin = 0; bin < STATISTICS_BINS; bin++) {
        if (bins[bin] != 0) {
            atomic_fetch_add_explicit(&reduction->bins[bin], bins[bin], memory_order_relaxed);
        }
    }
}

void cpu_finish_statistics(struct cpu_pool *pool, const struct matrix *matrix,
                           const struct observer *observer, struct statistics *statistics)
{
    CHECK(matrix->vertex_count == statistics->vertex_count);
    CHECK(matrix->kind == (statistics->decimals > 0 ? KIND_F8 : statistics->kind));
    struct reduction reduction = {.matrix = matrix, .statistics = statistics};
    const uint64_t tasks = ((uint64_t)matrix->vertex_count + TASK_ROWS - 1) / TASK_ROWS;
    cpu_pool_watch(pool, observer, PHASE_CHECKING, 0, REDUCE_SHARE);
    cpu_pool_run(pool, tasks, reduce_rows, &reduction);
    statistics_summarize(statistics, reduction.lowest);
    if (statistics->summary->reachable_pairs == 0) {
        return;
    }
    cpu_pool_watch(pool, observer, PHASE_CHECKING, REDUCE_SHARE, 1 - REDUCE_SHARE);
    cpu_pool_run(pool, tasks, count_rows, &reduction);
    for (uint32_t bin = 0; bin < STATISTICS_BINS; bin++) {
        statistics->summary->bins[bin] = reduction.bins[bin];
    }
}
