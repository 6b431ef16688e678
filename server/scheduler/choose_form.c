#include "server/scheduler/choose_form.h"

#include "server/scheduler/scheduler_internal.h"

static enum status check_vertices(const struct scheduler *scheduler, const struct quota *quota,
                                  enum result_form form, uint32_t vertex_count, enum kind kind,
                                  struct problem *reterr)
{
    const bool is_matrix = form == RESULT_FORM_MATRIX;
    const uint32_t device_limit =
        is_matrix ? scheduler->vertex_limit[kind] : scheduler->admission.hierarchy_vertex_limit;
    const bool by_quota = quota->vertex_limit > 0 && quota->vertex_limit < device_limit;
    const uint32_t limit = by_quota ? quota->vertex_limit : device_limit;
    if (vertex_count <= limit) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TOO_LARGE,
                "%u vertices in kind %s are more than this service can hold%s.", vertex_count,
                kind_name(kind), is_matrix ? " as a matrix" : "");
    problem_limit(reterr, limit, vertex_count);
    problem_hint(reterr, "The limit comes from %s.",
                 by_quota    ? "this key"
                 : is_matrix ? scheduler->admission.limit_reason
                             : scheduler->admission.hierarchy_limit_reason);
    return STATUS_TOO_LARGE;
}

static enum status check_disk(const struct scheduler *scheduler, uint32_t vertex_count,
                              uint64_t result_bytes, uint64_t graph_bytes, struct problem *reterr)
{
    const uint64_t room = ledger_disk_room(scheduler);
    const uint64_t bytes = result_bytes + graph_bytes;
    if (!scheduler->ledger.is_full && bytes <= room) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_DISK_FULL,
                "There is no room on the disk for the result of %u vertices; nothing was kept.",
                vertex_count);
    problem_limit(reterr, (double)room, (double)bytes);
    problem_hint(reterr, "Delete graphs, or ask again when there is room.");
    return STATUS_DISK_FULL;
}

enum status choose_result_form(const struct scheduler *scheduler, const struct quota *quota,
                               const struct graph_row *row, enum kind kind, uint64_t graph_bytes,
                               struct result_summary *result, struct problem *reterr)
{
    const uint32_t n = row->vertex_count;
    result->reason = RESULT_REASON_ASKED;
    if (result->form == RESULT_FORM_HIERARCHY && kind == KIND_U2) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "A hierarchy has no kind u2.");
        problem_hint(reterr, "Ask for kind=i4, or for result=matrix.");
        return STATUS_BAD_PARAMETER;
    }
    if (result->form == RESULT_FORM_AUTO) {
        const bool fits = n <= scheduler->vertex_limit[kind] || kind == KIND_U2;
        result->form = fits ? RESULT_FORM_MATRIX : RESULT_FORM_HIERARCHY;
        result->reason = fits ? RESULT_REASON_FITS : RESULT_REASON_VERTICES;
    }
    const uint64_t bytes = ledger_result_bytes(result->form, n, row->edge_count, kind);
    STATUS_TRY(check_vertices(scheduler, quota, result->form, n, kind, reterr));
    return check_disk(scheduler, n, bytes, graph_bytes, reterr);
}
