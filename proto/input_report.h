/* The report on how an upload was interpreted: the member `input` of job and graph documents. A
 * plain value: copied freely, owns nothing. */
#pragma once

#include "proto/read/decoder.h"
#include "proto/read/reader.h"

enum input_direction {
    INPUT_DIRECTION_DEFAULT, /* neither the format nor a parameter states the direction */
    INPUT_DIRECTION_FORMAT,
    INPUT_DIRECTION_PARAMETER,
    INPUT_DIRECTION_COUNT
};

struct input_report {
    bool known; /* false: nothing was uploaded, or the stored record contains no report */
    enum format format;
    bool guessed; /* whether the format was guessed from the first bytes */
    enum coding coding;
    uint64_t bytes;         /* size of the body as received */
    uint64_t decoded_bytes; /* size of the body after decoding */
    bool directed;
    enum input_direction direction;
    bool numeric_names;
    uint64_t loops_dropped; /* self-loops dropped from this upload */
    uint64_t parallel_merged;
    char variant[sizeof((struct reader_notes *)0)->variant];
    char weight[sizeof((struct reader_notes *)0)->weight];
};

/* Fills in the members that are known only when the upload has been read completely. */
void input_report_complete(struct input_report *report, const struct reader_notes *notes,
                           const struct graph *graph);

/* Adds the warnings that need the whole graph, for example: directed edges were assumed but no edge
 * has its reverse, parallel edges had different weights, an array has zeros but no missing edge. */
void input_report_warn(const struct input_report *report, const struct graph *graph,
                       struct warnings *warnings);

/* Adds the hint that the format was guessed to a STATUS_BAD_GRAPH problem that has no hint yet. */
void input_report_hint(const struct input_report *report, struct problem *problem);

/* Returns a new reference to the report as JSON, or to JSON null if the report is not known. NULL
 * when out of memory. */
struct json_t *input_report_json(const struct input_report *report);
/* Prints the report as text, which the caller frees. NULL if the report is not known, or when out
 * of memory. */
char *input_report_print(const struct input_report *report);
