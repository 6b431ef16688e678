/* Which rows or columns a request asks for, by range or by vertex names.
 *
 *   2:7  :7  2:  :        rows from the first number up to, not with, the second, counted from 0
 *   Rome,Paris,"a,b"      vertices by name; in double quotes where a name has a comma, an outer
 *                         blank, a quote (doubled) or a colon between numbers */
#pragma once

#include "proto/problem.h"
#include "proto/write/grid.h"
#include "server/http/api/name_scanner.h"
#include "server/http/request/request.h"

struct slice {
    struct axis axis;
    uint32_t *list; /* owned: what axis.list points to */
    size_t capacity;
};

/* All of them. A zeroed slice is empty and valid. */
void slice_all(struct slice *slice, const struct vertex_names *names);
void slice_finish(struct slice *slice);
/* One more vertex; STATUS_NO_MEMORY, STATUS_NO_SUCH_VERTEX. The slice is one of names. */
MUST_CHECK enum status slice_add(struct slice *slice, const struct vertex_names *names,
                                 const char *name, size_t size, struct problem *reterr);
/* The body of a question about the result: {"KEY":[names],...}, one key for each of two slices, and
 * perhaps a third one for the integer *count, 0 where it is none. A slice that is absent is all. */
MUST_CHECK enum status slice_scan_object(struct slice *const slices[2], const char *const *keys,
                                         const struct request *request, int64_t *count,
                                         struct problem *reterr);
/* Into a zeroed slice; text: NULL is all; parameter: its name, for the words. STATUS_BAD_PARAMETER,
 * STATUS_NO_SUCH_VERTEX. To be finished also after a failure. */
MUST_CHECK enum status slice_parse(struct slice *slice, const struct vertex_names *names,
                                   const char *parameter, const char *text, struct problem *reterr);
