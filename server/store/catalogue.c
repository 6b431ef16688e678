#include "server/store/catalogue_database.h"

#include "proto/check.h"

#include <stdlib.h>
#include <string.h>

/* Later rows of the same key replace what may change and keep their place in the order. */
static const char *const statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_PUT_GRAPH] =
        "INSERT INTO graph VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)"
        " ON CONFLICT(id) DO UPDATE SET file_bytes=excluded.file_bytes",
    [STATEMENT_PUT_NAME] = "INSERT INTO name VALUES(?1,?2,?3)"
                           " ON CONFLICT(tenant,name) DO UPDATE SET graph_id=excluded.graph_id",
    [STATEMENT_PUT_RESULT] =
        "INSERT INTO result VALUES(?1,?2,?3,?4,?5,?6) ON CONFLICT(graph_id,kind) DO UPDATE SET"
        " etag=excluded.etag,bytes=excluded.bytes,checksum=excluded.checksum,"
        "created_s=excluded.created_s",
    [STATEMENT_PUT_JOB] =
        "INSERT INTO job VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)"
        " ON CONFLICT(id) DO UPDATE SET graph_id=excluded.graph_id,state=excluded.state,"
        "kind=excluded.kind,priority=excluded.priority,verify=excluded.verify,"
        "deadline_s=excluded.deadline_s,created_s=excluded.created_s,"
        "started_s=excluded.started_s,finished_s=excluded.finished_s,"
        "idempotency_key=excluded.idempotency_key,fingerprint=excluded.fingerprint,"
        "report=excluded.report",
    [STATEMENT_DELETE_GRAPH] = "DELETE FROM graph WHERE id=?1",
    [STATEMENT_DELETE_GRAPH_NAMES] = "DELETE FROM name WHERE graph_id=?1",
    [STATEMENT_DELETE_GRAPH_RESULTS] = "DELETE FROM result WHERE graph_id=?1",
    [STATEMENT_DELETE_RESULT] = "DELETE FROM result WHERE graph_id=?1 AND kind=?2",
    [STATEMENT_DELETE_JOB] = "DELETE FROM job WHERE id=?1",
    [STATEMENT_HAS_GRAPH] = "SELECT 1 FROM graph WHERE id=?1",
    [STATEMENT_HAS_RESULT] = "SELECT 1 FROM result WHERE graph_id=?1 AND kind=?2",
    [STATEMENT_ALL_GRAPHS] = "SELECT * FROM graph ORDER BY created_s,rowid",
    [STATEMENT_ALL_NAMES] = "SELECT * FROM name ORDER BY rowid",
    [STATEMENT_ALL_RESULTS] = "SELECT * FROM result ORDER BY created_s,rowid",
    [STATEMENT_ALL_JOBS] = "SELECT * FROM job ORDER BY created_s,rowid",
};

enum status catalogue_open(const char *path, const char *store_id, struct catalogue **ret_catalogue,
                           struct problem *reterr)
{
    struct catalogue *catalogue = calloc(1, sizeof *catalogue);
    if (catalogue == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = catalogue_database_open(path, store_id, &catalogue->database, reterr);
    if (status != STATUS_OK) {
        goto fail;
    }
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        int code = sqlite3_prepare_v3(catalogue->database, statement_sql[i], -1,
                                      SQLITE_PREPARE_PERSISTENT, &catalogue->statements[i], NULL);
        status = catalogue_database_status(code);
        if (status != STATUS_OK) {
            problem_set(reterr, status, "%s: %s", path, sqlite3_errmsg(catalogue->database));
            goto fail;
        }
    }
    *ret_catalogue = catalogue;
    return STATUS_OK;
fail:
    catalogue_close(catalogue);
    return status;
}

void catalogue_close(struct catalogue *catalogue)
{
    if (catalogue == NULL) {
        return;
    }
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(catalogue->statements[i]);
    }
    sqlite3_close(catalogue->database);
    free(catalogue);
}

static sqlite3_stmt *statement_of(const struct catalogue *catalogue, enum statement statement)
{
    return catalogue->statements[statement];
}

/* Values in the order of their places; a failed bind is out of memory and found by the step. */
struct binding {
    sqlite3_stmt *statement;
    int place;
    int code;
};

static struct binding bind(const struct catalogue *catalogue, enum statement statement)
{
    return (struct binding){.statement = statement_of(catalogue, statement), .place = 1};
}

static void note(struct binding *binding, int code)
{
    if (binding->code == SQLITE_OK) {
        binding->code = code;
    }
    binding->place++;
}

/* Borrowed until the statement has run; NULL becomes NULL. */
static void bind_text(struct binding *binding, const char *text)
{
    note(binding, sqlite3_bind_text(binding->statement, binding->place, text, -1, SQLITE_STATIC));
}

static void bind_integer(struct binding *binding, uint64_t value)
{
    note(binding, sqlite3_bind_int64(binding->statement, binding->place, (int64_t)value));
}

static void bind_real(struct binding *binding, double value)
{
    note(binding, sqlite3_bind_double(binding->statement, binding->place, value));
}

/* Runs a statement to its end and lets go of what was bound. */
static enum status run(const struct binding *binding, bool *ret_row)
{
    int code = binding->code;
    if (code == SQLITE_OK) {
        code = sqlite3_step(binding->statement);
    }
    bool row = code == SQLITE_ROW;
    enum status status = row || code == SQLITE_DONE ? STATUS_OK : catalogue_database_status(code);
    sqlite3_reset(binding->statement);
    sqlite3_clear_bindings(binding->statement);
    if (status == STATUS_OK && ret_row != NULL) {
        *ret_row = row;
    }
    return status;
}

