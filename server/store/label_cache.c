#include "server/store/label_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

#define BUDGET_MOST (UINT64_C(1) << 30)
/* Labels are allocated from blocks of this size. */
#define BLOCK_BYTES ((size_t)64 << 10)
#define LINE_BYTES 64
/* Limit on the work of one call, in steps of about 1 ns. A pair takes STEPS_PER_PAIR steps, and
 * more if its labels are long. */
#define STEPS_PER_CALL (UINT64_C(1) << 20)
#define STEPS_PER_PAIR 64
/* Labels, and elements of rows, are prefetched this many pairs ahead, because pairs access memory
 * at random. */
#define PAIRS_AHEAD 8
#define ELEMENTS_AHEAD 16
/* Rows are kept if all rows of the hierarchy take at most the budget divided by this. */
#define ROWS_PART 2
/* Labels answer a pair in the time in which sweeps compute this number of distances. */
#define DISTANCES_PER_PAIR 64
/* Rows are allocated in huge pages, because small pages take longer to fault in than a sweep. */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

struct block {
    struct block *next;
    _Alignas(LINE_BYTES) unsigned char bytes[];
};

struct label_table {
    TAILQ_ENTRY(label_table) place; /* link in cache.tables */
    struct label_table **owner;     /* NULL = detached; the last user destroys the table */
    uint32_t users;
    bool is_full; /* a label did not fit */
    uint64_t bytes;
    struct block *blocks; /* the first block has the free space */
    size_t block_left;
    uint64_t pairs_before; /* number of pairs answered by earlier calls */
    char *rows;            /* space for all rows; NULL before many pairs are answered */
    /* Labels by vertex, accessed without the lock; in a directed graph the down labels follow. The
     * last slots point to groups of HIERARCHY_LANES rows. */
    void *_Atomic label[];
};

static char busy; /* a slot has its address while a thread computes the group of rows */

static struct {
    pthread_mutex_t lock;
    TAILQ_HEAD(tables, label_table) tables; /* least recently used first */
    _Atomic uint64_t budget;
    uint64_t used;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .tables = TAILQ_HEAD_INITIALIZER(cache.tables)};

void label_cache_set_budget(uint64_t bytes)
{
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t most = memory / 4 < BUDGET_MOST ? memory / 4 : BUDGET_MOST;
    pthread_mutex_lock(&cache.lock);
    cache.budget = bytes > 0 ? bytes : most;
    pthread_mutex_unlock(&cache.lock);
}

uint64_t label_cache_used(void)
{
    pthread_mutex_lock(&cache.lock);
    const uint64_t used = cache.used;
    pthread_mutex_unlock(&cache.lock);
    return used;
}

bool label_cache_keeps_rows(uint32_t vertex_count, enum kind kind)
{
    const uint64_t row_bytes = (uint64_t)vertex_count * kind_size(kind);
    return vertex_count == 0 || row_bytes <= atomic_load(&cache.budget) / ROWS_PART / vertex_count;
}

/* ---- Tables; the lock is held ---- */

static bool charge(struct label_table *table, uint64_t bytes)
{
    if (cache.used + bytes > cache.budget) {
        return false;
    }
    cache.used += bytes;
    table->bytes += bytes;
    return true;
}

static void uncharge(struct label_table *table, uint64_t bytes)
{
    cache.used -= bytes;
    table->bytes -= bytes;
}

static size_t table_bytes(const struct hierarchy *hierarchy)
{
    const size_t n = hierarchy->summary.vertex_count;
    const size_t slots = n * (hierarchy->summary.directed ? 2 : 1) + n / HIERARCHY_LANES + 1;
    return sizeof(struct label_table) + slots * sizeof(void *);
}

static void destroy_table(struct label_table *table)
{
    while (table->blocks != NULL) {
        struct block *block = table->blocks;
        table->blocks = block->next;
        free(block);
    }
    cache.used -= table->bytes;
    free(table);
}

