#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/test.h"

#include <string.h>

static int set_up(void **state)
{
    struct graph_table *table;
    assert_int_equal(graph_table_create(&table), STATUS_OK);
    *state = table;
    return 0;
}

static int tear_down(void **state)
{
    graph_table_destroy(*state);
    return 0;
}

static struct graph_entry *add(struct graph_table *table, const char *id)
{
    struct graph_row row = {0};
    struct graph_entry *entry;
    memcpy(row.id, id, strlen(id) + 1);
    assert_int_equal(graph_table_add(table, NULL, &row, &entry), STATUS_OK);
    entry->state = GRAPH_STORED;
    return entry;
}

static void name(struct graph_table *table, const char *alias, struct graph_entry *entry)
{
    assert_int_equal(graph_table_name(table, alias, entry), STATUS_OK);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

FIXTURE_TEST(a_graph_is_found_by_id_and_by_every_alias)
{
    struct graph_entry *entry = add(*state, "g_one");
    add(*state, "g_two");
    name(*state, "rome", entry);
    name(*state, "roma", entry);
    assert_ptr_equal(graph_table_find(*state, NULL, "g_one"), entry);
    assert_ptr_equal(graph_table_find(*state, NULL, "rome"), entry);
    assert_ptr_equal(graph_table_find(*state, NULL, "roma"), entry);
    assert_null(graph_table_find(*state, NULL, "paris"));
    assert_string_equal(entry->names[0], "rome");
    assert_string_equal(entry->names[1], "roma");
    assert_null(entry->names[2]);
}

static struct graph_entry *add_of(struct graph_table *table, struct tenant *tenant, const char *id)
{
    struct graph_row row = {.file_bytes = 100};
    struct graph_entry *entry;
    memcpy(row.id, id, strlen(id) + 1);
    assert_int_equal(graph_table_add(table, tenant, &row, &entry), STATUS_OK);
    graph_entry_commit(entry, true);
    graph_entry_commit(entry, true);
    return entry;
}

FIXTURE_TEST(each_tenant_has_its_own_graphs_and_aliases)
{
    struct tenant tenants[2] = {{.number = 1}, {.number = 2}};
    struct graph_entry *one = add_of(*state, &tenants[0], "g_one");
    struct graph_entry *two = add_of(*state, &tenants[1], "g_two");
    name(*state, "rome", one);
    name(*state, "rome", two);
    name(*state, "g_one", two); /* not what it looks like, and only to the second */
    assert_ptr_equal(graph_table_find(*state, &tenants[0], "rome"), one);
    assert_ptr_equal(graph_table_find(*state, &tenants[1], "rome"), two);
    assert_null(graph_table_find(*state, NULL, "rome"));
    assert_ptr_equal(graph_table_find(*state, &tenants[0], "g_one"), one);
    assert_ptr_equal(graph_table_find(*state, &tenants[1], "g_one"), two);
    assert_null(graph_table_find(*state, &tenants[0], "g_two"));
    assert_null(graph_table_find(*state, NULL, "g_two"));
    assert_ptr_equal(graph_table_find_own(*state, &tenants[1], "g_two"), two);
    assert_null(graph_table_find_own(*state, &tenants[0], "g_two"));
    assert_null(graph_table_find_own(*state, &tenants[1], "rome"));
    assert_int_equal(tenants[0].stored_bytes, 100);
    graph_table_remove(*state, one);
    assert_int_equal(tenants[0].stored_bytes, 0);
    assert_int_equal(tenants[1].stored_bytes, 100);
    assert_ptr_equal(graph_table_find(*state, &tenants[1], "rome"), two);
    graph_table_remove(*state, two);
}

FIXTURE_TEST(an_alias_given_twice_is_listed_once)
{
    struct graph_entry *entry = add(*state, "g_one");
    name(*state, "rome", entry);
    name(*state, "rome", entry);
    assert_int_equal(entry->name_count, 1);
}

FIXTURE_TEST(an_alias_moves_to_the_graph_it_is_given_to_last)
{
    struct graph_entry *one = add(*state, "g_one");
    struct graph_entry *two = add(*state, "g_two");
    name(*state, "rome", one);
    name(*state, "old", one);
    name(*state, "rome", two);
    assert_ptr_equal(graph_table_find(*state, NULL, "rome"), two);
    assert_int_equal(one->name_count, 1);
    assert_string_equal(one->names[0], "old");
    assert_null(one->names[1]);
}

FIXTURE_TEST(a_graph_not_committed_or_being_deleted_is_found_by_id_alone)
{
    struct graph_entry *entry = add(*state, "g_one");
    entry->state = GRAPH_ACCEPTING;
    assert_null(graph_table_find(*state, NULL, "g_one"));
    assert_ptr_equal(graph_table_find_id(*state, "g_one"), entry);
    entry->state = GRAPH_DELETING;
    assert_null(graph_table_find(*state, NULL, "g_one"));
}

FIXTURE_TEST(a_removed_graph_takes_its_aliases_along)
{
    struct graph_entry *one = add(*state, "g_one");
    struct graph_entry *two = add(*state, "g_two");
    name(*state, "rome", one);
    graph_table_remove(*state, one);
    assert_null(graph_table_find(*state, NULL, "rome"));
    assert_null(graph_table_find_id(*state, "g_one"));
    assert_ptr_equal(((struct graph_table *)*state)->newest, two);
    assert_null(two->older);
}

FIXTURE_TEST(drop_spares_what_is_committed_or_in_use)
{
    struct graph_entry *entry = add(*state, "g_one");
    graph_table_drop(*state, entry);
    assert_non_null(graph_table_find_id(*state, "g_one"));
    entry->state = GRAPH_ACCEPTING;
    entry->changes = 1;
    graph_table_drop(*state, entry);
    assert_non_null(graph_table_find_id(*state, "g_one"));
    entry->changes = 0;
    entry->active_jobs = 1;
    graph_table_drop(*state, entry);
    assert_non_null(graph_table_find_id(*state, "g_one"));
    entry->active_jobs = 0;
    graph_table_drop(*state, entry);
    assert_null(graph_table_find_id(*state, "g_one"));
}
