#include "server/store/catalogue.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* Pages in the write-ahead log that start a checkpoint. */
#define CHECKPOINT_PAGES 1000
#define PRIORITY_LIMIT 9

/* EXCLUSIVE before WAL: then there is no shared-memory file, and no second connection ever.
 * mmap_size=0: an I/O error is a result code and not a signal. temp_store: to sort rows takes no
 * files, which a confined process cannot make. */
static const char settings_sql[] = "PRAGMA locking_mode=EXCLUSIVE;"
                                   "PRAGMA journal_mode=WAL;"
                                   "PRAGMA synchronous=FULL;"
                                   "PRAGMA mmap_size=0;"
                                   "PRAGMA temp_store=MEMORY;"
                                   "PRAGMA trusted_schema=OFF;";

/* Which version it is FORMAT of the state directory says; here 0 is a new file. */
static const char schema_sql[] =
    "BEGIN EXCLUSIVE;"
    "CREATE TABLE store(id TEXT NOT NULL) STRICT;"
    "CREATE TABLE graph(id TEXT PRIMARY KEY, created_s REAL NOT NULL,"
    " vertex_count INTEGER NOT NULL, edge_count INTEGER NOT NULL, directed INTEGER NOT NULL,"
    " file_bytes INTEGER NOT NULL, edges_read INTEGER NOT NULL, loops_dropped INTEGER NOT NULL,"
    " parallel_merged INTEGER NOT NULL, min_weight REAL NOT NULL, max_weight REAL NOT NULL,"
    " distance_bound REAL NOT NULL, components INTEGER NOT NULL, negative_loop INTEGER NOT NULL,"
    " negative INTEGER NOT NULL, integral INTEGER NOT NULL,"
    " tenant TEXT NOT NULL) STRICT;"
    "CREATE TABLE name(name TEXT NOT NULL, graph_id TEXT NOT NULL, tenant TEXT NOT NULL,"
    " PRIMARY KEY(tenant, name)) STRICT;"
    "CREATE INDEX name_by_graph ON name(graph_id);"
    "CREATE TABLE result(graph_id TEXT NOT NULL, kind TEXT NOT NULL, etag TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, checksum INTEGER NOT NULL, created_s REAL NOT NULL,"
    " PRIMARY KEY(graph_id, kind)) STRICT;"
    "CREATE TABLE job(id TEXT PRIMARY KEY, graph_id TEXT NOT NULL, state TEXT NOT NULL,"
    " kind TEXT NOT NULL, priority INTEGER NOT NULL, verify INTEGER NOT NULL,"
    " deadline_s REAL NOT NULL, created_s REAL NOT NULL, started_s REAL NOT NULL,"
    " finished_s REAL NOT NULL, idempotency_key TEXT NOT NULL, fingerprint TEXT NOT NULL,"
    " report TEXT, tenant TEXT NOT NULL) STRICT;"
    "PRAGMA user_version=1;"
    "INSERT INTO store VALUES(%Q); COMMIT;";

/* The meaning of a result code of SQLite. */
static enum status status_of(int code)
{
    switch (code == SQLITE_IOERR_NOMEM ? SQLITE_NOMEM : code & 0xff) {
    case SQLITE_OK:
        return STATUS_OK;
    case SQLITE_FULL:
        return STATUS_DISK_FULL;
    case SQLITE_NOMEM:
        return STATUS_NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
        return STATUS_CORRUPT;
    default:
        return STATUS_IO;
    }
}

/* SQLite's own hook swallows a failed checkpoint, a failed fsync among them; this one hands it to
 * the commit. A full disk is let pass: the log still holds everything. */
static int checkpoint(void *context, sqlite3 *database, const char *schema, int pages)
{
    (void)context;
    if (pages < CHECKPOINT_PAGES) {
        return SQLITE_OK;
    }
    int code = sqlite3_wal_checkpoint_v2(database, schema, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return code == SQLITE_FULL || code == SQLITE_BUSY ? SQLITE_OK : code;
}

/* The first column of the first row as text; SQLITE_NOTFOUND when there is no row. */
static int query(sqlite3 *database, const char *sql, char *ret_text, int size)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) {
        return code;
    }
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        sqlite3_snprintf(size, ret_text, "%s", text);
    }
    const int ended = sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : ended != SQLITE_OK ? ended : SQLITE_NOTFOUND;
}