static void detach_table(struct label_table *table)
{
    TAILQ_REMOVE(&cache.tables, table, place);
    *table->owner = NULL;
    table->owner = NULL;
    if (table->users == 0) {
        destroy_table(table);
    }
}

/* Creates a hierarchy's table; *owner stays NULL if the budget or the memory is insufficient. */
static void create_table(struct label_table **owner, const struct hierarchy *hierarchy)
{
    const size_t bytes = table_bytes(hierarchy);
    struct label_table *table = calloc(1, bytes);
    if (table != NULL && charge(table, bytes)) {
        table->owner = owner;
        TAILQ_INSERT_HEAD(&cache.tables, table, place);
        *owner = table;
    } else {
        free(table);
    }
}

/* Allocates space for labels or rows; NULL if the budget is used up. */
static void *allocate(struct label_table *table, size_t bytes)
{
    bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    if (table->block_left < bytes && !table->is_full) {
        const size_t left = bytes < BLOCK_BYTES ? BLOCK_BYTES : bytes;
        const size_t unit = bytes < HUGE_PAGE_BYTES ? LINE_BYTES : HUGE_PAGE_BYTES;
        struct block *block = NULL;
        if (charge(table, sizeof(*block) + left)) {
            block = aligned_alloc(unit, sizeof(*block) + left);
            uncharge(table, block != NULL ? 0 : sizeof(*block) + left);
        }
        table->is_full = block == NULL;
        if (block != NULL) {
            (void)madvise(block, left, unit == LINE_BYTES ? MADV_NORMAL : MADV_HUGEPAGE);
            block->next = table->blocks;
            table->blocks = block;
            table->block_left = left;
        }
    }
    if (table->block_left < bytes) {
        return NULL;
    }
    table->block_left -= bytes;
    return table->blocks->bytes + table->block_left;
}

/* Rows of floats are not kept, because their last bit depends on the order of the additions. */
static void allocate_rows(struct label_table *table, const struct hierarchy *hierarchy)
{
    const struct hierarchy_summary *summary = &hierarchy->summary;
    const enum kind kind = hierarchy_distance_kind(summary);
    const size_t n = summary->vertex_count;
    if (table->rows == NULL && table->pairs_before > n * n / DISTANCES_PER_PAIR &&
        summary->kind == KIND_I4 && label_cache_keeps_rows(summary->vertex_count, kind)) {
        table->rows = allocate(table, n * n * kind_size(kind));
    }
}

struct asking {
    const struct hierarchy *hierarchy;
    struct label_table *table;
    char *rows;                      /* of the table, or NULL */
    struct hierarchy_search *search; /* created, like scratch, for the first computed label */
    unsigned char *scratch;          /* space for the labels of a pair that are not cached */
    uint64_t steps;
};

/* Borrows the table of a hierarchy for one call; NULL = labels are not cached now. If a label or
 * the rows did not fit before, evicts the least recently used of the other tables, or this one if
 * it is alone. */
static void borrow_table(struct asking *asking, struct label_table **owner)
{
    const struct hierarchy *hierarchy = asking->hierarchy;
    pthread_mutex_lock(&cache.lock);
    const bool is_full =
        *owner != NULL ? (*owner)->is_full : cache.used + table_bytes(hierarchy) > cache.budget;
    if (*owner != NULL) {
        (*owner)->is_full = false;
    }
    struct label_table *oldest = TAILQ_FIRST(&cache.tables);
    if (oldest != NULL && oldest == *owner && TAILQ_NEXT(oldest, place) != NULL) {
        oldest = TAILQ_NEXT(oldest, place);
    }
    if (is_full && oldest != NULL) {
        detach_table(oldest);
    }
    if (*owner == NULL) {
        create_table(owner, hierarchy);
    }
    struct label_table *table = *owner;
    if (table != NULL) {
        table->users++;
        TAILQ_REMOVE(&cache.tables, table, place);
        TAILQ_INSERT_TAIL(&cache.tables, table, place);
        allocate_rows(table, hierarchy);
        asking->rows = table->rows;
    }
    asking->table = table;
    pthread_mutex_unlock(&cache.lock);
}