enum status catalogue_begin(struct catalogue *catalogue)
{
    struct binding binding = bind(catalogue, STATEMENT_BEGIN);
    return run(&binding, NULL);
}

enum status catalogue_commit(struct catalogue *catalogue)
{
    struct binding binding = bind(catalogue, STATEMENT_COMMIT);
    return run(&binding, NULL);
}

/* SQLite has rolled back by itself after some failures. */
void catalogue_rollback(struct catalogue *catalogue)
{
    if (!sqlite3_get_autocommit(catalogue->database)) {
        sqlite3_exec(catalogue->database, "ROLLBACK", NULL, NULL, NULL);
    }
}

enum status catalogue_put_graph(struct catalogue *catalogue, const struct graph_row *row)
{
    struct binding binding = bind(catalogue, STATEMENT_PUT_GRAPH);
    bind_text(&binding, row->id);
    bind_real(&binding, row->created_s);
    bind_integer(&binding, row->vertex_count);
    bind_integer(&binding, row->edge_count);
    bind_integer(&binding, row->directed);
    bind_integer(&binding, row->file_bytes);
    bind_integer(&binding, row->summary.edges_read);
    bind_integer(&binding, row->summary.loops_dropped);
    bind_integer(&binding, row->summary.parallel_merged);
    bind_real(&binding, row->summary.min_weight);
    bind_real(&binding, row->summary.max_weight);
    bind_real(&binding, row->summary.distance_bound);
    bind_integer(&binding, row->summary.components);
    bind_integer(&binding, row->summary.negative_loop);
    bind_integer(&binding, row->summary.negative);
    bind_integer(&binding, row->summary.integral);
    bind_text(&binding, row->tenant);
    return run(&binding, NULL);
}

enum status catalogue_put_name(struct catalogue *catalogue, const struct name_row *row)
{
    struct binding binding = bind(catalogue, STATEMENT_PUT_NAME);
    bind_text(&binding, row->name);
    bind_text(&binding, row->graph_id);
    bind_text(&binding, row->tenant);
    return run(&binding, NULL);
}

enum status catalogue_put_result(struct catalogue *catalogue, const struct result_row *row)
{
    struct binding binding = bind(catalogue, STATEMENT_PUT_RESULT);
    bind_text(&binding, row->graph_id);
    bind_text(&binding, kind_name(row->kind));
    bind_text(&binding, row->etag);
    bind_integer(&binding, row->bytes);
    bind_integer(&binding, row->checksum);
    bind_real(&binding, row->created_s);
    return run(&binding, NULL);
}

enum status catalogue_put_job(struct catalogue *catalogue, const struct job_row *row)
{
    struct binding binding = bind(catalogue, STATEMENT_PUT_JOB);
    bind_text(&binding, row->id);
    bind_text(&binding, row->graph_id);
    bind_text(&binding, job_state_name(row->state));
    bind_text(&binding, kind_name(row->kind));
    bind_integer(&binding, (uint64_t)row->priority);
    bind_integer(&binding, row->verify);
    bind_real(&binding, row->deadline_s);
    bind_real(&binding, row->created_s);
    bind_real(&binding, row->started_s);
    bind_real(&binding, row->finished_s);
    bind_text(&binding, row->idempotency_key);
    bind_text(&binding, row->fingerprint);
    bind_text(&binding, row->report);
    bind_text(&binding, row->tenant);
    return run(&binding, NULL);
}

static enum status run_with_key(const struct catalogue *catalogue, enum statement statement,
                                const char *key)
{
    struct binding binding = bind(catalogue, statement);
    bind_text(&binding, key);
    return run(&binding, NULL);
}

enum status catalogue_delete_graph(struct catalogue *catalogue, const char *graph_id)
{
    enum status status = run_with_key(catalogue, STATEMENT_DELETE_GRAPH, graph_id);
    if (status == STATUS_OK) {
        status = run_with_key(catalogue, STATEMENT_DELETE_GRAPH_NAMES, graph_id);
    }
    if (status == STATUS_OK) {
        status = run_with_key(catalogue, STATEMENT_DELETE_GRAPH_RESULTS, graph_id);
    }
    return status;
}

enum status catalogue_delete_result(struct catalogue *catalogue, const char *graph_id,
                                    enum kind kind)
{
    struct binding binding = bind(catalogue, STATEMENT_DELETE_RESULT);
    bind_text(&binding, graph_id);
    bind_text(&binding, kind_name(kind));
    return run(&binding, NULL);
}

enum status catalogue_delete_job(struct catalogue *catalogue, const char *job_id)
{
    return run_with_key(catalogue, STATEMENT_DELETE_JOB, job_id);
}

enum status catalogue_has_graph(struct catalogue *catalogue, const char *graph_id, bool *ret_found)
{
    struct binding binding = bind(catalogue, STATEMENT_HAS_GRAPH);
    bind_text(&binding, graph_id);
    return run(&binding, ret_found);
}

enum status catalogue_has_result(struct catalogue *catalogue, const char *graph_id, enum kind kind,
                                 bool *ret_found)
{
    struct binding binding = bind(catalogue, STATEMENT_HAS_RESULT);
    bind_text(&binding, graph_id);
    bind_text(&binding, kind_name(kind));
    return run(&binding, ret_found);
}
