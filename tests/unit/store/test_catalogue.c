#include "server/store/catalogue.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <math.h>
#include <sqlite3.h>

static const char store_id[] = "0123456789abcdef0123456789abcdef";

static void path_of(const struct fixture *fixture, char path[640])
{
    snprintf(path, 640, "%s/catalogue.db", fixture->path);
}

static enum status try_open(const struct fixture *fixture, struct catalogue **ret_catalogue,
                            struct problem *reterr)
{
    char path[640];
    path_of(fixture, path);
    return catalogue_open(path, store_id, ret_catalogue, reterr);
}

static struct catalogue *open_catalogue(const struct fixture *fixture)
{
    struct catalogue *catalogue;
    struct problem problem = {0};
    enum status status = try_open(fixture, &catalogue, &problem);
    assert_string_equal(problem.detail, "");
    assert_int_equal(status, STATUS_OK);
    return catalogue;
}

/* The rows that a walk of the catalogue has visited, as text with one line per row. */
struct walk {
    char lines[2048];
    struct graph_row graph;
    struct result_row result;
    struct job_row job;
    char report[64];
    int64_t damaged_row;
};

static void add_line(struct walk *walk, const char *kind, const char *what)
{
    size_t length = strlen(walk->lines);
    snprintf(walk->lines + length, sizeof walk->lines - length, "%s %s\n", kind, what);
}

static enum status see_graph(void *context, const struct graph_row *row)
{
    struct walk *walk = context;
    walk->graph = *row;
    add_line(walk, "graph", row->id);
    return STATUS_OK;
}

static enum status see_name(void *context, const struct name_row *row)
{
    add_line(context, "name", row->name);
    return strcmp(row->name, "stop") == 0 ? STATUS_CANCELLED : STATUS_OK;
}

static enum status see_result(void *context, const struct result_row *row)
{
    struct walk *walk = context;
    walk->result = *row;
    add_line(walk, "result", row->graph_id);
    return STATUS_OK;
}

static enum status see_job(void *context, const struct job_row *row)
{
    struct walk *walk = context;
    walk->job = *row;
    snprintf(walk->report, sizeof walk->report, "%s", row->report != NULL ? row->report : "-");
    add_line(walk, "job", row->id);
    return STATUS_OK;
}

static enum status visit(struct catalogue *catalogue, struct walk *walk)
{
    const struct catalogue_visitor visitor = {.context = walk,
                                              .graph = see_graph,
                                              .name = see_name,
                                              .result = see_result,
                                              .job = see_job};
    *walk = (struct walk){0};
    return catalogue_visit(catalogue, &visitor);
}

static const struct graph_row graph_row = {.id = "g_1",
                                           .created_s = 100.25,
                                           .vertex_count = UINT32_MAX,
                                           .edge_count = 1ULL << 40,
                                           .directed = true,
                                           .file_bytes = 12345,
                                           .summary = {.edges_read = 9,
                                                       .loops_dropped = 8,
                                                       .parallel_merged = 7,
                                                       .min_weight = -1.5,
                                                       .max_weight = 1e300,
                                                       .distance_bound = 4.5,
                                                       .components = 3,
                                                       .negative_loop = NO_VERTEX,
                                                       .negative = true,
                                                       .decimals = NO_DECIMALS}};
static const struct name_row name_row = {.name = "rome", .graph_id = "g_1"};
static const struct result_row result_row = {.graph_id = "g_1",
                                             .kind = KIND_F4,
                                             .etag = "e1",
                                             .bytes = 77,
                                             .checksum = UINT64_MAX - 5,
                                             .created_s = 5};
static const struct job_row job_row = {.id = "j_1",
                                       .graph_id = "g_1",
                                       .state = JOB_DONE,
                                       .kind = KIND_AUTO,
                                       .priority = 9,
                                       .verify = true,
                                       .deadline_s = 60,
                                       .created_s = 1,
                                       .started_s = 2.5,
                                       .finished_s = 3.5,
                                       .idempotency_key = "it's a key",
                                       .fingerprint = "f00",
                                       .report = "{\"a\":1}"};

static enum status put_rows(struct catalogue *catalogue, const void *context)
{
    (void)context;
    STATUS_TRY(catalogue_put(catalogue, CATALOGUE_GRAPH, &graph_row));
    STATUS_TRY(catalogue_put(catalogue, CATALOGUE_NAME, &name_row));
    STATUS_TRY(catalogue_put(catalogue, CATALOGUE_RESULT, &result_row));
    return catalogue_put(catalogue, CATALOGUE_JOB, &job_row);
}

static void put_all(struct catalogue *catalogue)
{
    assert_int_equal(catalogue_transact(catalogue, put_rows, NULL), STATUS_OK);
}

