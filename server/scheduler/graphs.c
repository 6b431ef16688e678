#include "server/scheduler/scheduler_internal.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct alias {
    const struct tenant *tenant;
    char name[NAME_SIZE];
    struct graph_entry *entry;
    uint64_t number; /* number of the latest request that assigned the name */
};

static int compare_id(const void *left, const void *right)
{
    return strcmp(((const struct graph_entry *)left)->row.id,
                  ((const struct graph_entry *)right)->row.id);
}

static int compare_owner(const void *left, const void *right)
{
    const int order = tenant_compare(((const struct graph_entry *)left)->tenant,
                                     ((const struct graph_entry *)right)->tenant);
    return order != 0 ? order : compare_id(left, right);
}

static int compare_name(const void *left, const void *right)
{
    const struct alias *a = left;
    const struct alias *b = right;
    const int order = tenant_compare(a->tenant, b->tenant);
    return order != 0 ? order : strcmp(a->name, b->name);
}

void graph_table_finish(struct graph_table *table)
{
    while (!LIST_EMPTY(&table->all)) {
        graph_table_remove(table, LIST_FIRST(&table->all));
    }
}

enum status graph_table_add(struct graph_table *table, struct tenant *tenant,
                            const struct graph_row *row, struct graph_entry **ret_entry)
{
    struct graph_entry *entry = calloc(1, sizeof(*entry));
    if (entry == NULL) {
        return STATUS_NO_MEMORY;
    }
    entry->row = *row;
    entry->tenant = tenant;
    struct graph_entry **node = tsearch(entry, &table->by_id, compare_id);
    if (node == NULL) {
        free(entry);
        return STATUS_NO_MEMORY;
    }
    CHECK(*node == entry);
    if (tsearch(entry, &table->by_owner, compare_owner) == NULL) {
        tdelete(entry, &table->by_id, compare_id);
        free(entry);
        return STATUS_NO_MEMORY;
    }
    LIST_INSERT_HEAD(&table->all, entry, in_table);
    LIST_INSERT_HEAD(&tenant->graphs, entry, of_tenant);
    metrics_add(METRIC_GRAPHS, 1);
    *ret_entry = entry;
    return STATUS_OK;
}

static struct alias *find_alias(const struct graph_table *table, const struct tenant *tenant,
                                const char *name)
{
    struct alias pattern = {.tenant = tenant};
    snprintf(pattern.name, sizeof(pattern.name), "%s", name); /* no key is longer */
    struct alias *const *node = tfind(&pattern, &table->by_name, compare_name);
    return node != NULL ? *node : NULL;
}

static void count_bytes(const struct graph_entry *entry, int64_t more_bytes)
{
    atomic_fetch_add(&entry->tenant->stored_bytes, (uint64_t)more_bytes);
}

void graph_entry_commit(struct graph_entry *entry, bool is_written)
{
    if (entry->state == GRAPH_ACCEPTING) {
        entry->state = GRAPH_STORED;
        count_bytes(entry, (int64_t)entry->row.file_bytes);
    } else if (entry->state == GRAPH_DAMAGED && is_written) {
        entry->state = GRAPH_STORED;
    }
}

void graph_entry_set_coordinates(struct graph_entry *entry, const struct coordinates_info *info)
{
    count_bytes(entry, (int64_t)(info->bytes - entry->coordinates.bytes));
    entry->coordinates = *info;
}

void graph_table_remove(struct graph_table *table, struct graph_entry *entry)
{
    tdelete(entry, &table->by_id, compare_id);
    tdelete(entry, &table->by_owner, compare_owner);
    for (size_t i = 0; i < entry->name_count; i++) {
        struct alias *alias = find_alias(table, entry->tenant, entry->names[i]);
        tdelete(alias, &table->by_name, compare_name);
        free(alias);
    }
    for (enum kind kind = KIND_AUTO; kind < KIND_COUNT; kind++) {
        graph_entry_set_result(entry, kind, NULL);
    }
    graph_entry_set_coordinates(entry, &(struct coordinates_info){0});
    if (entry->state != GRAPH_ACCEPTING) {
        count_bytes(entry, -(int64_t)entry->row.file_bytes);
    }
    LIST_REMOVE(entry, in_table);
    struct job *job;
    LIST_FOREACH(job, &entry->jobs, of_graph)
    {
        job->graph = NULL;
    }
    LIST_REMOVE(entry, of_tenant);
    metrics_add(METRIC_GRAPHS, -1);
    free(entry->names);
    free(entry);
}

void graph_table_drop(struct graph_table *table, struct graph_entry *entry)
{
    if (entry->state == GRAPH_ACCEPTING && entry->active_jobs == 0 && entry->changes == 0) {
        graph_table_remove(table, entry);
    }
}

