#include "server/store/store_rows.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct catalogue *open_catalogue(const struct fixture *fixture)
{
    char path[640];
    struct catalogue *catalogue;
    struct problem problem;
    snprintf(path, sizeof path, "%s/catalogue.db", fixture->path);
    assert_int_equal(catalogue_open(path, "0123456789abcdef0123456789abcdef", &catalogue, &problem),
                     STATUS_OK);
    return catalogue;
}

static bool has_graph(struct catalogue *catalogue, const char *id)
{
    bool found;
    assert_int_equal(catalogue_has_graph(catalogue, id, &found), STATUS_OK);
    return found;
}

static void changes_that_failed_before_are_left_out(void **state)
{
    struct catalogue *catalogue = open_catalogue(*state);
    const struct graph_row good = {.id = "g_good"};
    const struct graph_row bad = {.id = "g_bad"};
    struct store_change last = {.graph_row = &good};
    struct store_change first = {.graph_row = &bad, .status = STATUS_DISK_FULL, .next = &last};
    assert_int_equal(store_rows_commit(catalogue, &first), STATUS_OK);
    assert_true(has_graph(catalogue, "g_good"));
    assert_false(has_graph(catalogue, "g_bad"));
    catalogue_close(catalogue);
}

static void one_change_deletes_before_it_puts(void **state)
{
    struct catalogue *catalogue = open_catalogue(*state);
    const struct graph_row row = {.id = "g_a"};
    struct store_change change = {.delete_graph_id = "g_a", .graph_row = &row};
    assert_int_equal(store_rows_commit(catalogue, &change), STATUS_OK);
    assert_int_equal(store_rows_commit(catalogue, &change), STATUS_OK);
    assert_true(has_graph(catalogue, "g_a"));
    catalogue_close(catalogue);
}

/* A second begin is an error of SQLite, as any other in the middle of a batch. */
static void a_batch_that_fails_leaves_nothing(void **state)
{
    struct catalogue *catalogue = open_catalogue(*state);
    const struct graph_row row = {.id = "g_a"};
    struct store_change change = {.graph_row = &row};
    assert_int_equal(catalogue_begin(catalogue), STATUS_OK);
    assert_int_equal(catalogue_put_graph(catalogue, &row), STATUS_OK);
    assert_int_not_equal(store_rows_commit(catalogue, &change), STATUS_OK);
    assert_false(has_graph(catalogue, "g_a"));
    assert_int_equal(store_rows_commit(catalogue, &change), STATUS_OK);
    assert_true(has_graph(catalogue, "g_a"));
    catalogue_close(catalogue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(changes_that_failed_before_are_left_out),
        FIXTURE_TEST(one_change_deletes_before_it_puts),
        FIXTURE_TEST(a_batch_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
