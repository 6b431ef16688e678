#include "server/scheduler/change.h"

#include "server/scheduler/answer.h"
#include "server/scheduler/names.h"
#include "server/scheduler/submission.h"
#include "server/scheduler/submit.h"

#include "proto/text.h"
#include "server/solver/hierarchy/update.h"
#include "server/store/graph_file.h"
#include "server/store/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the change may be made to this graph: by the tags that the client has seen. */
static bool matches_tag(const struct call *call, const char *graph_id)
{
    char tag[GRAPH_ID_SIZE + 2];
    snprintf(tag, sizeof(tag), "\"%s\"", graph_id);
    return call->if_match[0] == '\0' || text_lists_tag(call->if_match, tag, false);
}

/* The kind of the result that the parent has, where it was asked for, and its form, where no other
 * is; and the kind in which its weights are sent. */
static enum status inherit_form(struct submission *submission, const struct graph_entry *entry)
{
    const struct job *last = job_table_newest_of(submission->scheduler->jobs, entry->row.id);
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

/* Whether the change may begin: one change of a name at a time, each to the outcome of the one
 * before; few at once, as each holds two graphs; and one of a tenant beside other tenants. */
static bool can_begin(const struct submission *submission)
{
    const struct scheduler *scheduler = submission->scheduler;
    const struct call *call = submission->call;
    const bool is_alone = atomic_load(&scheduler->admission.tenant_count) < 2;
    return scheduler->looks < SCHEDULER_LOOK_LIMIT &&
           (is_alone || submission->tenant->changing == 0) &&
           !names_is_moving(scheduler, call->tenant, call->key);
}

/* Goes on with the graph that the change is made to, or parks. is_first: it has not parked yet. */
static void submit_change(struct submission *submission, bool is_first)
{
    struct scheduler *scheduler = submission->scheduler;
    struct call *call = submission->call;
    struct graph_table *graphs = scheduler->graphs;
    struct graph_entry *entry = answer_find_graph(scheduler, call);
    struct job *earlier = submit_find_repeated(submission);
    enum status status = STATUS_OK;
    if (earlier != NULL) {
        submit_answer_repeat(submission, earlier);
        return;
    }
    if (entry == NULL) {
        answer_no_such(call);
        submit_end(submission);
        return;
    }
    const bool is_name = graph_table_find_name(graphs, call->tenant, call->key) != NULL;
    const bool waits = (is_first && scheduler->marks.unparked) || !can_begin(submission);
    const bool is_full = scheduler->ledger.is_full;
    if (waits && !scheduler->draining && !is_full) {
        STAILQ_INSERT_TAIL(&scheduler->parked, submission, in_parked);
        return;
    }
    if (waits && scheduler->draining) {
        status =
            problem_set(&submission->problem, STATUS_DRAINING, "The service is shutting down.");
    } else if (is_full) {
        /* Before it waits: the end of the change before it may wait for this very room. */
        status = problem_set(&submission->problem, STATUS_DISK_FULL,
                             "There is no room on the disk; nothing was kept.");
    } else if (!matches_tag(call, entry->row.id)) {
        status = problem_set(&submission->problem, STATUS_PRECONDITION_FAILED,
                             "The graph is %s now, which If-Match does not name.", entry->row.id);
        problem_hint(&submission->problem, "Look at what has changed, then change that.");
    }
    if (status == STATUS_OK) {
        status = submit_reserve_place(submission);
    }
    if (status == STATUS_OK) {
        status = inherit_form(submission, entry);
    }
    if (status != STATUS_OK) {
        submit_refuse(submission, status);
        return;
    }
    if (is_name) {
        snprintf(submission->change.name, sizeof(submission->change.name), "%s", call->key);
        names_begin_move(scheduler, &submission->change.move, call->tenant,
                         submission->change.name);
    }
    memcpy(submission->change.parent_id, entry->row.id, sizeof(entry->row.id));
    submission->change.parent = entry;
    entry->active_jobs++;
    scheduler->looks++;
    submission->tenant->changing++;
    submission->tenant->change_turn = ++scheduler->change_turn;
    submit_finish_graph(submission);
}

void change_end(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    submission->change.parent->active_jobs--;
    submission->tenant->changing--;
    scheduler->looks--;
    scheduler->marks.unparked = true;
}

/* The oldest change that can begin, of the tenant that began one longest ago; while changes are
 * refused any of them. */
static struct submission *find_next(const struct scheduler *scheduler)
{
    const bool refuses = scheduler->draining || scheduler->ledger.is_full;
    struct submission *next = NULL;
    struct submission *submission;
    STAILQ_FOREACH(submission, &scheduler->parked, in_parked)
    {
        if (submission->source == SUBMISSION_CHANGE && submission->change.parent == NULL &&
            (next == NULL || submission->tenant->change_turn < next->tenant->change_turn) &&
            (refuses || can_begin(submission))) {
            next = submission;
        }
    }
    return next;
}

void change_resume_parked(struct scheduler *scheduler)
{
    struct submission *next;
    while ((next = find_next(scheduler)) != NULL) {
        STAILQ_REMOVE(&scheduler->parked, next, submission, in_parked);
        submit_change(next, false);
    }
}

void change_begin(struct submission *submission)
{
    submission->source = SUBMISSION_CHANGE;
    submission->change.asked_form = submission->call->submit.parameters.form;
    submit_change(submission, true);
}

/* The arcs by which the result of the parent becomes that of the graph, when there are few; without
 * memory it is solved. */
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

/* Applies the changes to the graph that the parent is; the list only if its rows were found by the
 * names of that graph. */
static enum status apply_changes(struct submission *submission, struct edge_changes *changes,
                                 struct graph **graph)
{
    struct problem *problem = &submission->problem;
    unsigned char digest[IDENTITY_DIGEST_SIZE];
    if (changes->weights == NULL) {
        if (identity_of_names((*graph)->names, digest) != STATUS_OK) {
            return STATUS_NO_MEMORY;
        }
        if (memcmp(digest, changes->names_digest, sizeof(digest)) != 0) {
            return problem_set(problem, STATUS_PRECONDITION_FAILED,
                               "The name was given to a graph of other vertices meanwhile.");
        }
    }
    return edge_changes_apply(changes, submission->scheduler->config->edge_limit, graph,
                              &submission->change.absent, problem);
}

/* The graph of a change. Its kind is that of its parent where that was asked for, and fits. */
enum status change_finish_graph(struct submission *submission)
{
    struct scheduler *scheduler = submission->scheduler;
    struct edge_changes *changes = &submission->call->submit.changes;
    struct problem *problem = &submission->problem;
    struct graph **graph = &submission->graph; /* the parent at first */
    const int folder = store_folder(scheduler->store, STORE_GRAPHS);
    enum status status = graph_file_read(folder, submission->change.parent_id, graph);
    if (status != STATUS_OK) {
        return problem_set(problem, status, "The stored graph cannot be read.");
    }
    submission->change.decimals = (*graph)->summary.decimals;
    submission->change.scaling = graph_scaling(&(*graph)->summary, changes->kind);
    status = apply_changes(submission, changes, graph);
    if (status == STATUS_OK) {
        keep_arcs(submission, changes);
    }
    edge_changes_finish(changes);
    if (submission->change.absent > 0) {
        warning_hint(warning_add(&submission->warnings, WARNING_EDGES_ABSENT,
                                 "%llu of the edges to be removed were not there.",
                                 (unsigned long long)submission->change.absent),
                     "GET /v1/graphs/%s/edges lists the edges.", submission->change.parent_id);
    }
    struct problem unfit;
    if (status == STATUS_OK && graph_choose_kind(submission->graph, submission->change.wanted,
                                                 &submission->kind, &unfit) != STATUS_OK) {
        submission->change.wanted = KIND_AUTO;
    }
    return status;
}
