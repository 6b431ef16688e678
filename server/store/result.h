/* A published result as queries use it, and the table that finds results by key. A result is
 * immutable, reference-counted, and used by any thread. Its distances are the elements of a matrix,
 * or are computed from a hierarchy. Callers need not know which; only code that checks result_form
 * may access a matrix through result_file.
 *
 * Bytes read from the disk are used only after the checksum of their block was verified, which
 * happens at the first access to the block. If a block differs from what was written, it is not
 * used, the result counts as damaged, and its owner is notified once. */
#pragma once

#include "proto/text.h"
#include "server/store/search_pool.h"

struct result;

/* Moves file and names into a new result with one reference. etag: unquoted, unique to this solve.
 */
MUST_CHECK enum status result_create(const char *graph_id, const char *etag,
                                     struct result_file **take_file,
                                     struct vertex_names **take_names, struct result **ret_result);
/* Moves a pool of searches, already opened for the file of a hierarchy, into the result; does
 * nothing if *take_searches is NULL. Must be called before the result is shared. */
void result_take_searches(struct result *result, struct search_pool **take_searches);
struct result *result_ref(struct result *result);
void result_unref(struct result *result);

const char *result_graph_id(const struct result *result);
const char *result_etag(const struct result *result);
enum result_form result_form(const struct result *result);
/* Returns the number of arcs of a hierarchy; 0 for a matrix, or if the first block is damaged. */
uint64_t result_arc_count(const struct result *result);
enum kind result_kind(const struct result *result);
uint32_t result_vertex_count(const struct result *result);
const struct vertex_names *result_names(const struct result *result);
/* Registers told(context, result), which is called on the thread that finds the first damage. Must
 * be called before the result is shared. */
void result_watch(struct result *result, void (*told)(void *context, struct result *result),
                  void *context);
bool result_is_damaged(const struct result *result);
/* These functions set and read the monotonic time of the last query, for eviction. Any thread. */
void result_touch(struct result *result, double now_s);
double result_touched_s(const struct result *result);

/* Appends the distance as JSON (an integer, the shortest decimal, or null). Sets text->failed if
 * the distance cannot be read. source and target must be in range. */
void result_append_distance(const struct result *result, uint32_t source, uint32_t target,
                            struct text *text);
/* Reads or computes the distances of the pairs (source, target), as consecutive elements of the
 * kind; every query for pairs uses this function. Vertices must be in range. A call takes about a
 * millisecond: *ret_count is the number of pairs computed, from the first on and at least one
 * unless count is 0; the caller calls again for the rest. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_pairs(const struct result *result, const uint32_t *pairs,
                                    size_t count, void *ret_elements, size_t *ret_count);
/* Verifies the blocks that result_pairs would read for these pairs, without reading distances.
 * *ret_count is set as in result_pairs. */
MUST_CHECK enum status result_check_pairs(const struct result *result, const uint32_t *pairs,
                                          size_t count, size_t *ret_count);
/* Returns the distances from the vertex at this index of rows->axis to all vertices, as elements of
 * the kind in row order; they are valid until the next call with `rows`. A call takes about a
 * millisecond: while the row is incomplete *ret_distances is NULL, and the caller calls again with
 * the same index. Only rows of a hierarchy may be reversed. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_distances(const struct result *result, uint32_t index,
                                        struct result_rows *rows, const void **ret_distances);
/* Opens the hierarchy of a result that has this form. The hierarchy is borrowed until the result is
 * freed. STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_CHECK enum status result_open_hierarchy(const struct result *result,
                                             const struct hierarchy **ret_hierarchy);
/* Returns the statistics, borrowed until the result is freed. NULL if they are damaged or, for a
 * hierarchy, have not been computed yet. */
const struct statistics *result_statistics(const struct result *result);
/* Moves a hierarchy's statistics into the result, unless it already has statistics. Any thread. */
void result_keep_statistics(struct result *result, void **storage);
/* Returns the result's file, borrowed. The file of a matrix starts with a complete .npy, for
 * downloads. */
const struct result_file *result_content(const struct result *result);
/* Publishes the result's file; see result_file_publish. Publisher thread of the store. */
MUST_CHECK enum status result_publish(struct result *result, const char *name,
                                      uint64_t *ret_checksum);

/* The table finds published results by their keys: graph ID, alias, job ID. Each key belongs to an
 * owner, the number of a tenant (0 without keys), and is found only with that number. All threads
 * share the table: a read-write lock guards it, and a search returns a counted reference. The lock
 * is never held while an answer is built. */

#define RESULT_KEY_SIZE 128

struct result_table;

MUST_CHECK enum status result_table_create(struct result_table **ret_table);
void result_table_destroy(struct result_table *table);
/* Maps the key to this result and adds a reference to it. Loop thread. */
MUST_CHECK enum status result_table_put(struct result_table *table, uint32_t owner, const char *key,
                                        struct result *result);
void result_table_remove(struct result_table *table, uint32_t owner, const char *key);
/* Removes every key of a result, in O(keys). A result is in at most one table. */
void result_table_remove_result(struct result_table *table, const struct result *result);
/* Returns a new reference, or NULL if the key names no result. Any thread. */
struct result *result_table_find(struct result_table *table, uint32_t owner, const char *key);
