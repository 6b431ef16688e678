#include "server/scheduler/choose_form.h"

#include "server/clock.h"
#include "server/scheduler/dispatch.h"
#include "server/scheduler/scheduler_internal.h"
#include "server/solver/solve_hierarchy.h"
#include "server/store/label_cache.h"

#include <stdio.h>
#include <string.h>

#define MB 1e6

bool form_look_begin(const struct scheduler *scheduler, enum result_form form, uint32_t cost,
                     uint32_t vertex_count, uint64_t edge_count, struct form_look *ret_look)
{
    const bool holds_matrix = vertex_count <= scheduler->vertex_limit[cost];
    const enum kind kind = cost_kind(cost);
    const uint64_t matrix_bytes =
        ledger_result_bytes(RESULT_FORM_MATRIX, vertex_count, edge_count, kind);
    *ret_look = (struct form_look){.is_done = true, .byte_limit = UINT64_MAX};
    if (kind == KIND_U2 || form == RESULT_FORM_MATRIX ||
        vertex_count > scheduler->admission.hierarchy_vertex_limit) {
        return false;
    }
    if (form == RESULT_FORM_AUTO && holds_matrix) {
        const char *solver = dispatch_largest_worker(scheduler, cost)->facts->device.solver;
        const bool is_gpu = strcmp(solver, "gpu") == 0;
        /* A hierarchy has at least half as many arcs as the graph has edges. */
        ret_look->byte_limit = matrix_bytes / FORM_HIERARCHY_PART;
        return vertex_count > (is_gpu ? FORM_MATRIX_VERTICES_GPU : FORM_MATRIX_VERTICES) &&
               edge_count / 2 * kind_size(kind) <= ret_look->byte_limit;
    }
    return true;
}

static bool is_draining(void *context)
{
    return atomic_load(&((const struct scheduler *)context)->admission.draining);
}

void form_look_run(struct scheduler *scheduler, const char *tenant, const struct graph *graph,
                   enum kind kind, struct form_look *look)
{
    const struct observer observer = {.context = scheduler, .cancelled = is_draining};
    struct order_record record = {.observer = &observer};
    const struct solve_request request = {.kind = kind,
                                          .threads = scheduler->config->solver.cpu_threads,
                                          .record = &record,
                                          .observer = &observer};
    const double begin_s = clock_monotonic_s();
    struct order_file file = {0};
    struct hierarchy_size size;
    if (graph->vertex_count >= TASK_KEPT_VERTICES_MIN && scheduler->config->plan_budget_bytes > 0) {
        order_file_open(store_folder(scheduler->store, STORE_ORDERS),
                        scheduler->config->plan_budget_bytes, graph,
                        order_file_seed(store_secret(scheduler->store), tenant), &file);
    }
    task_read_record(&file, graph, &record);
    const enum status status = solve_measure_hierarchy(graph, &request, look->byte_limit, &size);
    task_keep_record(&file, &record);
    order_file_finish(&file);
    look->is_fresh = record.fresh;
    look->seconds = clock_monotonic_s() - begin_s;
    if (status == STATUS_OK && size.shape == NULL) {
        look->state = FORM_NO_SEPARATORS;
    } else if (status == STATUS_OK) {
        look->state = FORM_MEASURED;
        look->bytes = result_file_hierarchy_size(size.bytes);
        look->label_bytes = size.label_bytes;
        look->shape = size.shape;
    }
}

static enum status check_vertices(const struct scheduler *scheduler,
                                  const struct form_question *question, enum result_form form,
                                  struct problem *reterr)
{
    const struct quota *quota = question->quota;
    const bool is_matrix = form == RESULT_FORM_MATRIX;
    const uint32_t device_limit = is_matrix ? scheduler->vertex_limit[question->cost]
                                            : scheduler->admission.hierarchy_vertex_limit;
    const bool by_quota = quota->vertex_limit > 0 && quota->vertex_limit < device_limit;
    const uint32_t limit = by_quota ? quota->vertex_limit : device_limit;
    if (question->vertex_count <= limit) {
        return STATUS_OK;
    }
    problem_refuse_limit(
        reterr, STATUS_TOO_LARGE, limit, question->vertex_count, NULL,
        "A graph of %u vertices with kind %s is larger than this service can solve%s.",
        question->vertex_count, kind_name(cost_kind(question->cost)),
        is_matrix ? " as a matrix" : "");
    problem_hint(reterr, "The limit comes from %s.",
                 by_quota    ? "this key"
                 : is_matrix ? scheduler->admission.limit_reason
                             : scheduler->admission.hierarchy_limit_reason);
    return STATUS_TOO_LARGE;
}

