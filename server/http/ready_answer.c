#include "server/http/ready_answer.h"

#include <string.h>

#define REQUEST_ID "X-Request-Id"

void ready_answers_init(struct ready_answers *answers)
{
    for (size_t i = 0; i < READY_ANSWER_COUNT; i++) {
        answers->of_size[i].response = NULL;
    }
}

static void drop(struct ready_answer *answer)
{
    if (answer->response != NULL) {
        MHD_destroy_response(answer->response);
    }
    answer->response = NULL;
}

void ready_answers_finish(struct ready_answers *answers)
{
    for (size_t i = 0; i < READY_ANSWER_COUNT; i++) {
        drop(&answers->of_size[i]);
    }
}

bool ready_answers_has(const struct ready_answers *answers, const struct ready_answer_head *head,
                       size_t size)
{
    const struct ready_answer *answer = &answers->of_size[size % READY_ANSWER_COUNT];

    return answer->response != NULL && answer->size == size &&
           answer->media_type == head->media_type && strcmp(answer->etag, head->etag) == 0;
}

static bool add(const struct ready_answer *answer, const char *name, const char *value)
{
    return MHD_add_response_header(answer->response, name, value) == MHD_YES;
}

static bool make(struct ready_answer *answer, const struct ready_answer_head *head, size_t size)
{
    drop(answer);
    answer->response = MHD_create_response_from_buffer(size, answer->bytes, MHD_RESPMEM_PERSISTENT);
    if (answer->response == NULL) {
        return false;
    }
    answer->size = size;
    answer->media_type = head->media_type;
    answer->request_id = NULL;
    memcpy(answer->etag, head->etag, strlen(head->etag) + 1);
    return add(answer, MHD_HTTP_HEADER_ETAG, head->tag) &&
           add(answer, MHD_HTTP_HEADER_VARY, "Accept") &&
           add(answer, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache") &&
           add(answer, MHD_HTTP_HEADER_CONTENT_TYPE, head->media_type);
}

/* libmicrohttpd has a copy of each value in memory of its own and says where: an id of the same
 * length is written over the last one, which nobody reads any more. */
static bool name(struct ready_answer *answer, const char *request_id)
{
    const size_t size = strlen(request_id);

    if (answer->request_id != NULL && answer->id_size == size) {
        memcpy(answer->request_id, request_id, size);
        return true;
    }
    if (answer->request_id != NULL &&
        MHD_del_response_header(answer->response, REQUEST_ID, answer->request_id) != MHD_YES) {
        return false;
    }
    if (!add(answer, REQUEST_ID, request_id)) {
        return false;
    }
    answer->request_id = (char *)MHD_get_response_header(answer->response, REQUEST_ID);
    answer->id_size = size;
    return answer->request_id != NULL;
}

struct MHD_Response *ready_answers_take(struct ready_answers *answers,
                                        const struct ready_answer_head *head,
                                        const char *request_id, const char *bytes, size_t size)
{
    struct ready_answer *answer = &answers->of_size[size % READY_ANSWER_COUNT];

    if (size > READY_ANSWER_SIZE) {
        return NULL;
    }
    if ((!ready_answers_has(answers, head, size) && !make(answer, head, size)) ||
        !name(answer, request_id)) {
        drop(answer);
        return NULL;
    }
    memcpy(answer->bytes, bytes, size);
    return answer->response;
}
