#include "server/store/graph_cache.h"

#include "server/store/graph_file.h"
#include "tests/lib/graph_file_fixture.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <fcntl.h>
#include <pthread.h>

/* Size in bytes of a cached path graph with 10 vertices. */
#define ENTRY_BYTES (11 * 8 + 9 * 8)

static void store_graph(const struct fixture *fixture, const char *id, int first_weight)
{
    struct graph *graph = fixture_path_graph(10, WEIGHT_INTEGER, first_weight);

    fixture_put_graph(fixture->folder, id, graph);
    graph_destroy(graph);
}

static struct graph_cache *make(const struct fixture *fixture, uint64_t budget_bytes)
{
    struct graph_cache *cache;

    store_graph(fixture, "g_a", 100);
    store_graph(fixture, "g_b", 200);
    store_graph(fixture, "g_c", 300);
    assert_int_equal(graph_cache_create(fixture->folder, fixture->folder, budget_bytes, &cache),
                     STATUS_OK);
    return cache;
}

static const struct adjacency *borrow(struct graph_cache *cache, const char *id, int weight)
{
    const struct adjacency *adjacency;

    assert_int_equal(graph_cache_borrow_edges(cache, id, &adjacency, NULL), STATUS_OK);
    assert_true(adjacency_weight(adjacency, 0) == weight);
    return adjacency;
}

FIXTURE_TEST(edges_are_read_from_the_file_only_once)
{
    struct graph_cache *cache = make(fixture, 2 * ENTRY_BYTES);
    const struct adjacency *first = borrow(cache, "g_a", 100);

    graph_cache_give_back(cache, first);
    assert_int_equal(unlinkat(fixture->folder, "g_a", 0), 0);
    assert_ptr_equal(borrow(cache, "g_a", 100), first);
    assert_ptr_equal(borrow(cache, "g_a", 100), first);
    graph_cache_give_back(cache, first);
    graph_cache_give_back(cache, first);
    graph_cache_destroy(cache);
}

/* Returns whether the graph is cached. If it was evicted, borrowing the graph fails, because its
 * file is missing. */
static bool is_kept(struct graph_cache *cache, const char *id)
{
    const struct adjacency *adjacency;

    if (graph_cache_borrow_edges(cache, id, &adjacency, NULL) != STATUS_OK) {
        return false;
    }
    graph_cache_give_back(cache, adjacency);
    return true;
}

FIXTURE_TEST(the_least_recently_used_graph_is_evicted_first)
{
    struct graph_cache *cache = make(fixture, 2 * ENTRY_BYTES);

    graph_cache_give_back(cache, borrow(cache, "g_a", 100));
    graph_cache_give_back(cache, borrow(cache, "g_b", 200));
    graph_cache_give_back(cache, borrow(cache, "g_a", 100));
    graph_cache_give_back(cache, borrow(cache, "g_c", 300));
    assert_int_equal(unlinkat(fixture->folder, "g_a", 0), 0);
    assert_int_equal(unlinkat(fixture->folder, "g_b", 0), 0);
    assert_true(is_kept(cache, "g_a"));
    assert_false(is_kept(cache, "g_b"));
    graph_cache_destroy(cache);
}

FIXTURE_TEST(borrowed_entries_are_not_evicted)
{
    struct graph_cache *cache = make(fixture, ENTRY_BYTES);
    const struct adjacency *a = borrow(cache, "g_a", 100);
    const struct adjacency *b = borrow(cache, "g_b", 200);

    assert_true(adjacency_weight(a, 0) == 100);
    graph_cache_give_back(cache, b);
    assert_int_equal(unlinkat(fixture->folder, "g_b", 0), 0);
    assert_false(is_kept(cache, "g_b"));
    assert_ptr_equal(borrow(cache, "g_a", 100), a);
    graph_cache_give_back(cache, a);
    graph_cache_give_back(cache, a);
    graph_cache_destroy(cache);
}