static enum status add_alias(struct graph_table *table, const struct tenant *tenant,
                             const char *name, struct alias **ret_alias)
{
    struct alias *alias = calloc(1, sizeof(*alias));
    if (alias == NULL) {
        return STATUS_NO_MEMORY;
    }
    snprintf(alias->name, sizeof(alias->name), "%s", name);
    alias->tenant = tenant;
    if (tsearch(alias, &table->by_name, compare_name) == NULL) {
        free(alias);
        return STATUS_NO_MEMORY;
    }
    *ret_alias = alias;
    return STATUS_OK;
}

static void unlist_name(struct graph_entry *entry, const char *name)
{
    size_t i = 0;
    while (i < entry->name_count && entry->names[i] != name) {
        i++;
    }
    CHECK(i < entry->name_count);
    /* Move the later names, and the final NULL, down by one. */
    memmove(&entry->names[i], &entry->names[i + 1],
            (entry->name_count - i) * sizeof(entry->names[0]));
    entry->name_count--;
}

enum status graph_table_name(struct graph_table *table, const char *name, struct graph_entry *entry,
                             uint64_t number)
{
    struct alias *alias = find_alias(table, entry->tenant, name);
    if (alias == NULL || alias->entry != entry) {
        const char **names = realloc(entry->names, (entry->name_count + 2) * sizeof(*names));
        if (names == NULL) {
            return STATUS_NO_MEMORY;
        }
        entry->names = names;
        names[entry->name_count] = NULL;
        if (alias == NULL) {
            STATUS_TRY(add_alias(table, entry->tenant, name, &alias));
        } else {
            unlist_name(alias->entry, alias->name);
        }
        alias->entry = entry;
        names[entry->name_count++] = alias->name;
        names[entry->name_count] = NULL;
    }
    alias->number = alias->number > number ? alias->number : number;
    return STATUS_OK;
}

bool graph_table_is_named_since(const struct graph_table *table, const struct tenant *tenant,
                                const char *name, uint64_t number)
{
    const struct alias *alias = find_alias(table, tenant, name);
    return alias != NULL && alias->number > number;
}

struct graph_entry *graph_table_find_name(const struct graph_table *table,
                                          const struct tenant *tenant, const char *name)
{
    const struct alias *alias = find_alias(table, tenant, name);
    return alias != NULL ? alias->entry : NULL;
}

static struct graph_entry *find_entry(void *const *root, const struct tenant *tenant,
                                      const char *id, int (*compare)(const void *, const void *))
{
    struct graph_entry pattern;
    size_t size = strlen(id);
    if (size >= sizeof(pattern.row.id)) {
        return NULL;
    }
    pattern.tenant = (struct tenant *)tenant;
    memcpy(pattern.row.id, id, size + 1);
    struct graph_entry *const *node = tfind(&pattern, root, compare);
    return node != NULL ? *node : NULL;
}

struct graph_entry *graph_table_find_id(const struct graph_table *table, const char *id)
{
    return find_entry(&table->by_id, NULL, id, compare_id);
}

struct graph_entry *graph_table_find_own(const struct graph_table *table,
                                         const struct tenant *tenant, const char *id)
{
    return find_entry(&table->by_owner, tenant, id, compare_owner);
}

struct graph_entry *graph_table_find(const struct graph_table *table, const struct tenant *tenant,
                                     const char *key)
{
    struct graph_entry *entry = graph_table_find_own(table, tenant, key);
    if (entry == NULL) {
        entry = graph_table_find_name(table, tenant, key);
    }
    return entry != NULL && graph_entry_is_visible(entry) ? entry : NULL;
}

static int64_t bytes_of(const struct result *result)
{
    return result != NULL ? (int64_t)result_file_bytes(result_content(result)) : 0;
}

void graph_entry_set_result(struct graph_entry *entry, enum kind kind, struct result *result)
{
    struct graph_result *slot = &entry->results[kind];
    struct result *old = slot->result;
    count_bytes(entry, bytes_of(result) - bytes_of(old));
    slot->result = result != NULL ? result_ref(result) : NULL;
    result_unref(old);
    slot->state = result != NULL ? GRAPH_RESULT_PUBLISHED : GRAPH_RESULT_NONE;
}

struct result *graph_entry_answer(const struct graph_entry *entry)
{
    return entry->results[entry->answering].result;
}

enum status graph_entry_choose_kind(const struct graph_entry *entry, enum kind requested,
                                    enum kind *ret_kind, struct problem *reterr)
{
    const struct graph outline = {
        .vertex_count = entry->row.vertex_count,
        .directed = entry->row.directed,
        .edge_count = entry->row.edge_count,
        .summary = entry->row.summary,
    };
    return graph_choose_kind(&outline, requested, ret_kind, reterr);
}
