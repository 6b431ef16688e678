#include "server/store/catalogue_database.h"

#include <string.h>

#define PRIORITY_LIMIT 9

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
    copy_text(columns, row.id, sizeof row.id);
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
    copy_text(columns, row.tenant, sizeof row.tenant);
    return columns->corrupt ? STATUS_CORRUPT : visitor->graph(visitor->context, &row);
}

static enum status visit_name(struct columns *columns, const struct catalogue_visitor *visitor)
{
    struct name_row row;
    copy_text(columns, row.name, sizeof row.name);
    copy_text(columns, row.graph_id, sizeof row.graph_id);
    copy_text(columns, row.tenant, sizeof row.tenant);
    return columns->corrupt ? STATUS_CORRUPT : visitor->name(visitor->context, &row);
}

static enum status visit_result(struct columns *columns, const struct catalogue_visitor *visitor)
{
    struct result_row row;
    copy_text(columns, row.graph_id, sizeof row.graph_id);
    row.kind = next_kind(columns);
    copy_text(columns, row.etag, sizeof row.etag);
    row.bytes = next_u64(columns);
    row.checksum = next_u64(columns);
    row.created_s = next_real(columns);
    return columns->corrupt ? STATUS_CORRUPT : visitor->result(visitor->context, &row);
}

static enum status visit_job(struct columns *columns, const struct catalogue_visitor *visitor)
{
    struct job_row row;
    copy_text(columns, row.id, sizeof row.id);
    copy_text(columns, row.graph_id, sizeof row.graph_id);
    row.state = next_state(columns);
    row.kind = next_kind(columns);
    row.priority = (int)next_u32(columns, PRIORITY_LIMIT);
    row.verify = next_bool(columns);
    row.deadline_s = next_real(columns);
    row.created_s = next_real(columns);
    row.started_s = next_real(columns);
    row.finished_s = next_real(columns);
    copy_text(columns, row.idempotency_key, sizeof row.idempotency_key);
    copy_text(columns, row.fingerprint, sizeof row.fingerprint);
    row.report = next_text(columns);
    copy_text(columns, row.tenant, sizeof row.tenant);
    return columns->corrupt ? STATUS_CORRUPT : visitor->job(visitor->context, &row);
}

static enum status walk(sqlite3_stmt *statement, const struct catalogue_visitor *visitor,
                        enum status (*visit)(struct columns *, const struct catalogue_visitor *))
{
    enum status status = STATUS_OK;
    int code = SQLITE_DONE;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct columns columns = {.statement = statement};
        status = visit(&columns, visitor);
    }
    if (status == STATUS_OK && code != SQLITE_DONE) {
        status = catalogue_database_status(code);
    }
    sqlite3_reset(statement);
    return status;
}

enum status catalogue_visit(struct catalogue *catalogue, const struct catalogue_visitor *visitor)
{
    sqlite3_stmt **statements = catalogue->statements;
    enum status status = STATUS_OK;
    if (visitor->graph != NULL) {
        status = walk(statements[STATEMENT_ALL_GRAPHS], visitor, visit_graph);
    }
    if (status == STATUS_OK && visitor->name != NULL) {
        status = walk(statements[STATEMENT_ALL_NAMES], visitor, visit_name);
    }
    if (status == STATUS_OK && visitor->result != NULL) {
        status = walk(statements[STATEMENT_ALL_RESULTS], visitor, visit_result);
    }
    if (status == STATUS_OK && visitor->job != NULL) {
        status = walk(statements[STATEMENT_ALL_JOBS], visitor, visit_job);
    }
    return status;
}
