/* An upload: passes the decoded bytes of a body, in pieces of any size, to a graph reader.
 *
 * The format is given or detected from the first bytes. A small JSON body may instead be a document
 * that names a stored graph; it is buffered completely before the upload decides which it is. Owned
 * by its request and used by the thread of the connection. */
#pragma once

#include "proto/input_report.h"
#include "proto/text.h"
#include "server/scheduler/upload_memory.h"

struct upload_rules {
    struct graph_options options;
    enum format format; /* FORMAT_NONE: detect */
    enum format family; /* FORMAT_JSON or FORMAT_EDGES: detect within this family */
    bool is_form;       /* the media type is a form's, curl's default; curl -d removes newlines */
    enum coding coding; /* Content-Encoding; CODING_IDENTITY: detect gzip and zstd */
    uint64_t body_limit_bytes;
    uint64_t decoded_limit_bytes;
    uint64_t decoded_ratio;
    uint64_t document_limit_bytes; /* 0: the body cannot be a document */
    uint64_t announced_bytes;      /* Content-Length; 0: unknown */
};

struct upload {
    struct upload_rules rules;
    enum format format; /* FORMAT_NONE while undecided */
    struct text kept; /* bytes buffered while the format is unknown or the body may be a document */
    struct decoder *decoder;   /* created with the first byte of the body */
    struct reader *reader;     /* created once the format is known */
    uint64_t size_bytes;       /* received bytes, including refused ones */
    uint64_t decoded_bytes;    /* bytes after decoding */
    struct upload_share share; /* charged memory, until refused or moved to the scheduler */
    double parse_s;
    struct problem problem; /* reason of a refusal; the rest of the body is then ignored */
};

void upload_finish(struct upload *upload);

/* Refuses the upload with STATUS_UPLOAD_MEMORY when there is no room now for a body of the
 * announced length. Charges nothing. */
MUST_CHECK enum status upload_check_announced(struct upload *upload);
void upload_feed(struct upload *upload, const char *bytes, size_t size);

/* Ends the body. Returns either the reader, which the caller owns and finishes, or the document, a
 * new reference; the other one is NULL. */
MUST_CHECK enum status upload_end(struct upload *upload, struct reader **ret_reader,
                                  struct json_t **ret_document, struct problem *reterr);

/* Describes the body: its format, coding and sizes, and how its edges' direction was determined.
 * Call after upload_end. */
void upload_report(const struct upload *upload, struct input_report *ret_report);

/* Sets the hint of a 415 to the list of input formats. */
void upload_hint_formats(struct problem *problem);
