/* Whether an upload may come at all: all that the headers and the query tell, before its body. */
#pragma once

#include "server/http/request/request.h"

/* Fills request->job_request and starts request->upload. for_job: it takes a place in the queue,
 * and may be a document about a stored graph. */
MUST_CHECK enum status intake_open(struct request *request, bool for_job, struct problem *reterr);
/* A question with a body, which goes to request->document, up to the limit; of any type. */
MUST_CHECK enum status intake_open_document(struct request *request, uint64_t limit_bytes,
                                            struct problem *reterr);
/* The same in JSON; shape: of such a body, for the hint of a 415. */
MUST_CHECK enum status intake_open_json(struct request *request, const char *shape,
                                        uint64_t limit_bytes, struct problem *reterr);
/* Once it is complete: STATUS_EMPTY_BODY, STATUS_NO_MEMORY. */
MUST_CHECK enum status intake_check_document(const struct request *request, struct problem *reterr);
