/* The SQLite side of the catalogue, for the files that make it up: the connection, the schema and
 * the prepared statements. Nothing else includes this. */
#pragma once

#include "server/store/catalogue.h"

#include <sqlite3.h>

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

/* A connection with the right settings, to a file with the right schema. */
MUST_CHECK enum status catalogue_database_open(const char *path, const char *store_id,
                                               sqlite3 **ret_database, struct problem *reterr);
/* What a result code of SQLite means. */
enum status catalogue_database_status(int code);