static void give_back_table(struct label_table *table, size_t pair_count)
{
    pthread_mutex_lock(&cache.lock);
    if (table != NULL) {
        table->pairs_before += pair_count;
        if (--table->users == 0 && table->owner == NULL) {
            destroy_table(table);
        }
    }
    pthread_mutex_unlock(&cache.lock);
}

void label_cache_drop(struct label_table **owner)
{
    pthread_mutex_lock(&cache.lock);
    if (*owner != NULL) {
        detach_table(*owner);
    }
    pthread_mutex_unlock(&cache.lock);
}

/* ---- Labels ---- */

static void *allocate_label(struct label_table *table, size_t bytes)
{
    pthread_mutex_lock(&cache.lock);
    void *label = allocate(table, bytes);
    pthread_mutex_unlock(&cache.lock);
    return label;
}

static void *_Atomic *slot_of(const struct asking *asking, uint32_t vertex, bool is_down)
{
    const struct hierarchy_summary *summary = &asking->hierarchy->summary;
    return &asking->table
                ->label[vertex +
                        (is_down && summary->directed ? (size_t)summary->vertex_count : 0)];
}

static enum status need_search(struct asking *asking)
{
    const size_t bytes = asking->hierarchy->height * kind_size(asking->hierarchy->summary.kind);
    if (asking->search != NULL) {
        return STATUS_OK;
    }
    asking->scratch = malloc(2 * bytes);
    return asking->scratch != NULL
               ? hierarchy_search_create(asking->hierarchy, false, &asking->search)
               : STATUS_NO_MEMORY;
}

/* Two threads may compute the same label; the first to finish stores its own. */
static enum status make_label(struct asking *asking, uint32_t vertex, bool is_down,
                              const void **ret_label)
{
    const size_t count = hierarchy_label_count(asking->hierarchy, vertex);
    const size_t bytes = count * kind_size(asking->hierarchy->summary.kind);
    const size_t half = asking->hierarchy->height * kind_size(asking->hierarchy->summary.kind);
    STATUS_TRY(need_search(asking));
    void *room = asking->table != NULL ? allocate_label(asking->table, bytes) : NULL;
    void *label = room != NULL ? room : asking->scratch + (is_down ? half : 0);
    hierarchy_make_label(asking->search, vertex, is_down, label);
    asking->steps += count * count / 2; /* upper bound on the number of arcs */
    void *kept = NULL;
    if (room != NULL &&
        !atomic_compare_exchange_strong(slot_of(asking, vertex, is_down), &kept, label)) {
        label = kept;
    }
    *ret_label = label;
    return STATUS_OK;
}

static enum status find_label(struct asking *asking, uint32_t vertex, bool is_down,
                              const void **ret_label)
{
    *ret_label = asking->table != NULL
                     ? atomic_load_explicit(slot_of(asking, vertex, is_down), memory_order_acquire)
                     : NULL;
    return *ret_label != NULL ? STATUS_OK : make_label(asking, vertex, is_down, ret_label);
}

static void prefetch_label(const struct asking *asking, uint32_t vertex, bool is_down)
{
    if (asking->table != NULL) {
        const char *label =
            atomic_load_explicit(slot_of(asking, vertex, is_down), memory_order_relaxed);
        __builtin_prefetch(label);
        __builtin_prefetch(label + LINE_BYTES);
    }
}

/* ---- Rows ---- */

/* Computes the rows of the group in the slot, from the first source on. Returns false if another
 * thread is computing them, or without memory. */
