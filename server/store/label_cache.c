#include "server/store/label_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#define BUDGET_MOST (UINT64_C(1) << 30)
/* Labels are allocated from blocks of this size. */
#define BLOCK_BYTES ((size_t)64 << 10)
#define LINE_BYTES 64
/* Limit on the work of one call, in steps of about 1 ns. A pair takes steps_of_pair steps. */
#define STEPS_PER_CALL (UINT64_C(1) << 20)
#define STEPS_PER_PAIR 64
/* Labels are prefetched this many pairs ahead, because pairs access memory at random. */
#define PAIRS_AHEAD 8

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
    /* Labels by vertex, accessed without the lock; in a directed graph the down labels follow. */
    void *_Atomic label[];
};

static struct {
    pthread_mutex_t lock;
    TAILQ_HEAD(tables, label_table) tables; /* least recently used first */
    uint64_t budget;
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

static size_t table_bytes(const struct hierarchy *hierarchy)
{
    const size_t n = hierarchy->summary.vertex_count;
    return sizeof(struct label_table) + n * (hierarchy->summary.directed ? 2 : 1) * sizeof(void *);
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

/* Borrows the table of a hierarchy for one call; NULL = labels are not cached now. If a label did
 * not fit before, evicts the least recently used table, which may be this one. */
static struct label_table *borrow_table(struct label_table **owner,
                                        const struct hierarchy *hierarchy)
{
    pthread_mutex_lock(&cache.lock);
    const bool is_full =
        *owner != NULL ? (*owner)->is_full : cache.used + table_bytes(hierarchy) > cache.budget;
    if (*owner != NULL) {
        (*owner)->is_full = false;
    }
    if (is_full && !TAILQ_EMPTY(&cache.tables)) {
        detach_table(TAILQ_FIRST(&cache.tables));
    }
    if (*owner == NULL) {
        create_table(owner, hierarchy);
    }
    struct label_table *table = *owner;
    if (table != NULL) {
        table->users++;
        TAILQ_REMOVE(&cache.tables, table, place);
        TAILQ_INSERT_TAIL(&cache.tables, table, place);
    }
    pthread_mutex_unlock(&cache.lock);
    return table;
}

static void give_back_table(struct label_table *table)
{
    pthread_mutex_lock(&cache.lock);
    if (table != NULL && --table->users == 0 && table->owner == NULL) {
        destroy_table(table);
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

/* Allocates space for a label; NULL if the budget is used up. */
static void *allocate_label(struct label_table *table, size_t bytes)
{
    void *room = NULL;
    bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    pthread_mutex_lock(&cache.lock);
    if (table->block_left < bytes && !table->is_full) {
        const size_t left = bytes < BLOCK_BYTES ? BLOCK_BYTES : bytes;
        struct block *block = NULL;
        if (charge(table, sizeof(*block) + left)) {
            block = aligned_alloc(LINE_BYTES, sizeof(*block) + left);
        }
        table->is_full = block == NULL;
        if (block != NULL) {
            block->next = table->blocks;
            table->blocks = block;
            table->block_left = left;
        }
    }
    if (table->block_left >= bytes) {
        table->block_left -= bytes;
        room = table->blocks->bytes + table->block_left;
    }
    pthread_mutex_unlock(&cache.lock);
    return room;
}

struct asking {
    const struct hierarchy *hierarchy;
    struct label_table *table;
    struct hierarchy_search *search; /* created, like scratch, for the first computed label */
    unsigned char *scratch;          /* space for the labels of a pair that are not cached */
    uint64_t steps;
};

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

enum status label_cache_pairs(struct label_table **table, const struct hierarchy *hierarchy,
                              const uint32_t *pairs, size_t count, void *ret_elements,
                              size_t *ret_count)
{
    struct asking asking = {.hierarchy = hierarchy, .table = borrow_table(table, hierarchy)};
    const size_t size = kind_size(hierarchy_distance_kind(&hierarchy->summary));
    const uint64_t steps_of_pair = STEPS_PER_PAIR + hierarchy->height / 8;
    enum status status = STATUS_OK;
    size_t done = 0;
    while (done < count && status == STATUS_OK && asking.steps < STEPS_PER_CALL) {
        const uint32_t *pair = pairs + 2 * done;
        const void *up = NULL;
        const void *down = NULL;
        if (done + PAIRS_AHEAD < count) {
            prefetch_label(&asking, pair[2 * PAIRS_AHEAD], false);
            prefetch_label(&asking, pair[2 * PAIRS_AHEAD + 1], true);
        }
        status = find_label(&asking, pair[0], false, &up);
        STATUS_THEN(status, find_label(&asking, pair[1], true, &down));
        if (status == STATUS_OK) {
            hierarchy_pair(hierarchy, pair[0], pair[1], up, down,
                           (char *)ret_elements + done * size);
            asking.steps += steps_of_pair;
            done++;
        }
    }
    give_back_table(asking.table);
    hierarchy_search_destroy(asking.search);
    free(asking.scratch);
    *ret_count = done;
    return status;
}
