#include "server/store/result.h"

#include "proto/npy_header.h"
#include "proto/write/writer.h"
#include "server/store/catalogue.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct table_entry;

struct kept_statistics {
    struct statistics view;
    void *storage;
};

struct result {
    atomic_uint references;
    _Atomic double touched_s;
    atomic_bool damaged;
    struct result *self; /* this object, to mark damage found through a const pointer */
    void (*told)(void *context, struct result *result);
    void *told_context;
    char graph_id[GRAPH_ID_SIZE];
    char etag[ETAG_SIZE];
    struct result_file *file;
    struct matrix matrix;                       /* matrix of the file, cached for queries */
    struct search_pool *searches;               /* searches of a hierarchy; NULL = a matrix */
    struct kept_statistics *_Atomic statistics; /* for a hierarchy; NULL = not computed yet */
    struct vertex_names *names;
    LIST_HEAD(, table_entry) keys; /* keys in the table, guarded by its lock */
};

enum status result_create(const char *graph_id, const char *etag, struct result_file **take_file,
                          struct vertex_names **take_names, struct result **ret_result)
{
    CHECK(strlen(graph_id) < GRAPH_ID_SIZE && strlen(etag) < ETAG_SIZE);
    struct result *result = calloc(1, sizeof(*result));
    if (result == NULL) {
        return STATUS_NO_MEMORY;
    }
    atomic_init(&result->references, 1);
    result->self = result;
    memcpy(result->graph_id, graph_id, strlen(graph_id));
    memcpy(result->etag, etag, strlen(etag));
    if (result_file_form(*take_file) == RESULT_FORM_HIERARCHY &&
        search_pool_create(*take_file, &result->searches) != STATUS_OK) {
        free(result);
        return STATUS_NO_MEMORY;
    }
    result->file = *take_file;
    result->matrix = result_file_matrix(result->file);
    result->names = *take_names;
    *take_file = NULL;
    *take_names = NULL;
    *ret_result = result;
    return STATUS_OK;
}

void result_take_searches(struct result *result, struct search_pool **take_searches)
{
    if (*take_searches != NULL) {
        search_pool_destroy(result->searches);
        result->searches = *take_searches;
        *take_searches = NULL;
    }
}

struct result *result_ref(struct result *result)
{
    atomic_fetch_add_explicit(&result->references, 1, memory_order_relaxed);
    return result;
}

/* The decrement acquires and releases, because the thread that drops the last reference must see
 * everything that other threads did before they dropped theirs. */
void result_unref(struct result *result)
{
    if (result == NULL) {
        return;
    }
    unsigned before = atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel);
    CHECK(before > 0);
    if (before > 1) {
        return;
    }
    struct kept_statistics *kept = atomic_load(&result->statistics);
    free(kept != NULL ? kept->storage : NULL);
    free(kept);
    search_pool_destroy(result->searches);
    result_file_destroy(result->file);
    vertex_names_destroy(result->names);
    free(result);
}

const char *result_graph_id(const struct result *result)
{
    return result->graph_id;
}

const char *result_etag(const struct result *result)
{
    return result->etag;
}

enum result_form result_form(const struct result *result)
{
    return result->searches == NULL ? RESULT_FORM_MATRIX : RESULT_FORM_HIERARCHY;
}

enum kind result_kind(const struct result *result)
{
    return result->matrix.kind;
}

uint32_t result_vertex_count(const struct result *result)
{
    return result->matrix.vertex_count;
}

const struct vertex_names *result_names(const struct result *result)
{
    return result->names;
}

void result_touch(struct result *result, double now_s)
{
    atomic_store_explicit(&result->touched_s, now_s, memory_order_relaxed);
}

double result_touched_s(const struct result *result)
{
    return atomic_load_explicit(&result->touched_s, memory_order_relaxed);
}

void result_watch(struct result *result, void (*told)(void *context, struct result *result),
                  void *context)
{
    result->told = told;
    result->told_context = context;
}

bool result_is_damaged(const struct result *result)
{
    return atomic_load(&result->damaged);
}

static void note_damage(const struct result *result)
{
    struct result *self = result->self;
    if (!atomic_exchange(&self->damaged, true) && self->told != NULL) {
        self->told(self->told_context, self);
    }
}

/* Verifies these bytes of the file. If they are damaged, records this and returns false. */
static bool verify_bytes(const struct result *result, uint64_t offset, uint64_t size)
{
    if (result_file_verify(result->file, offset, size) == STATUS_OK) {
        return true;
    }
    note_damage(result);
    return false;
}

static enum status note_status(const struct result *result, enum status status)
{
    if (status == STATUS_CORRUPT || status == STATUS_IO) {
        note_damage(result);
    }
    return status;
}

uint64_t result_arc_count(const struct result *result)
{
    return result->searches != NULL ? search_pool_arc_count(result->searches) : 0;
}

