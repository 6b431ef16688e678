/* Every stored graph with its aliases and results: by id, by owner and id, by owner and
 * alias, in order of creation. Owns the entries and a reference to each result. Loop thread. */
#pragma once

#include "server/store/catalogue.h"
#include "server/store/result.h"

struct tenant;

struct graph_entry {
    struct graph_row row;
    struct tenant *tenant; /* whose it is; its bytes are counted there */
    char **names;          /* aliases, NULL-terminated; NULL when it never had one */
    size_t name_count;
    struct result *results[KIND_COUNT]; /* published */
    bool durable[KIND_COUNT];           /* and on the disk */
    bool lost[KIND_COUNT];              /* neither any more, and not by eviction */
    uint32_t item_index[KIND_COUNT];    /* of published results: in the heap of the scheduler */
    enum kind answering;                /* whose result is found by id and alias; 0 = none */
    char latest_job[JOB_ID_SIZE];       /* empty = none */
    uint32_t active_jobs;               /* being accepted, queued or running: not to be deleted */
    uint32_t changes;                   /* on their way to the disk: not to be freed */
    bool committed;                     /* its row is in the catalogue: visible */
    bool damaged;                       /* its file is in quarantine */
    bool deleting;                      /* a deletion is on its way: not visible, not to be used */
    struct graph_entry *older;
    struct graph_entry *newer;
};

struct graph_table;

MUST_CHECK enum status graph_table_create(struct graph_table **ret_table);
void graph_table_destroy(struct graph_table *table);

/* A new one, not yet committed. The id must be unknown: it says whose graph it is, so that no two
 * tenants have the same one. tenant: NULL is nobody. */
MUST_CHECK enum status graph_table_add(struct graph_table *table, struct tenant *tenant,
                                       const struct graph_row *row, struct graph_entry **ret_entry);
/* Its row is in the catalogue. */
void graph_entry_commit(struct graph_entry *entry);
/* Forgets it with its aliases, and lets its results go. */
void graph_table_remove(struct graph_table *table, struct graph_entry *entry);
/* The same, when nothing was committed and nothing that could is on its way: after a refusal. */
void graph_table_drop(struct graph_table *table, struct graph_entry *entry);
/* Gives the alias to this graph, taking it from another one of its tenant. */
MUST_CHECK enum status graph_table_name(struct graph_table *table, const char *name,
                                        struct graph_entry *entry);

/* By id, visible or not; NULL when there is none. For ids that are known here, not asked for. */
struct graph_entry *graph_table_find_id(const struct graph_table *table, const char *id);
/* The same among those of this tenant. */
struct graph_entry *graph_table_find_own(const struct graph_table *table,
                                         const struct tenant *tenant, const char *id);
/* By id or alias, visible ones of this tenant only. */
struct graph_entry *graph_table_find(const struct graph_table *table, const struct tenant *tenant,
                                     const char *key);

struct graph_entry *graph_table_newest(const struct graph_table *table);

/* Sets or, with NULL, lets go the result of a kind; takes a reference of its own. */
void graph_entry_set_result(struct graph_entry *entry, enum kind kind, struct result *result);
/* The result that answers queries, NULL when there is none. Borrowed. */
struct result *graph_entry_answer(const struct graph_entry *entry);
/* graph_choose_kind of the stored graph, by the summary that the catalogue keeps. */
MUST_CHECK enum status graph_entry_choose_kind(const struct graph_entry *entry, enum kind requested,
                                               enum kind *ret_kind, struct problem *reterr);
