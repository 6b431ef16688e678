/* Searches in the hierarchy of a result file, opened at the first query. Owned by the result. Any
 * thread. */
#pragma once

#include "proto/write/grid.h"
#include "server/store/label_cache.h"
#include "server/store/result_file.h"

struct search_pool;

/* Creates a pool. file: sealed or opened; borrowed until the pool is destroyed.
 * STATUS_NO_MEMORY. */
MUST_CHECK enum status search_pool_create(struct result_file *file, struct search_pool **ret_pool);
void search_pool_destroy(struct search_pool *pool);

/* Verifies and opens the hierarchy, which the pool owns, unless it is open already. like: an open
 * hierarchy of the same shape, or NULL. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status search_pool_open(struct search_pool *pool, const struct hierarchy *like,
                                        const struct hierarchy **ret_hierarchy);
/* Returns the number of arcs; 0 if the first block is damaged. Reads only that block, because the
 * loop thread calls this function. */
uint64_t search_pool_arc_count(struct search_pool *pool);
/* Implements result_pairs for a hierarchy. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status search_pool_pairs(struct search_pool *pool, const uint32_t *pairs,
                                         size_t count, void *ret_elements, size_t *ret_count);

/* The rows that one query reads one after another. A row of a matrix is part of its file; rows of a
 * hierarchy are computed here, several at once. Owned by the query: initialised to zero, freed by
 * search_pool_finish_rows. */
struct result_rows {
    struct axis axis; /* set by the query: its rows in order; borrows the list */
    bool is_reversed; /* set by the query before the first row: read rows of the reversed graph */
    void *elements;   /* owned */
    uint32_t first;   /* index in the axis of the first row in elements */
    uint32_t count;
    uint32_t room; /* number of rows for which elements has space */
    bool is_complete;
    struct hierarchy_search *search; /* owned; NULL before the first row */
};

/* Implements result_distances for a hierarchy. */
MUST_CHECK enum status search_pool_row(struct search_pool *pool, uint32_t index,
                                       struct result_rows *rows, const void **ret_distances);
void search_pool_finish_rows(struct result_rows *rows);