static void expect_rows(const struct walk *walk)
{
    const struct graph_summary *summary = &walk->graph.summary;
    assert_string_equal(walk->lines, "graph g_1\nname rome\nresult g_1\njob j_1\n");
    assert_true(walk->graph.created_s == 100.25);
    assert_int_equal(walk->graph.vertex_count, UINT32_MAX);
    assert_int_equal(walk->graph.edge_count, 1ULL << 40);
    assert_true(walk->graph.directed);
    assert_int_equal(walk->graph.file_bytes, 12345);
    assert_int_equal(summary->edges_read, 9);
    assert_int_equal(summary->loops_dropped, 8);
    assert_int_equal(summary->parallel_merged, 7);
    assert_true(summary->min_weight == -1.5);
    assert_true(summary->max_weight == 1e300);
    assert_true(summary->distance_bound == 4.5);
    assert_int_equal(summary->components, 3);
    assert_int_equal(summary->negative_loop, NO_VERTEX);
    assert_true(summary->negative);
    assert_int_equal(summary->decimals, NO_DECIMALS);
    assert_int_equal(walk->result.kind, KIND_F4);
    assert_string_equal(walk->result.etag, "e1");
    assert_int_equal(walk->result.bytes, 77);
    assert_true(walk->result.checksum == UINT64_MAX - 5);
    assert_int_equal(walk->job.state, JOB_DONE);
    assert_int_equal(walk->job.kind, KIND_AUTO);
    assert_int_equal(walk->job.priority, 9);
    assert_true(walk->job.verify);
    assert_true(walk->job.deadline_s == 60 && walk->job.created_s == 1);
    assert_true(walk->job.started_s == 2.5 && walk->job.finished_s == 3.5);
    assert_string_equal(walk->job.idempotency_key, "it's a key");
    assert_string_equal(walk->job.fingerprint, "f00");
    assert_string_equal(walk->report, "{\"a\":1}");
}

FIXTURE_TEST(rows_are_read_after_reopening)
{
    struct walk walk;
    struct catalogue *catalogue = open_catalogue(fixture);
    put_all(catalogue);
    catalogue_close(catalogue);
    catalogue = open_catalogue(fixture);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    expect_rows(&walk);
    catalogue_close(catalogue);
}

static enum status put_rows_and_fail(struct catalogue *catalogue, const void *context)
{
    STATUS_TRY(put_rows(catalogue, context));
    return STATUS_DISK_FULL;
}

FIXTURE_TEST(rows_of_a_failed_transaction_are_rolled_back)
{
    struct walk walk;
    struct catalogue *catalogue = open_catalogue(fixture);
    assert_int_equal(catalogue_transact(catalogue, put_rows_and_fail, NULL), STATUS_DISK_FULL);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_string_equal(walk.lines, "");
    put_all(catalogue);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    expect_rows(&walk);
    catalogue_close(catalogue);
}

FIXTURE_TEST(a_later_row_replaces_the_row_with_the_same_key)
{
    struct walk walk;
    struct catalogue *catalogue = open_catalogue(fixture);
    struct job_row job = job_row;
    struct job_row second = job_row;
    struct result_row result = result_row;
    put_all(catalogue);
    snprintf(second.id, sizeof second.id, "j_2");
    second.created_s = job.created_s + 1;
    assert_int_equal(catalogue_put(catalogue, CATALOGUE_JOB, &second), STATUS_OK);
    job.state = JOB_FAILED;
    job.report = NULL;
    assert_int_equal(catalogue_put(catalogue, CATALOGUE_JOB, &job), STATUS_OK);
    result.checksum = 4;
    assert_int_equal(catalogue_put(catalogue, CATALOGUE_RESULT, &result), STATUS_OK);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_string_equal(walk.lines, "graph g_1\nname rome\nresult g_1\njob j_1\njob j_2\n");
    assert_int_equal(walk.result.checksum, 4);
    assert_int_equal(catalogue_delete(catalogue, CATALOGUE_JOB, "j_2"), STATUS_OK);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_int_equal(walk.job.state, JOB_FAILED);
    assert_string_equal(walk.report, "-");
    catalogue_close(catalogue);
}

FIXTURE_TEST(a_deleted_graph_loses_its_names_and_results)
{
    struct walk walk;
    bool found;
    struct catalogue *catalogue = open_catalogue(fixture);
    put_all(catalogue);
    assert_int_equal(catalogue_has_graph(catalogue, "g_1", &found, NULL), STATUS_OK);
    assert_true(found);
    assert_int_equal(catalogue_has_result(catalogue, "g_1", KIND_F4, &found), STATUS_OK);
    assert_true(found);
    assert_int_equal(catalogue_has_result(catalogue, "g_1", KIND_I4, &found), STATUS_OK);
    assert_false(found);
    assert_int_equal(catalogue_delete(catalogue, CATALOGUE_GRAPH, "g_1"), STATUS_OK);
    assert_int_equal(catalogue_has_graph(catalogue, "g_1", &found, NULL), STATUS_OK);
    assert_false(found);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_string_equal(walk.lines, "job j_1\n");
    catalogue_close(catalogue);
}

