/* The published results by every key that names them: graph id, alias, job id. Each key belongs to
 * an owner, a number (0: nobody), and is found with that only. One of the shared objects: a
 * read-write lock inside, counted references out, never held across an answer. */
#pragma once

#include "server/store/result.h"

#define RESULT_KEY_SIZE 128

struct result_table;

MUST_CHECK enum status result_table_create(struct result_table **ret_table);
void result_table_destroy(struct result_table *table);
/* Takes a reference of its own; replaces what the key named before. Loop thread. */
MUST_CHECK enum status result_table_put(struct result_table *table, uint32_t owner, const char *key,
                                        struct result *result);
void result_table_remove(struct result_table *table, uint32_t owner, const char *key);
/* Removes every key of a result. */
void result_table_remove_result(struct result_table *table, const struct result *result);
/* A reference for the caller, NULL when there is none. Any thread. */
struct result *result_table_find(struct result_table *table, uint32_t owner, const char *key);
