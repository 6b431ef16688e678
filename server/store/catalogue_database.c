#include "server/store/catalogue_database.h"

#include "server/store/omission.h"

#include <string.h>

/* Of the tables and of the rows in them; kept in user_version, where 0 is a new file. */
#define CATALOGUE_VERSION 2
/* Pages in the write-ahead log that start a checkpoint. */
#define CHECKPOINT_PAGES 1000

#define TEXT_OF(number) #number
#define DIGITS_OF(number) TEXT_OF(number)

/* EXCLUSIVE before WAL: then there is no shared-memory file, and no second connection ever.
 * mmap_size=0: an I/O error is a result code and not a signal. temp_store: to sort rows takes no
 * files, which a confined process cannot make. */
static const char settings_sql[] = "PRAGMA locking_mode=EXCLUSIVE;"
                                   "PRAGMA journal_mode=WAL;"
                                   "PRAGMA synchronous=FULL;"
                                   "PRAGMA mmap_size=0;"
                                   "PRAGMA temp_store=MEMORY;"
                                   "PRAGMA trusted_schema=OFF;";

#define NAME_TABLE_SQL                                                                             \
    "CREATE TABLE name(name TEXT NOT NULL, graph_id TEXT NOT NULL, tenant TEXT NOT NULL,"          \
    " PRIMARY KEY(tenant, name)) STRICT;"                                                          \
    "CREATE INDEX name_by_graph ON name(graph_id);"

static const char schema_sql[] =
    "BEGIN EXCLUSIVE;"
    "CREATE TABLE store(id TEXT NOT NULL) STRICT;"
    "CREATE TABLE graph(id TEXT PRIMARY KEY, created_s REAL NOT NULL,"
    " vertex_count INTEGER NOT NULL, edge_count INTEGER NOT NULL, directed INTEGER NOT NULL,"
    " file_bytes INTEGER NOT NULL, edges_read INTEGER NOT NULL, loops_dropped INTEGER NOT NULL,"
    " parallel_merged INTEGER NOT NULL, min_weight REAL NOT NULL, max_weight REAL NOT NULL,"
    " distance_bound REAL NOT NULL, components INTEGER NOT NULL, negative_loop INTEGER NOT NULL,"
    " negative INTEGER NOT NULL, integral INTEGER NOT NULL,"
    " tenant TEXT NOT NULL DEFAULT '') STRICT;" NAME_TABLE_SQL
    "CREATE TABLE result(graph_id TEXT NOT NULL, kind TEXT NOT NULL, etag TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, checksum INTEGER NOT NULL, created_s REAL NOT NULL,"
    " PRIMARY KEY(graph_id, kind)) STRICT;"
    "CREATE TABLE job(id TEXT PRIMARY KEY, graph_id TEXT NOT NULL, state TEXT NOT NULL,"
    " kind TEXT NOT NULL, priority INTEGER NOT NULL, verify INTEGER NOT NULL,"
    " deadline_s REAL NOT NULL, created_s REAL NOT NULL, started_s REAL NOT NULL,"
    " finished_s REAL NOT NULL, idempotency_key TEXT NOT NULL, fingerprint TEXT NOT NULL,"
    " report TEXT, tenant TEXT NOT NULL DEFAULT '') STRICT;"
    "PRAGMA user_version=" DIGITS_OF(CATALOGUE_VERSION) ";";

/* From version 1, which knew no tenants: what is there belongs to nobody. */
static const char upgrade_sql[] =
    "BEGIN EXCLUSIVE;"
    "ALTER TABLE graph ADD COLUMN tenant TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE job ADD COLUMN tenant TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE name RENAME TO old_name;"
    "DROP INDEX name_by_graph;" NAME_TABLE_SQL
    "INSERT INTO name SELECT name,graph_id,'' FROM old_name ORDER BY rowid;"
    "DROP TABLE old_name;"
    "PRAGMA user_version=" DIGITS_OF(CATALOGUE_VERSION) "; COMMIT;";

