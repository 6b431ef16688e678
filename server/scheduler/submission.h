/* A submission: an upload, a change of a stored graph, or a job on a stored graph. */
#pragma once

#include "server/scheduler/choose_form.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/solver/hierarchy/update.h"

enum submission_source {
    SUBMISSION_STORED, /* a stored graph */
    SUBMISSION_UPLOAD, /* an upload, in `reader` */
    SUBMISSION_CHANGE  /* a change of a stored graph, in `change` */
};

struct submission_change {
    struct graph_entry *parent; /* NULL before the change begins */
    char parent_id[GRAPH_ID_SIZE];
    char name[NAME_SIZE];  /* name reserved for this change; empty = none */
    struct name_move move; /* move of the name, until the job takes it over */
    enum result_form
        asked_form; /* form requested; the call's form may be replaced by the parent's */
    struct result_summary inherited; /* summary of the parent's result, if its form was inherited */
    enum kind wanted;                /* KIND_AUTO = the kind follows the weights */
    struct scaling scaling;          /* scaling of the parent's distances */
    uint32_t decimals;               /* decimals of the parent's weights */
    uint64_t absent;                 /* number of edges to remove that did not exist */
    struct solve_arc *arcs;          /* all changed arcs, owned; NULL if there are too many */
    size_t arc_count;
};

/* A submission, from its call until it is accepted or refused. The loop thread owns it; a pool
 * thread uses it while it makes the graph (submit_finish_graph) or measures the hierarchy
 * (start_look). A submission waits, parked, until submit_parked, while its graph is being deleted
 * or its name assigned (accept_submission) or, before a change begins, about to move. */
struct submission {
    struct pool_work work; /* must be the first member */
    struct scheduler *scheduler;
    struct call *call;
    struct tenant *tenant; /* tenant of the call */
    enum submission_source source;
    union {
        struct reader *reader; /* owned */
        struct submission_change change;
    };
    struct graph *graph; /* owned; NULL for a stored graph */
    struct upload_share share;
    char graph_id[GRAPH_ID_SIZE];
    enum kind kind;                      /* never KIND_AUTO once the graph is finished */
    char placed_id[GRAPH_ID_SIZE];       /* graph whose coordinates are copied; empty = none */
    struct coordinates_info coordinates; /* copied coordinates; zeroed = none */
    struct draft_file coordinates_file;  /* draft with the copied coordinates, owned */
    enum status status;
    struct problem problem;
    struct form_look look;    /* measured before the form is chosen */
    struct warnings warnings; /* warnings about the upload */
    struct capacity held;     /* reserved place in the queue */
    STAILQ_ENTRY(submission) in_parked;
};
