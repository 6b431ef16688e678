#include "proto/check.h"
#include "proto/estimate.h"
#include "server/job/desk_internal.h"
#include "server/store/graph_file.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

/* Stored graphs that are looked at or wait for it: the threads that do it have uploads to finish
 * too.
 */
#define LOOK_LIMIT 16

/* Bytes of a graph in memory and in its file: an offset a vertex, a target and a weight an edge. */
static uint64_t graph_bytes(uint32_t vertex_count, uint64_t edge_count)
{
    return ((uint64_t)vertex_count + 1) * sizeof(uint64_t) +
           edge_count * (sizeof(uint32_t) + sizeof(int32_t));
}

/* Whose device holds the largest graph of the kind. */
static const struct desk_worker *choose_worker(const struct desk *desk, enum kind kind)
{
    const struct desk_worker *best = desk->workers[0];
    for (uint32_t i = 1; i < desk->worker_count; i++) {
        if (desk->workers[i]->opening.facts.vertex_limit[kind] >
            best->opening.facts.vertex_limit[kind]) {
            best = desk->workers[i];
        }
    }
    return best;
}

static uint64_t result_bytes(uint32_t vertex_count, enum kind kind)
{
    size_t bytes;
    return result_file_size(vertex_count, kind, &bytes) == STATUS_OK ? bytes : INT64_MAX;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static bool has_room(const struct desk *desk, const struct estimate *estimate, enum kind kind)
{
    return estimate->vertex_count <= desk->vertex_limit[kind] &&
           add(result_bytes(estimate->vertex_count, kind),
               graph_bytes(estimate->vertex_count, estimate->edge_count)) <=
               estimate->free_disk_bytes;
}

/* What another kind would do, else how many vertices this one holds. */
static void advise(const struct desk *desk, struct estimate *estimate)
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
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (ways[i].from == estimate->kind && has_room(desk, estimate, ways[i].to)) {
            snprintf(estimate->hint, sizeof estimate->hint, "It fits with kind=%s, %s.",
                     kind_name(ways[i].to), ways[i].provided);
            return;
        }
    }
    if (estimate->vertex_count > estimate->vertex_limit) {
        snprintf(estimate->hint, sizeof estimate->hint,
                 "At most %u vertices fit here in %s: solve a part of the graph, or use a machine "
                 "with more memory (%s).",
                 (unsigned)estimate->vertex_limit, kind_name(estimate->kind),
                 desk->admission.limit_reason);
    } else {
        snprintf(estimate->hint, sizeof estimate->hint,
                 "Free %llu bytes on the disk of the state directory: DELETE /v1/graphs/{id} does.",
                 (unsigned long long)(estimate->disk_bytes - estimate->free_disk_bytes));
    }
}

static void judge(const struct desk *desk, struct estimate *estimate)
{
    if (estimate->edge_count > estimate->edge_limit) {
        snprintf(estimate->reason, sizeof estimate->reason, "More edges than graph.edge_limit.");
        snprintf(estimate->hint, sizeof estimate->hint,
                 "Start the service with a larger graph.edge_limit.");
        return;
    }
    estimate->fits = has_room(desk, estimate, estimate->kind);
    if (estimate->fits) {
        return;
    }
    snprintf(estimate->reason, sizeof estimate->reason, "%s",
             estimate->vertex_count > estimate->vertex_limit
                 ? "The matrix is larger than what solves it holds."
                 : "The disk of the state directory has too little room.");
    advise(desk, estimate);
}

static void measure(const struct desk *desk, struct estimate *estimate)
{
    const enum kind kind = estimate->kind;
    const uint32_t n = estimate->vertex_count;
    const struct desk_worker *seat = choose_worker(desk, kind);
    const uint64_t graph = graph_bytes(n, estimate->edge_count);
    struct solver_estimate solve;
    /* What has no size has no estimate either. */
    if (result_bytes(n, kind) == INT64_MAX) {
        solve = (struct solver_estimate){.device_bytes = INT64_MAX, .seconds = -1};
    } else {
        worker_estimate(seat->worker, n, estimate->edge_count, kind, &solve);
    }
    estimate->solver = seat->opening.facts.device.solver;
    estimate->device = seat->opening.facts.device.name;
    estimate->device_bytes = solve.device_bytes < INT64_MAX ? solve.device_bytes : INT64_MAX;
    estimate->disk_bytes = add(result_bytes(n, kind), graph);
    estimate->host_bytes =
        add(estimate->disk_bytes, solve.host_bytes < INT64_MAX ? solve.host_bytes : INT64_MAX);
    estimate->seconds = solve.seconds;
    estimate->vertex_limit = desk->vertex_limit[kind];
    estimate->edge_limit = desk->config->edge_limit;
    estimate->free_disk_bytes = store_free_bytes(desk->store);
}

