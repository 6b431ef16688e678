#include "server/http/ready_answer.h"

#include <stdlib.h>
#include <string.h>

#define REQUEST_ID "X-Request-Id"

static void drop(struct ready_answer *answer)
{
    if (answer->response != NULL) {
        MHD_destroy_response(answer->response);
    }
    answer->response = NULL;
}

/* ---- Of the threads ---- */

static void destroy(void *context)
{
    struct ready_answers *answers = context;

    for (size_t i = 0; i < READY_ANSWER_COUNT; i++) {
        drop(&answers->places[i]);
    }
    free(answers);
}

enum status ready_answers_open(pthread_key_t *ret_key)
{
    return pthread_key_create(ret_key, destroy) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

void ready_answers_close(pthread_key_t key)
{
    struct ready_answers *own = pthread_getspecific(key);

    if (own != NULL) {
        destroy(own);
    }
    pthread_key_delete(key);
}

struct ready_answers *ready_answers_of_thread(pthread_key_t key)
{
    struct ready_answers *answers = pthread_getspecific(key);

    if (answers != NULL) {
        return answers;
    }
    answers = calloc(1, sizeof *answers);
    if (answers != NULL && pthread_setspecific(key, answers) != 0) {
        free(answers);
        return NULL;
    }
    return answers;
}

/* ---- One of them ---- */

/* Those of one result side by side, those of another elsewhere mostly: tags differ in their end. */
static struct ready_answer *place_of(struct ready_answers *answers,
                                     const struct ready_answer_head *head, size_t size)
{
    const unsigned char *end = (const unsigned char *)head->etag + strlen(head->etag);
    const size_t group = (size_t)end[-2] * 31 + end[-1];

    return &answers->places[(group * 8 + size) % READY_ANSWER_COUNT];
}

struct ready_answer *ready_answers_find(struct ready_answers *answers,
                                        const struct ready_answer_head *head, size_t size)
{
    struct ready_answer *answer = place_of(answers, head, size);
    const bool fits = answer->response != NULL && !answer->is_lent && answer->size == size &&
                      answer->media_type == head->media_type &&
                      strcmp(answer->etag, head->etag) == 0;

    return fits ? answer : NULL;
}

static bool add(const struct ready_answer *answer, const char *name, const char *value)
{
    return MHD_add_response_header(answer->response, name, value) == MHD_YES;
}

static bool add_headers(const struct ready_answer *answer, const struct ready_answer_head *head)
{
    return add(answer, MHD_HTTP_HEADER_ETAG, head->tag) &&
           add(answer, MHD_HTTP_HEADER_VARY, "Accept") &&
           add(answer, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache") &&
           add(answer, MHD_HTTP_HEADER_CONTENT_TYPE, head->media_type);
}

struct ready_answer *ready_answers_make(struct ready_answers *answers,
                                        const struct ready_answer_head *head, size_t size)
{
    struct ready_answer *answer = place_of(answers, head, size);

    if (size > READY_ANSWER_SIZE || answer->is_lent) {
        return NULL;
    }
    drop(answer);
    answer->response = MHD_create_response_from_buffer(size, answer->bytes, MHD_RESPMEM_PERSISTENT);
    answer->size = size;
    answer->media_type = head->media_type;
    answer->request_id = NULL;
    memcpy(answer->etag, head->etag, strlen(head->etag) + 1);
    if (answer->response == NULL || !add_headers(answer, head)) {
        drop(answer);
        return NULL;
    }
    return answer;
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

struct MHD_Response *ready_answer_lend(struct ready_answer *answer, const char *request_id,
                                       const char *bytes)
{
    if (!name(answer, request_id)) {
        drop(answer);
        return NULL;
    }
    memcpy(answer->bytes, bytes, answer->size);
    answer->is_lent = true;
    return answer->response;
}

void ready_answer_give_back(struct ready_answer *answer)
{
    answer->is_lent = false;
}
