/* The ledger of what is limited. A submission or a job has a struct capacity with what it holds:
 * places in the queue, bytes of the disk for results to come, and memory for graphs that wait for a
 * worker. Every amount is reserved for a tenant and released once, by the loop thread.
 *
 * Tenants are whom graphs and jobs belong to. The one without a name, of number 0, is the only one
 * while no keys are configured. The loop thread makes them and never frees one before its end, so a
 * pointer to one may be kept, and compared, by any thread; what is not atomic is the loop thread's.
 */
#pragma once

#include "proto/graph.h"
#include "proto/kind.h"
#include "proto/problem.h"
#include "server/store/catalogue.h"

#include <stdatomic.h>
#include <sys/queue.h>

struct admission;
struct graph_entry;
struct job;
struct scheduler;
struct scheduler_worker;

/* ---- Tenants ---- */

#define PRIORITY_COUNT 10

struct job_line {
    struct job *first;
    struct job *last;
    uint32_t count;
    bool is_uneven; /* one has left its middle: the places behind it are to be counted anew */
};

/* Zeroed is empty; so it is while it has no jobs, but for what it was served. */
struct job_share {
    struct job_line lines[PRIORITY_COUNT];
    atomic_uint count;
    double served; /* cubed vertices, as if it had never been idle */
    struct job_share *next;
    struct job_share *previous;
};

struct tenant {
    char name[TENANT_NAME_SIZE];
    uint32_t number;               /* owner of its keys in the table of results */
    struct job_share share;        /* its jobs in the queue */
    atomic_uint reserved_places;   /* in the queue, for its submissions under way */
    atomic_ullong stored_bytes;    /* of its graphs and results */
    atomic_ullong reserved_bytes;  /* of the results that its unfinished jobs will have */
    _Atomic uint64_t upload_bytes; /* charged to its uploads under way */
    LIST_HEAD(, job) jobs;         /* newest first, as both tables hold them */
    LIST_HEAD(, graph_entry) graphs;
    struct tenant *next;
};

/* The limits that a key sets for its tenant; 0 = no limit. */
struct quota {
    uint32_t waiting_jobs;
    uint32_t vertex_limit;
    uint64_t stored_bytes;
};

/* Any thread, as all below that has no scheduler. NULL is nobody. */
static inline uint32_t tenant_number(const struct tenant *tenant)
{
    return tenant != NULL ? tenant->number : 0;
}

/* Below, at or above 0, as first comes before second, is it, or comes after: by their numbers. */
static inline int tenant_compare(const struct tenant *first, const struct tenant *second)
{
    const uint32_t a = tenant_number(first);
    const uint32_t b = tenant_number(second);
    return (a > b) - (a < b);
}

/* Finds it in the list, or makes it; the first that is made has number 0. The name is shorter than
 * TENANT_NAME_SIZE. Loop thread. */
MUST_CHECK enum status capacity_find_tenant(struct tenant **tenants, const char *name,
                                            struct tenant **ret_tenant);
void capacity_free_tenants(struct tenant *tenants);
/* STATUS_QUEUE_FULL or STATUS_JOB_QUOTA, with words, when there is no place in the queue for one
 * more job. While several tenants may submit, the free places are kept for those that have fewer
 * jobs in the queue than there are free places: one alone takes half of them, and the last place
 * goes to a tenant that has none. free_places: of `limit` in all. */
MUST_CHECK enum status capacity_check_queue(const struct admission *admission, uint32_t free_places,
                                            uint32_t limit, struct tenant *tenant,
                                            const struct quota *quota, struct problem *reterr);
/* STATUS_STORAGE_QUOTA with words when so many bytes more would be. */
MUST_CHECK enum status capacity_check_bytes(struct tenant *tenant, const struct quota *quota,
                                            uint64_t more_bytes, struct problem *reterr);

/* The Retry-After of a refusal by what is stored or comes in; 0 for other statuses. */
unsigned capacity_retry_after_s(enum status status);

/* ---- Places, disk and memory of the scheduler ---- */

/* Amounts: of one holder, of one step, or of all. */
struct capacity {
    uint32_t queue_places; /* for jobs that are not in the queue yet */
    uint64_t disk_bytes;   /* of a result, until its job has ended */
    uint64_t memory_bytes; /* of a graph that its queued job keeps */
};

struct capacity_ledger {
    struct capacity reserved;
    uint64_t largest_disk_bytes; /* of one holder, since nothing was reserved last */
    uint64_t result_bytes;       /* of all results published */
    uint32_t result_count;
    uint32_t result_limit; /* by the open files that the process may have */
    uint32_t file_limit;   /* of these, for results and for what is on its way to the disk */
    bool is_full;          /* the disk: nothing new is taken, and nothing begun */
    bool is_paused;        /* nothing is begun until the next look at the disk */
};

/* Bytes of the arrays of a graph, in memory and about the same in its file: an offset a vertex, a
 * target and a weight an edge. */
uint64_t capacity_graph_bytes(uint32_t vertex_count, uint64_t edge_count, enum weight_type type);
/* Bytes of the file of a result, of a hierarchy about; INT64_MAX of one that has no size. */
uint64_t capacity_result_bytes(enum result_form form, uint32_t vertex_count, uint64_t edge_count,
                               enum kind kind);

/* The worker whose device holds the largest graph of a kind. */
const struct scheduler_worker *capacity_largest_worker(const struct scheduler *scheduler,
                                                       enum kind kind);

void capacity_reserve(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                      struct capacity more);
/* Room on the disk for the result that the job will have. */
void capacity_reserve_result(struct scheduler *scheduler, struct job *job, uint64_t edge_count);
/* `*held` itself as `less` releases all. */
void capacity_release(struct scheduler *scheduler, struct tenant *tenant, struct capacity *held,
                      struct capacity less);

/* Places that are neither taken nor reserved. */
uint32_t capacity_free_places(const struct scheduler *scheduler);
/* The form of a result, which may be asked for: a matrix of what the devices and the disk hold,
 * else a hierarchy. graph_bytes: to be written beside it. STATUS_TOO_LARGE for more vertices than
 * are held, or than the quota allows; STATUS_DISK_FULL, with limit and actual, when result and
 * graph do not fit beside all that is reserved; STATUS_BAD_PARAMETER for a hierarchy of u2. */
MUST_CHECK enum status capacity_choose_form(const struct scheduler *scheduler,
                                            const struct quota *quota, const struct graph_row *row,
                                            enum kind kind, uint64_t graph_bytes,
                                            struct result_summary *result, struct problem *reterr);
/* Whether there is memory to keep a graph for its job. */
bool capacity_find_memory(const struct scheduler *scheduler, uint64_t graph_bytes);
/* A step failed for want of something that may be there a little later: nothing is begun until the
 * next look. */
void capacity_pause(struct scheduler *scheduler);
/* A step found no room on the disk: nothing new is taken either, until there is some again. */
void capacity_note_full(struct scheduler *scheduler);
/* Copies the totals to the admission, where HTTP threads read them. */
void capacity_publish(struct scheduler *scheduler);
