#include "proto/check.h"
#include "server/job/desk_internal.h"

#include <stdlib.h>
#include <string.h>

/* What was to be kept may be lost, on the disk or in SQLite's own files: whatever is asked of this
 * process from now on, it cannot be promised. A full disk, and want of memory,
 * are waited out. */
static void judge_failure(struct desk *desk, enum status status)
{
    if (status == STATUS_DISK_FULL) {
        desk_room_note_full(desk);
    } else if (status == STATUS_NO_MEMORY) {
        desk_room_pause(desk);
    } else if (status == STATUS_IO || status == STATUS_CORRUPT) {
        desk_tell_lost(desk, STATUS_IO);
    }
}

/* Back on the loop. */
static void deliver_change(struct message *message)
{
    struct desk_change *change = (struct desk_change *)message;
    struct desk *desk = change->desk;
    desk->changes--;
    if (change->change.status != STATUS_OK) {
        metrics_add(METRIC_STORE_FAILURES, 1);
        log_write(LOG_ERROR, "store_failed",
                  LOG_TEXT("code", status_info(change->change.status)->code),
                  LOG_TEXT("job", change->job != NULL ? change->job->id : ""));
        judge_failure(desk, change->change.status);
    }
    if (change->job != NULL) {
        change->job->changes--;
    }
    if (change->entry != NULL) {
        change->entry->changes--;
    }
    upload_share_give_back(&change->share);
    if (change->then != NULL) {
        change->then(change);
    }
    desk_change_destroy(change);
    desk_count(desk);
    desk_drain_check(desk);
}

/* On the catalogue thread. */
static void carry_home(struct store_change *store_change)
{
    struct desk_change *change = store_change->context;
    mailbox_post(change->desk->mailbox, &change->message);
}

enum status desk_change_create(struct desk *desk, void (*then)(struct desk_change *change),
                               struct desk_change **ret_change)
{
    struct desk_change *change = calloc(1, sizeof(*change));
    if (change == NULL) {
        return STATUS_NO_MEMORY;
    }
    change->desk = desk;
    change->then = then;
    change->message.deliver = deliver_change;
    change->change.done = carry_home;
    change->change.context = change;
    *ret_change = change;
    return STATUS_OK;
}

void desk_change_destroy(struct desk_change *change)
{
    if (change == NULL) {
        return;
    }
    if (change->result != NULL) {
        result_unref(change->result);
    }
    upload_share_give_back(&change->share);
    graph_destroy(change->graph);
    graph_file_drop(&change->change.draft);
    free(change->report);
    free(change);
}

enum status desk_change_add_job(struct desk_change *change, struct job *job)
{
    if (job_state_is_final(job->state) || job->report.input.known || job->report.workers_lost > 0 ||
        job->report.traceparent[0] != '\0') {
        change->report = job_report_encode(&job->report);
        if (change->report == NULL) {
            return STATUS_NO_MEMORY;
        }
    }
    job_fill_row(job, change->report, &change->job_row);
    change->change.job_row = &change->job_row;
    change->job = job;
    return STATUS_OK;
}

void desk_change_add_name(struct desk_change *change, const char *name)
{
    const struct graph_entry *entry = change->entry;
    if (name[0] == '\0') {
        return;
    }
    snprintf(change->name_row.name, sizeof(change->name_row.name), "%s", name);
    memcpy(change->name_row.graph_id, entry->row.id, sizeof(entry->row.id));
    memcpy(change->name_row.tenant, entry->row.tenant, sizeof(entry->row.tenant));
    change->change.name_row = &change->name_row;
}

void desk_change_send(struct desk_change *change)
{
    change->desk->changes++;
    if (change->job != NULL) {
        change->job->changes++;
    }
    if (change->entry != NULL) {
        change->entry->changes++;
    }
    store_apply(change->desk->store, &change->change);
}
