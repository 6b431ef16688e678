/* Bodies of pairs of vertices, read pair by pair without a tree, so that an answer can go through
 * one again while it is sent. Pure.
 *
 *   JSON     {"pairs":[[source,target],...]}, weighted [[source,target,weight],...]
 *   CSV      source,target a line, after RFC 4180; the first line may say just that; weighted
 *            source,target,weight
 *   p2p      DIMACS: "p aux sp p2p K", then K times "q SOURCE TARGET"; "c ..." is a comment
 *   binary   little-endian u32 row and column */
#pragma once

#include "proto/vertex_names.h"
#include "server/http/api/name_scanner.h"

#include <stdbool.h>

enum pairs_form { PAIRS_JSON, PAIRS_CSV, PAIRS_P2P, PAIRS_BINARY };

/* The bytes of a pair in binary. */
#define PAIR_SIZE (2 * sizeof(uint32_t))

/* One line at a time, its end left out; of CSV and p2p. */
struct pair_lines {
    const char *at; /* of the rest */
    const char *end;
    const char *line;
    size_t size;
    uint64_t number;
    uint64_t joined;   /* lines more that a quoted name made part of this one */
    int64_t announced; /* by a p2p file; -1 before */
    char buffers[3][VERTEX_NAME_LIMIT + 1]; /* of fields in quotes */
};

/* Borrows the body. */
struct pairs_reader {
    enum pairs_form form;
    struct name_scanner scanner; /* of JSON and binary */
    struct pair_lines lines;
    const char *first; /* of the pair just read, in JSON */
    uint64_t count;    /* of the pairs so far */
    bool has_header;   /* in CSV: the line of names was there */
    bool ended;        /* there was no pair any more */
    bool is_weighted;  /* a weight follows each pair, in JSON and CSV */
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
void pairs_close(struct pairs_reader *reader);
/* Reads the next pair, or sets ended; not of binary. STATUS_BAD_REQUEST with line and column (from
 * 1; in JSON only the column, in bytes of the body) where the body has another shape. */
MUST_CHECK enum status pairs_next(struct pairs_reader *reader, struct problem *reterr);
/* Says in the problem where the pair just read stands. */
void pairs_place(const struct pairs_reader *reader, struct problem *problem);