/* Returns `count` elements from (row, column) on; NULL if they are damaged. */
static const unsigned char *elements_at(const struct result *result, uint32_t row, uint32_t column,
                                        uint32_t count)
{
    const size_t size = kind_size(result->matrix.kind);
    const size_t at = ((size_t)row * result->matrix.vertex_count + column) * size;
    if (!verify_bytes(result, NPY_HEADER_SIZE + at, count * size)) {
        return NULL;
    }
    return (const unsigned char *)result->matrix.elements + at;
}

void result_append_distance(const struct result *result, uint32_t source, uint32_t target,
                            struct text *text)
{
    const uint32_t pair[] = {source, target};
    double element; /* large enough for every kind */
    size_t count;
    if (result_pairs(result, pair, 1, &element, &count) != STATUS_OK) {
        text->failed = true;
        return;
    }
    writer_append_distance(text, result->matrix.kind, &element);
}

enum status result_open_hierarchy(const struct result *result,
                                  const struct hierarchy **ret_hierarchy)
{
    return note_status(result, search_pool_open(result->searches, NULL, ret_hierarchy));
}

/* Maximum number of blocks that one call verifies; 8 blocks take about a millisecond. */
#define BLOCKS_AT_ONCE 8

enum status result_check_pairs(const struct result *result, const uint32_t *pairs, size_t count,
                               size_t *ret_count)
{
    const uint32_t n = result->matrix.vertex_count;
    const size_t size = kind_size(result->matrix.kind);
    STATUS_TRY(note_status(result, result_file_compare_again(result->file)));
    if (result->searches != NULL) {
        const struct hierarchy *hierarchy;
        *ret_count = count;
        return result_open_hierarchy(result, &hierarchy);
    }
    if (!result_file_is_sound(result->file, NPY_HEADER_SIZE, (uint64_t)n * n * size)) {
        count = count < BLOCKS_AT_ONCE ? count : BLOCKS_AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            if (elements_at(result, pairs[2 * i], pairs[2 * i + 1], 1) == NULL) {
                return STATUS_CORRUPT;
            }
        }
    }
    *ret_count = count;
    return STATUS_OK;
}

/* Elements are prefetched this many pairs ahead, because pairs access memory at random. */
#define GATHER_AHEAD 16

static inline void gather_elements(const struct matrix *matrix, const uint32_t *pairs, size_t count,
                                   size_t size, char *to)
{
    const size_t n = matrix->vertex_count;
    const char *elements = matrix->elements;

    for (size_t i = 0; i < count; i++) {
        if (i + GATHER_AHEAD < count) {
            const uint32_t *next = pairs + 2 * (i + GATHER_AHEAD);

            __builtin_prefetch(elements + (next[0] * n + next[1]) * size);
        }
        memcpy(to + i * size, elements + (pairs[2 * i] * n + pairs[2 * i + 1]) * size, size);
    }
}

enum status result_pairs(const struct result *result, const uint32_t *pairs, size_t count,
                         void *ret_elements, size_t *ret_count)
{
    STATUS_TRY(result_check_pairs(result, pairs, count, &count));
    *ret_count = count;
    if (result->searches != NULL) {
        return search_pool_pairs(result->searches, pairs, count, ret_elements, ret_count);
    }
    switch (kind_size(result->matrix.kind)) {
    case 2:
        gather_elements(&result->matrix, pairs, count, 2, ret_elements);
        break;
    case 4:
        gather_elements(&result->matrix, pairs, count, 4, ret_elements);
        break;
    default:
        gather_elements(&result->matrix, pairs, count, 8, ret_elements);
        break;
    }
    return STATUS_OK;
}

enum status result_distances(const struct result *result, uint32_t index, struct result_rows *rows,
                             const void **ret_distances)
{
    const uint32_t row = axis_at(&rows->axis, index);
    CHECK(row < result->matrix.vertex_count && (result->searches != NULL || !rows->is_reversed));
    STATUS_TRY(note_status(result, result_file_compare_again(result->file)));
    if (result->searches != NULL) {
        return note_status(result, search_pool_row(result->searches, index, rows, ret_distances));
    }
    *ret_distances = elements_at(result, row, 0, result->matrix.vertex_count);
    return *ret_distances != NULL ? STATUS_OK : STATUS_CORRUPT;
}

const struct statistics *result_statistics(const struct result *result)
{
    const size_t size = statistics_size(result->matrix.vertex_count);
    if (result->searches != NULL) {
        const struct kept_statistics *kept = atomic_load(&result->statistics);
        return kept != NULL ? &kept->view : NULL;
    }
    const uint64_t offset = result_file_statistics_offset(result->file);
    return verify_bytes(result, offset, size) ? result_file_statistics(result->file) : NULL;
}

