#include "server/store/catalogue.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A checkpoint runs once the write-ahead log has this many pages. */
#define CHECKPOINT_PAGES 1000

/* locking_mode=EXCLUSIVE, set before WAL, avoids the shared-memory file and excludes a second
 * connection. mmap_size=0 makes an I/O error a result code instead of a signal. temp_store=MEMORY
 * makes SQLite sort without temporary files, which a sandboxed process cannot create. */
static const char settings_sql[] = "PRAGMA locking_mode=EXCLUSIVE;"
                                   "PRAGMA journal_mode=WAL;"
                                   "PRAGMA synchronous=FULL;"
                                   "PRAGMA mmap_size=0;"
                                   "PRAGMA temp_store=MEMORY;"
                                   "PRAGMA trusted_schema=OFF;";

/* The file FORMAT contains the schema version; user_version is 0 in a new file. Rows whose values
 * do not match their checksum are moved to the damaged tables, which apspd never reads. */
static const char schema_sql[] =
    "BEGIN EXCLUSIVE;"
    "CREATE TABLE store(id TEXT NOT NULL) STRICT;"
    "CREATE TABLE graph(id TEXT PRIMARY KEY, created_s REAL NOT NULL,"
    " vertex_count INTEGER NOT NULL, edge_count INTEGER NOT NULL, directed INTEGER NOT NULL,"
    " file_bytes INTEGER NOT NULL, edges_read INTEGER NOT NULL, loops_dropped INTEGER NOT NULL,"
    " parallel_merged INTEGER NOT NULL, min_weight REAL NOT NULL, max_weight REAL NOT NULL,"
    " distance_bound REAL NOT NULL, components INTEGER NOT NULL, negative_loop INTEGER NOT NULL,"
    " negative INTEGER NOT NULL, decimals INTEGER NOT NULL,"
    " tenant TEXT NOT NULL, parent TEXT NOT NULL, of_name INTEGER NOT NULL,"
    " row_checksum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE name(name TEXT NOT NULL, graph_id TEXT NOT NULL, tenant TEXT NOT NULL,"
    " row_checksum INTEGER NOT NULL, PRIMARY KEY(tenant, name)) STRICT;"
    "CREATE INDEX name_by_graph ON name(graph_id);"
    "CREATE TABLE result(graph_id TEXT NOT NULL, kind TEXT NOT NULL, etag TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, checksum INTEGER NOT NULL, created_s REAL NOT NULL,"
    " row_checksum INTEGER NOT NULL, PRIMARY KEY(graph_id, kind)) STRICT;"
    "CREATE TABLE job(id TEXT PRIMARY KEY, graph_id TEXT NOT NULL, state TEXT NOT NULL,"
    " kind TEXT NOT NULL, priority INTEGER NOT NULL, verify INTEGER NOT NULL,"
    " deadline_s REAL NOT NULL, created_s REAL NOT NULL, started_s REAL NOT NULL,"
    " finished_s REAL NOT NULL, idempotency_key TEXT NOT NULL, fingerprint TEXT NOT NULL,"
    " report TEXT, tenant TEXT NOT NULL, row_checksum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE damaged_graph AS SELECT * FROM graph;"
    "CREATE TABLE damaged_name AS SELECT * FROM name;"
    "CREATE TABLE damaged_result AS SELECT * FROM result;"
    "CREATE TABLE damaged_job AS SELECT * FROM job;"
    "PRAGMA user_version=1;"
    "INSERT INTO store VALUES(%Q); COMMIT;";

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

/* Runs after each commit. SQLite's own hook ignores a failed checkpoint, even a failed fsync; this
 * hook makes the commit fail, except on a full disk, because the log still has all changes. */
