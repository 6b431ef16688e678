#include "server/http/serve.h"

#include <string.h>

/* What a list answers when no limit is given, and at most. */
#define LIST_DEFAULT 50
#define LIST_LIMIT 1000

/* prefix: of the ids in the list, one of which is its cursor. */
static enum status fill_list(const struct exchange *exchange, const char *prefix, struct ask *ask,
                             struct problem *reterr)
{
    const char *state = query_value(&exchange->query, "state");
    const char *cursor = query_value(&exchange->query, "cursor");
    int64_t limit = LIST_DEFAULT;

    if (state != NULL && !job_state_from_name(state, &ask->state)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "state is one of queued, running, done, failed, cancelled.");
    }
    if (cursor != NULL && (strlen(cursor) != sizeof ask->cursor - 1 ||
                           strncmp(cursor, prefix, strlen(prefix)) != 0)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "cursor is what the list before this gave as next.");
    }
    enum status status = query_integer(&exchange->query, "limit", 1, LIST_LIMIT, &limit, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    ask->filter_state = state != NULL;
    ask->limit = (uint32_t)limit;
    if (cursor != NULL) {
        memcpy(ask->cursor, cursor, strlen(cursor) + 1);
    }
    return STATUS_OK;
}

static void list(struct exchange *exchange, enum ask_kind kind, const char *prefix)
{
    struct ask *ask = exchange_create_ask(exchange, kind);
    struct problem problem;

    if (ask == NULL) {
        return;
    }
    if (fill_list(exchange, prefix, ask, &problem) == STATUS_OK) {
        exchange_ask(exchange, exchange_answer_ask);
    } else {
        exchange_refuse(exchange, &problem);
    }
}

void serve_lists_jobs(struct exchange *exchange)
{
    list(exchange, ASK_JOBS, "j_");
}

void serve_lists_graphs(struct exchange *exchange)
{
    list(exchange, ASK_GRAPHS, "g_");
}
