#include "server/store/adjacency_cache.h"

#include "server/store/graph_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next; /* from the one asked for last to the one asked for first */
    char graph_id[GRAPH_ID_SIZE];
    struct adjacency *adjacency; /* NULL while it is read */
    size_t bytes;
    unsigned lent; /* who reads it, waits for it or uses it */
    enum status status;
    struct problem problem; /* of a reading that failed */
};

struct adjacency_cache {
    int folder;
    uint64_t budget_bytes;
    pthread_mutex_t lock;
    pthread_cond_t read; /* a reading has ended */
    struct entry *first;
    uint64_t bytes; /* of all entries */
    uint64_t hits;
    uint64_t misses;
};

enum status adjacency_cache_create(int folder, uint64_t budget_bytes,
                                   struct adjacency_cache **ret_cache)
{
    struct adjacency_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL) {
        return STATUS_NO_MEMORY;
    }
    cache->folder = folder;
    cache->budget_bytes = budget_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->read, NULL);
    *ret_cache = cache;
    return STATUS_OK;
}

static void destroy_entries(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = entry->next;
        adjacency_destroy(entry->adjacency);
        free(entry);
        entry = next;
    }
}

void adjacency_cache_destroy(struct adjacency_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    destroy_entries(cache->first);
    pthread_cond_destroy(&cache->read);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* ---- The list; the lock is held ---- */

/* Moves the entry behind a link to the front of another list. */
static void move_entry(struct entry **link, struct entry **list)
{
    struct entry *entry = *link;
    *link = entry->next;
    entry->next = *list;
    *list = entry;
}

/* Removes entries that nobody uses, the one unasked for longest first, until the cache fits its
 * budget or all are in use. The caller destroys them once it has released the lock. */
static struct entry *evict(struct adjacency_cache *cache)
{
    struct entry *evicted = NULL;
    struct entry **oldest = &cache->first;
    while (cache->bytes > cache->budget_bytes && oldest != NULL) {
        oldest = NULL;
        for (struct entry **link = &cache->first; *link != NULL; link = &(*link)->next) {
            oldest = (*link)->lent == 0 ? link : oldest;
        }
        if (oldest != NULL) {
            cache->bytes -= (*oldest)->bytes;
            move_entry(oldest, &evicted);
        }
    }
    return evicted;
}

/* ---- Reading ---- */

static enum status check_size(const struct adjacency_cache *cache, const char *graph_id,
                              size_t *ret_bytes, struct problem *reterr)
{
    uint64_t edge_count;
    enum status status = graph_file_sizes(cache->folder, graph_id, &edge_count, ret_bytes);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "The stored graph cannot be read.");
    }
    if (*ret_bytes <= cache->budget_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TOO_LARGE, "The edges do not fit into the memory set for paths.");
    problem_limit(reterr, (double)cache->budget_bytes, (double)*ret_bytes);
    problem_hint(reterr, "Start the service with a larger store.path_budget.");
    return STATUS_TOO_LARGE;
}

static enum status read_adjacency(const struct adjacency_cache *cache, const char *graph_id,
                                  struct adjacency **ret_adjacency, struct problem *reterr)
{
    struct graph *graph = NULL;
    enum status status = graph_file_read(cache->folder, graph_id, &graph);
    if (status == STATUS_OK) {
        status = adjacency_create(graph, ret_adjacency);
    }
    graph_destroy(graph);
    if (status != STATUS_OK) {
        problem_set(reterr, status, "The stored graph cannot be read.");
    }
    return status;
}

/* Enters an entry that its reader holds; the lock is held. */
static struct entry *add_entry(struct adjacency_cache *cache, const char *graph_id)
{
    struct entry *entry = calloc(1, sizeof(*entry));
    if (entry == NULL) {
        return NULL;
    }
    CHECK(strlen(graph_id) < sizeof(entry->graph_id));
    memcpy(entry->graph_id, graph_id, strlen(graph_id));
    entry->lent = 1;
    entry->next = cache->first;
    cache->first = entry;
    return entry;
}

/* Fills an entry that this thread has added; the lock is held before and after. */
static void fill_entry(struct adjacency_cache *cache, struct entry *entry)
{
    struct adjacency *adjacency = NULL;
    struct entry *evicted;
    size_t bytes = 0;
    pthread_mutex_unlock(&cache->lock);
    enum status status = check_size(cache, entry->graph_id, &bytes, &entry->problem);
    pthread_mutex_lock(&cache->lock);
    if (status == STATUS_OK) {
        entry->bytes = bytes;
        cache->bytes += bytes;
        evicted = evict(cache);
        pthread_mutex_unlock(&cache->lock);
        destroy_entries(evicted);
        status = read_adjacency(cache, entry->graph_id, &adjacency, &entry->problem);
        pthread_mutex_lock(&cache->lock);
    }
    entry->adjacency = adjacency;
    entry->status = status;
    if (status != STATUS_OK) {
        struct entry **link = &cache->first;
        while (*link != entry) {
            link = &(*link)->next;
        }
        *link = entry->next;
        entry->next = NULL;
        cache->bytes -= entry->bytes;
    }
    pthread_cond_broadcast(&cache->read);
}

enum status adjacency_cache_borrow(struct adjacency_cache *cache, const char *graph_id,
                                   const struct adjacency **ret_adjacency, struct problem *reterr)
{
    enum status status = STATUS_OK;
    pthread_mutex_lock(&cache->lock);
    struct entry **link = &cache->first;
    while (*link != NULL && strcmp((*link)->graph_id, graph_id) != 0) {
        link = &(*link)->next;
    }
    struct entry *entry = *link;
    if (entry != NULL) {
        move_entry(link, &cache->first);
        cache->hits++;
        entry->lent++;
        while (entry->adjacency == NULL && entry->status == STATUS_OK) {
            pthread_cond_wait(&cache->read, &cache->lock);
        }
    } else {
        cache->misses++;
        entry = add_entry(cache, graph_id);
        if (entry != NULL) {
            fill_entry(cache, entry);
        }
    }
    if (entry == NULL) {
        status = problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    } else if (entry->status != STATUS_OK) {
        status = entry->status;
        if (reterr != NULL) {
            *reterr = entry->problem;
        }
        /* The last to hold an entry that could not be read frees it. */
        if (--entry->lent == 0) {
            free(entry);
        }
    } else {
        *ret_adjacency = entry->adjacency;
    }
    pthread_mutex_unlock(&cache->lock);
    return status;
}

void adjacency_cache_figures(struct adjacency_cache *cache, uint64_t *ret_hits,
                             uint64_t *ret_misses, uint64_t *ret_bytes)
{
    pthread_mutex_lock(&cache->lock);
    *ret_hits = cache->hits;
    *ret_misses = cache->misses;
    *ret_bytes = cache->bytes;
    pthread_mutex_unlock(&cache->lock);
}

void adjacency_cache_give_back(struct adjacency_cache *cache, const struct adjacency *adjacency)
{
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = cache->first;
    while (entry != NULL && entry->adjacency != adjacency) {
        entry = entry->next;
    }
    CHECK(entry != NULL && entry->lent > 0);
    entry->lent--;
    struct entry *evicted = evict(cache);
    pthread_mutex_unlock(&cache->lock);
    destroy_entries(evicted);
}