static int checkpoint_log(void *context, sqlite3 *database, const char *schema, int pages)
{
    (void)context;
    if (pages < CHECKPOINT_PAGES) {
        return SQLITE_OK;
    }
    int code = sqlite3_wal_checkpoint_v2(database, schema, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return code == SQLITE_FULL || code == SQLITE_BUSY ? SQLITE_OK : code;
}

/* Reads the first column of the first row as text; SQLITE_NOTFOUND if there is no row. */
static int query_text(sqlite3 *database, const char *sql, char *ret_text, int size)
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

static enum status tell_failure(sqlite3 *database, const char *path, int code,
                                struct problem *reterr)
{
    return problem_set(reterr, status_of(code), "%s: %s", path, sqlite3_errmsg(database));
}

/* The check reads the whole file, so that unreadable rows are found at start-up. It ignores values
 * of the wrong type, because the row's checksum detects them and they damage only that row. */
static const char check_sql[] = "SELECT integrity_check FROM pragma_integrity_check(1000000) WHERE"
                                " integrity_check NOT LIKE '% value in %' LIMIT 1";

/* Creates the schema of a new database. Checks an existing database, and rebuilds wrong indexes. */
static enum status check_or_create(sqlite3 *database, const char *path, const char *store_id,
                                   struct problem *reterr)
{
    char answer[128];
    int code = query_text(database, "PRAGMA user_version", answer, sizeof(answer));
    if (code == SQLITE_OK && strcmp(answer, "0") == 0) {
        char *sql = sqlite3_mprintf(schema_sql, store_id);
        code = sql != NULL ? sqlite3_exec(database, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
        return code == SQLITE_OK ? STATUS_OK : tell_failure(database, path, code, reterr);
    }
    if (code == SQLITE_OK) {
        code = query_text(database, check_sql, answer, sizeof(answer));
    }
    if (code == SQLITE_OK && strcmp(answer, "ok") != 0 &&
        sqlite3_exec(database, "REINDEX", NULL, NULL, NULL) == SQLITE_OK) {
        code = query_text(database, check_sql, answer, sizeof(answer));
    }
    if (code == SQLITE_NOTFOUND) {
        code = SQLITE_OK; /* the check found nothing except, perhaps, values of the wrong type */
    } else if (code == SQLITE_OK && strcmp(answer, "ok") != 0) {
        return problem_set(reterr, STATUS_CORRUPT, "%s is damaged: %s", path, answer);
    }
    if (code == SQLITE_OK) {
        code = query_text(database, "SELECT id FROM store", answer, sizeof(answer));
    }
    if (code == SQLITE_NOTFOUND) {
        return problem_set(reterr, STATUS_CORRUPT, "%s does not record its state directory", path);
    }
    if (code != SQLITE_OK) {
        return tell_failure(database, path, code, reterr);
    }
    if (strcmp(answer, store_id) != 0) {
        return problem_set(reterr, STATUS_CONFIG, "%s belongs to another state directory", path);
    }
    return STATUS_OK;
}

/* STATEMENT_PUT, _ALL and _DELETE are the statements of the first table; each is followed by those
 * of the other tables, in order. The statement that deletes names deletes all names of a graph. */
enum statement {
    STATEMENT_PUT,
    STATEMENT_ALL = STATEMENT_PUT + CATALOGUE_TABLES,
    STATEMENT_DELETE = STATEMENT_ALL + CATALOGUE_TABLES,
    STATEMENT_BEGIN = STATEMENT_DELETE + CATALOGUE_TABLES,
    STATEMENT_COMMIT,
    STATEMENT_DELETE_GRAPH_RESULTS,
    STATEMENT_HAS_GRAPH,
    STATEMENT_HAS_RESULT,
    STATEMENT_COUNT
};

struct catalogue {
    sqlite3 *database;
    sqlite3_stmt *statements[STATEMENT_COUNT];
};

static const char *const statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_PUT + CATALOGUE_GRAPH] =
        "REPLACE INTO graph VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [STATEMENT_PUT + CATALOGUE_NAME] = "REPLACE INTO name VALUES(?,?,?,?)",
    [STATEMENT_PUT + CATALOGUE_RESULT] = "REPLACE INTO result VALUES(?,?,?,?,?,?,?)",
    [STATEMENT_PUT + CATALOGUE_JOB] = "REPLACE INTO job VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [STATEMENT_DELETE + CATALOGUE_GRAPH] = "DELETE FROM graph WHERE id=?1",
    [STATEMENT_DELETE + CATALOGUE_NAME] = "DELETE FROM name WHERE graph_id=?1",
    [STATEMENT_DELETE_GRAPH_RESULTS] = "DELETE FROM result WHERE graph_id=?1",
    [STATEMENT_DELETE + CATALOGUE_RESULT] = "DELETE FROM result WHERE graph_id=?1 AND kind=?2",
    [STATEMENT_DELETE + CATALOGUE_JOB] = "DELETE FROM job WHERE id=?1",
    [STATEMENT_HAS_GRAPH] = "SELECT vertex_count FROM graph WHERE id=?1",
    [STATEMENT_HAS_RESULT] = "SELECT 1 FROM result WHERE graph_id=?1 AND kind=?2",
    [STATEMENT_ALL + CATALOGUE_GRAPH] = "SELECT *,rowid FROM graph ORDER BY created_s,rowid",
    [STATEMENT_ALL + CATALOGUE_NAME] = "SELECT *,rowid FROM name ORDER BY rowid",
    [STATEMENT_ALL + CATALOGUE_RESULT] = "SELECT *,rowid FROM result ORDER BY created_s,rowid",
    [STATEMENT_ALL + CATALOGUE_JOB] = "SELECT *,rowid FROM job ORDER BY created_s,rowid",
};