static enum status fail(sqlite3 *database, const char *path, int code, struct problem *reterr)
{
    return problem_set(reterr, status_of(code), "%s: %s", path, sqlite3_errmsg(database));
}

/* quick_check reads the whole file: rows of the past that cannot be read are found now. */
static enum status check_or_create(sqlite3 *database, const char *path, const char *store_id,
                                   struct problem *reterr)
{
    char answer[128];
    int code = query(database, "PRAGMA user_version", answer, sizeof(answer));
    if (code == SQLITE_OK && strcmp(answer, "0") == 0) {
        char *sql = sqlite3_mprintf(schema_sql, store_id);
        code = sql != NULL ? sqlite3_exec(database, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
        return code == SQLITE_OK ? STATUS_OK : fail(database, path, code, reterr);
    }
    if (code == SQLITE_OK) {
        code = query(database, "PRAGMA quick_check(1)", answer, sizeof(answer));
    }
    if (code == SQLITE_OK && strcmp(answer, "ok") != 0) {
        return problem_set(reterr, STATUS_CORRUPT, "%s is damaged: %s", path, answer);
    }
    if (code == SQLITE_OK) {
        code = query(database, "SELECT id FROM store", answer, sizeof(answer));
    }
    if (code == SQLITE_NOTFOUND) {
        return problem_set(reterr, STATUS_CORRUPT, "%s does not name its state directory", path);
    }
    if (code != SQLITE_OK) {
        return fail(database, path, code, reterr);
    }
    if (strcmp(answer, store_id) != 0) {
        return problem_set(reterr, STATUS_CONFIG, "%s belongs to another state directory", path);
    }
    return STATUS_OK;
}

/* A connection with the right settings, to a file with the right schema; the caller closes it even
 * after a failure. */
static enum status open_database(const char *path, const char *store_id, sqlite3 **ret_database,
                                 struct problem *reterr)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(path, ret_database, flags, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(*ret_database, settings_sql, NULL, NULL, NULL);
    }
    if (code != SQLITE_OK) {
        return fail(*ret_database, path, code, reterr);
    }
    const enum status status = check_or_create(*ret_database, path, store_id, reterr);
    if (status == STATUS_OK) {
        sqlite3_wal_hook(*ret_database, checkpoint, NULL);
    }
    return status;
}

/* ---- Statements ---- */

enum statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_PUT_GRAPH,
    STATEMENT_PUT_NAME,
    STATEMENT_PUT_RESULT,
    STATEMENT_PUT_JOB,
    STATEMENT_DELETE_GRAPH,
    STATEMENT_DELETE_GRAPH_NAMES,
    STATEMENT_DELETE_GRAPH_RESULTS,
    STATEMENT_DELETE_RESULT,
    STATEMENT_DELETE_JOB,
    STATEMENT_HAS_GRAPH,
    STATEMENT_HAS_RESULT,
    STATEMENT_ALL_GRAPHS,
    STATEMENT_ALL_NAMES,
    STATEMENT_ALL_RESULTS,
    STATEMENT_ALL_JOBS,
    STATEMENT_COUNT
};

struct catalogue {
    sqlite3 *database;
    sqlite3_stmt *statements[STATEMENT_COUNT];
};

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
    struct catalogue *catalogue = calloc(1, sizeof(*catalogue));
    if (catalogue == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "out of memory");
    }
    enum status status = open_database(path, store_id, &catalogue->database, reterr);
    if (status != STATUS_OK) {
        goto fail;
    }
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        int code = sqlite3_prepare_v3(catalogue->database, statement_sql[i], -1,
                                      SQLITE_PREPARE_PERSISTENT, &catalogue->statements[i], NULL);
        status = status_of(code);
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

/* Values in the order of their places; a failed bind is out of memory and found by the step. */
struct binding {
    sqlite3_stmt *statement;
    int place;
    int code;
};

