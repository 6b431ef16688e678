/* An upload, a change of a stored graph or a submission of one, on its way to its commit. */
#pragma once

#include "server/scheduler/scheduler_internal.h"

/* Owned by the loop, lent to a thread of libuv's pool while its graph is finished and named there.
 */
struct submission {
    uv_work_t request;
    struct scheduler *scheduler;
    struct call *call;
    struct tenant *tenant;      /* of the call */
    struct reader *reader;      /* owned; NULL for a stored graph */
    struct graph *graph;        /* owned; NULL for a stored graph */
    struct graph_entry *parent; /* of a change, kept by its count of active jobs; else NULL */
    char parent_id[GRAPH_ID_SIZE];
    char name[NAME_SIZE];        /* that nobody else changes meanwhile; empty = none */
    enum result_form asked_form; /* of a change; the form of the call may become the parent's */
    enum kind wanted;            /* KIND_AUTO where the kind of a change follows the weights */
    uint64_t absent;             /* edges to be removed that are not there */
    struct solve_arc *arcs;      /* all that has changed, owned; NULL where that is too much */
    size_t arc_count;
    struct upload_share share;
    char graph_id[GRAPH_ID_SIZE];
    enum kind kind;                      /* resolved */
    char placed_id[GRAPH_ID_SIZE];       /* the graph whose coordinates are copied; empty = none */
    struct coordinates_info coordinates; /* copied; zeroed: none */
    struct draft_file coordinates_file;  /* with them, owned */
    enum status status;
    struct problem problem;
    struct warnings warnings; /* about the upload */
    struct capacity held;     /* a place in the queue */
    STAILQ_ENTRY(submission) in_parked;
};

/* ---- submit.c ---- */
void submit_end(struct submission *submission);
/* The status is that of the submission's problem, or want of memory. */
void submit_refuse(struct submission *submission, enum status status);
/* A place in the queue, held until the submission ends or its job is queued. */
MUST_CHECK enum status submit_reserve_place(struct submission *submission);
/* The job of an earlier request with the same Idempotency-Key, or NULL. */
struct job *submit_find_repeated(const struct submission *submission);
/* A repeated request is answered like the first, once that is accepted. */
void submit_answer_repeat(struct submission *submission, struct job *earlier);
/* Has the graph finished and named on a thread of the pool, and goes on from there. */
void submit_finish_graph(struct submission *submission);

/* ---- change.c ---- */
/* The first step of a change. */
void change_begin(struct submission *submission);
/* Goes on with the graph that the change is made to, or parks. is_first: it has not parked yet. */
void change_submit(struct submission *submission, bool is_first);
/* On a thread of the pool: the graph with its changes. */
MUST_CHECK enum status change_finish_graph(struct submission *submission);

/* ---- coordinates.c ---- */
/* On a thread of the pool: the coordinates of the graph of placed_id, if it has any and the same
 * vertices, as a file for the new graph. */
MUST_CHECK enum status coordinates_copy(struct submission *submission);
