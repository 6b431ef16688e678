#include "server/http/api/serve.h"

#include "server/http/request/headers.h"
#include "server/http/web/page.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Adds the page's Content-Security-Policy. If tiles is the URL template of map tiles, not "", their
 * server is appended to img-src, the last directive. */
static bool add_policy(struct MHD_Response *response, const struct page *page, const char *tiles)
{
    const int scheme = (int)strcspn(tiles, "/");
    const int size = tiles[0] == '\0' ? 0 : scheme + 2 + (int)strcspn(tiles + scheme + 2, "/");
    char policy[CONFIG_TEXT_SIZE + 1024];
    snprintf(policy, sizeof(policy), "%s %.*s", page->policy, size, tiles);
    return MHD_add_response_header(response, "Content-Security-Policy", policy) == MHD_YES;
}

void serve_page(struct request *request)
{
    const struct page *page = request->match.route->page;
    const bool packed = header_choose_coding(request_header(request, "Accept-Encoding"),
                                             1u << CODING_GZIP) == CODING_GZIP;
    const char *tiles = request->http_context->config->tiles;
    if (page != &page_home || strcmp(tiles, CONFIG_NONE) == 0) {
        tiles = "";
    }
    request_add_header(request, "Vary",
                       page == &page_home ? "Accept, Accept-Encoding" : "Accept-Encoding");
    request_add_header(request, "Cache-Control", "no-cache");
    /* A page with tiles has no ETag, or a browser could keep the policy for an old tile server. */
    if (tiles[0] == '\0') {
        snprintf(request->tag, sizeof(request->tag), "\"%s%s\"", page->tag, packed ? "-gzip" : "");
        request_add_header(request, "ETag", request->tag);
        if (request_answer_condition(request)) {
            return;
        }
    }
    if (packed) {
        request_add_header(request, "Content-Encoding", "gzip");
    }
    request_add_type(request, page->media_type);
    request_add_header(request, "X-Content-Type-Options", "nosniff");
    request_add_header(request, "Referrer-Policy", "no-referrer");
    const struct page_bytes *bytes = packed ? &page->gzip : &page->plain;
    /* libmicrohttpd takes a pointer to non-const, but does not modify the bytes. */
    struct MHD_Response *response = MHD_create_response_from_buffer(
        bytes->size, (void *)(uintptr_t)bytes->bytes, MHD_RESPMEM_PERSISTENT);
    /* The policy is too long for request_add_header. */
    if (response != NULL && page->policy != NULL && !add_policy(response, page, tiles)) {
        MHD_destroy_response(response);
        response = NULL;
    }
    request_answer(request, MHD_HTTP_OK, response);
}