FIXTURE_TEST(only_the_given_result_is_removed)
{
    struct walk walk;
    struct catalogue *catalogue = open_catalogue(fixture);
    put_all(catalogue);
    assert_int_equal(catalogue_delete(catalogue, CATALOGUE_RESULT,
                                      &(struct result_row){.graph_id = "g_1", .kind = KIND_I4}),
                     STATUS_OK);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    expect_rows(&walk);
    assert_int_equal(catalogue_delete(catalogue, CATALOGUE_RESULT,
                                      &(struct result_row){.graph_id = "g_1", .kind = KIND_F4}),
                     STATUS_OK);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_string_equal(walk.lines, "graph g_1\nname rome\njob j_1\n");
    catalogue_close(catalogue);
}

FIXTURE_TEST(a_failing_callback_ends_the_walk)
{
    struct walk walk;
    struct catalogue *catalogue = open_catalogue(fixture);
    const struct name_row stop = {.name = "stop", .graph_id = "g_1"};
    assert_int_equal(catalogue_put(catalogue, CATALOGUE_NAME, &stop), STATUS_OK);
    put_all(catalogue);
    assert_int_equal(visit(catalogue, &walk), STATUS_CANCELLED);
    assert_string_equal(walk.lines, "graph g_1\nname stop\n");
    catalogue_close(catalogue);
}