/* How a member is stored, and which values its column may have. */
enum column_type {
    COLUMN_TEXT,    /* text that fits in the member with its NUL */
    COLUMN_REPORT,  /* text of any length or NULL, borrowed from the row */
    COLUMN_REAL,    /* double */
    COLUMN_INTEGER, /* unsigned or bool, of the member's size */
    COLUMN_DIGIT,   /* int from 0 to 9 */
    COLUMN_KIND,    /* the name of an enum kind */
    COLUMN_STATE    /* the name of an enum job_state */
};

struct column {
    enum column_type type;
    size_t offset;
    size_t size;
};

#define MEMBER(row, member) offsetof(struct row, member), sizeof(((struct row *)0)->member)

/* Columns in the order of the schema. */
static const struct column graph_columns[] = {
    {COLUMN_TEXT, MEMBER(graph_row, id)},
    {COLUMN_REAL, MEMBER(graph_row, created_s)},
    {COLUMN_INTEGER, MEMBER(graph_row, vertex_count)},
    {COLUMN_INTEGER, MEMBER(graph_row, edge_count)},
    {COLUMN_INTEGER, MEMBER(graph_row, directed)},
    {COLUMN_INTEGER, MEMBER(graph_row, file_bytes)},
    {COLUMN_INTEGER, MEMBER(graph_row, summary.edges_read)},
    {COLUMN_INTEGER, MEMBER(graph_row, summary.loops_dropped)},
    {COLUMN_INTEGER, MEMBER(graph_row, summary.parallel_merged)},
    {COLUMN_REAL, MEMBER(graph_row, summary.min_weight)},
    {COLUMN_REAL, MEMBER(graph_row, summary.max_weight)},
    {COLUMN_REAL, MEMBER(graph_row, summary.distance_bound)},
    {COLUMN_INTEGER, MEMBER(graph_row, summary.components)},
    {COLUMN_INTEGER, MEMBER(graph_row, summary.negative_loop)},
    {COLUMN_INTEGER, MEMBER(graph_row, summary.negative)},
    {COLUMN_INTEGER, MEMBER(graph_row, summary.decimals)},
    {COLUMN_TEXT, MEMBER(graph_row, tenant)},
    {COLUMN_TEXT, MEMBER(graph_row, parent)},
    {COLUMN_INTEGER, MEMBER(graph_row, of_name)},
};
static const struct column name_columns[] = {
    {COLUMN_TEXT, MEMBER(name_row, name)},
    {COLUMN_TEXT, MEMBER(name_row, graph_id)},
    {COLUMN_TEXT, MEMBER(name_row, tenant)},
};
static const struct column result_columns[] = {
    {COLUMN_TEXT, MEMBER(result_row, graph_id)},    {COLUMN_KIND, MEMBER(result_row, kind)},
    {COLUMN_TEXT, MEMBER(result_row, etag)},        {COLUMN_INTEGER, MEMBER(result_row, bytes)},
    {COLUMN_INTEGER, MEMBER(result_row, checksum)}, {COLUMN_REAL, MEMBER(result_row, created_s)},
};
static const struct column job_columns[] = {
    {COLUMN_TEXT, MEMBER(job_row, id)},
    {COLUMN_TEXT, MEMBER(job_row, graph_id)},
    {COLUMN_STATE, MEMBER(job_row, state)},
    {COLUMN_KIND, MEMBER(job_row, kind)},
    {COLUMN_DIGIT, MEMBER(job_row, priority)},
    {COLUMN_INTEGER, MEMBER(job_row, verify)},
    {COLUMN_REAL, MEMBER(job_row, deadline_s)},
    {COLUMN_REAL, MEMBER(job_row, created_s)},
    {COLUMN_REAL, MEMBER(job_row, started_s)},
    {COLUMN_REAL, MEMBER(job_row, finished_s)},
    {COLUMN_TEXT, MEMBER(job_row, idempotency_key)},
    {COLUMN_TEXT, MEMBER(job_row, fingerprint)},
    {COLUMN_REPORT, MEMBER(job_row, report)},
    {COLUMN_TEXT, MEMBER(job_row, tenant)},
};

