#include "server/http/api/serve.h"

#include "server/http/request/accept.h"
#include "server/http/request/range.h"
#include "server/http/web/page.h"

#include <stdint.h>
#include <stdio.h>

/* gzip is all that there is beside the bytes as they are. */
static bool likes_gzip(const struct request *request)
{
    const char *accepted = request_header(request, "Accept-Encoding");

    return accepted != NULL && accept_coding(accepted, "gzip", 0) > 0 &&
           accept_coding(accepted, "gzip", 0) >= accept_coding(accepted, "identity", 0);
}

static bool is_known(const struct request *request, const char *tag)
{
    const char *known = request_header(request, "If-None-Match");

    return known != NULL && range_list_has_tag(known, tag);
}

/* libmicrohttpd takes a pointer to non-const, and changes nothing. */
static struct MHD_Response *response_of(const struct page_bytes *bytes)
{
    return MHD_create_response_from_buffer(bytes->size, (void *)(uintptr_t)bytes->bytes,
                                           MHD_RESPMEM_PERSISTENT);
}

/* The policy is longer than the headers of an request may be. */
static struct MHD_Response *with_policy(struct MHD_Response *response, const char *policy)
{
    if (response == NULL || policy == NULL ||
        MHD_add_response_header(response, "Content-Security-Policy", policy) == MHD_YES) {
        return response;
    }
    MHD_destroy_response(response);
    return NULL;
}

/* vary: the headers of the request by which the answer is chosen. */
static void answer(struct request *request, const struct page *page, const char *vary)
{
    static const struct page_bytes nothing = {(const unsigned char *)"", 0};
    const bool packed = likes_gzip(request);

    snprintf(request->tag, sizeof(request->tag), "\"%s%s\"", page->tag, packed ? "-gzip" : "");
    request_add_header(request, "ETag", request->tag);
    request_add_header(request, "Vary", vary);
    request_add_header(request, "Cache-Control", "no-cache");
    if (is_known(request, request->tag)) {
        request_answer(request, MHD_HTTP_NOT_MODIFIED, response_of(&nothing));
        return;
    }
    if (packed) {
        request_add_header(request, "Content-Encoding", "gzip");
    }
    request_add_header(request, "Content-Type", page->media_type);
    request_add_header(request, "X-Content-Type-Options", "nosniff");
    request_add_header(request, "Referrer-Policy", "no-referrer");
    request_answer(request, MHD_HTTP_OK,
                   with_policy(response_of(packed ? &page->gzip : &page->plain), page->policy));
}

void serve_page_openapi(struct request *request)
{
    answer(request, &page_openapi, "Accept-Encoding");
}

void serve_page_docs(struct request *request)
{
    answer(request, &page_docs, "Accept-Encoding");
}

/* The page, or the list of addresses for programs that ask for JSON. */
void serve_page_home(struct request *request)
{
    static const char *const offers[] = {"text/html", "application/json", NULL};
    struct problem problem;
    size_t offer;

    /* The page calls routes of the main listener, so the others answer the list of addresses. */
    if ((request->doors & DOOR_MAIN) == 0) {
        serve_service_index(request);
        return;
    }
    if (!accept_choose(request_header(request, "Accept"), offers, &offer)) {
        problem_set(&problem, STATUS_NOT_ACCEPTABLE, "The page is not answered in such a form.");
        problem_hint(&problem, "Answered: %s, %s.", offers[0], offers[1]);
        request_refuse(request, &problem);
    } else if (offer == 0) {
        answer(request, &page_home, "Accept, Accept-Encoding");
    } else {
        request_add_header(request, "Vary", "Accept, Accept-Encoding");
        serve_service_index(request);
    }
}
