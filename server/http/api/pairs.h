/* Reads a body of vertex pairs one by one without a tree, so that an answer can read it a second
 * time while it is sent. Pure functions.
 *
 *   JSON     {"pairs":[[source,target],...]}, weighted [[source,target,weight],...]
 *   CSV      source,target per line (RFC 4180) with an optional header line; weighted
 *            source,target,weight, where the header may name the columns as in an edge list
 *   binary   little-endian u32 row and column */
#pragma once

#include "proto/read/fields.h"
#include "proto/vertex_names.h"
#include "server/http/api/name_scanner.h"

#include <stdbool.h>

/* Forms of a body, in the order of the route's media types. */
enum pairs_form { PAIRS_JSON, PAIRS_CSV, PAIRS_BINARY };

/* Size of a pair in the binary form. */
#define PAIR_SIZE (2 * sizeof(uint32_t))

/* State of a reader, which borrows the body. */
struct pairs_reader {
    enum pairs_form form;
    struct name_scanner scanner; /* position in a JSON or binary body */
    const char *at;              /* start of the unread lines of a CSV body */
    const char *end;
    uint64_t line;        /* number of the line where the last pair begins, from 1 */
    uint64_t next_line;   /* number of the line at `at` */
    struct text joined;   /* CSV row with line breaks inside quotes */
    struct text unquoted; /* unquoted fields of the row */
    struct table_row row; /* fields of the row */
    size_t columns[3];    /* columns of source, target and weight */
    char delimiter;       /* delimiter of CSV; 0: not known yet */
    const char *first;    /* start of the last pair in JSON */
    uint64_t count;       /* number of pairs read so far */
    bool has_header;      /* the CSV header line was read */
    bool ended;           /* all pairs have been read */
    bool is_weighted;     /* each pair has a weight (JSON and CSV) */
    /* Source, target and weight of the last pair, valid until the next; unused in binary. A missing
     * weight (null in JSON) has size 0. */
    struct scanned_name pair[3];
};

/* Determines the form of a body from its media type if that is one of `types` (NULL-terminated),
 * else from its first bytes, which never indicate PAIRS_BINARY. */
enum pairs_form pairs_find_form(const char *media_type, const char *const *types, const char *bytes,
                                size_t size);

void pairs_open(struct pairs_reader *reader, enum pairs_form form, const char *bytes, size_t size);
/* Opens a reader of pairs with weights, in JSON or CSV. */
void pairs_open_weighted(struct pairs_reader *reader, enum pairs_form form, const char *bytes,
                         size_t size);
/* Closes a reader. Accepts a zeroed reader. */
void pairs_close(struct pairs_reader *reader);
/* Moves an open reader back to the first pair. */
void pairs_rewind(struct pairs_reader *reader);
/* Reads the next pair of a JSON or CSV body, or sets ended. STATUS_BAD_REQUEST has a line and a
 * column from 1; for JSON it has only the column, in bytes of the body. */
MUST_CHECK enum status pairs_next(struct pairs_reader *reader, struct problem *reterr);
/* Adds the position of the last pair to the problem. */
void pairs_place(const struct pairs_reader *reader, struct problem *problem);
/* Reads up to `room` pairs of any form as row numbers; sets ended after the last. Returns
 * STATUS_BAD_REQUEST like pairs_next, or STATUS_NO_SUCH_VERTEX with the pair's position. */
MUST_CHECK enum status pairs_read_rows(struct pairs_reader *reader,
                                       const struct vertex_names *names, size_t room,
                                       uint32_t ret_rows[][2], size_t *ret_count,
                                       struct problem *reterr);
