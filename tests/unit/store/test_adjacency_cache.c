#include "server/store/adjacency_cache.h"

#include "server/store/graph_file.h"
#include "tests/unit/graph_file_fixture.h"
#include "tests/unit/store_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A path graph of 10 vertices. */
#define ENTRY_BYTES (11 * 8 + 9 * 8)

static void store_graph(const struct fixture *fixture, const char *id, int first_weight)
{
    struct graph *graph = fixture_path_graph(10, WEIGHT_INTEGER, first_weight);

    fixture_put_graph(fixture->folder, id, graph);
    graph_destroy(graph);
}

static struct adjacency_cache *make(const struct fixture *fixture, uint64_t budget_bytes)
{
    struct adjacency_cache *cache;

    store_graph(fixture, "g_a", 100);
    store_graph(fixture, "g_b", 200);
    store_graph(fixture, "g_c", 300);
    assert_int_equal(adjacency_cache_create(fixture->folder, budget_bytes, &cache), STATUS_OK);
    return cache;
}

static const struct adjacency *borrow(struct adjacency_cache *cache, const char *id, int weight)
{
    const struct adjacency *adjacency;

    assert_int_equal(adjacency_cache_borrow(cache, id, &adjacency, NULL), STATUS_OK);
    assert_true(adjacency_weight(adjacency, 0) == weight);
    return adjacency;
}

static void edges_are_read_once(void **state)
{
    const struct fixture *fixture = *state;
    struct adjacency_cache *cache = make(fixture, 2 * ENTRY_BYTES);
    const struct adjacency *first = borrow(cache, "g_a", 100);

    adjacency_cache_give_back(cache, first);
    assert_int_equal(unlinkat(fixture->folder, "g_a", 0), 0);
    assert_ptr_equal(borrow(cache, "g_a", 100), first);
    assert_ptr_equal(borrow(cache, "g_a", 100), first);
    adjacency_cache_give_back(cache, first);
    adjacency_cache_give_back(cache, first);
    adjacency_cache_destroy(cache);
}

/* What is gone is read again, which without its file fails. */
static bool is_kept(struct adjacency_cache *cache, const char *id)
{
    const struct adjacency *adjacency;

    if (adjacency_cache_borrow(cache, id, &adjacency, NULL) != STATUS_OK) {
        return false;
    }
    adjacency_cache_give_back(cache, adjacency);
    return true;
}

static void the_longest_unasked_goes_first(void **state)
{
    const struct fixture *fixture = *state;
    struct adjacency_cache *cache = make(fixture, 2 * ENTRY_BYTES);

    adjacency_cache_give_back(cache, borrow(cache, "g_a", 100));
    adjacency_cache_give_back(cache, borrow(cache, "g_b", 200));
    adjacency_cache_give_back(cache, borrow(cache, "g_a", 100));
    adjacency_cache_give_back(cache, borrow(cache, "g_c", 300));
    assert_int_equal(unlinkat(fixture->folder, "g_a", 0), 0);
    assert_int_equal(unlinkat(fixture->folder, "g_b", 0), 0);
    assert_true(is_kept(cache, "g_a"));
    assert_false(is_kept(cache, "g_b"));
    adjacency_cache_destroy(cache);
}

static void what_is_lent_stays(void **state)
{
    const struct fixture *fixture = *state;
    struct adjacency_cache *cache = make(fixture, ENTRY_BYTES);
    const struct adjacency *a = borrow(cache, "g_a", 100);
    const struct adjacency *b = borrow(cache, "g_b", 200);

    assert_true(adjacency_weight(a, 0) == 100);
    adjacency_cache_give_back(cache, b);
    assert_int_equal(unlinkat(fixture->folder, "g_b", 0), 0);
    assert_false(is_kept(cache, "g_b"));
    assert_ptr_equal(borrow(cache, "g_a", 100), a);
    adjacency_cache_give_back(cache, a);
    adjacency_cache_give_back(cache, a);
    adjacency_cache_destroy(cache);
}

static void too_large_a_graph_is_refused_with_the_limit(void **state)
{
    struct adjacency_cache *cache = make(*state, ENTRY_BYTES - 1);
    const struct adjacency *adjacency;
    struct problem problem;

    assert_int_equal(adjacency_cache_borrow(cache, "g_a", &adjacency, &problem), STATUS_TOO_LARGE);
    assert_true(problem.has_limit && problem.limit == ENTRY_BYTES - 1 &&
                problem.actual == ENTRY_BYTES);
    assert_non_null(strstr(problem.hint, "path_budget"));
    assert_int_not_equal(adjacency_cache_borrow(cache, "g_none", &adjacency, &problem), STATUS_OK);
    adjacency_cache_destroy(cache);
    adjacency_cache_destroy(NULL);
}

static void *call_often(void *context)
{
    static const char *const ids[] = {"g_a", "g_b", "g_c"};
    struct adjacency_cache *cache = context;

    for (int i = 0; i < 300; i++) {
        const struct adjacency *adjacency;

        CHECK(adjacency_cache_borrow(cache, ids[i % 3], &adjacency, NULL) == STATUS_OK);
        CHECK(adjacency_weight(adjacency, 0) == 100 * (i % 3 + 1));
        adjacency_cache_give_back(cache, adjacency);
    }
    return NULL;
}

static void threads_share_it(void **state)
{
    struct adjacency_cache *cache = make(*state, ENTRY_BYTES);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, cache), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    adjacency_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(edges_are_read_once),
        FIXTURE_TEST(the_longest_unasked_goes_first),
        FIXTURE_TEST(what_is_lent_stays),
        FIXTURE_TEST(too_large_a_graph_is_refused_with_the_limit),
        FIXTURE_TEST(threads_share_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