void result_keep_statistics(struct result *result, void **storage)
{
    struct kept_statistics *kept = malloc(sizeof(*kept));
    struct kept_statistics *none = NULL;
    if (kept == NULL) {
        return;
    }
    kept->storage = *storage;
    if (statistics_open(*storage, result->matrix.vertex_count, result->matrix.kind, &kept->view) ==
            STATUS_OK &&
        atomic_compare_exchange_strong(&result->statistics, &none, kept)) {
        *storage = NULL;
    } else {
        free(kept);
    }
}

const struct result_file *result_content(const struct result *result)
{
    return result->file;
}

enum status result_publish(struct result *result, const char *name, uint64_t *ret_checksum)
{
    return result_file_publish(result->file, name, ret_checksum);
}

/* Owners are compared first: the texts of different owners' keys are never compared, so the time of
 * a search reveals nothing about the keys of other owners. */
struct key {
    uint32_t owner;
    const char *text;
};

struct table_entry {
    struct key key; /* first member, so that an entry can be compared as a key */
    LIST_ENTRY(table_entry) of_result;
    struct result *result;
    char text[];
};

struct result_table {
    pthread_rwlock_t lock;
    void *by_key;
};

static int compare_keys(const void *left, const void *right)
{
    const struct key *a = left;
    const struct key *b = right;
    return a->owner != b->owner ? (a->owner > b->owner) - (a->owner < b->owner)
                                : strcmp(a->text, b->text);
}

/* Must not be called with the lock held: dropping the last reference unmaps a whole matrix. */
static void destroy_entry(void *object)
{
    struct table_entry *entry = object;
    result_unref(entry->result);
    free(entry);
}

enum status result_table_create(struct result_table **ret_table)
{
    struct result_table *table = calloc(1, sizeof(*table));
    if (table == NULL || pthread_rwlock_init(&table->lock, NULL) != 0) {
        free(table);
        return STATUS_NO_MEMORY;
    }
    *ret_table = table;
    return STATUS_OK;
}

void result_table_destroy(struct result_table *table)
{
    if (table == NULL) {
        return;
    }
    tdestroy(table->by_key, destroy_entry);
    pthread_rwlock_destroy(&table->lock);
    free(table);
}

enum status result_table_put(struct result_table *table, uint32_t owner, const char *key,
                             struct result *result)
{
    const size_t size = strlen(key) + 1;
    struct table_entry *entry = malloc(sizeof(*entry) + size);
    CHECK(size <= RESULT_KEY_SIZE);
    if (entry == NULL) {
        return STATUS_NO_MEMORY;
    }
    *entry = (struct table_entry){.key = {owner, entry->text}, .result = result_ref(result)};
    memcpy(entry->text, key, size);
    pthread_rwlock_wrlock(&table->lock);
    struct table_entry **node = tsearch(entry, &table->by_key, compare_keys);
    struct table_entry *left = node == NULL ? entry : *node != entry ? *node : NULL;
    if (node != NULL) {
        if (left != NULL) {
            LIST_REMOVE(left, of_result);
        }
        *node = entry;
        LIST_INSERT_HEAD(&result->keys, entry, of_result);
    }
    pthread_rwlock_unlock(&table->lock);
    if (left != NULL) {
        destroy_entry(left);
    }
    return node != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Finds the entry of a key. The lock is held. */
static struct table_entry *find_entry(const struct result_table *table, uint32_t owner,
                                      const char *key)
{
    const struct key wanted = {owner, key};
    struct table_entry *const *node = tfind(&wanted, &table->by_key, compare_keys);
    return node != NULL ? *node : NULL;
}

void result_table_remove(struct result_table *table, uint32_t owner, const char *key)
{
    pthread_rwlock_wrlock(&table->lock);
    struct table_entry *entry = find_entry(table, owner, key);
    if (entry != NULL) {
        tdelete(entry, &table->by_key, compare_keys);
        LIST_REMOVE(entry, of_result);
    }
    pthread_rwlock_unlock(&table->lock);
    if (entry != NULL) {
        destroy_entry(entry);
    }
}

void result_table_remove_result(struct result_table *table, const struct result *result)
{
    LIST_HEAD(, table_entry) removed = LIST_HEAD_INITIALIZER(removed);
    struct table_entry *entry;
    pthread_rwlock_wrlock(&table->lock);
    while ((entry = LIST_FIRST(&result->keys)) != NULL) {
        tdelete(entry, &table->by_key, compare_keys);
        LIST_REMOVE(entry, of_result);
        LIST_INSERT_HEAD(&removed, entry, of_result);
    }
    pthread_rwlock_unlock(&table->lock);
    while ((entry = LIST_FIRST(&removed)) != NULL) {
        LIST_REMOVE(entry, of_result);
        destroy_entry(entry);
    }
}

struct result *result_table_find(struct result_table *table, uint32_t owner, const char *key)
{
    pthread_rwlock_rdlock(&table->lock);
    const struct table_entry *entry = find_entry(table, owner, key);
    struct result *result = entry != NULL ? result_ref(entry->result) : NULL;
    pthread_rwlock_unlock(&table->lock);
    return result;
}
