#include "server/http/request/body.h"

#include "server/clock.h"

/* A refused body that ends this soon is read to its end, and answered in the ordinary way. */
#define PATIENCE_BYTES (UINT64_C(256) << 10)
/* How much is read behind an early refusal, and of a body in chunks beyond the limit of bodies. */
#define SWALLOW_LIMIT_BYTES (UINT64_C(64) << 20)
/* How long: a sender at the least rate would keep the connection for hours. */
#define SWALLOW_LIMIT_S 30.0

static void refuse_late(struct request *request)
{
    request_refuse(request, &request->refusal);
}

/* The rest of the body; unknown, so without limit, for one in chunks. */
static uint64_t bytes_to_come(const struct request *request)
{
    const uint64_t announced = request_announced_bytes(request);

    if (announced == 0) {
        return UINT64_MAX;
    }
    return announced > request->body_bytes ? announced - request->body_bytes : 0;
}

static void feed_document(struct request *request, const char *bytes, size_t size)
{
    const uint64_t rest = bytes_to_come(request);

    if (size <= request->document_limit - request->document.size) {
        /* Reserve the announced size at once: growing in steps would copy, and take twice as much.
         */
        if (rest <= request->document_limit - request->document.size - size) {
            text_reserve(&request->document, size + (size_t)rest);
        }
        text_append(&request->document, bytes, size);
        return;
    }
    problem_set(&request->refusal, STATUS_BODY_TOO_LARGE, "The body is longer than is taken here.");
    problem_limit(&request->refusal, (double)request->document_limit,
                  (double)(request->document.size + size));
    text_finish(&request->document);
    request->resume = refuse_late;
}

/* A refusal in the middle of a body is sent at once; the rest is read and dropped, so that the
 * sender comes to see the answer. */
enum MHD_Result body_feed(struct request *request, const char *bytes, size_t size)
{
    const uint64_t limit_bytes = request->http_context->config->body_limit_bytes;
    const struct problem *problem = NULL;

    request->body_bytes += size;
    if (request->answered_early) {
        return request->body_bytes - request->early_bytes > SWALLOW_LIMIT_BYTES ||
                       clock_monotonic_s() - request->early_s > SWALLOW_LIMIT_S
                   ? MHD_NO
                   : MHD_YES;
    }
    if (request->has_upload) {
        upload_feed(&request->upload, bytes, size);
        problem = request->upload.problem.status != STATUS_OK ? &request->upload.problem : NULL;
    } else if (request->resume == NULL) {
        feed_document(request, bytes, size);
        problem = request->resume != NULL ? &request->refusal : NULL;
    }
    if (problem != NULL && bytes_to_come(request) > PATIENCE_BYTES) {
        request_refuse_early(request, problem);
    }
    return request->body_bytes > limit_bytes &&
                   request->body_bytes - limit_bytes > SWALLOW_LIMIT_BYTES
               ? MHD_NO
               : MHD_YES;
}
