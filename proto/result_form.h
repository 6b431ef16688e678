/* The form in which the distances of a graph are kept: all of them as a matrix, or a hierarchy that
 * computes those which are asked for (server/solver/hierarchy). */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum result_form {
    RESULT_FORM_AUTO = 0, /* asked for: whichever answers soonest */
    RESULT_FORM_MATRIX,
    RESULT_FORM_HIERARCHY,
    RESULT_FORM_COUNT
};

/* "auto", "matrix", "hierarchy". */
bool result_form_from_name(const char *name, enum result_form *ret_form);

/* Why it is this form, in words for users. */
#define RESULT_REASON_SIZE 120
#define RESULT_REASON_ASKED "asked for"
#define RESULT_REASON_FITS "the matrix fits"

/* A plain value. */
struct result_summary {
    enum result_form form; /* never auto, once chosen */
    char reason[RESULT_REASON_SIZE];
    uint64_t bytes; /* of its file, as far as they are known; else 0 */
    uint64_t arcs;  /* of a hierarchy that is there */
};

/* The member "result" of a job's document, and back from it; false for one that is none. */
json_t *result_summary_json(const struct result_summary *summary);
bool result_summary_from_json(const json_t *object, struct result_summary *ret_summary);
