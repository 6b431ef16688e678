/* An upload, a change of a stored graph or a submission of one, on its way to its commit. */
#pragma once

#include "server/scheduler/scheduler_internal.h"

enum submission_source {
    SUBMISSION_STORED, /* a graph that is stored */
    SUBMISSION_UPLOAD, /* reader */
    SUBMISSION_CHANGE  /* change */
};

struct submission_change {
    struct graph_entry *parent; /* NULL while an earlier change of the name is under way */
    char parent_id[GRAPH_ID_SIZE];
    char name[NAME_SIZE];        /* that nobody else changes meanwhile; empty = none */
    enum result_form asked_form; /* the form of the call may become the parent's */
    enum kind wanted;            /* KIND_AUTO where the kind follows the weights */
    uint64_t absent;             /* edges to be removed that are not there */
    struct solve_arc *arcs;      /* all that has changed, owned; NULL where that is too much */
    size_t arc_count;
};

/* Owned by the loop, lent to a thread of libuv's pool while its graph is finished and named there.
 */
struct submission {
    uv_work_t request;
    struct scheduler *scheduler;
    struct call *call;
    struct tenant *tenant; /* of the call */
    enum submission_source source;
    union {
        struct reader *reader; /* owned */
        struct submission_change change;
    };
    struct graph *graph; /* owned; NULL for a stored graph */
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