#define COLUMNS(columns) columns, sizeof(columns) / sizeof((columns)[0])

/* The last column of a table contains the checksum of the row: each value is hashed in its stored
 * form, with the hash of the previous values as seed. */
static const struct {
    const char *name;
    const struct column *columns;
    size_t count;
} tables[CATALOGUE_TABLES] = {
    [CATALOGUE_GRAPH] = {"graph", COLUMNS(graph_columns)},
    [CATALOGUE_NAME] = {"name", COLUMNS(name_columns)},
    [CATALOGUE_RESULT] = {"result", COLUMNS(result_columns)},
    [CATALOGUE_JOB] = {"job", COLUMNS(job_columns)},
};

/* Binds a row, which must stay valid until the statement has run. Returns an SQLite result code. */
static int bind_row(sqlite3_stmt *statement, enum catalogue_table table, const void *row)
{
    uint64_t checksum = table;
    int code = SQLITE_OK;
    for (size_t i = 0; i < tables[table].count && code == SQLITE_OK; i++) {
        const struct column *column = &tables[table].columns[i];
        const void *member = (const char *)row + column->offset;
        const int place = (int)i + 1;
        const char *text = member;
        int64_t integer = 0;
        double real;
        switch (column->type) {
        case COLUMN_REAL:
            real = *(const double *)member + 0.0; /* -0 becomes 0, as SQLite stores it */
            checksum = XXH3_64bits_withSeed(&real, sizeof(real), checksum);
            code = sqlite3_bind_double(statement, place, real);
            continue;
        case COLUMN_INTEGER:
        case COLUMN_DIGIT:
            /* Copies the low bytes: the program supports only little-endian machines. */
            memcpy(&integer, member, column->size);
            checksum = XXH3_64bits_withSeed(&integer, sizeof(integer), checksum);
            code = sqlite3_bind_int64(statement, place, integer);
            continue;
        case COLUMN_KIND:
            text = kind_name(*(const enum kind *)member);
            break;
        case COLUMN_STATE:
            text = job_state_name(*(const enum job_state *)member);
            break;
        case COLUMN_REPORT:
            text = *(const char *const *)member;
            break;
        case COLUMN_TEXT:
            break;
        }
        code = sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
        checksum = XXH3_64bits_withSeed(text, text != NULL ? strlen(text) : 0, checksum);
    }
    const int place = (int)tables[table].count + 1;
    return code == SQLITE_OK ? sqlite3_bind_int64(statement, place, (int64_t)checksum) : code;
}

/* Reads the current row of the statement. Returns false if a value does not fit or the checksum is
 * wrong. */
