#include "proto/estimate.h"
#include "server/job/scheduler_internal.h"
#include "server/store/graph_file.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

/* Stored graphs that are read for an estimate or wait for it: the threads that do it have uploads
 * to finish too. */
#define LOOK_LIMIT 16

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static bool has_room(const struct scheduler *scheduler, const struct estimate *estimate,
                     enum kind kind)
{
    const uint32_t n = estimate->vertex_count;
    return n <= scheduler->vertex_limit[kind] &&
           add(capacity_result_bytes(n, kind),
               capacity_graph_bytes(n, estimate->edge_count, WEIGHT_INTEGER)) <=
               estimate->free_disk_bytes;
}

/* Hints at another kind that fits, else at the vertices that this one holds. */
static void add_hint(const struct scheduler *scheduler, struct estimate *estimate)
{
    static const struct {
        enum kind from;
        enum kind to;
        const char *provided;
    } ways[] = {
        {KIND_I4, KIND_U2, "if no distance is negative or above 65534"},
        {KIND_F8, KIND_F4, "with distances as 32-bit floats"},
        {KIND_F8, KIND_I4, "if the weights are integers"},
        {KIND_F8, KIND_U2, "if the weights are integers and no distance is above 65534"},
        {KIND_F4, KIND_U2, "if the weights are integers and no distance is above 65534"},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (ways[i].from == estimate->kind && has_room(scheduler, estimate, ways[i].to)) {
            snprintf(estimate->hint, sizeof(estimate->hint), "It fits with kind=%s, %s.",
                     kind_name(ways[i].to), ways[i].provided);
            return;
        }
    }
    if (estimate->vertex_count > estimate->vertex_limit) {
        snprintf(estimate->hint, sizeof(estimate->hint),
                 "At most %u vertices fit here in %s: solve a part of the graph, or use a machine "
                 "with more memory (%s).",
                 (unsigned)estimate->vertex_limit, kind_name(estimate->kind),
                 scheduler->admission.limit_reason);
    } else {
        snprintf(estimate->hint, sizeof(estimate->hint),
                 "Free %llu bytes on the disk of the state directory: DELETE /v1/graphs/{id} does.",
                 (unsigned long long)(estimate->disk_bytes - estimate->free_disk_bytes));
    }
}

static void judge_fit(const struct scheduler *scheduler, struct estimate *estimate)
{
    if (estimate->edge_count > estimate->edge_limit) {
        snprintf(estimate->reason, sizeof(estimate->reason), "More edges than graph.edge_limit.");
        snprintf(estimate->hint, sizeof(estimate->hint),
                 "Start the service with a larger graph.edge_limit.");
        return;
    }
    estimate->fits = has_room(scheduler, estimate, estimate->kind);
    if (estimate->fits) {
        return;
    }
    snprintf(estimate->reason, sizeof(estimate->reason), "%s",
             estimate->vertex_count > estimate->vertex_limit
                 ? "The matrix is larger than what solves it holds."
                 : "The disk of the state directory has too little room.");
    add_hint(scheduler, estimate);
}

static void measure_job(const struct scheduler *scheduler, struct estimate *estimate)
{
    const enum kind kind = estimate->kind;
    const uint32_t n = estimate->vertex_count;
    const struct scheduler_worker *slot = capacity_largest_worker(scheduler, kind);
    const uint64_t result_bytes = capacity_result_bytes(n, kind);
    const uint64_t graph_bytes = capacity_graph_bytes(n, estimate->edge_count, WEIGHT_INTEGER);
    struct solver_estimate solve;
    /* A result without a size has no estimate either. */
    if (result_bytes == INT64_MAX) {
        solve = (struct solver_estimate){.device_bytes = INT64_MAX, .seconds = -1};
    } else {
        worker_estimate(worker_solver(slot->worker), n, estimate->edge_count, kind, &solve);
    }
    estimate->solver = slot->opening.facts.device.solver;
    estimate->device = slot->opening.facts.device.name;
    estimate->device_bytes = solve.device_bytes < INT64_MAX ? solve.device_bytes : INT64_MAX;
    estimate->disk_bytes = add(result_bytes, graph_bytes);
    estimate->host_bytes =
        add(estimate->disk_bytes, solve.host_bytes < INT64_MAX ? solve.host_bytes : INT64_MAX);
    estimate->seconds = solve.seconds;
    estimate->vertex_limit = scheduler->vertex_limit[kind];
    estimate->edge_limit = scheduler->config->edge_limit;
    estimate->free_disk_bytes = store_free_bytes(scheduler->store);
}