static void run_sql(const struct fixture *fixture, const char *sql)
{
    char path[640];
    sqlite3 *database;
    path_of(fixture, path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void expect_refused(const struct fixture *fixture, enum status expected, const char *words)
{
    struct catalogue *catalogue;
    struct problem problem = {0};
    assert_int_equal(try_open(fixture, &catalogue, &problem), expected);
    assert_non_null(strstr(problem.detail, words));
}

FIXTURE_TEST(a_catalogue_of_another_state_directory_is_refused)
{
    catalogue_close(open_catalogue(fixture));
    run_sql(fixture, "UPDATE store SET id='ffff'");
    expect_refused(fixture, STATUS_CONFIG, "another state directory");
}

static enum status note_graph(void *context, const struct name_row *row)
{
    char *graphs = context;
    size_t size = strlen(graphs);
    snprintf(graphs + size, 64 - size, "%s %s\n", row->tenant, row->graph_id);
    return STATUS_OK;
}

FIXTURE_TEST(names_are_separate_for_each_tenant)
{
    struct catalogue *catalogue = open_catalogue(fixture);
    const struct name_row rows[] = {
        {.name = "town", .graph_id = "g_1", .tenant = "a"},
        {.name = "town", .graph_id = "g_2", .tenant = "b"},
        {.name = "town", .graph_id = "g_3", .tenant = "a"},
    };
    char graphs[64] = "";
    const struct catalogue_visitor visitor = {.context = graphs, .name = note_graph};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(catalogue_put(catalogue, CATALOGUE_NAME, &rows[i]), STATUS_OK);
    }
    assert_int_equal(catalogue_visit(catalogue, &visitor), STATUS_OK);
    assert_string_equal(graphs, "b g_2\na g_3\n");
    catalogue_close(catalogue);
}

FIXTURE_TEST(damage_is_found_when_the_catalogue_is_opened)
{
    struct catalogue *catalogue = open_catalogue(fixture);
    put_all(catalogue);
    catalogue_close(catalogue);
    fixture_flip(fixture->folder, "catalogue.db", 3);
    expect_refused(fixture, STATUS_CORRUPT, "catalogue.db");
    fixture_flip(fixture->folder, "catalogue.db", 3);
    for (off_t at = 4096; at < 4096 + 12; at++) {
        fixture_flip(fixture->folder, "catalogue.db", at);
    }
    expect_refused(fixture, STATUS_CORRUPT, "catalogue.db");
}

static enum status see_damage(void *context, const struct catalogue_damage *damage)
{
    struct walk *walk = context;
    walk->damaged_row = damage->row;
    add_line(walk, "damaged", damage->what);
    return STATUS_OK;
}

/* Expects that damage is reported in this table only, and that the damaged row is set aside. */
static void expect_told(struct catalogue *catalogue, const char *table)
{
    struct walk walk = {0};
    char told[64];
    const struct catalogue_visitor visitor = {.context = &walk,
                                              .damaged = see_damage,
                                              .graph = see_graph,
                                              .name = see_name,
                                              .result = see_result,
                                              .job = see_job};
    assert_int_equal(catalogue_visit(catalogue, &visitor), STATUS_OK);
    snprintf(told, sizeof told, "damaged %s\n", table);
    const char *const lines[] = {"graph g_1\n", "name rome\n", "result g_1\n", "job j_1\n"};
    assert_non_null(strstr(walk.lines, told));
    for (size_t i = 0; i < 4; i++) {
        const bool is_it = strncmp(lines[i], table, strlen(table)) == 0;
        assert_true((strstr(walk.lines, lines[i]) == NULL) == is_it);
    }
    const int64_t damaged_row = walk.damaged_row;
    assert_true(damaged_row > 0);
    assert_int_equal(visit(catalogue, &walk), STATUS_CORRUPT);
    assert_int_equal(catalogue_set_aside(catalogue, table, damaged_row), STATUS_OK);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_null(strstr(walk.lines, "damaged"));
}

FIXTURE_TEST(every_damaged_row_is_reported_and_set_aside)
{
    char path[640];
    char **cells;
    int count;
    sqlite3 *database;
    struct catalogue *catalogue = open_catalogue(fixture);
    put_all(catalogue);
    catalogue_close(catalogue);
    path_of(fixture, path);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_get_table(database,
                          "SELECT t.name,c.name FROM sqlite_schema t,pragma_table_info(t.name) c"
                          " WHERE t.name IN ('graph','name','result','job')",
                          &cells, &count, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(database);
    assert_int_equal(count, 20 + 4 + 7 + 15);
    for (int i = 1; i <= count; i++) {
        const char *table = cells[2 * i];
        const char *column = cells[2 * i + 1];
        char sql[256];
        snprintf(sql, sizeof sql,
                 "PRAGMA synchronous=OFF;UPDATE %s SET %s=CASE typeof(%s) WHEN 'text' THEN %s||'a' "
                 "WHEN 'real' THEN 0.5-%s"
                 " ELSE 1-%s END",
                 table, column, column, column, column, column);
        run_sql(fixture, sql);
        catalogue = open_catalogue(fixture);
        expect_told(catalogue, table);
        put_all(catalogue);
        catalogue_close(catalogue);
    }
    sqlite3_free_table(cells);
    run_sql(fixture, "SELECT 1/(count(*)=15) FROM damaged_job");
}

FIXTURE_TEST(a_negative_zero_does_not_count_as_damage)
{
    struct walk walk;
    struct catalogue *catalogue = open_catalogue(fixture);
    struct graph_row row = graph_row;
    row.summary.min_weight = -0.0;
    row.summary.max_weight = INFINITY;
    row.summary.distance_bound = 5e-324;
    assert_int_equal(catalogue_put(catalogue, CATALOGUE_GRAPH, &row), STATUS_OK);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_true(walk.graph.summary.min_weight == 0 && isinf(walk.graph.summary.max_weight));
    catalogue_close(catalogue);
}

/* A row stays readable if one of its values has another type than the column. An index that lacks a
 * row is rebuilt. */
FIXTURE_TEST(a_catalogue_with_wrong_types_or_indexes_can_be_opened)
{
    struct walk walk;
    struct catalogue *catalogue = open_catalogue(fixture);
    put_all(catalogue);
    catalogue_close(catalogue);
    run_sql(fixture, "PRAGMA writable_schema=ON;"
                     "UPDATE sqlite_schema SET sql=replace(sql,'STRICT','') WHERE name='result'");
    run_sql(fixture, "UPDATE result SET bytes=x'01'");
    run_sql(fixture, "PRAGMA writable_schema=ON;"
                     "UPDATE sqlite_schema SET sql=sql||'STRICT' WHERE name='result'");
    catalogue = open_catalogue(fixture);
    expect_told(catalogue, "result");
    catalogue_close(catalogue);
    /* Makes the index claim to cover no rows, and then adds a row. */
    run_sql(fixture, "DELETE FROM name;PRAGMA writable_schema=ON;"
                     "UPDATE sqlite_schema SET sql=sql||' WHERE 0' WHERE name='name_by_graph'");
    catalogue = open_catalogue(fixture);
    assert_int_equal(catalogue_put(catalogue, CATALOGUE_NAME, &name_row), STATUS_OK);
    catalogue_close(catalogue);
    run_sql(fixture, "PRAGMA writable_schema=ON;"
                     "UPDATE sqlite_schema SET sql=replace(sql,' WHERE 0','')"
                     " WHERE name='name_by_graph'");
    catalogue = open_catalogue(fixture);
    assert_int_equal(catalogue_delete(catalogue, CATALOGUE_GRAPH, "g_1"), STATUS_OK);
    assert_int_equal(visit(catalogue, &walk), STATUS_OK);
    assert_string_equal(walk.lines, "job j_1\n");
    catalogue_close(catalogue);
}
