/* The body of a request: into an upload, or into request->document.
 *
 * A body that is refused midway is read on and dropped, and its request answered at its end. A body
 * in chunks that goes on beyond the limit of bodies is cut off without an answer. */
#pragma once

#include "proto/problem.h"
#include "proto/read/decoder.h"

#include <microhttpd.h>

struct request;

/* Content-Length; 0 for a body in chunks. */
uint64_t request_announced_bytes(const struct request *request);
/* By its Content-Length. */
MUST_CHECK enum status request_check_length(const struct request *request, uint64_t limit_bytes,
                                            struct problem *reterr);
/* By its Content-Encoding: a coding of uploads, or none; an answer of 415 lists them. */
MUST_CHECK enum status request_check_coding(struct request *request, bool is_upload,
                                            enum coding *ret_coding, struct problem *reterr);
/* At the headers, of a route whose body goes to request->document: its media type and length. */
MUST_CHECK enum status request_expect_body(struct request *request, struct problem *reterr);
/* Bytes of the body: to the upload or the document, or nowhere once they are refused. MHD_NO: the
 * connection ends here. */
enum MHD_Result request_feed_body(struct request *request, const char *bytes, size_t size);
struct json_t;
/* The document as a JSON object, a new reference; STATUS_BAD_REQUEST with line and column. */
MUST_CHECK enum status request_parse_document(const struct request *request,
                                              struct json_t **ret_document, struct problem *reterr);
/* Once the document is complete: STATUS_EMPTY_BODY, STATUS_NO_MEMORY. */
MUST_CHECK enum status request_check_document(const struct request *request,
                                              struct problem *reterr);
