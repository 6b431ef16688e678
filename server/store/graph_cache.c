#include "server/store/graph_cache.h"

#include "server/store/graph_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum part { PART_EDGES, PART_PLACES };

struct entry {
    struct entry *next; /* from the most to the least recently used */
    char graph_id[GRAPH_ID_SIZE];
    enum part part;
    struct coordinates_info info; /* of places: the file that they are read from */
    void *object;                 /* NULL while it is read */
    size_t bytes;
    unsigned lent; /* threads that read it, wait for it or use it */
    enum status status;
    struct problem problem; /* of a reading that failed */
};

struct graph_cache {
    int graph_folder;
    int coordinates_folder;
    uint64_t budget_bytes;
    pthread_mutex_t lock;
    pthread_cond_t read; /* a reading has ended */
    struct entry *first;
    uint64_t bytes; /* of all entries */
    uint64_t hits;
    uint64_t misses;
};

enum status graph_cache_create(int graph_folder, int coordinates_folder, uint64_t budget_bytes,
                               struct graph_cache **ret_cache)
{
    struct graph_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL) {
        return STATUS_NO_MEMORY;
    }
    cache->graph_folder = graph_folder;
    cache->coordinates_folder = coordinates_folder;
    cache->budget_bytes = budget_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->read, NULL);
    *ret_cache = cache;
    return STATUS_OK;
}

static void destroy_places(struct located_graph *graph)
{
    if (graph != NULL) {
        coordinates_destroy(graph->coordinates);
        vertex_names_destroy(graph->names);
        free(graph);
    }
}

static void destroy_entries(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = entry->next;
        if (entry->part == PART_EDGES) {
            adjacency_destroy(entry->object);
        } else {
            destroy_places(entry->object);
        }
        free(entry);
        entry = next;
    }
}

void graph_cache_destroy(struct graph_cache *cache)
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
static struct entry *evict_entries(struct graph_cache *cache)
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

static enum status refuse_reading(enum status status, const char *detail, struct problem *reterr)
{
    return problem_set(reterr, status, "%s",
                       status == STATUS_NO_MEMORY ? "There is no memory for the request." : detail);
}

static enum status check_size(const struct graph_cache *cache, const struct entry *entry,
                              size_t *ret_bytes, struct problem *reterr)
{
    uint64_t edge_count;
    *ret_bytes = entry->info.bytes / 2 * 5; /* numbers of a vertex in the file, and in memory */
    if (entry->part == PART_EDGES) {
        const enum status status =
            graph_file_sizes(cache->graph_folder, entry->graph_id, &edge_count, ret_bytes);
        if (status != STATUS_OK) {
            return refuse_reading(status, "The stored graph cannot be read.", reterr);
        }
    }
    if (*ret_bytes <= cache->budget_bytes) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TOO_LARGE, "The %s do not fit into the memory set for paths.",
                entry->part == PART_EDGES ? "edges" : "coordinates");
    problem_limit(reterr, (double)cache->budget_bytes, (double)*ret_bytes);
    problem_hint(reterr, "Start the service with a larger store.path_budget.");
    return STATUS_TOO_LARGE;
}

static enum status read_edges(const struct graph_cache *cache, const char *graph_id,
                              void **ret_object, struct problem *reterr)
{
    struct adjacency *adjacency = NULL;
    struct graph *graph = NULL;
    enum status status = graph_file_read(cache->graph_folder, graph_id, &graph);
    if (status == STATUS_OK) {
        status = adjacency_create(graph, &adjacency);
    }
    graph_destroy(graph);
    *ret_object = adjacency;
    return status == STATUS_OK ? STATUS_OK
                               : refuse_reading(status, "The stored graph cannot be read.", reterr);
}

static enum status refuse_coordinates(enum status status, struct problem *reterr)
{
    refuse_reading(status,
                   status == STATUS_NO_COORDINATES ? "The graph has no coordinates."
                                                   : "The stored coordinates cannot be read.",
                   reterr);
    problem_hint(reterr, "PUT them to /v1/graphs/{g}/coordinates: DIMACS .co or CSV.");
    return status;
}

static enum status read_places(const struct graph_cache *cache, const char *graph_id,
                               void **ret_object, struct problem *reterr)
{
    struct located_graph *graph = calloc(1, sizeof(*graph));
    enum status status = graph == NULL
                             ? STATUS_NO_MEMORY
                             : graph_file_read_names(cache->graph_folder, graph_id, &graph->names);
    if (status != STATUS_OK) {
        destroy_places(graph);
        return refuse_reading(status, "The stored graph cannot be read.", reterr);
    }
    status = coordinates_file_read(cache->coordinates_folder, graph_id, &graph->coordinates,
                                   &graph->info);
    if (status == STATUS_OK && vertex_names_count(graph->names) != graph->coordinates->count) {
        status = STATUS_CORRUPT;
    }
    if (status != STATUS_OK) {
        destroy_places(graph);
        return refuse_coordinates(status, reterr);
    }
    *ret_object = graph;
    return STATUS_OK;
}

