/* Which rows or columns a request asks for, by range or by vertex names. Pure.
 *
 *   2:7  :7  2:  :        rows from the first number up to, not with, the second, counted from 0
 *   Rome,Paris,"a,b"      vertices by name; in double quotes where a name has a comma, a quote
 *                         (doubled) or a colon between numbers */
#pragma once

#include "proto/problem.h"
#include "proto/write/grid.h"
#include "server/http/api/name_scanner.h"

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
/* A list of names in JSON, whose entry is in the problem. */
MUST_CHECK enum status slice_scan(struct slice *slice, const struct vertex_names *names,
                                  struct name_scanner *scanner, struct problem *reterr);
/* Into a zeroed slice; text: NULL is all; parameter: its name, for the words. STATUS_BAD_PARAMETER,
 * STATUS_NO_SUCH_VERTEX. To be finished also after a failure. */
MUST_CHECK enum status slice_parse(struct slice *slice, const struct vertex_names *names,
                                   const char *parameter, const char *text, struct problem *reterr);
