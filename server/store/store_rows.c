#include "server/store/store_rows.h"

static enum status delete_rows(struct catalogue *catalogue, const struct store_change *change)
{
    enum status status = STATUS_OK;
    if (change->delete_graph_id != NULL) {
        status = catalogue_delete_graph(catalogue, change->delete_graph_id);
    }
    if (status == STATUS_OK && change->delete_result != NULL) {
        status = catalogue_delete_result(catalogue, change->delete_result->graph_id,
                                         change->delete_result->kind);
    }
    if (status == STATUS_OK && change->delete_job_id != NULL) {
        status = catalogue_delete_job(catalogue, change->delete_job_id);
    }
    return status;
}

static enum status put_graph_row(struct catalogue *catalogue, const struct store_change *change)
{
    struct graph_row row = *change->graph_row;
    if (change->graph != NULL) {
        row.file_bytes = change->graph_file_bytes;
    }
    return catalogue_put_graph(catalogue, &row);
}

static enum status put_result_row(struct catalogue *catalogue, const struct store_change *change)
{
    struct result_row row = *change->result_row;
    if (change->result != NULL) {
        row.bytes = result_file_bytes(result_matrix_file(change->result));
        row.checksum = change->result_checksum;
    }
    return catalogue_put_result(catalogue, &row);
}

static enum status put_rows(struct catalogue *catalogue, const struct store_change *change)
{
    enum status status = delete_rows(catalogue, change);
    if (status == STATUS_OK && change->graph_row != NULL) {
        status = put_graph_row(catalogue, change);
    }
    if (status == STATUS_OK && change->name_row != NULL) {
        status = catalogue_put_name(catalogue, change->name_row);
    }
    if (status == STATUS_OK && change->result_row != NULL) {
        status = put_result_row(catalogue, change);
    }
    if (status == STATUS_OK && change->job_row != NULL) {
        status = catalogue_put_job(catalogue, change->job_row);
    }
    return status;
}

enum status store_rows_commit(struct catalogue *catalogue, const struct store_change *batch)
{
    enum status status = catalogue_begin(catalogue);
    for (const struct store_change *change = batch; change != NULL && status == STATUS_OK;
         change = change->next) {
        if (change->status == STATUS_OK) {
            status = put_rows(catalogue, change);
        }
    }
    if (status == STATUS_OK) {
        status = catalogue_commit(catalogue);
    }
    catalogue_rollback(catalogue);
    return status;
}