static uint64_t kept_bytes(struct graph_cache *cache)
{
    uint64_t hits;
    uint64_t misses;
    uint64_t bytes;

    graph_cache_figures(cache, &hits, &misses, &bytes);
    return bytes;
}

FIXTURE_TEST(deleted_graphs_are_dropped_after_their_last_use)
{
    struct graph_cache *cache = make(fixture, 3 * ENTRY_BYTES);
    const struct adjacency *a = borrow(cache, "g_a", 100);

    graph_cache_give_back(cache, borrow(cache, "g_b", 200));
    graph_cache_give_back(cache, borrow(cache, "g_c", 300));
    assert_int_equal(unlinkat(fixture->folder, "g_a", 0), 0);
    assert_int_equal(unlinkat(fixture->folder, "g_b", 0), 0);
    graph_cache_forget(cache, "g_a");
    graph_cache_forget(cache, "g_b");
    assert_int_equal(kept_bytes(cache), 2 * ENTRY_BYTES);
    assert_false(is_kept(cache, "g_a"));
    assert_false(is_kept(cache, "g_b"));
    assert_true(adjacency_weight(a, 0) == 100);
    graph_cache_give_back(cache, a);
    assert_int_equal(kept_bytes(cache), ENTRY_BYTES);
    assert_true(is_kept(cache, "g_c"));
    graph_cache_destroy(cache);
}

FIXTURE_TEST(the_error_for_a_graph_above_the_limit_contains_the_limit)
{
    struct graph_cache *cache = make(fixture, ENTRY_BYTES - 1);
    const struct adjacency *adjacency;
    struct problem problem;

    assert_int_equal(graph_cache_borrow_edges(cache, "g_a", &adjacency, &problem),
                     STATUS_TOO_LARGE);
    assert_true(problem.has_limit && problem.limit == ENTRY_BYTES - 1 &&
                problem.actual == ENTRY_BYTES);
    assert_non_null(strstr(problem.hint, "path_budget"));
    assert_int_not_equal(graph_cache_borrow_edges(cache, "g_none", &adjacency, &problem),
                         STATUS_OK);
    graph_cache_destroy(cache);
    graph_cache_destroy(NULL);
}

static struct graph_cache *make_placed(const struct fixture *fixture, uint64_t budget_bytes,
                                       int *ret_folder)
{
    struct graph_cache *cache = make(fixture, budget_bytes);

    graph_cache_destroy(cache);
    assert_int_equal(mkdirat(fixture->folder, "coordinates", 0700), 0);
    *ret_folder = openat(fixture->folder, "coordinates", O_RDONLY | O_DIRECTORY);
    assert_int_equal(graph_cache_create(fixture->folder, *ret_folder, budget_bytes, &cache),
                     STATUS_OK);
    return cache;
}

static void put(int folder, const char *id, uint32_t count, double x)
{
    struct coordinates *coordinates = NULL;
    struct coordinates_info info;
    struct draft_file file;

    assert_int_equal(coordinates_create(count, &coordinates), STATUS_OK);
    coordinates->x[0] = coordinates->y[0] = x;
    coordinates_complete(coordinates);
    assert_int_equal(coordinates_file_write(folder, id, coordinates, &file, &info), STATUS_OK);
    assert_int_equal(draft_file_publish(&file, id), STATUS_OK);
    draft_file_finish(&file);
    coordinates_destroy(coordinates);
}

static const struct located_graph *borrow_places(struct graph_cache *cache, const char *id,
                                                 double x)
{
    const struct located_graph *graph = NULL;

    assert_int_equal(graph_cache_borrow_places(cache, id, &graph, NULL), STATUS_OK);
    assert_true(graph->coordinates->x[0] == x);
    assert_int_equal(vertex_names_count(graph->names), 10);
    return graph;
}

