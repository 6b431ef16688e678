#include "server/http/api/serve.h"

#include <string.h>

/* The default and the ceiling of the parameter limit of a list. */
#define LIST_DEFAULT 50
#define LIST_LIMIT 1000

/* prefix: of the ids in the list, one of which is its cursor. */
static enum status fill_list(const struct request *request, const char *prefix, struct call *call,
                             struct problem *reterr)
{
    const char *state = query_value(&request->query, "state");
    const char *cursor = query_value(&request->query, "cursor");
    int64_t limit = LIST_DEFAULT;

    if (state != NULL && !job_state_from_name(state, &call->state)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "state is one of queued, running, done, failed, cancelled.");
    }
    if (cursor != NULL && (strlen(cursor) != sizeof(call->cursor) - 1 ||
                           strncmp(cursor, prefix, strlen(prefix)) != 0)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "cursor is what the list before this gave as next.");
    }
    enum status status = query_integer(&request->query, "limit", 1, LIST_LIMIT, &limit, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    call->filter_state = state != NULL;
    call->limit = (uint32_t)limit;
    if (cursor != NULL) {
        memcpy(call->cursor, cursor, strlen(cursor) + 1);
    }
    return STATUS_OK;
}

static void list(struct request *request, enum call_kind kind, const char *prefix)
{
    struct call *call = request_create_call(request, kind);
    struct problem problem;

    if (call == NULL) {
        return;
    }
    if (fill_list(request, prefix, call, &problem) == STATUS_OK) {
        request_call(request, request_answer_call);
    } else {
        request_refuse(request, &problem);
    }
}

void serve_lists_jobs(struct request *request)
{
    list(request, CALL_JOBS, "j_");
}

void serve_lists_graphs(struct request *request)
{
    list(request, CALL_GRAPHS, "g_");
}