/* Enters an entry that its reader holds; the lock is held. */
static struct entry *add_entry(struct graph_cache *cache, const struct entry *wanted)
{
    struct entry *entry = malloc(sizeof(*entry));
    if (entry == NULL) {
        return NULL;
    }
    *entry = *wanted;
    entry->lent = 1;
    entry->next = cache->first;
    cache->first = entry;
    return entry;
}

/* Fills an entry that this thread has added; the lock is held before and after. */
static void fill_entry(struct graph_cache *cache, struct entry *entry)
{
    void *object = NULL;
    size_t bytes = 0;
    pthread_mutex_unlock(&cache->lock);
    enum status status = check_size(cache, entry, &bytes, &entry->problem);
    pthread_mutex_lock(&cache->lock);
    if (status == STATUS_OK) {
        entry->bytes = bytes;
        cache->bytes += bytes;
        struct entry *evicted = evict_entries(cache);
        pthread_mutex_unlock(&cache->lock);
        destroy_entries(evicted);
        status = entry->part == PART_EDGES
                     ? read_edges(cache, entry->graph_id, &object, &entry->problem)
                     : read_places(cache, entry->graph_id, &object, &entry->problem);
        pthread_mutex_lock(&cache->lock);
    }
    if (status == STATUS_OK && entry->part == PART_PLACES) {
        const size_t more = vertex_names_encoded_size(((struct located_graph *)object)->names);
        entry->bytes += more;
        cache->bytes += more;
    }
    entry->object = object;
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

static bool is_same(const struct entry *entry, const struct entry *wanted)
{
    return entry->part == wanted->part && entry->info.tag == wanted->info.tag &&
           strcmp(entry->graph_id, wanted->graph_id) == 0;
}

static enum status borrow_entry(struct graph_cache *cache, struct entry *wanted,
                                const char *graph_id, const void **ret_object,
                                struct problem *reterr)
{
    enum status status = STATUS_OK;
    CHECK(strlen(graph_id) < sizeof(wanted->graph_id));
    memcpy(wanted->graph_id, graph_id, strlen(graph_id));
    pthread_mutex_lock(&cache->lock);
    struct entry **link = &cache->first;
    while (*link != NULL && !is_same(*link, wanted)) {
        link = &(*link)->next;
    }
    struct entry *entry = *link;
    if (entry != NULL) {
        move_entry(link, &cache->first);
        cache->hits++;
        entry->lent++;
        while (entry->object == NULL && entry->status == STATUS_OK) {
            pthread_cond_wait(&cache->read, &cache->lock);
        }
    } else {
        cache->misses++;
        entry = add_entry(cache, wanted);
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
        *ret_object = entry->object;
    }
    pthread_mutex_unlock(&cache->lock);
    return status;
}

enum status graph_cache_borrow_edges(struct graph_cache *cache, const char *graph_id,
                                     const struct adjacency **ret_adjacency, struct problem *reterr)
{
    struct entry wanted = {.part = PART_EDGES};
    const void *object = NULL;
    STATUS_TRY(borrow_entry(cache, &wanted, graph_id, &object, reterr));
    *ret_adjacency = object;
    return STATUS_OK;
}

enum status graph_cache_borrow_places(struct graph_cache *cache, const char *graph_id,
                                      const struct located_graph **ret_graph,
                                      struct problem *reterr)
{
    struct entry wanted = {.part = PART_PLACES};
    const void *object = NULL;
    enum status status = coordinates_file_look(cache->coordinates_folder, graph_id, &wanted.info);
    if (status == STATUS_OK && wanted.info.bytes == 0) {
        status = STATUS_NO_COORDINATES;
    }
    if (status != STATUS_OK) {
        return refuse_coordinates(status, reterr);
    }
    STATUS_TRY(borrow_entry(cache, &wanted, graph_id, &object, reterr));
    *ret_graph = object;
    return STATUS_OK;
}

void graph_cache_figures(struct graph_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses,
                         uint64_t *ret_bytes)
{
    pthread_mutex_lock(&cache->lock);
    *ret_hits = cache->hits;
    *ret_misses = cache->misses;
    *ret_bytes = cache->bytes;
    pthread_mutex_unlock(&cache->lock);
}

void graph_cache_give_back(struct graph_cache *cache, const void *lent)
{
    pthread_mutex_lock(&cache->lock);
    struct entry *entry = cache->first;
    while (entry != NULL && entry->object != lent) {
        entry = entry->next;
    }
    CHECK(entry != NULL && entry->lent > 0);
    entry->lent--;
    struct entry *evicted = evict_entries(cache);
    pthread_mutex_unlock(&cache->lock);
    destroy_entries(evicted);
}
