#include "server/store/graph_cache.h"

#include "server/store/graph_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum part { PART_EDGES, PART_PLACES };

struct wanted {
    enum part part;
    const char *graph_id;
    struct coordinates_info info; /* for coordinates: facts about their file */
};

struct entry {
    struct entry *next; /* most recently used first */
    enum part part;
    char graph_id[GRAPH_ID_SIZE]; /* empty after the graph was deleted */
    uint64_t tag;                 /* tag of the coordinates' file; 0 for edges */
    void *object;
    size_t bytes;
    unsigned lent; /* number of threads that borrow the object */
};

struct graph_cache {
    int graph_folder;
    int coordinates_folder;
    uint64_t budget_bytes;
    pthread_mutex_t reading; /* locked while files are read, before `lock` */
    pthread_mutex_t lock;    /* guards the members below */
    struct entry *first;
    uint64_t bytes; /* bytes of all entries */
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
    pthread_mutex_init(&cache->reading, NULL);
    pthread_mutex_init(&cache->lock, NULL);
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
    pthread_mutex_destroy(&cache->reading);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* Moves the entry *link to the front of another list. The lock is held. */
static void move_entry(struct entry **link, struct entry **list)
{
    struct entry *entry = *link;
    *link = entry->next;
    entry->next = *list;
    *list = entry;
}

/* Frees all unused entries of deleted graphs, and the least recently used of the other unused
 * entries until more_bytes fit. */
static void make_room(struct graph_cache *cache, uint64_t more_bytes)
{
    struct entry *evicted = NULL;
    struct entry **unused;
    pthread_mutex_lock(&cache->lock);
    do {
        const bool is_full = cache->bytes + more_bytes > cache->budget_bytes;
        unused = NULL;
        for (struct entry **link = &cache->first; *link != NULL; link = &(*link)->next) {
            const bool may_go = is_full || (*link)->graph_id[0] == '\0';
            unused = may_go && (*link)->lent == 0 ? link : unused;
        }
        if (unused != NULL) {
            cache->bytes -= (*unused)->bytes;
            move_entry(unused, &evicted);
        }
    } while (unused != NULL);
    pthread_mutex_unlock(&cache->lock);
    destroy_entries(evicted);
}

/* Borrows an existing entry, which becomes the most recently used; NULL if there is none. */
static struct entry *find_entry(struct graph_cache *cache, const struct wanted *wanted)
{
    pthread_mutex_lock(&cache->lock);
    struct entry **link = &cache->first;
    while (*link != NULL && ((*link)->part != wanted->part || (*link)->tag != wanted->info.tag ||
                             strcmp((*link)->graph_id, wanted->graph_id) != 0)) {
        link = &(*link)->next;
    }
    struct entry *entry = *link;
    if (entry != NULL) {
        move_entry(link, &cache->first);
        cache->hits++;
        entry->lent++;
    }
    pthread_mutex_unlock(&cache->lock);
    return entry;
}

static enum status explain_reading(enum status status, const char *detail, struct problem *reterr)
{
    return problem_explain(
        reterr, status, "%s",
        status == STATUS_NO_MEMORY ? "There is not enough memory for the request." : detail);
}

static enum status check_size(const struct graph_cache *cache, const struct wanted *wanted,
                              size_t *ret_bytes, struct problem *reterr)
{
    uint64_t edge_count;
    *ret_bytes = wanted->info.bytes / 2 * 5; /* 2 numbers per vertex in the file, 5 in memory */
    if (wanted->part == PART_EDGES) {
        STATUS_TRY(explain_reading(
            graph_file_sizes(cache->graph_folder, wanted->graph_id, &edge_count, ret_bytes),
            "The stored graph cannot be read.", reterr));
    }
    if (*ret_bytes <= cache->budget_bytes) {
        return STATUS_OK;
    }
    return problem_refuse_limit(reterr, STATUS_TOO_LARGE, (double)cache->budget_bytes,
                                (double)*ret_bytes,
                                "Start the service with a larger store.path_budget.",
                                "The %s exceed the memory limit for paths and coordinates.",
                                wanted->part == PART_EDGES ? "edges" : "coordinates");
}

static enum status read_edges(const struct graph_cache *cache, const char *graph_id,
                              void **ret_object, struct problem *reterr)
{
    struct adjacency *adjacency = NULL;
    struct graph *graph = NULL;
    enum status status = graph_file_read(cache->graph_folder, graph_id, &graph);
    STATUS_THEN(status, adjacency_create(graph, &adjacency));
    graph_destroy(graph);
    *ret_object = adjacency;
    return explain_reading(status, "The stored graph cannot be read.", reterr);
}

static enum status refuse_coordinates(enum status status, struct problem *reterr)
{
    explain_reading(status,
                    status == STATUS_NO_COORDINATES ? "The graph has no coordinates."
                                                    : "The stored coordinates cannot be read.",
                    reterr);
    problem_hint(reterr, "Upload a DIMACS .co or CSV file with PUT to /v1/graphs/{g}/coordinates.");
    return status;
}

/* Reads a graph's coordinates and vertex names, and adds the size of the names to *bytes. */
static enum status read_places(const struct graph_cache *cache, const char *graph_id,
                               void **ret_object, size_t *bytes, struct problem *reterr)
{
    struct located_graph *graph = calloc(1, sizeof(*graph));
    enum status status = graph == NULL
                             ? STATUS_NO_MEMORY
                             : graph_file_read_names(cache->graph_folder, graph_id, &graph->names);
    if (status != STATUS_OK) {
        destroy_places(graph);
        return explain_reading(status, "The stored graph cannot be read.", reterr);
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
    *bytes += vertex_names_encoded_size(graph->names);
    *ret_object = graph;
    return STATUS_OK;
}

void graph_cache_forget(struct graph_cache *cache, const char *graph_id)
{
    pthread_mutex_lock(&cache->lock);
    for (struct entry *entry = cache->first; entry != NULL; entry = entry->next) {
        if (strcmp(entry->graph_id, graph_id) == 0) {
            entry->graph_id[0] = '\0';
        }
    }
    pthread_mutex_unlock(&cache->lock);
    make_room(cache, 0);
}

/* Reads the files into a new entry and borrows it. */
static enum status read_entry(struct graph_cache *cache, const struct wanted *wanted,
                              struct entry **ret_entry, struct problem *reterr)
{
    size_t bytes = 0;
    STATUS_TRY(check_size(cache, wanted, &bytes, reterr));
    make_room(cache, bytes);
    struct entry *entry = calloc(1, sizeof(*entry));
    if (entry == NULL) {
        return explain_reading(STATUS_NO_MEMORY, "", reterr);
    }
    const enum status status =
        wanted->part == PART_EDGES
            ? read_edges(cache, wanted->graph_id, &entry->object, reterr)
            : read_places(cache, wanted->graph_id, &entry->object, &bytes, reterr);
    if (status != STATUS_OK) {
        free(entry);
        return status;
    }
    entry->part = wanted->part;
    entry->tag = wanted->info.tag;
    entry->bytes = bytes;
    entry->lent = 1;
    snprintf(entry->graph_id, sizeof(entry->graph_id), "%s", wanted->graph_id);
    pthread_mutex_lock(&cache->lock);
    cache->misses++;
    cache->bytes += bytes;
    entry->next = cache->first;
    cache->first = entry;
    pthread_mutex_unlock(&cache->lock);
    /* If the graph was deleted during the read, graph_cache_forget could not find the entry. */
    if (faccessat(cache->graph_folder, wanted->graph_id, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        graph_cache_forget(cache, wanted->graph_id);
    }
    *ret_entry = entry;
    return STATUS_OK;
}

static enum status borrow_object(struct graph_cache *cache, const struct wanted *wanted,
                                 const void **ret_object, struct problem *reterr)
{
    enum status status = STATUS_OK;
    struct entry *entry = find_entry(cache, wanted);
    if (entry == NULL) {
        pthread_mutex_lock(&cache->reading);
        entry = find_entry(cache, wanted); /* another thread may have read the object meanwhile */
        status = entry != NULL ? STATUS_OK : read_entry(cache, wanted, &entry, reterr);
        pthread_mutex_unlock(&cache->reading);
    }
    if (status == STATUS_OK) {
        *ret_object = entry->object;
    }
    return status;
}

enum status graph_cache_borrow_edges(struct graph_cache *cache, const char *graph_id,
                                     const struct adjacency **ret_adjacency, struct problem *reterr)
{
    const struct wanted wanted = {.part = PART_EDGES, .graph_id = graph_id};
    const void *object = NULL;
    STATUS_TRY(borrow_object(cache, &wanted, &object, reterr));
    *ret_adjacency = object;
    return STATUS_OK;
}

enum status graph_cache_borrow_places(struct graph_cache *cache, const char *graph_id,
                                      const struct located_graph **ret_graph,
                                      struct problem *reterr)
{
    struct wanted wanted = {.part = PART_PLACES, .graph_id = graph_id};
    const void *object = NULL;
    enum status status = coordinates_file_look(cache->coordinates_folder, graph_id, &wanted.info);
    if (status == STATUS_OK && wanted.info.bytes == 0) {
        status = STATUS_NO_COORDINATES;
    }
    if (status != STATUS_OK) {
        return refuse_coordinates(status, reterr);
    }
    STATUS_TRY(borrow_object(cache, &wanted, &object, reterr));
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
    pthread_mutex_unlock(&cache->lock);
    make_room(cache, 0);
}
