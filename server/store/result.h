/* A solved graph as queries see it, and the table of all of them by name. A result is immutable,
 * counted, and used by any thread. Its distances lie in a matrix, or are computed from a hierarchy:
 * nothing outside this file may assume that they lie in n x n elements, except through result_file
 * where result_form says matrix.
 *
 * What was read from the disk is looked at only once the checksums of its blocks have been: the
 * first look at a block reads it. One that is not as it was written is not shown, and the result is
 * damaged from then on, of which its owner is told once. */
#pragma once

#include "proto/job_document.h"
#include "proto/text.h"
#include "proto/vertex_names.h"
#include "server/store/result_file.h"
#include "server/store/search_pool.h"

struct result;

/* Takes file and names. etag: unquoted, unique to this solve. The count starts at 1. */
MUST_CHECK enum status result_create(const char *graph_id, const char *etag,
                                     struct result_file **take_file,
                                     struct vertex_names **take_names, struct result **ret_result);
/* Searches that have been made in that file, of a hierarchy; NULL: none. Before it is shared. */
void result_take_searches(struct result *result, struct search_pool **take_searches);
struct result *result_ref(struct result *result);
void result_unref(struct result *result);

const char *result_graph_id(const struct result *result);
const char *result_etag(const struct result *result);
enum result_form result_form(const struct result *result);
/* 0 of a matrix, and of a hierarchy whose first block is damaged. */
uint64_t result_arc_count(const struct result *result);
enum kind result_kind(const struct result *result);
uint32_t result_vertex_count(const struct result *result);
const struct vertex_names *result_names(const struct result *result);
/* Before the result is shared: told(context, result) is called on the thread that finds the first
 * damage. */
void result_watch(struct result *result, void (*told)(void *context, struct result *result),
                  void *context);
bool result_is_damaged(const struct result *result);
/* Monotonic seconds of the last query, for eviction; written by any thread. */
void result_touch(struct result *result, double now_s);
double result_touched_s(const struct result *result);

/* Appends the distance as JSON (integer, shortest decimal, null); the text fails when it is
 * damaged. Rows must be in range. */
void result_append_distance(const struct result *result, uint32_t source, uint32_t target,
                            struct text *text);
/* The distances of pairs (source, target) of rows in range, elements of the kind, one behind the
 * other: the one way to pairs. *ret_count: of so many, from the first on, at least one of some; the
 * others take another call, as one takes a millisecond at most. STATUS_CORRUPT, STATUS_NO_MEMORY.
 */
MUST_CHECK enum status result_pairs(const struct result *result, const uint32_t *pairs,
                                    size_t count, void *ret_elements, size_t *ret_count);
/* Whether result_pairs can answer these pairs: verifies what it would look at, likewise. */
MUST_CHECK enum status result_check_pairs(const struct result *result, const uint32_t *pairs,
                                          size_t count, size_t *ret_count);
/* The distances from the vertex at this index of the rows' axis to all, elements of the kind, in
 * row order; they stay until the next call with these rows. NULL: they take another call for the
 * same index, as one takes about a millisecond. Of a hierarchy rows may be reversed.
 * STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_distances(const struct result *result, uint32_t index,
                                        struct result_rows *rows, const void **ret_distances);
/* A hierarchy alone: borrowed, lives as long as the result. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_open_hierarchy(const struct result *result,
                                             const struct hierarchy **ret_hierarchy);
/* result_file_copy of its file, which is a hierarchy that is open. */
MUST_CHECK enum status result_copy(const struct result *result, struct result_file *file,
                                   void **ret_bytes);
/* Borrowed; lives as long as the result. NULL when they are damaged; of a hierarchy until somebody
 * has computed them. */
const struct statistics *result_statistics(const struct result *result);
/* Keeps the statistics of a hierarchy: moves their storage, unless the result has some. Any thread.
 */
void result_keep_statistics(struct result *result, void **storage);
/* Whether these bytes of the file below can be sent as they are: have been found sound. */
bool result_is_sound(const struct result *result, uint64_t offset, uint64_t size);
/* Its file: of a matrix it holds all of it (npy), for downloads. Borrowed. */
const struct result_file *result_content(const struct result *result);
/* result_file_publish of that file. Publisher of the store. */
MUST_CHECK enum status result_publish(struct result *result, const char *name,
                                      uint64_t *ret_checksum);

/* ---- The table ----
 *
 * The published results by every key that names them: graph id, alias, job id. Each key belongs to
 * an owner, a number (0: nobody), and is found with that only. One of the shared objects: a
 * read-write lock inside, counted references out, never held across an answer. */

#define RESULT_KEY_SIZE 128

struct result_table;

MUST_CHECK enum status result_table_create(struct result_table **ret_table);
void result_table_destroy(struct result_table *table);
/* Takes a reference of its own; replaces what the key named before. Loop thread. */
MUST_CHECK enum status result_table_put(struct result_table *table, uint32_t owner, const char *key,
                                        struct result *result);
void result_table_remove(struct result_table *table, uint32_t owner, const char *key);
/* Removes every key of a result, one step for each. A result is in one table at most. */
void result_table_remove_result(struct result_table *table, const struct result *result);
/* A reference for the caller, NULL when there is none. Any thread. */
struct result *result_table_find(struct result_table *table, uint32_t owner, const char *key);
