/* A graph on its way in: the bytes of a body, in any split, into a reader. Pure of HTTP.
 *
 * The format is said, or found out from the first bytes. A small JSON body may be a document that
 * names a stored graph instead; it is kept until its end tells. */
#pragma once

#include "proto/input_report.h"
#include "proto/text.h"
#include "server/scheduler/upload_memory.h"

struct upload_rules {
    struct graph_options options;
    enum format format; /* FORMAT_NONE: find out */
    enum format family; /* FORMAT_JSON or FORMAT_EDGES: of the formats to find out, such a one */
    bool is_form;       /* by its media type, as curl sends files, with or without their lines */
    enum coding coding; /* of the body; CODING_IDENTITY: find out */
    uint64_t body_limit_bytes;
    uint64_t decoded_limit_bytes;
    uint64_t decoded_ratio;
    uint64_t document_limit_bytes; /* 0: a document is not expected here */
    uint64_t announced_bytes;      /* of the body; 0: not known */
};

struct upload {
    struct upload_rules rules;
    enum format format;        /* FORMAT_NONE while undecided */
    struct text kept;          /* while undecided, or perhaps a document */
    struct decoder *decoder;   /* NULL before the first byte of the body */
    struct reader *reader;     /* NULL until the bytes go to it */
    uint64_t size_bytes;       /* all that came, refused or not */
    uint64_t decoded_bytes;    /* all that came out of the decoder, or the same */
    struct upload_share share; /* its charge, until it is refused or moved to the scheduler */
    double parse_s;
    struct problem problem; /* status other than STATUS_OK: refused, the rest is not looked at */
};

/* It is charged for nothing before upload_memory_init_share is called on its share. */
void upload_init(struct upload *upload, const struct upload_rules *rules);
void upload_finish(struct upload *upload);

/* STATUS_UPLOAD_MEMORY, and a problem that the rest of the body does not change, when there is no
 * room now for a body of the announced length. Charges nothing. */
MUST_CHECK enum status upload_check_announced(struct upload *upload);
void upload_feed(struct upload *upload, const char *bytes, size_t size);

struct json_t;
/* The end of the body: either the reader, to be finished by whoever takes it, or the document, a
 * new reference; the other is NULL. */
MUST_CHECK enum status upload_end(struct upload *upload, struct reader **ret_reader,
                                  struct json_t **ret_document, struct problem *reterr);

/* Fills in what is known of the body without its graph. Call it after upload_end. */
void upload_report(const struct upload *upload, struct input_report *ret_report);

/* The formats read, for the hint of a 415. */
void upload_hint_formats(struct problem *problem);
