/* Report on how an upload was understood: the member `input` of the documents. A plain value. */
#pragma once

#include "proto/read/decoder.h"
#include "proto/read/reader.h"

enum input_direction {
    INPUT_DIRECTION_DEFAULT, /* nobody said */
    INPUT_DIRECTION_FORMAT,
    INPUT_DIRECTION_PARAMETER,
    INPUT_DIRECTION_COUNT
};

struct input_report {
    bool known; /* false: nothing was uploaded, or it was long ago */
    enum format format;
    bool guessed; /* the format was, from the first bytes */
    enum coding coding;
    uint64_t bytes;         /* as they came */
    uint64_t decoded_bytes; /* the same when nothing was encoded */
    bool directed;
    enum input_direction direction;
    bool numeric_names;
    uint64_t loops_dropped; /* of this upload, which may list edges that another does not */
    uint64_t parallel_merged;
    char variant[sizeof((struct reader_notes *)0)->variant];
    char weight[sizeof((struct reader_notes *)0)->weight];
};

/* Fills in the members that are known only at the end of the file. */
void input_report_complete(struct input_report *report, const struct reader_notes *notes,
                           const struct graph *graph);

/* Adds the warnings that follow from the whole graph: nothing said that its edges lead one way, and
 * none has its reverse; parallel edges had other weights; an array has zeros and all edges. */
void input_report_warn(const struct input_report *report, const struct graph *graph,
                       struct warnings *warnings);

/* Adds a hint that the format was guessed to a STATUS_BAD_GRAPH that has no hint yet. */
void input_report_hint(const struct input_report *report, struct problem *problem);

struct json_t;
/* A new reference: null when nothing is known; NULL when out of memory. */
struct json_t *input_report_json(const struct input_report *report);
/* Reads back what input_report_json wrote; nothing is known of what has no format. False when it is
 * something else. */
bool input_report_from_json(const struct json_t *object, struct input_report *ret_report);
