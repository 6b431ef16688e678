/* Stored graphs: their states, their names, and the table that finds them by id, owner and name.
 * Loop thread. */
#pragma once

#include "server/metrics.h"
#include "server/scheduler/tenants.h"
#include "server/store/coordinates_file.h"
#include "server/store/result.h"

/* Names of one graph: each is bound anew with its results, and printed in its document. */
#define GRAPH_NAMES_MAX 1000

/* The life of a stored graph:
 *
 *   ACCEPTING  its row is on the way to the catalogue; graph_table_add of submit.c
 *   STORED     its row and its file are on the disk; graph_entry_commit of accept.c and restore.c
 *   DAMAGED    its file was found damaged, until an upload of the same graph is accepted;
 *              results_note_damaged_graph
 *   DELETING   its deletion is on the way to the catalogue; names_delete_graph. The entry goes with
 *              its end, or returns to what it was when the store refuses
 *
 * Requests find a graph that is STORED or DAMAGED. */
enum graph_state { GRAPH_ACCEPTING = 0, GRAPH_STORED, GRAPH_DAMAGED, GRAPH_DELETING };

/* The state of one kind of result of a graph. */
enum graph_result_state {
    GRAPH_RESULT_NONE = 0,  /* never solved, or evicted */
    GRAPH_RESULT_PUBLISHED, /* answers, and is on its way to the disk */
    GRAPH_RESULT_DURABLE,   /* and on the disk */
    GRAPH_RESULT_LOST       /* damaged or missing: to be solved again */
};

/* A published result among those that may be evicted. */
struct result_item {
    TAILQ_ENTRY(result_item) in_list;
    struct graph_entry *entry;
    enum kind kind;
    double touched_s; /* when it was looked at last; a query since is found at the next look */
};
TAILQ_HEAD(result_list, result_item);

/* The result of a kind. */
struct graph_result {
    enum graph_result_state state;
    struct result *result;   /* PUBLISHED or DURABLE, else NULL */
    struct result_item item; /* the same */
};

/* A stored graph with its aliases and results. */
struct graph_entry {
    struct graph_row row;
    struct tenant *tenant; /* whose it is; its bytes are counted there */
    const char **names;    /* of its aliases, NULL-terminated; NULL when it never had one */
    size_t name_count;
    struct graph_result results[KIND_COUNT];
    enum kind answering;                   /* whose result is found by id and alias; 0 = none */
    LIST_HEAD(, job) jobs;                 /* of this graph, the newest first */
    const struct job *solvers[KIND_COUNT]; /* of them, by kind the job that was done last */
    struct job *latest_job;                /* of them, accepted last; NULL = none is remembered */
    uint32_t active_jobs; /* being accepted, queued or running: not to be deleted */
    uint32_t changes;     /* on their way to the disk: not to be freed */
    enum graph_state state;
    enum graph_state undeleted_state; /* while DELETING: the state before */
    LIST_ENTRY(graph_entry) in_table;
    LIST_ENTRY(graph_entry) of_tenant;
    /* The coordinates that it has, or is being given: zeroed, none. */
    struct coordinates_info coordinates;
};

/* Every stored graph. Owns the entries and a reference to each result.
 *
 * Balanced trees (tsearch of the C library): entries by id, and by owner and id; struct alias by
 * owner and name. Who calls is looked for in those by owner: his words are never compared with what
 * another has, so that the time of a look tells nothing of it. */
struct graph_table {
    void *by_id;
    void *by_owner;
    void *by_name;
    LIST_HEAD(, graph_entry) all; /* the newest first */
};

MUST_CHECK enum status graph_table_create(struct graph_table **ret_table);
void graph_table_destroy(struct graph_table *table);

/* A new one, not yet committed. The id must be unknown: it says whose graph it is, so that no two
 * tenants have the same one. tenant: NULL is nobody. */
MUST_CHECK enum status graph_table_add(struct graph_table *table, struct tenant *tenant,
                                       const struct graph_row *row, struct graph_entry **ret_entry);
/* Its row is in the catalogue, and its file too where that was written. */
void graph_entry_commit(struct graph_entry *entry, bool is_written);
/* Whether requests find the graph. */
static inline bool graph_entry_is_visible(const struct graph_entry *entry)
{
    return entry->state == GRAPH_STORED || entry->state == GRAPH_DAMAGED;
}
/* It has these coordinates now; zeroed, none. */
void graph_entry_set_coordinates(struct graph_entry *entry, const struct coordinates_info *info);
/* Forgets it with its aliases, and lets its results go. */
void graph_table_remove(struct graph_table *table, struct graph_entry *entry);
/* The same, when nothing was committed and nothing that could is on its way: after a refusal. */
void graph_table_drop(struct graph_table *table, struct graph_entry *entry);
/* Gives the alias to this graph, and takes it from another graph of its tenant. number: of the
 * request that asked for it, in the order of acceptance (job.number). */
MUST_CHECK enum status graph_table_name(struct graph_table *table, const char *name,
                                        struct graph_entry *entry, uint64_t number);
/* Whether a request accepted after this number has given the alias to a graph. */
bool graph_table_is_named_since(const struct graph_table *table, const struct tenant *tenant,
                                const char *name, uint64_t number);
/* By id, visible or not; NULL when there is none. For ids that are known here, not asked for. */
struct graph_entry *graph_table_find_id(const struct graph_table *table, const char *id);
/* The same among those of this tenant. */
struct graph_entry *graph_table_find_own(const struct graph_table *table,
                                         const struct tenant *tenant, const char *id);
/* By alias, visible or not. */
struct graph_entry *graph_table_find_name(const struct graph_table *table,
                                          const struct tenant *tenant, const char *name);
/* By id or alias, visible ones of this tenant only. */
struct graph_entry *graph_table_find(const struct graph_table *table, const struct tenant *tenant,
                                     const char *key);

/* Sets or, with NULL, lets go the result of a kind; takes a reference of its own. */
void graph_entry_set_result(struct graph_entry *entry, enum kind kind, struct result *result);
/* The result that answers queries, NULL when there is none. Borrowed. */
struct result *graph_entry_answer(const struct graph_entry *entry);
/* graph_choose_kind of the stored graph, by the summary that the catalogue keeps. */
MUST_CHECK enum status graph_entry_choose_kind(const struct graph_entry *entry, enum kind requested,
                                               enum kind *ret_kind, struct problem *reterr);