/* ---- Of a stored graph ---- */

/* A look at a stored graph, on a thread of the pool: reading it and making its plan take a while.
 */
struct look {
    uv_work_t request;
    struct desk *desk;
    struct ask *ask;
    const struct worker *worker;
    char graph_id[GRAPH_ID_SIZE];
    struct estimate estimate;
    enum status status;
};

static void look_at_graph(uv_work_t *request)
{
    struct look *look = request->data;
    struct estimate *estimate = &look->estimate;
    struct solver_estimate solve;
    struct graph *graph = NULL;
    look->status = graph_file_read(store_graph_folder(look->desk->store), look->graph_id, &graph);
    if (look->status == STATUS_OK) {
        look->status =
            worker_estimate_graph(look->worker, graph, estimate->kind, &solve, &estimate->plan);
    }
    if (look->status == STATUS_OK) {
        estimate->seconds = solve.seconds;
        estimate->planned = true;
    }
    graph_destroy(graph);
}

static void answer_look(uv_work_t *request, int error)
{
    struct look *look = request->data;
    struct desk *desk = look->desk;
    CHECK(error == 0); /* nothing cancels it */
    desk->looks--;
    if (look->status == STATUS_OK) {
        desk_answer_body(look->ask, 200, estimate_print(&look->estimate));
    } else if (graph_table_find(desk->graphs, look->ask->tenant, look->graph_id) == NULL) {
        desk_answer_no_such(look->ask);
    } else {
        desk_answer_status(look->ask, look->status, "The stored graph cannot be read.");
    }
    free(look);
    desk_drain_check(desk);
}

static void start_look(struct desk *desk, struct ask *ask, const struct graph_entry *entry,
                       const struct estimate *estimate)
{
    if (desk->looks >= LOOK_LIMIT) {
        desk_answer_status(ask, STATUS_QUEUE_FULL,
                           "Other stored graphs are being estimated: ask again, or by n and m.");
        return;
    }
    struct look *look = calloc(1, sizeof(*look));
    if (look == NULL) {
        desk_answer_status(ask, STATUS_NO_MEMORY, "There is no memory for the request.");
        return;
    }
    look->request.data = look;
    look->desk = desk;
    look->ask = ask;
    look->worker = choose_worker(desk, estimate->kind)->worker;
    memcpy(look->graph_id, entry->row.id, sizeof(look->graph_id));
    look->estimate = *estimate;
    desk->looks++;
    CHECK(uv_queue_work(desk->loop, &look->request, look_at_graph, answer_look) == 0);
}

/* Of a stored graph: what a job of it would compute. */
static enum status take_graph(const struct graph_entry *entry, enum kind kind,
                              struct estimate *estimate, struct problem *reterr)
{
    const struct graph graph = {
        .vertex_count = entry->row.vertex_count,
        .directed = entry->row.directed,
        .edge_count = entry->row.edge_count,
        .summary = entry->row.summary,
    };
    estimate->vertex_count = graph.vertex_count;
    estimate->edge_count = graph.edge_count;
    return graph_choose_kind(&graph, kind, &estimate->kind, reterr);
}

static void estimate_graph(struct desk *desk, struct ask *ask, const struct graph_entry *entry)
{
    struct estimate estimate = {0};
    struct problem problem;
    if (take_graph(entry, ask->parameters.kind, &estimate, &problem) != STATUS_OK) {
        desk_answer_problem(ask, &problem);
        return;
    }
    measure(desk, &estimate);
    judge(desk, &estimate);
    if (estimate.fits) {
        start_look(desk, ask, entry, &estimate);
    } else {
        desk_answer_body(ask, 200, estimate_print(&estimate));
    }
}

void desk_estimate(struct desk *desk, struct ask *ask)
{
    struct estimate estimate = {
        .vertex_count = ask->vertex_count,
        .edge_count = ask->edge_count,
        .kind = ask->parameters.kind == KIND_AUTO ? KIND_I4 : ask->parameters.kind,
    };
    if (ask->key[0] == '\0') {
        measure(desk, &estimate);
        judge(desk, &estimate);
        desk_answer_body(ask, 200, estimate_print(&estimate));
        return;
    }
    const struct graph_entry *entry = desk_graph_find(desk, ask);
    if (entry == NULL) {
        desk_answer_no_such(ask);
        return;
    }
    estimate_graph(desk, ask, entry);
}