static bool read_row(sqlite3_stmt *statement, enum catalogue_table table, void *row)
{
    uint64_t checksum = table;
    bool sound = true;
    for (size_t i = 0; i < tables[table].count && sound; i++) {
        const struct column *column = &tables[table].columns[i];
        void *member = (char *)row + column->offset;
        if (column->type == COLUMN_REAL) {
            const double real = sqlite3_column_double(statement, (int)i);
            checksum = XXH3_64bits_withSeed(&real, sizeof(real), checksum);
            *(double *)member = real;
            continue;
        }
        if (column->type == COLUMN_INTEGER || column->type == COLUMN_DIGIT) {
            const uint64_t limit = column->type == COLUMN_DIGIT       ? 9
                                   : column->size == sizeof(bool)     ? 1
                                   : column->size == sizeof(uint32_t) ? UINT32_MAX
                                                                      : UINT64_MAX;
            const uint64_t integer = (uint64_t)sqlite3_column_int64(statement, (int)i);
            checksum = XXH3_64bits_withSeed(&integer, sizeof(integer), checksum);
            memcpy(member, &integer, column->size);
            sound = integer <= limit;
            continue;
        }
        const char *text = (const char *)sqlite3_column_text(statement, (int)i);
        const int size = sqlite3_column_bytes(statement, (int)i);
        checksum = XXH3_64bits_withSeed(text, (size_t)size, checksum);
        if (column->type == COLUMN_REPORT) {
            *(const char **)member = text;
        } else if (column->type == COLUMN_KIND) {
            sound = text != NULL && kind_from_name(text, member);
        } else if (column->type == COLUMN_STATE) {
            sound = text != NULL && job_state_from_name(text, member);
        } else {
            sound = text != NULL && strlen(text) < column->size;
            memcpy(member, sound ? text : "", sound ? strlen(text) + 1 : 1);
        }
    }
    const int place = (int)tables[table].count;
    return sound && (uint64_t)sqlite3_column_int64(statement, place) == checksum;
}

enum status catalogue_open(const char *path, const char *store_id, struct catalogue **ret_catalogue,
                           struct problem *reterr)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    struct catalogue *catalogue = calloc(1, sizeof(*catalogue));
    if (catalogue == NULL) {
        return problem_set(reterr, STATUS_NO_MEMORY, "out of memory");
    }
    int code = sqlite3_open_v2(path, &catalogue->database, flags, NULL);
    sqlite3 *database = catalogue->database;
    if (code == SQLITE_OK) {
        code = sqlite3_exec(database, settings_sql, NULL, NULL, NULL);
    }
    enum status status = code == SQLITE_OK ? check_or_create(database, path, store_id, reterr)
                                           : tell_failure(database, path, code, reterr);
    for (size_t i = 0; i < STATEMENT_COUNT && status == STATUS_OK; i++) {
        code = sqlite3_prepare_v3(database, statement_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                  &catalogue->statements[i], NULL);
        status = code == SQLITE_OK ? STATUS_OK : tell_failure(database, path, code, reterr);
    }
    if (status != STATUS_OK) {
        catalogue_close(catalogue);
        return status;
    }
    sqlite3_wal_hook(database, checkpoint_log, NULL);
    *ret_catalogue = catalogue;
    return STATUS_OK;
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

/* Runs a statement, then resets it and its bindings. bound: result code of binding the parameters.
 * *ret_row: whether there is a row; *ret_value: its first column. Both may be NULL. */