FIXTURE_TEST(coordinates_are_cached_with_the_edges)
{
    int folder;
    struct graph_cache *cache = make_placed(fixture, UINT64_MAX, &folder);
    uint64_t figures[3];

    put(folder, "g_a", 10, 1);
    const struct adjacency *edges = borrow(cache, "g_a", 100);
    const struct located_graph *first = borrow_places(cache, "g_a", 1);
    graph_cache_give_back(cache, first);
    graph_cache_give_back(cache, edges);
    assert_ptr_equal(borrow_places(cache, "g_a", 1), first);
    assert_ptr_equal(borrow(cache, "g_a", 100), edges);
    graph_cache_give_back(cache, first);
    graph_cache_give_back(cache, edges);
    graph_cache_figures(cache, &figures[0], &figures[1], &figures[2]);
    assert_true(figures[0] == 2 && figures[1] == 2 && figures[2] >= ENTRY_BYTES + 10 * 40);
    graph_cache_destroy(cache);
    close(folder);
}

FIXTURE_TEST(replaced_or_removed_coordinates_are_no_longer_returned)
{
    int folder;
    struct graph_cache *cache = make_placed(fixture, UINT64_MAX, &folder);
    const struct located_graph *none;
    struct problem problem;

    put(folder, "g_a", 10, 1);
    const struct located_graph *old = borrow_places(cache, "g_a", 1);
    put(folder, "g_a", 10, 3);
    const struct located_graph *new = borrow_places(cache, "g_a", 3);
    assert_true(old->coordinates->x[0] == 1); /* the graph that was borrowed earlier is unchanged */
    graph_cache_give_back(cache, old);
    graph_cache_give_back(cache, new);
    assert_int_equal(unlinkat(folder, "g_a", 0), 0);
    assert_int_equal(graph_cache_borrow_places(cache, "g_a", &none, &problem),
                     STATUS_NO_COORDINATES);
    assert_non_null(strstr(problem.hint, "PUT"));
    graph_cache_destroy(cache);
    close(folder);
}

FIXTURE_TEST(coordinates_count_towards_the_budget)
{
    int folder;
    struct graph_cache *cache = make_placed(fixture, 800, &folder);
    uint64_t figures[3];

    put(folder, "g_a", 10, 1);
    graph_cache_give_back(cache, borrow(cache, "g_a", 100));
    graph_cache_give_back(cache, borrow(cache, "g_b", 200));
    graph_cache_give_back(cache, borrow_places(cache, "g_a", 1));
    graph_cache_figures(cache, &figures[0], &figures[1], &figures[2]);
    assert_true(figures[2] > 10 * 40 && figures[2] <= 800);
    graph_cache_destroy(cache);
    close(folder);
}

FIXTURE_TEST(coordinates_with_a_wrong_count_are_reported_as_damaged)
{
    int folder;
    struct graph_cache *cache = make_placed(fixture, UINT64_MAX, &folder);
    const struct located_graph *none;
    struct problem problem;

    put(folder, "g_a", 9, 1);
    assert_int_equal(graph_cache_borrow_places(cache, "g_a", &none, &problem), STATUS_CORRUPT);
    graph_cache_destroy(cache);
    close(folder);
}

static void *call_often(void *context)
{
    static const char *const ids[] = {"g_a", "g_b", "g_c"};
    struct graph_cache *cache = context;

    for (int i = 0; i < 300; i++) {
        const struct adjacency *adjacency;

        CHECK(graph_cache_borrow_edges(cache, ids[i % 3], &adjacency, NULL) == STATUS_OK);
        CHECK(adjacency_weight(adjacency, 0) == 100 * (i % 3 + 1));
        graph_cache_give_back(cache, adjacency);
    }
    return NULL;
}

FIXTURE_TEST(threads_share_the_cache)
{
    struct graph_cache *cache = make(fixture, ENTRY_BYTES);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, cache), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    graph_cache_destroy(cache);
}