static enum status check_bytes(const struct scheduler *scheduler,
                               const struct form_question *question, uint64_t result_bytes,
                               struct problem *reterr)
{
    const uint64_t room = ledger_disk_room(scheduler);
    const uint64_t bytes = result_bytes + question->graph_bytes;
    if (scheduler->ledger.is_full || bytes > room) {
        return problem_refuse_limit(reterr, STATUS_DISK_FULL, (double)room, (double)bytes,
                                    "Delete graphs, or retry when there is more space.",
                                    "There is not enough disk space for the result of a graph with "
                                    "%u vertices; nothing was stored.",
                                    question->vertex_count);
    }
    return tenant_check_bytes(question->tenant, question->quota, bytes, reterr);
}

static struct result_summary outline_form(const struct form_question *question,
                                          enum result_form form)
{
    const struct form_look *look = &question->look;
    const bool is_known = form == RESULT_FORM_HIERARCHY && look->state == FORM_MEASURED;
    return (struct result_summary){
        .form = form,
        .bytes = is_known ? look->bytes
                          : ledger_result_bytes(form, question->vertex_count, question->edge_count,
                                                cost_kind(question->cost))};
}

static void choose_auto(const struct scheduler *scheduler, const struct form_question *question,
                        struct result_summary *ret_result)
{
    const struct result_summary matrix = outline_form(question, RESULT_FORM_MATRIX);
    const struct result_summary hierarchy = outline_form(question, RESULT_FORM_HIERARCHY);
    const struct form_look *look = &question->look;
    const bool is_possible = cost_kind(question->cost) != KIND_U2 &&
                             !(look->state == FORM_NO_SEPARATORS && look->byte_limit == UINT64_MAX);
    const bool is_exact = question->cost == KIND_I4 || question->cost == COST_DECIMALS;
    const bool keeps_rows =
        is_exact && label_cache_keeps_rows(question->vertex_count, cost_kind(question->cost));
    const uint64_t bytes = look->bytes + (keeps_rows ? 0 : look->label_bytes);
    char *reason = ret_result->reason;
    struct problem lack;
    enum status fit = check_vertices(scheduler, question, RESULT_FORM_MATRIX, &lack);
    STATUS_THEN(fit, check_bytes(scheduler, question, matrix.bytes, &lack));
    *ret_result = matrix;
    if (look->state == FORM_MEASURED && bytes <= matrix.bytes / FORM_HIERARCHY_PART) {
        *ret_result = hierarchy;
        snprintf(
            reason, RESULT_REASON_SIZE,
            "a hierarchy of %.1f MB answers queries as fast as a matrix of %.1f MB; result=matrix "
            "requests the matrix",
            (double)hierarchy.bytes / MB, (double)matrix.bytes / MB);
    } else if (fit == STATUS_OK || !is_possible) {
        snprintf(
            reason, RESULT_REASON_SIZE, "%s",
            look->state == FORM_UNSEEN
                ? RESULT_REASON_FITS
                : "the matrix fits, and answers queries faster than a hierarchy of this graph");
    } else {
        *ret_result = hierarchy;
        snprintf(reason, RESULT_REASON_SIZE, "a matrix of %.1f MB does not fit%s",
                 (double)matrix.bytes / MB,
                 fit == STATUS_DISK_FULL       ? " on the disk"
                 : fit == STATUS_STORAGE_QUOTA ? " into the storage quota of this key"
                                               : "");
    }
}

enum status choose_result_form(const struct scheduler *scheduler,
                               const struct form_question *question, struct result_summary *result,
                               struct problem *reterr)
{
    if (result->form == RESULT_FORM_HIERARCHY && cost_kind(question->cost) == KIND_U2) {
        return problem_refuse(reterr, STATUS_BAD_PARAMETER, "Request kind=i4 or result=matrix.",
                              "Kind u2 is not available for hierarchies.");
    }
    if (result->form == RESULT_FORM_AUTO) {
        choose_auto(scheduler, question, result);
    } else {
        const struct result_summary outline = outline_form(question, result->form);
        if (result->reason[0] == '\0') {
            snprintf(result->reason, sizeof(result->reason), "%s", RESULT_REASON_ASKED);
        }
        if (result->bytes == 0 || question->look.state == FORM_MEASURED) {
            result->bytes = outline.bytes;
        }
    }
    STATUS_TRY(check_vertices(scheduler, question, result->form, reterr));
    return check_bytes(scheduler, question, result->bytes, reterr);
}