static enum status run_statement(sqlite3_stmt *statement, int bound, bool *ret_row,
                                 uint32_t *ret_value)
{
    const int code = bound == SQLITE_OK ? sqlite3_step(statement) : bound;
    const bool row = code == SQLITE_ROW;
    const enum status status = row || code == SQLITE_DONE ? STATUS_OK : status_of(code);
    if (row && ret_value != NULL) {
        *ret_value = (uint32_t)sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (status == STATUS_OK && ret_row != NULL) {
        *ret_row = row;
    }
    return status;
}

enum status catalogue_transact(struct catalogue *catalogue,
                               enum status (*write)(struct catalogue *catalogue,
                                                    const void *context),
                               const void *context)
{
    sqlite3_stmt **statements = catalogue->statements;
    enum status status = run_statement(statements[STATEMENT_BEGIN], SQLITE_OK, NULL, NULL);
    STATUS_THEN(status, write(catalogue, context));
    STATUS_THEN(status, run_statement(statements[STATEMENT_COMMIT], SQLITE_OK, NULL, NULL));
    /* After some failures SQLite has already rolled the transaction back. */
    if (!sqlite3_get_autocommit(catalogue->database)) {
        sqlite3_exec(catalogue->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

enum status catalogue_put(struct catalogue *catalogue, enum catalogue_table table, const void *row)
{
    sqlite3_stmt *statement = catalogue->statements[STATEMENT_PUT + table];
    return run_statement(statement, bind_row(statement, table, row), NULL, NULL);
}

/* Runs a statement whose parameters are an ID and, if kind is not NULL, the kind of a result. */
static enum status run_keyed(const struct catalogue *catalogue, enum statement index,
                             const char *id, const char *kind, bool *ret_row, uint32_t *ret_value)
{
    sqlite3_stmt *statement = catalogue->statements[index];
    int code = sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && kind != NULL) {
        code = sqlite3_bind_text(statement, 2, kind, -1, SQLITE_STATIC);
    }
    return run_statement(statement, code, ret_row, ret_value);
}

/* Binds key as the ID: key is an ID, or a struct result_row, whose first member is an ID. */
enum status catalogue_delete(struct catalogue *catalogue, enum catalogue_table table,
                             const void *key)
{
    const bool is_result = table == CATALOGUE_RESULT;
    const char *kind = is_result ? kind_name(((const struct result_row *)key)->kind) : NULL;
    STATUS_TRY(run_keyed(catalogue, STATEMENT_DELETE + table, key, kind, NULL, NULL));
    if (table == CATALOGUE_GRAPH) {
        STATUS_TRY(run_keyed(catalogue, STATEMENT_DELETE_GRAPH_RESULTS, key, NULL, NULL, NULL));
        STATUS_TRY(run_keyed(catalogue, STATEMENT_DELETE + CATALOGUE_NAME, key, NULL, NULL, NULL));
    }
    return STATUS_OK;
}

enum status catalogue_has_graph(struct catalogue *catalogue, const char *graph_id, bool *ret_found,
                                uint32_t *ret_vertex_count)
{
    return run_keyed(catalogue, STATEMENT_HAS_GRAPH, graph_id, NULL, ret_found, ret_vertex_count);
}

enum status catalogue_has_result(struct catalogue *catalogue, const char *graph_id, enum kind kind,
                                 bool *ret_found)
{
    return run_keyed(catalogue, STATEMENT_HAS_RESULT, graph_id, kind_name(kind), ret_found, NULL);
}

enum status catalogue_set_aside(struct catalogue *catalogue, const char *table, int64_t row)
{
    char *sql = sqlite3_mprintf("INSERT INTO damaged_%w SELECT * FROM %w WHERE rowid=%lld;"
                                "DELETE FROM %w WHERE rowid=%lld",
                                table, table, row, table, row);
    const int code =
        sql != NULL ? sqlite3_exec(catalogue->database, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status_of(code);
}

static enum status tell_damaged(const struct catalogue_visitor *visitor, sqlite3_stmt *statement,
                                enum catalogue_table table)
{
    const char *key = (const char *)sqlite3_column_text(statement, 0);
    struct catalogue_damage damage = {
        .what = tables[table].name,
        .row = sqlite3_column_int64(statement, (int)tables[table].count + 1),
        .kind = KIND_COUNT};
    snprintf(damage.id, sizeof(damage.id), "%s", key != NULL ? key : "");
    return visitor->damaged != NULL ? visitor->damaged(visitor->context, &damage) : STATUS_CORRUPT;
}

enum status catalogue_visit(struct catalogue *catalogue, const struct catalogue_visitor *visitor)
{
    const bool has_callback[CATALOGUE_TABLES] = {visitor->graph != NULL, visitor->name != NULL,
                                                 visitor->result != NULL, visitor->job != NULL};
    union {
        struct graph_row graph;
        struct name_row name;
        struct result_row result;
        struct job_row job;
    } row;
    enum status status = STATUS_OK;
    for (enum catalogue_table table = CATALOGUE_GRAPH;
         table < CATALOGUE_TABLES && status == STATUS_OK; table++) {
        sqlite3_stmt *statement = catalogue->statements[STATEMENT_ALL + table];
        const bool is_wanted = has_callback[table] || visitor->damaged != NULL;
        int code = SQLITE_DONE;
        while (is_wanted && status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            if (!read_row(statement, table, &row)) {
                status = tell_damaged(visitor, statement, table);
            } else if (!has_callback[table]) {
                continue;
            } else if (table == CATALOGUE_GRAPH) {
                status = visitor->graph(visitor->context, &row.graph);
            } else if (table == CATALOGUE_NAME) {
                status = visitor->name(visitor->context, &row.name);
            } else if (table == CATALOGUE_RESULT) {
                status = visitor->result(visitor->context, &row.result);
            } else {
                status = visitor->job(visitor->context, &row.job);
            }
        }
        if (status == STATUS_OK && code != SQLITE_DONE) {
            status = status_of(code);
        }
        sqlite3_reset(statement);
    }
    return status;
}
