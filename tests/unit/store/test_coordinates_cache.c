#include "server/store/coordinates_cache.h"

#include "tests/unit/graph_file_fixture.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The files of graphs are in the folder of the test, those of coordinates in one below. */
struct places {
    int folder;
    struct coordinates_cache *cache;
};

static struct places open_places(const struct fixture *fixture, uint64_t budget_bytes)
{
    struct places places;
    struct graph *graph = fixture_path_graph(10, WEIGHT_INTEGER, 1);

    fixture_put_graph(fixture->folder, "g_a", graph);
    fixture_put_graph(fixture->folder, "g_b", graph);
    graph_destroy(graph);
    assert_int_equal(mkdirat(fixture->folder, "coordinates", 0700), 0);
    places.folder = openat(fixture->folder, "coordinates", O_RDONLY | O_DIRECTORY);
    assert_int_equal(
        coordinates_cache_create(fixture->folder, places.folder, budget_bytes, &places.cache),
        STATUS_OK);
    return places;
}

static void close_places(const struct places *places)
{
    coordinates_cache_destroy(places->cache);
    close(places->folder);
}

static void put(const struct places *places, const char *id, uint32_t count, double x)
{
    struct coordinates *coordinates = NULL;
    struct coordinates_info info;
    struct draft_file file;

    assert_int_equal(coordinates_create(count, &coordinates), STATUS_OK);
    coordinates->x[0] = coordinates->y[0] = x;
    assert_int_equal(coordinates_complete(coordinates), STATUS_OK);
    assert_int_equal(coordinates_file_write(places->folder, id, coordinates, &file, &info),
                     STATUS_OK);
    assert_int_equal(draft_file_publish(&file, id), STATUS_OK);
    draft_file_finish(&file);
    coordinates_destroy(coordinates);
}

static struct located_graph *borrow(const struct places *places, const char *id, double x)
{
    struct located_graph *graph = NULL;

    assert_int_equal(coordinates_cache_borrow(places->cache, id, &graph, NULL), STATUS_OK);
    assert_true(graph->coordinates->x[0] == x);
    assert_string_equal(graph->graph_id, id);
    assert_int_equal(vertex_names_count(graph->names), 10);
    return graph;
}

static void a_file_is_read_once(void **state)
{
    const struct places places = open_places(*state, UINT64_MAX);

    put(&places, "g_a", 10, 1);
    put(&places, "g_b", 10, 2);
    struct located_graph *first = borrow(&places, "g_a", 1);
    coordinates_cache_give_back(places.cache, first);
    coordinates_cache_give_back(places.cache, borrow(&places, "g_b", 2));
    assert_ptr_equal(borrow(&places, "g_a", 1), first);
    coordinates_cache_give_back(places.cache, first);
    close_places(&places);
}

static void a_file_that_is_replaced_or_removed_is_lent_no_more(void **state)
{
    const struct places places = open_places(*state, UINT64_MAX);
    struct located_graph *none;
    struct problem problem;

    put(&places, "g_a", 10, 1);
    struct located_graph *old = borrow(&places, "g_a", 1);
    put(&places, "g_a", 10, 3);
    struct located_graph *new = borrow(&places, "g_a", 3);
    assert_true(old->coordinates->x[0] == 1); /* it is lent */
    coordinates_cache_give_back(places.cache, old);
    coordinates_cache_give_back(places.cache, new);
    assert_int_equal(unlinkat(places.folder, "g_a", 0), 0);
    assert_int_equal(coordinates_cache_borrow(places.cache, "g_a", &none, &problem),
                     STATUS_NO_COORDINATES);
    assert_non_null(strstr(problem.hint, "PUT"));
    close_places(&places);
}

static void the_longest_unasked_goes_first_and_stays_while_it_is_lent(void **state)
{
    const struct fixture *fixture = *state;
    const struct places places = open_places(fixture, UINT64_MAX);
    struct graph *graph = fixture_path_graph(10, WEIGHT_INTEGER, 1);
    char id[8] = "g_a";

    put(&places, id, 10, 1);
    struct located_graph *lent = borrow(&places, id, 1);
    for (unsigned i = 0; i < COORDINATES_CACHE_LIMIT; i++) {
        snprintf(id, sizeof(id), "g_%u", i);
        fixture_put_graph(fixture->folder, id, graph);
        put(&places, id, 10, i);
        coordinates_cache_give_back(places.cache, borrow(&places, id, i));
    }
    assert_true(lent->coordinates->x[0] == 1);
    assert_int_equal(lent->holders, 1);
    struct located_graph *again = borrow(&places, "g_a", 1);
    assert_ptr_not_equal(again, lent);
    coordinates_cache_give_back(places.cache, again);
    coordinates_cache_give_back(places.cache, lent);
    graph_destroy(graph);
    close_places(&places);
}

static void beyond_the_budget_the_last_one_alone_is_kept(void **state)
{
    const struct places places = open_places(*state, 1);

    put(&places, "g_a", 10, 1);
    put(&places, "g_b", 10, 2);
    struct located_graph *first = borrow(&places, "g_a", 1);
    assert_int_equal(first->holders, 2);
    struct located_graph *second = borrow(&places, "g_b", 2);
    assert_int_equal(first->holders, 1);
    assert_int_equal(second->holders, 2);
    coordinates_cache_give_back(places.cache, first);
    coordinates_cache_give_back(places.cache, second);
    close_places(&places);
}

static void coordinates_of_another_count_are_damaged(void **state)
{
    const struct places places = open_places(*state, UINT64_MAX);
    struct located_graph *none;
    struct problem problem;

    put(&places, "g_a", 9, 1);
    assert_int_equal(coordinates_cache_borrow(places.cache, "g_a", &none, &problem),
                     STATUS_CORRUPT);
    close_places(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_file_is_read_once),
        FIXTURE_TEST(a_file_that_is_replaced_or_removed_is_lent_no_more),
        FIXTURE_TEST(the_longest_unasked_goes_first_and_stays_while_it_is_lent),
        FIXTURE_TEST(beyond_the_budget_the_last_one_alone_is_kept),
        FIXTURE_TEST(coordinates_of_another_count_are_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
