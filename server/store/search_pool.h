/* The hierarchy in a result file, which is opened with the first question, and searches in it. Any
 * thread. */
#pragma once

#include "proto/hierarchy_search.h"
#include "proto/write/grid.h"
#include "server/store/label_cache.h"
#include "server/store/result_file.h"

struct search_pool;

/* file: sealed or opened; borrowed. STATUS_NO_MEMORY. */
MUST_CHECK enum status search_pool_create(struct result_file *file, struct search_pool **ret_pool);
void search_pool_destroy(struct search_pool *pool);

/* Verifies and opens the hierarchy, if that was not done yet. It is the pool's. like: an opened one
 * that has the same shape, or NULL. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status search_pool_open(struct search_pool *pool, const struct hierarchy *like,
                                        const struct hierarchy **ret_hierarchy);
/* Reads the first block of the file alone, as the loop asks for it; 0 when that is damaged. */
uint64_t search_pool_arc_count(struct search_pool *pool);
/* As result_pairs. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status search_pool_pairs(struct search_pool *pool, const uint32_t *pairs,
                                         size_t count, void *ret_elements, size_t *ret_count);

/* Rows as an asker holds them: those of a matrix lie in its file, those of a hierarchy are computed
 * into memory of the asker, several at once. Zeroed is empty; search_pool_finish_rows frees. */
struct result_rows {
    struct axis axis; /* by the asker: the rows that it wants, in turn; borrows the list */
    bool is_reversed; /* by the asker, before the first row: rows of the reversed graph */
    void *elements;   /* owned */
    uint32_t first;   /* index in the axis */
    uint32_t count;
    uint32_t room; /* rows */
    bool is_complete;
    struct hierarchy_search *search; /* owned; NULL before the first row */
};

/* As result_distances. */
MUST_CHECK enum status search_pool_row(struct search_pool *pool, uint32_t index,
                                       struct result_rows *rows, const void **ret_distances);
void search_pool_finish_rows(struct result_rows *rows);