enum status catalogue_database_status(int code)
{
    if (code == SQLITE_IOERR_NOMEM) {
        return STATUS_NO_MEMORY;
    }
    switch (code & 0xff) {
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
    int ended = sqlite3_finalize(statement);
    if (code == SQLITE_ROW) {
        return SQLITE_OK;
    }
    return ended != SQLITE_OK ? ended : SQLITE_NOTFOUND;
}

static enum status fail(sqlite3 *database, const char *path, int code, struct problem *reterr)
{
    return problem_set(reterr, catalogue_database_status(code), "%s: %s", path,
                       sqlite3_errmsg(database));
}

static enum status create_schema(sqlite3 *database, const char *path, const char *store_id,
                                 struct problem *reterr)
{
    int code = sqlite3_exec(database, schema_sql, NULL, NULL, NULL);
    char *insert = sqlite3_mprintf("INSERT INTO store VALUES(%Q); COMMIT;", store_id);
    if (insert == NULL) {
        code = SQLITE_NOMEM;
    }
    if (code == SQLITE_OK) {
        code = sqlite3_exec(database, insert, NULL, NULL, NULL);
    }
    sqlite3_free(insert);
    return code == SQLITE_OK ? STATUS_OK : fail(database, path, code, reterr);
}

static enum status check_owner(sqlite3 *database, const char *path, const char *store_id,
                               struct problem *reterr)
{
    char owner[64];
    int code = query(database, "SELECT id FROM store", owner, sizeof owner);
    if (code == SQLITE_NOTFOUND) {
        return problem_set(reterr, STATUS_CORRUPT, "%s does not name its state directory", path);
    }
    if (code != SQLITE_OK) {
        return fail(database, path, code, reterr);
    }
    if (strcmp(owner, store_id) != 0) {
        return problem_set(reterr, STATUS_CONFIG, "%s belongs to another state directory", path);
    }
    return STATUS_OK;
}

/* quick_check reads the whole file: rows of the past that cannot be read are found now. */
static enum status check_content(sqlite3 *database, const char *path, const char *store_id,
                                 struct problem *reterr)
{
    char answer[128];
    int code = query(database, "PRAGMA quick_check(1)", answer, sizeof answer);
    if (code != SQLITE_OK) {
        return fail(database, path, code, reterr);
    }
    if (strcmp(answer, "ok") != 0) {
        return problem_set(reterr, STATUS_CORRUPT, "%s is damaged: %s", path, answer);
    }
    return check_owner(database, path, store_id, reterr);
}

static enum status check_or_create(sqlite3 *database, const char *path, const char *store_id,
                                   struct problem *reterr)
{
    char version[16];
    int code = query(database, "PRAGMA user_version", version, sizeof version);
    if (code != SQLITE_OK) {
        return fail(database, path, code, reterr);
    }
    if (strcmp(version, "0") == 0) {
        return create_schema(database, path, store_id, reterr);
    }
    if (strcmp(version, DIGITS_OF(CATALOGUE_VERSION)) != 0 && strcmp(version, "1") != 0) {
        return problem_set(reterr, STATUS_CONFIG,
                           "%s has format version %s, this program knows version %d", path, version,
                           CATALOGUE_VERSION);
    }
    enum status status = check_content(database, path, store_id, reterr);
    if (status == STATUS_OK && strcmp(version, "1") == 0) {
        code = sqlite3_exec(database, upgrade_sql, NULL, NULL, NULL);
        status = code == SQLITE_OK ? STATUS_OK : fail(database, path, code, reterr);
    }
    return status;
}

enum status catalogue_database_open(const char *path, const char *store_id, sqlite3 **ret_database,
                                    struct problem *reterr)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    sqlite3 *database = NULL;
    enum status status;
    int code = sqlite3_open_v2(path, &database, flags, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(database, settings_sql, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK && omission_is("catalogue-sync")) {
        code = sqlite3_exec(database, "PRAGMA synchronous=OFF", NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        status = check_or_create(database, path, store_id, reterr);
    } else {
        status = fail(database, path, code, reterr);
    }
    if (status != STATUS_OK) {
        sqlite3_close(database);
        return status;
    }
    sqlite3_wal_hook(database, checkpoint, NULL);
    *ret_database = database;
    return STATUS_OK;
}