/* ---- Stored graphs ---- */

/* The estimate of a stored graph, on a thread of the pool: reading it and making its plan take a
 * while. */
struct plan_estimate {
    uv_work_t request;
    struct scheduler *scheduler;
    struct call *call;
    const struct solver *solver;
    char graph_id[GRAPH_ID_SIZE];
    struct estimate estimate;
    enum status status;
};

static void read_and_plan(uv_work_t *request)
{
    struct plan_estimate *plan = request->data;
    struct estimate *estimate = &plan->estimate;
    struct solver_estimate solve;
    struct graph *graph = NULL;
    plan->status =
        graph_file_read(store_graph_folder(plan->scheduler->store), plan->graph_id, &graph);
    if (plan->status == STATUS_OK) {
        plan->status =
            worker_estimate_graph(plan->solver, graph, estimate->kind, &solve, &estimate->plan);
    }
    if (plan->status == STATUS_OK) {
        estimate->seconds = solve.seconds;
        estimate->planned = true;
    }
    graph_destroy(graph);
}

static void answer_planned(uv_work_t *request, int error)
{
    struct plan_estimate *plan = request->data;
    struct scheduler *scheduler = plan->scheduler;
    CHECK(error == 0); /* nothing cancels it */
    scheduler->looks--;
    if (plan->status == STATUS_OK) {
        answer_body(plan->call, 200, estimate_print(&plan->estimate));
    } else if (graph_table_find(scheduler->graphs, plan->call->tenant, plan->graph_id) == NULL) {
        answer_no_such(plan->call);
    } else {
        answer_status(plan->call, plan->status, "The stored graph cannot be read.");
    }
    free(plan);
    scheduler_wake(scheduler);
}

static void start_planning(struct scheduler *scheduler, struct call *call,
                           const struct graph_entry *entry, const struct estimate *estimate)
{
    if (scheduler->looks >= LOOK_LIMIT) {
        answer_status(call, STATUS_QUEUE_FULL,
                      "Other stored graphs are being estimated: ask again, or by n and m.");
        return;
    }
    struct plan_estimate *plan = calloc(1, sizeof(*plan));
    if (plan == NULL) {
        answer_status(call, STATUS_NO_MEMORY, "There is no memory for the request.");
        return;
    }
    plan->request.data = plan;
    plan->scheduler = scheduler;
    plan->call = call;
    plan->solver = worker_solver(capacity_largest_worker(scheduler, estimate->kind)->worker);
    memcpy(plan->graph_id, entry->row.id, sizeof(plan->graph_id));
    plan->estimate = *estimate;
    scheduler->looks++;
    CHECK(uv_queue_work(scheduler->loop, &plan->request, read_and_plan, answer_planned) == 0);
}

void estimate_call(struct scheduler *scheduler, struct call *call)
{
    const struct graph_entry *entry = NULL;
    struct estimate estimate = {
        .vertex_count = call->vertex_count,
        .edge_count = call->edge_count,
        .kind = call->parameters.kind == KIND_AUTO ? KIND_I4 : call->parameters.kind,
    };
    if (call->key[0] != '\0') {
        struct problem problem;
        entry = answer_find_graph(scheduler, call);
        if (entry == NULL) {
            answer_no_such(call);
            return;
        }
        /* The kind that a job of this graph would have. */
        if (graph_entry_choose_kind(entry, call->parameters.kind, &estimate.kind, &problem) !=
            STATUS_OK) {
            answer_problem(call, &problem);
            return;
        }
        estimate.vertex_count = entry->row.vertex_count;
        estimate.edge_count = entry->row.edge_count;
    }
    measure_job(scheduler, &estimate);
    judge_fit(scheduler, &estimate);
    if (entry != NULL && estimate.fits) {
        start_planning(scheduler, call, entry, &estimate);
    } else {
        answer_body(call, 200, estimate_print(&estimate));
    }
}
