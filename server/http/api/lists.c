#include "server/http/api/serve.h"

#include <stdio.h>
#include <string.h>

#define LIST_DEFAULT 50

enum status serve_list(struct request *request, struct call *call, struct problem *reterr)
{
    const char *state = query_value(&request->query, "state");
    const char *cursor = query_value(&request->query, "cursor");
    struct list_call *list = &call->list;
    /* A cursor is the ID of a listed job or graph. */
    const char *prefix = call->kind == CALL_JOBS ? "j_" : "g_";
    if (state != NULL && !job_state_from_name(state, &list->state)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "state must be one of queued, running, done, failed, cancelled.");
    }
    if (cursor != NULL && (strlen(cursor) != sizeof(list->cursor) - 1 ||
                           strncmp(cursor, prefix, strlen(prefix)) != 0)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "cursor must be the value of next from the previous page.");
    }
    list->filter_state = state != NULL;
    list->limit = (uint32_t)query_integer(&request->query, "limit", LIST_DEFAULT);
    snprintf(list->cursor, sizeof(list->cursor), "%s", cursor != NULL ? cursor : "");
    return STATUS_OK;
}
