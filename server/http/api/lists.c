#include "server/http/api/serve.h"

#include <string.h>

#define LIST_DEFAULT 50

/* prefix: of the IDs in the list; a cursor is such an ID. */
static void answer_page(struct request *request, enum call_kind kind, const char *prefix)
{
    const char *state = query_value(&request->query, "state");
    const char *cursor = query_value(&request->query, "cursor");
    struct call *call = request_create_call(request, kind);
    if (call == NULL) {
        return;
    }
    if (state != NULL && !job_state_from_name(state, &call->list.state)) {
        request_refuse_with(request, STATUS_BAD_PARAMETER,
                            "state must be one of queued, running, done, failed, cancelled.", NULL);
    } else if (cursor != NULL && (strlen(cursor) != sizeof(call->list.cursor) - 1 ||
                                  strncmp(cursor, prefix, strlen(prefix)) != 0)) {
        request_refuse_with(request, STATUS_BAD_PARAMETER,
                            "cursor must be the value of next from the previous page.", NULL);
    } else {
        call->list.filter_state = state != NULL;
        call->list.limit = (uint32_t)query_integer(&request->query, "limit", LIST_DEFAULT);
        if (cursor != NULL) {
            memcpy(call->list.cursor, cursor, strlen(cursor) + 1);
        }
        request_call(request, request_answer_call);
    }
}

void serve_lists_jobs(struct request *request)
{
    answer_page(request, CALL_JOBS, "j_");
}

void serve_lists_graphs(struct request *request)
{
    answer_page(request, CALL_GRAPHS, "g_");
}
