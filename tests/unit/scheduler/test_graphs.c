#include "server/scheduler/scheduler_internal.h"
#include "tests/lib/test.h"

static struct tenant nobody;

static int set_up(void **state)
{
    static struct graph_table table;
    *state = &table;
    return 0;
}

static int tear_down(void **state)
{
    graph_table_finish(*state);
    return 0;
}

static struct graph_entry *add(struct graph_table *table, const char *id)
{
    struct graph_row row = {0};
    struct graph_entry *entry;
    memcpy(row.id, id, strlen(id) + 1);
    assert_int_equal(graph_table_add(table, &nobody, &row, &entry), STATUS_OK);
    entry->state = GRAPH_STORED;
    return entry;
}

static void name(struct graph_table *table, const char *alias, struct graph_entry *entry)
{
    assert_int_equal(graph_table_name(table, alias, entry, 0), STATUS_OK);
}

#define FIXTURE_TEST(name) TEST_FIXTURE(name, struct graph_table *table, set_up, tear_down)

FIXTURE_TEST(a_graph_is_found_by_its_id_and_by_every_name)
{
    struct graph_entry *entry = add(table, "g_one");
    add(table, "g_two");
    name(table, "rome", entry);
    name(table, "roma", entry);
    assert_ptr_equal(graph_table_find(table, &nobody, "g_one"), entry);
    assert_ptr_equal(graph_table_find(table, &nobody, "rome"), entry);
    assert_ptr_equal(graph_table_find(table, &nobody, "roma"), entry);
    assert_null(graph_table_find(table, &nobody, "paris"));
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

FIXTURE_TEST(each_tenant_has_its_own_graphs_and_names)
{
    struct tenant tenants[2] = {{.number = 1}, {.number = 2}};
    struct graph_entry *one = add_of(table, &tenants[0], "g_one");
    struct graph_entry *two = add_of(table, &tenants[1], "g_two");
    name(table, "rome", one);
    name(table, "rome", two);
    name(table, "g_one", two); /* a name that looks like a graph ID */
    assert_ptr_equal(graph_table_find(table, &tenants[0], "rome"), one);
    assert_ptr_equal(graph_table_find(table, &tenants[1], "rome"), two);
    assert_null(graph_table_find(table, &nobody, "rome"));
    assert_ptr_equal(graph_table_find(table, &tenants[0], "g_one"), one);
    assert_ptr_equal(graph_table_find(table, &tenants[1], "g_one"), two);
    assert_null(graph_table_find(table, &tenants[0], "g_two"));
    assert_null(graph_table_find(table, &nobody, "g_two"));
    assert_ptr_equal(graph_table_find_own(table, &tenants[1], "g_two"), two);
    assert_null(graph_table_find_own(table, &tenants[0], "g_two"));
    assert_null(graph_table_find_own(table, &tenants[1], "rome"));
    assert_int_equal(tenants[0].stored_bytes, 100);
    graph_table_remove(table, one);
    assert_int_equal(tenants[0].stored_bytes, 0);
    assert_int_equal(tenants[1].stored_bytes, 100);
    assert_ptr_equal(graph_table_find(table, &tenants[1], "rome"), two);
    graph_table_remove(table, two);
}

FIXTURE_TEST(a_name_given_twice_is_listed_once)
{
    struct graph_entry *entry = add(table, "g_one");
    name(table, "rome", entry);
    name(table, "rome", entry);
    assert_int_equal(entry->name_count, 1);
}

FIXTURE_TEST(a_name_belongs_to_the_graph_that_received_the_name_last)
{
    struct graph_entry *one = add(table, "g_one");
    struct graph_entry *two = add(table, "g_two");
    name(table, "rome", one);
    name(table, "old", one);
    name(table, "rome", two);
    assert_ptr_equal(graph_table_find(table, &nobody, "rome"), two);
    assert_int_equal(one->name_count, 1);
    assert_string_equal(one->names[0], "old");
    assert_null(one->names[1]);
}

FIXTURE_TEST(an_uncommitted_graph_or_a_graph_being_deleted_is_found_only_by_id)
{
    struct graph_entry *entry = add(table, "g_one");
    entry->state = GRAPH_ACCEPTING;
    assert_null(graph_table_find(table, &nobody, "g_one"));
    assert_ptr_equal(graph_table_find_id(table, "g_one"), entry);
    entry->state = GRAPH_DELETING;
    assert_null(graph_table_find(table, &nobody, "g_one"));
}

FIXTURE_TEST(a_removed_graph_loses_its_names)
{
    struct graph_entry *one = add(table, "g_one");
    struct graph_entry *two = add(table, "g_two");
    name(table, "rome", one);
    graph_table_remove(table, one);
    assert_null(graph_table_find(table, &nobody, "rome"));
    assert_null(graph_table_find_id(table, "g_one"));
    assert_ptr_equal(LIST_FIRST(&table->all), two);
    assert_null(LIST_NEXT(two, in_table));
}

FIXTURE_TEST(only_uncommitted_unused_graphs_are_dropped)
{
    struct graph_entry *entry = add(table, "g_one");
    graph_table_drop(table, entry);
    assert_non_null(graph_table_find_id(table, "g_one"));
    entry->state = GRAPH_ACCEPTING;
    entry->changes = 1;
    graph_table_drop(table, entry);
    assert_non_null(graph_table_find_id(table, "g_one"));
    entry->changes = 0;
    entry->active_jobs = 1;
    graph_table_drop(table, entry);
    assert_non_null(graph_table_find_id(table, "g_one"));
    entry->active_jobs = 0;
    graph_table_drop(table, entry);
    assert_null(graph_table_find_id(table, "g_one"));
}