static bool make_rows(struct asking *asking, void *_Atomic *slot, uint32_t first, char *rows)
{
    const uint32_t n = asking->hierarchy->summary.vertex_count;
    const uint32_t count = n - first < HIERARCHY_LANES ? n - first : HIERARCHY_LANES;
    void *kept = NULL;
    uint32_t sources[HIERARCHY_LANES];
    if (need_search(asking) != STATUS_OK || !atomic_compare_exchange_strong(slot, &kept, &busy)) {
        return kept != NULL && kept != &busy;
    }
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = first + i;
    }
    hierarchy_rows_begin(asking->search, sources, count, rows);
    while (!hierarchy_rows_step(asking->search)) {
    }
    asking->steps += asking->hierarchy->summary.arc_count + (uint64_t)count * n;
    atomic_store(slot, rows);
    return true;
}

/* Answers pairs from rows, and returns their number. Stops at a row that another thread computes,
 * and at the limit on the work of one call. */
static inline size_t read_rows(struct asking *asking, const uint32_t *pairs, size_t count,
                               size_t size, char *ret_elements)
{
    const struct hierarchy_summary *summary = &asking->hierarchy->summary;
    const size_t n = summary->vertex_count;
    void *_Atomic *slots = &asking->table->label[n * (summary->directed ? 2 : 1)];
    char *rows = asking->rows;
    size_t i = 0;
    for (; i < count && asking->steps < STEPS_PER_CALL; i++) {
        const uint32_t *pair = pairs + 2 * i;
        const uint32_t group = pair[0] / HIERARCHY_LANES;
        if (i + ELEMENTS_AHEAD < count) {
            const uint32_t *next = pair + 2 * ELEMENTS_AHEAD;
            __builtin_prefetch(rows + (next[0] * n + next[1]) * size);
        }
        const void *kept = atomic_load_explicit(&slots[group], memory_order_acquire);
        if ((kept == NULL || kept == &busy) &&
            !make_rows(asking, &slots[group], group * HIERARCHY_LANES,
                       rows + group * HIERARCHY_LANES * n * size)) {
            break;
        }
        memcpy(ret_elements + i * size, rows + (pair[0] * n + pair[1]) * size, size);
    }
    return i;
}

/* ---- Pairs ---- */

static enum status combine_labels(struct asking *asking, const uint32_t *pair, void *ret_element)
{
    const struct hierarchy *hierarchy = asking->hierarchy;
    const void *up;
    const void *down;
    STATUS_TRY(find_label(asking, pair[0], false, &up));
    STATUS_TRY(find_label(asking, pair[1], true, &down));
    hierarchy_pair(hierarchy, pair[0], pair[1], up, down, ret_element);
    asking->steps += STEPS_PER_PAIR + hierarchy->height / 8;
    return STATUS_OK;
}

enum status label_cache_pairs(struct label_table **table, const struct hierarchy *hierarchy,
                              const uint32_t *pairs, size_t count, void *ret_elements,
                              size_t *ret_count)
{
    struct asking asking = {.hierarchy = hierarchy};
    const size_t size = kind_size(hierarchy_distance_kind(&hierarchy->summary));
    enum status status = STATUS_OK;
    size_t done = 0;
    borrow_table(&asking, table);
    while (done < count && status == STATUS_OK && asking.steps < STEPS_PER_CALL) {
        const uint32_t *pair = pairs + 2 * done;
        char *to = (char *)ret_elements + done * size;
        size_t read = 0;
        if (asking.rows != NULL && size == sizeof(int32_t)) {
            read = read_rows(&asking, pair, count - done, sizeof(int32_t), to);
        } else if (asking.rows != NULL) {
            read = read_rows(&asking, pair, count - done, sizeof(double), to);
        } else if (done + PAIRS_AHEAD < count) {
            prefetch_label(&asking, pair[2 * PAIRS_AHEAD], false);
            prefetch_label(&asking, pair[2 * PAIRS_AHEAD + 1], true);
        }
        if (read == 0) {
            status = combine_labels(&asking, pair, to);
            read = status == STATUS_OK ? 1 : 0;
        }
        done += read;
    }
    give_back_table(asking.table, done);
    hierarchy_search_destroy(asking.search);
    free(asking.scratch);
    *ret_count = done;
    return status;
}
