#include "server/store/coordinates_cache.h"

#include "server/store/graph_file.h"

#include <pthread.h>
#include <string.h>

struct coordinates_cache {
    int graph_folder;
    int folder;
    uint64_t budget_bytes;
    pthread_mutex_t lock;
    struct located_graph *graphs[COORDINATES_CACHE_LIMIT]; /* the one asked for last first */
};

enum status coordinates_cache_create(int graph_folder, int folder, uint64_t budget_bytes,
                                     struct coordinates_cache **ret_cache)
{
    struct coordinates_cache *cache = calloc(1, sizeof(*cache));
    if (cache == NULL) {
        return STATUS_NO_MEMORY;
    }
    cache->graph_folder = graph_folder;
    cache->folder = folder;
    cache->budget_bytes = budget_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    *ret_cache = cache;
    return STATUS_OK;
}

/* The lock is held. NULL is accepted. */
static void let_go(struct located_graph *graph)
{
    if (graph != NULL && --graph->holders == 0) {
        coordinates_destroy(graph->coordinates);
        vertex_names_destroy(graph->names);
        free(graph);
    }
}

void coordinates_cache_destroy(struct coordinates_cache *cache)
{
    if (cache != NULL) {
        for (size_t i = 0; i < COORDINATES_CACHE_LIMIT; i++) {
            let_go(cache->graphs[i]);
        }
        pthread_mutex_destroy(&cache->lock);
        free(cache);
    }
}

static uint64_t bytes_of(const struct located_graph *graph)
{
    const struct coordinates *coordinates = graph->coordinates;
    const uint64_t numbers = coordinates->is_plane ? 2 : 5; /* x, y and the unit vector */
    return coordinates->count * numbers * sizeof(double) + vertex_names_encoded_size(graph->names);
}

/* The lock is held. Puts the graph first, in the place of the same graph as it was, or else of the
 * one asked for longest ago. The cache takes it, as one of its holders. */
static void put_first(struct coordinates_cache *cache, struct located_graph *graph)
{
    size_t at = 0;
    while (at < COORDINATES_CACHE_LIMIT - 1 && cache->graphs[at] != NULL &&
           strcmp(cache->graphs[at]->graph_id, graph->graph_id) != 0) {
        at++;
    }
    graph->holders++;
    let_go(cache->graphs[at]);
    memmove(&cache->graphs[1], &cache->graphs[0], at * sizeof(cache->graphs[0]));
    cache->graphs[0] = graph;
    uint64_t bytes = graph->bytes;
    for (size_t i = 1; i < COORDINATES_CACHE_LIMIT && cache->graphs[i] != NULL; i++) {
        bytes += cache->graphs[i]->bytes;
        if (bytes > cache->budget_bytes) {
            while (i < COORDINATES_CACHE_LIMIT && cache->graphs[i] != NULL) {
                let_go(cache->graphs[i]);
                cache->graphs[i++] = NULL;
            }
        }
    }
}

/* On success it has one holder. */
static enum status read_graph(const struct coordinates_cache *cache, const char *graph_id,
                              struct located_graph **ret_graph)
{
    struct located_graph *graph = calloc(1, sizeof(*graph));
    if (graph == NULL) {
        return STATUS_NO_MEMORY;
    }
    graph->holders = 1;
    memcpy(graph->graph_id, graph_id, strnlen(graph_id, sizeof(graph->graph_id) - 1));
    enum status status =
        coordinates_file_read(cache->folder, graph_id, &graph->coordinates, &graph->info);
    if (status == STATUS_OK) {
        status = graph_file_read_names(cache->graph_folder, graph_id, &graph->names);
    }
    if (status == STATUS_OK && vertex_names_count(graph->names) != graph->coordinates->count) {
        status = STATUS_CORRUPT;
    }
    if (status != STATUS_OK) {
        let_go(graph);
        return status;
    }
    graph->bytes = bytes_of(graph);
    *ret_graph = graph;
    return STATUS_OK;
}

/* Two threads that miss at once both read: the second one's takes the place of the first's. */
enum status coordinates_cache_borrow(struct coordinates_cache *cache, const char *graph_id,
                                     struct located_graph **ret_graph, struct problem *reterr)
{
    struct coordinates_info info = {0};
    struct located_graph *found = NULL;
    enum status status = coordinates_file_look(cache->folder, graph_id, &info);
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < COORDINATES_CACHE_LIMIT && cache->graphs[i] != NULL; i++) {
        struct located_graph *graph = cache->graphs[i];
        if (info.bytes > 0 && strcmp(graph->graph_id, graph_id) == 0 &&
            graph->info.tag == info.tag) {
            found = graph;
            found->holders++;
        }
    }
    pthread_mutex_unlock(&cache->lock);
    if (status == STATUS_OK && found == NULL) {
        status = read_graph(cache, graph_id, &found);
    }
    if (status == STATUS_OK) {
        pthread_mutex_lock(&cache->lock);
        put_first(cache, found);
        pthread_mutex_unlock(&cache->lock);
        *ret_graph = found;
        return STATUS_OK;
    }
    problem_set(reterr, status, "%s",
                status == STATUS_NO_COORDINATES ? "The graph has no coordinates."
                : status == STATUS_NO_MEMORY    ? "There is no memory for the coordinates."
                                                : "The stored coordinates cannot be read.");
    if (status != STATUS_NO_MEMORY) {
        problem_hint(reterr, "PUT them to /v1/graphs/{g}/coordinates: DIMACS .co, CSV or GeoJSON.");
    }
    return status;
}

void coordinates_cache_give_back(struct coordinates_cache *cache, struct located_graph *graph)
{
    pthread_mutex_lock(&cache->lock);
    let_go(graph);
    pthread_mutex_unlock(&cache->lock);
}
