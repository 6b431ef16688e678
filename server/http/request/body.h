/* Reads the body of a request into an upload or into request->document, on the thread of the
 * connection.
 *
 * When a body is refused midway, its rest is read and dropped before the refusal is sent. If a
 * refused body continues far beyond the limit, the connection is closed without an answer. */
#pragma once

#include "proto/problem.h"
#include "proto/read/decoder.h"

#include <microhttpd.h>

struct request;

/* Returns the Content-Length; 0 for a chunked body. */
uint64_t request_announced_bytes(const struct request *request);
/* Returns STATUS_BODY_TOO_LARGE if Content-Length exceeds the limit. */
MUST_CHECK enum status request_check_length(const struct request *request, uint64_t limit_bytes,
                                            struct problem *reterr);
/* Parses Content-Encoding. Uploads may be gzip or zstd; other bodies must be identity. Any other
 * coding is STATUS_UNSUPPORTED_MEDIA_TYPE with an Accept-Encoding header that lists the choices. */
MUST_CHECK enum status request_check_coding(struct request *request, bool is_upload,
                                            enum coding *ret_coding, struct problem *reterr);
/* Checks media type, coding and length from the headers, for a route whose body goes to
 * request->document. Does nothing for other routes. */
MUST_CHECK enum status request_expect_body(struct request *request, struct problem *reterr);
/* Passes a piece of the body to the upload or the document, or drops it once the body is refused.
 * Returns MHD_NO if libmicrohttpd must close the connection. */
enum MHD_Result request_feed_body(struct request *request, const char *bytes, size_t size);
/* Parses the document as a JSON object, a new reference. STATUS_BAD_REQUEST has line and column. */
MUST_CHECK enum status request_parse_document(const struct request *request,
                                              struct json_t **ret_document, struct problem *reterr);
/* Checks the complete document. Returns STATUS_EMPTY_BODY or STATUS_NO_MEMORY. */
MUST_CHECK enum status request_check_document(const struct request *request,
                                              struct problem *reterr);
