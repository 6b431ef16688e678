/* An upload or a submission between its ask and its durable change. Owned by the loop, lent to
 * threads of libuv's pool while the graph is finished, named and written there. */
#pragma once

#include "server/job/desk.h"

struct submission {
    uv_work_t request;
    uv_work_t drafting; /* beside it */
    struct desk *desk;
    struct ask *ask;
    struct tenant *tenant; /* of the ask */
    struct reader *reader; /* owned; NULL for a stored graph */
    struct graph *graph;   /* owned; NULL for a stored graph */
    struct upload_share share;
    struct graph_stream *stream; /* owned: has the edges of the graph, or NULL */
    struct graph_draft draft; /* owned: of its file, where that was begun before the id is known */
    uint32_t works;           /* under way in libuv's pool */
    char graph_id[GRAPH_ID_SIZE];
    enum kind kind; /* resolved */
    enum status status;
    struct problem problem;
    bool reserved;           /* holds a place in the queue */
    struct submission *next; /* parked behind this one */
};

/* NULL, with the ask answered, when out of memory. */
struct submission *submission_begin(struct desk *desk, struct ask *ask);
/* Gives back its place in the queue, frees it. */
void submission_end(struct submission *submission);

/* A place in the queue, kept until the end. STATUS_QUEUE_FULL or STATUS_JOB_QUOTA, with words in
 * its problem, when there is none. */
MUST_CHECK enum status submission_reserve(struct submission *submission);
/* The request's, to tell a repeat from another one under the same Idempotency-Key. */
void submission_print_fingerprint(const struct submission *submission, char *text, size_t size);

/* Answer the ask and end. */
void submission_refuse(struct submission *submission, const struct problem *problem);
void submission_refuse_for_memory(struct submission *submission);
