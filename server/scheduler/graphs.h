/* Stored graphs: their states, names and results, and the table that finds them. Loop thread. */
#pragma once

#include "server/metrics.h"
#include "server/scheduler/tenants.h"
#include "server/store/coordinates_file.h"

/* Limit on the aliases of one graph, because each alias is bound again with every new result and
 * printed in the graph's document. */
#define GRAPH_NAMES_MAX 1000

/* The life of a stored graph, with the function that sets each state:
 *
 *   ACCEPTING  its row is on the way to the catalogue; graph_table_add of submit.c
 *   STORED     its row and its file are on the disk; graph_entry_commit of accept.c and restore.c
 *   DAMAGED    its file was found damaged, until an upload of the same graph is accepted;
 *              results_note_damaged_graph
 *   DELETING   its deletion is on the way to the catalogue; names_delete_graph. Then the
 *              entry is removed or, if the store refuses, returns to its earlier state
 *
 * Requests find a graph that is STORED or DAMAGED. */
enum graph_state { GRAPH_ACCEPTING = 0, GRAPH_STORED, GRAPH_DAMAGED, GRAPH_DELETING };

/* The state of one kind of result of a graph. */
enum graph_result_state {
    GRAPH_RESULT_NONE = 0,  /* not solved, or evicted */
    GRAPH_RESULT_PUBLISHED, /* answers queries; not yet on the disk */
    GRAPH_RESULT_DURABLE,   /* answers queries and is on the disk */
    GRAPH_RESULT_LOST       /* damaged or missing: to be solved again */
};

/* Link of a published result in the list of results that may be evicted. */
struct result_item {
    TAILQ_ENTRY(result_item) in_list;
    struct graph_entry *entry;
    enum kind kind;
    double touched_s; /* time of the last query known to the list; there may be later queries */
};
TAILQ_HEAD(result_list, result_item);

/* A graph's result of one kind. */
struct graph_result {
    enum graph_result_state state;
    struct result *result;   /* PUBLISHED or DURABLE, else NULL */
    struct result_item item; /* link of the eviction list, if there is a result */
};

/* A stored graph with its aliases and results. */
struct graph_entry {
    struct graph_row row;
    struct tenant *tenant; /* owner, to whom its bytes are charged */
    const char **names;    /* aliases, NULL-terminated; NULL = the graph never had one */
    size_t name_count;
    struct graph_result results[KIND_COUNT];
    enum kind answering;   /* kind of the result that queries by ID or alias get; 0 = none */
    LIST_HEAD(, job) jobs; /* jobs of this graph, newest first */
    const struct job *solvers[KIND_COUNT]; /* by kind: the job that finished last */
    struct job *latest_job;                /* job accepted last; NULL = none in the history */
    uint32_t active_jobs;                  /* number of unfinished jobs, which prevent a deletion */
    uint32_t changes; /* number of commits under way; above 0 the entry must not be freed */
    enum graph_state state;
    enum graph_state undeleted_state; /* state to return to if the deletion fails */
    LIST_ENTRY(graph_entry) in_table;
    LIST_ENTRY(graph_entry) of_tenant;
    /* The coordinates, stored or being stored; zeroed = none. */
    struct coordinates_info coordinates;
    struct coordinates_info stored_coordinates; /* those that can be read */
};

/* The table of stored graphs; zeroed = empty. Owns the entries and a counted reference to each
 * result.
 *
 * Balanced trees (tsearch of the C library): entries by ID, entries by owner and ID, and struct
 * alias by owner and name. Callers' keys are looked up in the per-owner trees, so the time of a
 * lookup reveals nothing about other tenants. */
struct graph_table {
    void *by_id;
    void *by_owner;
    void *by_name;
    LIST_HEAD(, graph_entry) all; /* newest first */
};

void graph_table_finish(struct graph_table *table);

/* Adds a graph that is not committed yet. The ID must not be in the table. IDs depend on the
 * tenant, so two tenants never have the same ID. */
MUST_CHECK enum status graph_table_add(struct graph_table *table, struct tenant *tenant,
                                       const struct graph_row *row, struct graph_entry **ret_entry);
/* Notes that the graph's row is in the catalogue and, if is_written, its file is on the disk. */
void graph_entry_commit(struct graph_entry *entry, bool is_written);
/* Returns whether requests find the graph. */
static inline bool graph_entry_is_visible(const struct graph_entry *entry)
{
    return entry->state == GRAPH_STORED || entry->state == GRAPH_DAMAGED;
}
/* Sets the coordinates; zeroed = none. */
void graph_entry_set_coordinates(struct graph_entry *entry, const struct coordinates_info *info);
/* Frees the entry and its aliases, and releases its results. */
void graph_table_remove(struct graph_table *table, struct graph_entry *entry);
/* Removes the entry of a refused graph, if nothing was committed and no commit is under way. */
void graph_table_drop(struct graph_table *table, struct graph_entry *entry);
/* Assigns the alias to this graph, removing it from another graph of the tenant. number: number of
 * the request for the alias, in the order of acceptance (job.number). */
MUST_CHECK enum status graph_table_name(struct graph_table *table, const char *name,
                                        struct graph_entry *entry, uint64_t number);
/* Returns whether a request accepted after this number has assigned the alias. */
bool graph_table_is_named_since(const struct graph_table *table, const struct tenant *tenant,
                                const char *name, uint64_t number);
/* Finds a graph by a known ID (not a client's key), visible or not; NULL if there is none. */
struct graph_entry *graph_table_find_id(const struct graph_table *table, const char *id);
/* Finds a graph of this tenant by ID, visible or not. */
struct graph_entry *graph_table_find_own(const struct graph_table *table,
                                         const struct tenant *tenant, const char *id);
/* Finds a graph of this tenant by alias, visible or not. */
struct graph_entry *graph_table_find_name(const struct graph_table *table,
                                          const struct tenant *tenant, const char *name);
/* Finds a visible graph of this tenant by ID or alias. */
struct graph_entry *graph_table_find(const struct graph_table *table, const struct tenant *tenant,
                                     const char *key);

/* Sets the result of a kind and adds a reference to it; NULL only releases the old result. */
void graph_entry_set_result(struct graph_entry *entry, enum kind kind, struct result *result);
/* Returns the result that answers queries (borrowed); NULL if there is none. */
struct result *graph_entry_answer(const struct graph_entry *entry);
/* Applies graph_choose_kind to the stored graph, using the summary in the catalogue. */
MUST_CHECK enum status graph_entry_choose_kind(const struct graph_entry *entry, enum kind requested,
                                               enum kind *ret_kind, struct problem *reterr);
