/* Whether an upload may come at all: all that the headers and the query tell, before its body. */
#pragma once

#include "server/http/exchange.h"

/* Fills exchange->request and starts exchange->upload. for_job: it takes a place in the queue, and
 * may be a document about a stored graph. */
MUST_CHECK enum status intake_open(struct exchange *exchange, bool for_job, struct problem *reterr);
/* Refuses a body that is encoded or, by its Content-Length, longer than the limit. */
MUST_CHECK enum status intake_check_body(const struct exchange *exchange, uint64_t limit_bytes,
                                         struct problem *reterr);