static struct binding bind(const struct catalogue *catalogue, enum statement statement)
{
    return (struct binding){.statement = catalogue->statements[statement], .place = 1};
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
    enum status status = row || code == SQLITE_DONE ? STATUS_OK : status_of(code);
    sqlite3_reset(binding->statement);
    sqlite3_clear_bindings(binding->statement);
    if (status == STATUS_OK && ret_row != NULL) {
        *ret_row = row;
    }
    return status;
}

enum status catalogue_begin(struct catalogue *catalogue)
{
    const struct binding binding = bind(catalogue, STATEMENT_BEGIN);
    return run(&binding, NULL);
}

enum status catalogue_commit(struct catalogue *catalogue)
{
    const struct binding binding = bind(catalogue, STATEMENT_COMMIT);
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
                                const char *key, bool *ret_row)
{
    struct binding binding = bind(catalogue, statement);
    bind_text(&binding, key);
    return run(&binding, ret_row);
}

static enum status run_with_result(const struct catalogue *catalogue, enum statement statement,
                                   const char *graph_id, enum kind kind, bool *ret_row)
{
    struct binding binding = bind(catalogue, statement);
    bind_text(&binding, graph_id);
    bind_text(&binding, kind_name(kind));
    return run(&binding, ret_row);
}

enum status catalogue_delete_graph(struct catalogue *catalogue, const char *graph_id)
{
    enum status status = run_with_key(catalogue, STATEMENT_DELETE_GRAPH, graph_id, NULL);
    if (status == STATUS_OK) {
        status = run_with_key(catalogue, STATEMENT_DELETE_GRAPH_NAMES, graph_id, NULL);
    }
    if (status == STATUS_OK) {
        status = run_with_key(catalogue, STATEMENT_DELETE_GRAPH_RESULTS, graph_id, NULL);
    }
    return status;
}

enum status catalogue_delete_result(struct catalogue *catalogue, const char *graph_id,
                                    enum kind kind)
{
    return run_with_result(catalogue, STATEMENT_DELETE_RESULT, graph_id, kind, NULL);
}

enum status catalogue_delete_job(struct catalogue *catalogue, const char *job_id)
{
    return run_with_key(catalogue, STATEMENT_DELETE_JOB, job_id, NULL);
}

enum status catalogue_has_graph(struct catalogue *catalogue, const char *graph_id, bool *ret_found)
{
    return run_with_key(catalogue, STATEMENT_HAS_GRAPH, graph_id, ret_found);
}

enum status catalogue_has_result(struct catalogue *catalogue, const char *graph_id, enum kind kind,
                                 bool *ret_found)
{
    return run_with_result(catalogue, STATEMENT_HAS_RESULT, graph_id, kind, ret_found);
}

/* ---- Reading ---- */

/* Columns in the order of the table; one that does not fit its field makes the row corrupt. */
struct columns {
    sqlite3_stmt *statement;
    int place;
    bool corrupt;
};

static const char *next_text(struct columns *columns)
{
    return (const char *)sqlite3_column_text(columns->statement, columns->place++);
}

static void copy_text(struct columns *columns, char *text, size_t size)
{
    const char *value = next_text(columns);
    size_t length = value != NULL ? strlen(value) : size;
    if (length >= size) {
        columns->corrupt = true;
        return;
    }
    memcpy(text, value, length + 1);
}

static uint64_t next_u64(struct columns *columns)
{
    return (uint64_t)sqlite3_column_int64(columns->statement, columns->place++);
}

static uint32_t next_u32(struct columns *columns, uint32_t limit)
{
    uint64_t value = next_u64(columns);
    columns->corrupt |= value > limit;
    return (uint32_t)value;
}

static bool next_bool(struct columns *columns)
{
    return next_u32(columns, 1) != 0;
}

static double next_real(struct columns *columns)
{
    return sqlite3_column_double(columns->statement, columns->place++);
}

static enum kind next_kind(struct columns *columns)
{
    enum kind kind = KIND_AUTO;
    const char *name = next_text(columns);
    columns->corrupt |= name == NULL || !kind_from_name(name, &kind);
    return kind;
}

static enum job_state next_state(struct columns *columns)
{
    enum job_state state = JOB_QUEUED;
    const char *name = next_text(columns);
    columns->corrupt |= name == NULL || !job_state_from_name(name, &state);
    return state;
}

