#include "server/http/serve.h"

#include "server/http/page.h"
#include "server/http/preference.h"
#include "server/http/range.h"

#include <stdint.h>
#include <stdio.h>

/* gzip is all that there is beside the bytes as they are. */
static bool likes_gzip(const struct exchange *exchange)
{
    const char *accepted = exchange_request_header(exchange, "Accept-Encoding");

    return accepted != NULL && preference_coding(accepted, "gzip", 0) > 0 &&
           preference_coding(accepted, "gzip", 0) >= preference_coding(accepted, "identity", 0);
}

static bool is_known(const struct exchange *exchange, const char *tag)
{
    const char *known = exchange_request_header(exchange, "If-None-Match");

    return known != NULL && range_list_has_tag(known, tag);
}

/* libmicrohttpd takes a pointer to non-const, and changes nothing. */
static struct MHD_Response *response_of(const struct page_bytes *bytes)
{
    return MHD_create_response_from_buffer(bytes->size, (void *)(uintptr_t)bytes->bytes,
                                           MHD_RESPMEM_PERSISTENT);
}

/* The policy is longer than the headers of an exchange may be. */
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
static void answer(struct exchange *exchange, const struct page *page, const char *vary)
{
    static const struct page_bytes nothing = {(const unsigned char *)"", 0};
    const bool packed = likes_gzip(exchange);

    snprintf(exchange->tag, sizeof exchange->tag, "\"%s%s\"", page->tag, packed ? "-gzip" : "");
    exchange_add_header(exchange, "ETag", exchange->tag);
    exchange_add_header(exchange, "Vary", vary);
    exchange_add_header(exchange, "Cache-Control", "no-cache");
    if (is_known(exchange, exchange->tag)) {
        exchange_answer(exchange, MHD_HTTP_NOT_MODIFIED, response_of(&nothing));
        return;
    }
    if (packed) {
        exchange_add_header(exchange, "Content-Encoding", "gzip");
    }
    exchange_add_header(exchange, "Content-Type", page->media_type);
    exchange_add_header(exchange, "X-Content-Type-Options", "nosniff");
    exchange_add_header(exchange, "Referrer-Policy", "no-referrer");
    exchange_answer(exchange, MHD_HTTP_OK,
                    with_policy(response_of(packed ? &page->gzip : &page->plain), page->policy));
}

void serve_page_openapi(struct exchange *exchange)
{
    answer(exchange, &page_openapi, "Accept-Encoding");
}

void serve_page_docs(struct exchange *exchange)
{
    answer(exchange, &page_docs, "Accept-Encoding");
}

/* The page, or the list of addresses for programs that ask for JSON. */
void serve_page_home(struct exchange *exchange)
{
    static const char *const offers[] = {"text/html", "application/json", NULL};
    struct problem problem;
    size_t offer;

    /* What the page asks for is answered at the main address. */
    if ((exchange->doors & DOOR_MAIN) == 0) {
        serve_service_index(exchange);
        return;
    }
    if (!preference_choose(exchange_request_header(exchange, "Accept"), offers, &offer)) {
        problem_set(&problem, STATUS_NOT_ACCEPTABLE, "The page is not answered in such a form.");
        problem_hint(&problem, "Answered: %s, %s.", offers[0], offers[1]);
        exchange_refuse(exchange, &problem);
    } else if (offer == 0) {
        answer(exchange, &page_home, "Accept, Accept-Encoding");
    } else {
        exchange_add_header(exchange, "Vary", "Accept, Accept-Encoding");
        serve_service_index(exchange);
    }
}
