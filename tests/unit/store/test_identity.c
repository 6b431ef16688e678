#include "server/store/identity.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <math.h>

static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

static void id_of(const struct graph *graph, char id[GRAPH_ID_SIZE])
{
    assert_int_equal(identity_of_graph(graph, "", NULL, id), STATUS_OK);
    assert_int_equal(strlen(id), GRAPH_ID_SIZE - 1);
}

/* The ID of a graph must never change, so that stored IDs stay valid. The expected ID was computed
 * with Python's hashlib. */
TEST(the_id_of_a_known_graph_never_changes)
{
    char id[GRAPH_ID_SIZE];
    struct graph *graph = fixture_path_graph(2, WEIGHT_INTEGER, 5);
    id_of(graph, id);
    assert_string_equal(id, "g_4nbyadede6bsc2kzz9fjthn7mr");
    graph_destroy(graph);
}

TEST(equal_graphs_have_the_same_id)
{
    char first[GRAPH_ID_SIZE];
    char second[GRAPH_ID_SIZE];
    struct graph *graph = fixture_path_graph(9, WEIGHT_INTEGER, 5);
    struct graph *again = fixture_path_graph(9, WEIGHT_INTEGER, 5);
    again->summary.edges_read = 99;
    id_of(graph, first);
    id_of(again, second);
    assert_string_equal(first, second);
    graph_destroy(graph);
    graph_destroy(again);
}

/* The IDs must not reveal to anybody without the secret that two tenants have the same graph. */
TEST(graph_ids_depend_on_the_name_of_the_tenant_and_the_secret)
{
    static const char *const tenants[] = {"", "a", "b", "a"};
    static const char *const secrets[] = {"s", "s", "s", "t"};
    char ids[4][GRAPH_ID_SIZE];
    char again[GRAPH_ID_SIZE];
    struct graph *graph = fixture_path_graph(2, WEIGHT_INTEGER, 5);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(identity_of_graph(graph, tenants[i], secrets[i], ids[i]), STATUS_OK);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(ids[i], ids[j]);
        }
    }
    assert_string_equal(ids[0], "g_4nbyadede6bsc2kzz9fjthn7mr");
    assert_int_equal(identity_of_graph(graph, "b", "s", again), STATUS_OK);
    assert_string_equal(again, ids[2]);
    graph_destroy(graph);
}

static void expect_other_id(const struct graph *changed)
{
    char first[GRAPH_ID_SIZE];
    char second[GRAPH_ID_SIZE];
    struct graph *graph = fixture_path_graph(9, WEIGHT_INTEGER, 5);
    id_of(graph, first);
    id_of(changed, second);
    assert_string_not_equal(first, second);
    graph_destroy(graph);
}

TEST(every_part_of_a_graph_affects_its_id)
{
    struct graph *graph = fixture_path_graph(9, WEIGHT_INTEGER, 5);
    graph->directed = false;
    expect_other_id(graph);
    graph->directed = true;
    graph->weight_i4[7]++;
    expect_other_id(graph);
    graph->weight_i4[7]--;
    graph->target[7] = 0;
    expect_other_id(graph);
    graph->target[7] = 8;
    graph->row_offset[3]--;
    expect_other_id(graph);
    graph->row_offset[3]++;
    graph->summary.negative_loop = 0;
    graph->summary.negative_loop_weight = -1;
    expect_other_id(graph);
    graph->summary.negative_loop = NO_VERTEX;
    vertex_names_destroy(graph->names);
    assert_int_equal(vertex_names_create_range(9, 0, &graph->names), STATUS_OK);
    expect_other_id(graph);
    graph_destroy(graph);

    graph = fixture_path_graph(9, WEIGHT_REAL, 5);
    expect_other_id(graph);
    graph_destroy(graph);
    graph = fixture_path_graph(10, WEIGHT_INTEGER, 5);
    expect_other_id(graph);
    graph_destroy(graph);
}

TEST(a_ulid_starts_with_its_time)
{
    char id[JOB_ID_SIZE];
    assert_int_equal(identity_new("j_", 0, id), STATUS_OK);
    assert_memory_equal(id, "j_0000000000", 12);
    /* The example of the ULID specification: time 1469918176.385 s is 01ARYZ6S41. */
    assert_int_equal(identity_new("j_", 1469918176.3851, id), STATUS_OK);
    assert_memory_equal(id, "j_01aryz6s41", 12);
    assert_int_equal(strlen(id), JOB_ID_SIZE - 1);
    assert_int_equal(strspn(id + 2, alphabet), 26);
}

TEST(ulids_sort_by_time_and_differ_at_equal_times)
{
    char first[JOB_ID_SIZE];
    char twin[JOB_ID_SIZE];
    char later[JOB_ID_SIZE];
    assert_int_equal(identity_new("j_", 1700000000.100, first), STATUS_OK);
    assert_int_equal(identity_new("j_", 1700000000.100, twin), STATUS_OK);
    assert_int_equal(identity_new("j_", 1700000000.102, later), STATUS_OK);
    assert_string_not_equal(first, twin);
    assert_true(strcmp(first, later) < 0);
    assert_true(strcmp(twin, later) < 0);
}
