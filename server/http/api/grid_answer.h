/* Rows and columns of the request's result as an answer, in any format: a file or a part of one
 * where it can be, else made while it is sent. */
#pragma once

#include "proto/format.h"
#include "proto/write/grid.h"
#include "server/http/api/slice.h"
#include "server/http/request/request.h"

struct grid_request {
    enum format format;
    enum grid_form form; /* of the textual formats */
    struct slice rows;
    struct slice columns;
};

void grid_request_finish(struct grid_request *selection);
/* By the parameter format, else by Accept; first: what is answered when anything will do. */
MUST_CHECK enum status grid_answer_choose(const struct request *request, enum format first,
                                          enum format *ret_format, struct problem *reterr);
/* Answers, also with 304, 206 or a refusal. Moves the slices. */
void grid_answer(struct request *request, struct grid_request *take_request);
