/* The rows or columns that a request selects, by range or by vertex names.
 *
 *   2:7  :7  2:  :        half-open range of row numbers, counted from 0
 *   Rome,Paris,"a,b"      vertex names; quoted if a name has a comma, an outer space, a quote
 *                         (doubled) or a colon between numbers */
#pragma once

#include "proto/problem.h"
#include "proto/write/grid.h"
#include "server/http/api/name_scanner.h"
#include "server/http/request/request.h"

struct slice {
    struct axis axis;
    uint32_t *list; /* memory of axis.list; owned */
    size_t capacity;
};

/* Selects all vertices. A zeroed slice is empty and valid. */
void slice_all(struct slice *slice, const struct vertex_names *names);
void slice_finish(struct slice *slice);
/* Adds a vertex to a slice of names. Fails with STATUS_NO_MEMORY or STATUS_NO_SUCH_VERTEX. */
MUST_CHECK enum status slice_add(struct slice *slice, const struct vertex_names *names,
                                 const char *name, size_t size, struct problem *reterr);
/* Parses a body {"KEY":[names],...}, with one key for each slice and an optional third key for the
 * integer *count, which becomes 0 if it is not an integer. An absent slice selects all vertices. */
MUST_CHECK enum status slice_scan_object(struct slice *const slices[2], const char *const *keys,
                                         const struct request *request, int64_t *count,
                                         struct problem *reterr);
/* Parses text into a zeroed slice; NULL selects all. parameter is the parameter's name, for
 * messages. Fails with STATUS_BAD_PARAMETER or STATUS_NO_SUCH_VERTEX. slice_finish must be called
 * also after a failure. */
MUST_CHECK enum status slice_parse(struct slice *slice, const struct vertex_names *names,
                                   const char *parameter, const char *text, struct problem *reterr);
