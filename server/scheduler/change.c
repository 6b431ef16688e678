#include "server/scheduler/change.h"

#include "server/scheduler/answer.h"
#include "server/scheduler/names.h"
#include "server/scheduler/results.h"
#include "server/scheduler/submission.h"
#include "server/scheduler/submit.h"

#include "proto/text.h"
#include "server/solver/hierarchy/update.h"
#include "server/store/graph_file.h"
#include "server/store/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether If-Match is absent or contains the tag of this graph. */
static bool matches_tag(const struct call *call, const char *graph_id)
{
    char tag[GRAPH_ID_SIZE + 2];
    snprintf(tag, sizeof(tag), "\"%s\"", graph_id);
    return call->if_match[0] == '\0' || text_lists_tag(call->if_match, tag, false);
}

/* Inherits the kind of the parent's result, in which a list of weights is read. The new graph keeps
 * this kind unless it is the usual kind for the parent's weights. Also inherits the form of the
 * parent's newest job, unless the call requests a form. */
static enum status inherit_form(struct submission *submission, const struct graph_entry *entry)
{
    const struct job *last = LIST_FIRST(&entry->jobs);
    struct call *call = submission->call;
    enum kind usual;
    const enum status status =
        graph_entry_choose_kind(entry, KIND_AUTO, &usual, &submission->problem);
    const enum kind kind = graph_entry_answer(entry) != NULL ? entry->answering : usual;
    call->submit.changes.kind = kind;
    submission->change.wanted = kind == usual ? KIND_AUTO : kind;
    if (submission->change.asked_form == RESULT_FORM_AUTO && last != NULL) {
        submission->change.inherited = last->report.result;
        submission->change.inherited.arcs = 0;
        call->submit.parameters.form = last->report.result.form;
    }
    return status;
}

/* Checks that the change may begin now. waits: the change would have to wait for its name. */
static enum status check_change(struct submission *submission, const struct graph_entry *entry,
                                bool waits)
{
    struct problem *problem = &submission->problem;
    if (waits && submission->scheduler->stage != SCHEDULER_SERVES) {
        return problem_set(problem, STATUS_DRAINING, "The service is shutting down.");
    }
    if (submission->scheduler->ledger.is_full) {
        /* The change is not parked, because an earlier change of the name may wait for space. */
        return problem_set(problem, STATUS_DISK_FULL,
                           "There is not enough disk space; nothing was stored.");
    }
    if (!matches_tag(submission->call, entry->row.id)) {
        return problem_refuse(problem, STATUS_PRECONDITION_FAILED,
                              "GET the graph, and send If-Match with the ETag of that response.",
                              "If-Match does not match the current graph, %s.", entry->row.id);
    }
    STATUS_TRY(submit_check_place(submission));
    return inherit_form(submission, entry);
}

void change_begin(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    struct call *call = submission->call;
    struct submission_change *change = &submission->change;
    struct graph_entry *entry = answer_find_graph(scheduler, call);
    struct job *earlier = submit_find_repeated(submission);
    if (earlier != NULL) {
        submit_answer_repeat(submission, earlier);
        return;
    }
    if (entry == NULL) {
        answer_no_such(call);
        submit_end(submission);
        return;
    }
    /* Changes of one name run one at a time, each on the graph of the previous change. Parked
     * changes that are about to resume run first. */
    const bool waits =
        scheduler->marks.unparked || names_is_moving(scheduler, call->tenant, call->key);
    if (waits && scheduler->stage == SCHEDULER_SERVES && !scheduler->ledger.is_full) {
        submit_park(submission);
        return;
    }
    const enum status status = check_change(submission, entry, waits);
    if (status != STATUS_OK) {
        submit_end_with(submission, status);
        return;
    }
    if (graph_table_find_name(&scheduler->graphs, call->tenant, call->key) != NULL) {
        snprintf(change->name, sizeof(change->name), "%s", call->key);
        names_begin_move(scheduler, &change->move, call->tenant, change->name);
    }
    memcpy(change->parent_id, entry->row.id, sizeof(entry->row.id));
    change->parent = entry;
    entry->active_jobs++;
    submit_finish_graph(submission);
}

void change_end(struct submission *submission)
{
    submission->change.parent->active_jobs--;
    if (submission->status == STATUS_CORRUPT) {
        results_note_damaged_graph(submission->scheduler, submission->change.parent_id);
    }
}

/* Lists the changed arcs for updating the parent's result, if they are few. If memory runs out, the
 * list stays NULL and the graph is solved instead. */
static void keep_arcs(struct submission *submission, const struct edge_changes *changes)
{
    const bool directed = submission->graph->directed;
    const size_t count = directed ? changes->count : 2 * changes->count;
    if (changes->weights != NULL || count > SOLVE_UPDATE_HIERARCHY_ARCS) {
        return;
    }
    submission->change.arcs = calloc(count + 1, sizeof(*submission->change.arcs));
    for (size_t i = 0; i < changes->count && submission->change.arcs != NULL; i++) {
        const struct edge_change *change = &changes->list[i];
        struct solve_arc *arcs = submission->change.arcs;
        arcs[submission->change.arc_count++] =
            (struct solve_arc){change->source, change->target, change->weight};
        if (!directed) {
            arcs[submission->change.arc_count++] =
                (struct solve_arc){change->target, change->source, change->weight};
        }
    }
}

/* Applies the changes to *graph, the parent. The vertices in a list of edges were resolved when the
 * list arrived, so the graph must still have the same vertex names. */
static enum status apply_changes(struct submission *submission, struct edge_changes *changes,
                                 struct graph **graph)
{
    struct problem *problem = &submission->problem;
    unsigned char digest[IDENTITY_DIGEST_SIZE];
    if (changes->weights == NULL) {
        STATUS_TRY(identity_of_names((*graph)->names, digest));
        if (memcmp(digest, changes->names_digest, sizeof(digest)) != 0) {
            return problem_set(problem, STATUS_PRECONDITION_FAILED,
                               "The name now belongs to a graph with different vertices.");
        }
    }
    return edge_changes_apply(changes, submission->scheduler->config->edge_limit, graph,
                              &submission->change.absent, problem);
}

/* Creates the changed graph. A kind that was requested for the parent graph is kept if the new
 * weights fit it. */
enum status change_finish_graph(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    struct edge_changes *changes = &submission->call->submit.changes;
    struct problem *problem = &submission->problem;
    struct graph **graph = &submission->graph; /* first the parent, then the changed graph */
    const int folder = store_folder(scheduler->store, STORE_GRAPHS);
    enum status status = graph_file_read(folder, submission->change.parent_id, graph);
    STATUS_TRY(problem_explain(problem, status, "The stored graph cannot be read."));
    submission->change.decimals = (*graph)->summary.decimals;
    submission->change.scaling = graph_scaling(&(*graph)->summary, changes->kind);
    status = apply_changes(submission, changes, graph);
    if (status == STATUS_OK) {
        keep_arcs(submission, changes);
    }
    edge_changes_finish(changes);
    STATUS_TRY(status);
    if (submission->change.absent > 0) {
        warning_hint(warning_add(&submission->warnings, WARNING_EDGES_ABSENT,
                                 "%llu of the edges to remove did not exist.",
                                 (unsigned long long)submission->change.absent),
                     "GET /v1/graphs/%s/edges lists the edges.", submission->change.parent_id);
    }
    struct problem unfit;
    if (graph_choose_kind(submission->graph, submission->change.wanted, &submission->kind,
                          &unfit) != STATUS_OK) {
        submission->change.wanted = KIND_AUTO;
    }
    return STATUS_OK;
}
