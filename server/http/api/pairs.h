/* Bodies of pairs of vertices, read pair by pair without a tree, so that an answer can go through
 * one again while it is sent. Pure.
 *
 *   JSON     {"pairs":[[source,target],...]}, weighted [[source,target,weight],...]
 *   CSV      source,target a line, after RFC 4180; the first line may say just that; weighted
 *            source,target,weight, whose columns the first line may name as that of an edge list
 *   p2p      DIMACS: "p aux sp p2p K", then K times "q SOURCE TARGET"; "c ..." is a comment
 *   binary   little-endian u32 row and column */
#pragma once

#include "proto/read/fields.h"
#include "proto/vertex_names.h"
#include "server/http/api/name_scanner.h"

#include <stdbool.h>

/* In the order of the media types that the route reads. */
enum pairs_form { PAIRS_JSON, PAIRS_CSV, PAIRS_P2P, PAIRS_BINARY };

/* The bytes of a pair in binary. */
#define PAIR_SIZE (2 * sizeof(uint32_t))

/* Borrows the body. */
struct pairs_reader {
    enum pairs_form form;
    struct name_scanner scanner; /* of JSON and binary */
    const char *at;              /* of the lines that are left, in CSV and p2p */
    const char *end;
    uint64_t line;        /* the pair just read begins there, from 1 */
    uint64_t next_line;   /* number of the line at `at` */
    struct text joined;   /* a line of CSV with ends of lines in its quotes */
    struct text unquoted; /* its fields in quotes */
    struct table_row row; /* its fields */
    size_t columns[3];    /* of source, target and weight */
    char delimiter;       /* of CSV; 0: not known yet */
    int64_t announced;    /* pairs, by a p2p file; -1 before */
    const char *first;    /* of the pair just read, in JSON */
    uint64_t count;       /* of the pairs so far */
    bool has_header;      /* in CSV: the line of names was there */
    bool ended;           /* there was no pair any more */
    bool is_weighted;     /* a weight follows each pair, in JSON and CSV */
    /* Source, target and weight as bytes, until the next; not of binary. A weight without any is
     * none: null in JSON. */
    struct scanned_name pair[3];
};

/* The form of a body whose type says nothing. Never PAIRS_BINARY. */
enum pairs_form pairs_sniff(const char *bytes, size_t size);

void pairs_open(struct pairs_reader *reader, enum pairs_form form, const char *bytes, size_t size);
/* The same for pairs with weights, in JSON or CSV. */
void pairs_open_weighted(struct pairs_reader *reader, enum pairs_form form, const char *bytes,
                         size_t size);
/* A zeroed reader is closed. */
void pairs_close(struct pairs_reader *reader);
/* Back to the first pair, of a reader that is open. */
void pairs_rewind(struct pairs_reader *reader);
/* Reads the next pair, or sets ended; not of binary. STATUS_BAD_REQUEST with line and column (from
 * 1; in JSON only the column, in bytes of the body) where the body has another shape. */
MUST_CHECK enum status pairs_next(struct pairs_reader *reader, struct problem *reterr);
/* Says in the problem where the pair just read stands. */
void pairs_place(const struct pairs_reader *reader, struct problem *problem);
/* Reads the rows of both vertices of up to `room` pairs of any form; reader->ended once there are
 * no more. STATUS_BAD_REQUEST as pairs_next, STATUS_NO_SUCH_VERTEX with the place. */
MUST_CHECK enum status pairs_read_rows(struct pairs_reader *reader,
                                       const struct vertex_names *names, size_t room,
                                       uint32_t ret_rows[][2], size_t *ret_count,
                                       struct problem *reterr);
