#include "server/store/result_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_BUCKET_COUNT 64

struct entry {
    struct entry *next;
    uint64_t hash;
    struct result *result;
    uint32_t owner;
    char key[];
};

/* Chained; the bucket count is a power of two, not below the entry count. */
struct result_table {
    pthread_rwlock_t lock;
    struct entry **buckets;
    size_t bucket_count;
    size_t entry_count;
};

static uint64_t hash_of(uint32_t owner, const char *key)
{
    return XXH3_64bits_withSeed(key, strlen(key), owner);
}

/* The link that points to the entry of a key, or to the NULL where it would be. */
static struct entry **find_link(const struct result_table *table, uint32_t owner, const char *key,
                                uint64_t hash)
{
    struct entry **link = &table->buckets[hash & (table->bucket_count - 1)];
    while (*link != NULL &&
           ((*link)->hash != hash || (*link)->owner != owner || strcmp((*link)->key, key) != 0)) {
        link = &(*link)->next;
    }
    return link;
}

static struct entry *entry_create(uint32_t owner, const char *key, uint64_t hash,
                                  struct result *result)
{
    size_t size = strlen(key) + 1;
    struct entry *entry = malloc(sizeof(*entry) + size);
    if (entry == NULL) {
        return NULL;
    }
    entry->next = NULL;
    entry->hash = hash;
    entry->owner = owner;
    entry->result = result_ref(result);
    memcpy(entry->key, key, size);
    return entry;
}

/* Never under the lock: the last reference unmaps a whole matrix. */
static void destroy_entries(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = entry->next;
        result_unref(entry->result);
        free(entry);
        entry = next;
    }
}

enum status result_table_create(struct result_table **ret_table)
{
    struct result_table *table = calloc(1, sizeof(*table));
    if (table == NULL) {
        return STATUS_NO_MEMORY;
    }
    table->bucket_count = FIRST_BUCKET_COUNT;
    table->buckets = calloc(table->bucket_count, sizeof(struct entry *));
    if (table->buckets == NULL || pthread_rwlock_init(&table->lock, NULL) != 0) {
        free(table->buckets);
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
    for (size_t i = 0; i < table->bucket_count; i++) {
        destroy_entries(table->buckets[i]);
    }
    pthread_rwlock_destroy(&table->lock);
    free(table->buckets);
    free(table);
}

/* Doubles the buckets. Without memory the table stays as it is: longer chains, same answers. */
static void grow(struct result_table *table)
{
    size_t count = table->bucket_count * 2;
    struct entry **buckets = calloc(count, sizeof(struct entry *));
    if (buckets == NULL) {
        return;
    }
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct entry *entry = table->buckets[i];
        while (entry != NULL) {
            struct entry *next = entry->next;
            struct entry **bucket = &buckets[entry->hash & (count - 1)];
            entry->next = *bucket;
            *bucket = entry;
            entry = next;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_count = count;
}

enum status result_table_put(struct result_table *table, uint32_t owner, const char *key,
                             struct result *result)
{
    CHECK(strlen(key) < RESULT_KEY_SIZE);
    uint64_t hash = hash_of(owner, key);
    struct entry *entry = entry_create(owner, key, hash, result);
    if (entry == NULL) {
        return STATUS_NO_MEMORY;
    }
    pthread_rwlock_wrlock(&table->lock);
    struct entry **link = find_link(table, owner, key, hash);
    struct entry *replaced = *link;
    if (replaced != NULL) {
        entry->next = replaced->next;
        replaced->next = NULL;
    }
    *link = entry;
    if (replaced == NULL && ++table->entry_count > table->bucket_count) {
        grow(table);
    }
    pthread_rwlock_unlock(&table->lock);
    destroy_entries(replaced);
    return STATUS_OK;
}

/* Moves the entry behind a link to the front of a list. */
static void unlink_entry(struct result_table *table, struct entry **link, struct entry **list)
{
    struct entry *entry = *link;
    *link = entry->next;
    entry->next = *list;
    *list = entry;
    table->entry_count--;
}

void result_table_remove(struct result_table *table, uint32_t owner, const char *key)
{
    struct entry *removed = NULL;
    pthread_rwlock_wrlock(&table->lock);
    struct entry **link = find_link(table, owner, key, hash_of(owner, key));
    if (*link != NULL) {
        unlink_entry(table, link, &removed);
    }
    pthread_rwlock_unlock(&table->lock);
    destroy_entries(removed);
}

void result_table_remove_result(struct result_table *table, const struct result *result)
{
    struct entry *removed = NULL;
    pthread_rwlock_wrlock(&table->lock);
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct entry **link = &table->buckets[i];
        while (*link != NULL) {
            if ((*link)->result == result) {
                unlink_entry(table, link, &removed);
            } else {
                link = &(*link)->next;
            }
        }
    }
    pthread_rwlock_unlock(&table->lock);
    destroy_entries(removed);
}

struct result *result_table_find(struct result_table *table, uint32_t owner, const char *key)
{
    uint64_t hash = hash_of(owner, key);
    pthread_rwlock_rdlock(&table->lock);
    const struct entry *entry = *find_link(table, owner, key, hash);
    struct result *result = entry != NULL ? result_ref(entry->result) : NULL;
    pthread_rwlock_unlock(&table->lock);
    return result;
}