static enum status visit_graph(struct columns *columns, const struct catalogue_visitor *visitor)
{
    struct graph_row row;
    copy_text(columns, row.id, sizeof(row.id));
    row.created_s = next_real(columns);
    row.vertex_count = next_u32(columns, UINT32_MAX);
    row.edge_count = next_u64(columns);
    row.directed = next_bool(columns);
    row.file_bytes = next_u64(columns);
    row.summary.edges_read = next_u64(columns);
    row.summary.loops_dropped = next_u64(columns);
    row.summary.parallel_merged = next_u64(columns);
    row.summary.min_weight = next_real(columns);
    row.summary.max_weight = next_real(columns);
    row.summary.distance_bound = next_real(columns);
    row.summary.components = next_u32(columns, UINT32_MAX);
    row.summary.negative_loop = next_u32(columns, UINT32_MAX);
    row.summary.negative = next_bool(columns);
    row.summary.integral = next_bool(columns);
    copy_text(columns, row.tenant, sizeof(row.tenant));
    return columns->corrupt ? STATUS_CORRUPT : visitor->graph(visitor->context, &row);
}

static enum status visit_name(struct columns *columns, const struct catalogue_visitor *visitor)
{
    struct name_row row;
    copy_text(columns, row.name, sizeof(row.name));
    copy_text(columns, row.graph_id, sizeof(row.graph_id));
    copy_text(columns, row.tenant, sizeof(row.tenant));
    return columns->corrupt ? STATUS_CORRUPT : visitor->name(visitor->context, &row);
}

static enum status visit_result(struct columns *columns, const struct catalogue_visitor *visitor)
{
    struct result_row row;
    copy_text(columns, row.graph_id, sizeof(row.graph_id));
    row.kind = next_kind(columns);
    copy_text(columns, row.etag, sizeof(row.etag));
    row.bytes = next_u64(columns);
    row.checksum = next_u64(columns);
    row.created_s = next_real(columns);
    return columns->corrupt ? STATUS_CORRUPT : visitor->result(visitor->context, &row);
}

static enum status visit_job(struct columns *columns, const struct catalogue_visitor *visitor)
{
    struct job_row row;
    copy_text(columns, row.id, sizeof(row.id));
    copy_text(columns, row.graph_id, sizeof(row.graph_id));
    row.state = next_state(columns);
    row.kind = next_kind(columns);
    row.priority = (int)next_u32(columns, PRIORITY_LIMIT);
    row.verify = next_bool(columns);
    row.deadline_s = next_real(columns);
    row.created_s = next_real(columns);
    row.started_s = next_real(columns);
    row.finished_s = next_real(columns);
    copy_text(columns, row.idempotency_key, sizeof(row.idempotency_key));
    copy_text(columns, row.fingerprint, sizeof(row.fingerprint));
    row.report = next_text(columns);
    copy_text(columns, row.tenant, sizeof(row.tenant));
    return columns->corrupt ? STATUS_CORRUPT : visitor->job(visitor->context, &row);
}

enum status catalogue_visit(struct catalogue *catalogue, const struct catalogue_visitor *visitor)
{
    const struct {
        bool is_wanted;
        enum statement statement;
        enum status (*visit)(struct columns *columns, const struct catalogue_visitor *visitor);
    } tables[] = {
        {visitor->graph != NULL, STATEMENT_ALL_GRAPHS, visit_graph},
        {visitor->name != NULL, STATEMENT_ALL_NAMES, visit_name},
        {visitor->result != NULL, STATEMENT_ALL_RESULTS, visit_result},
        {visitor->job != NULL, STATEMENT_ALL_JOBS, visit_job},
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && status == STATUS_OK; i++) {
        sqlite3_stmt *statement = catalogue->statements[tables[i].statement];
        int code = SQLITE_DONE;
        while (tables[i].is_wanted && status == STATUS_OK &&
               (code = sqlite3_step(statement)) == SQLITE_ROW) {
            struct columns columns = {.statement = statement};
            status = tables[i].visit(&columns, visitor);
        }
        if (status == STATUS_OK && code != SQLITE_DONE) {
            status = status_of(code);
        }
        sqlite3_reset(statement);
    }
    return status;
}
