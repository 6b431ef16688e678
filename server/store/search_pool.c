#include "server/store/search_pool.h"

#include <pthread.h>
#include <stdlib.h>

/* Maximum bytes of the rows that a query computes together and keeps while its client reads. */
#define ROWS_AHEAD_BYTES ((size_t)4 << 20)
struct search_pool {
    struct result_file *file;
    uint32_t vertex_count;
    enum kind kind;
    pthread_mutex_t lock;
    struct hierarchy *hierarchy; /* NULL = not opened yet */
    struct label_table *labels;  /* labels in the cache */
};

enum status search_pool_create(struct result_file *file, struct search_pool **ret_pool)
{
    const struct matrix matrix = result_file_matrix(file);
    struct search_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL || pthread_mutex_init(&pool->lock, NULL) != 0) {
        free(pool);
        return STATUS_NO_MEMORY;
    }
    pool->file = file;
    pool->vertex_count = matrix.vertex_count;
    pool->kind = matrix.kind;
    *ret_pool = pool;
    return STATUS_OK;
}

void search_pool_destroy(struct search_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    label_cache_drop(&pool->labels);
    hierarchy_close(pool->hierarchy);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Opens the hierarchy, sharing the shape of `like` unless that is NULL. The lock is held. */
static enum status open_hierarchy(struct search_pool *pool, const struct hierarchy *like)
{
    uint64_t size;
    const void *bytes = result_file_hierarchy(pool->file, &size);
    struct hierarchy *hierarchy = NULL;
    STATUS_TRY(result_file_complete(pool->file));
    STATUS_TRY(like != NULL ? hierarchy_open_like(like, bytes, size, &hierarchy)
                            : hierarchy_open(bytes, size, &hierarchy));
    const struct hierarchy_summary *summary = &hierarchy->summary;
    if (summary->vertex_count != pool->vertex_count ||
        hierarchy_distance_kind(summary) != pool->kind) {
        hierarchy_close(hierarchy);
        return STATUS_CORRUPT;
    }
    pool->hierarchy = hierarchy;
    return STATUS_OK;
}

enum status search_pool_open(struct search_pool *pool, const struct hierarchy *like,
                             const struct hierarchy **ret_hierarchy)
{
    pthread_mutex_lock(&pool->lock);
    const enum status status = pool->hierarchy == NULL ? open_hierarchy(pool, like) : STATUS_OK;
    *ret_hierarchy = pool->hierarchy;
    pthread_mutex_unlock(&pool->lock);
    return status;
}

uint64_t search_pool_arc_count(struct search_pool *pool)
{
    uint64_t size;
    const void *bytes = result_file_hierarchy(pool->file, &size);
    return result_file_verify(pool->file, 0, HIERARCHY_ALIGNMENT) == STATUS_OK
               ? hierarchy_arc_count(bytes)
               : 0;
}

enum status search_pool_pairs(struct search_pool *pool, const uint32_t *pairs, size_t count,
                              void *ret_elements, size_t *ret_count)
{
    const struct hierarchy *hierarchy;
    STATUS_TRY(search_pool_open(pool, NULL, &hierarchy));
    return label_cache_pairs(&pool->labels, hierarchy, pairs, count, ret_elements, ret_count);
}

/* Starts computing this row together with the next rows. */
static enum status begin_rows(struct search_pool *pool, uint32_t index, struct result_rows *rows)
{
    const size_t row_bytes = pool->vertex_count * kind_size(pool->kind);
    const uint32_t left = rows->axis.count - index;
    uint32_t sources[HIERARCHY_LANES];
    size_t most = ROWS_AHEAD_BYTES / row_bytes;
    most = most < HIERARCHY_LANES_MIN ? 1 : most > HIERARCHY_LANES ? HIERARCHY_LANES : most;
    const uint32_t count = most < left ? (uint32_t)most : left;
    rows->count = 0;
    if (rows->room < count) {
        void *elements = realloc(rows->elements, count * row_bytes);
        if (elements == NULL) {
            return STATUS_NO_MEMORY;
        }
        rows->elements = elements;
        rows->room = count;
    }
    if (rows->search == NULL) {
        const struct hierarchy *hierarchy;
        STATUS_TRY(search_pool_open(pool, NULL, &hierarchy));
        STATUS_TRY(hierarchy_search_create(hierarchy, rows->is_reversed, &rows->search));
    }
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = axis_at(&rows->axis, index + i);
    }
    hierarchy_rows_begin(rows->search, sources, count, rows->elements);
    rows->is_complete = false;
    rows->first = index;
    rows->count = count;
    return STATUS_OK;
}

enum status search_pool_row(struct search_pool *pool, uint32_t index, struct result_rows *rows,
                            const void **ret_distances)
{
    const size_t row_bytes = pool->vertex_count * kind_size(pool->kind);
    if (index < rows->first || index - rows->first >= rows->count) {
        STATUS_TRY(begin_rows(pool, index, rows));
    }
    rows->is_complete = rows->is_complete || hierarchy_rows_step(rows->search);
    *ret_distances =
        rows->is_complete ? (const char *)rows->elements + (index - rows->first) * row_bytes : NULL;
    return STATUS_OK;
}

void search_pool_finish_rows(struct result_rows *rows)
{
    hierarchy_search_destroy(rows->search);
    free(rows->elements);
    *rows = (struct result_rows){0};
}
