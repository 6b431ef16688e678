/* The form in which the distances of a graph are kept: all of them as a matrix, or a hierarchy that
 * computes those which are asked for (server/solver/hierarchy). */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum result_form {
    RESULT_FORM_AUTO = 0, /* asked for: a matrix where it fits */
    RESULT_FORM_MATRIX,
    RESULT_FORM_HIERARCHY,
    RESULT_FORM_COUNT
};

/* "auto", "matrix", "hierarchy". */
bool result_form_from_name(const char *name, enum result_form *ret_form);

/* Why it is this form. */
enum result_reason {
    RESULT_REASON_NONE = 0, /* nothing was chosen yet */
    RESULT_REASON_ASKED,
    RESULT_REASON_FITS,
    RESULT_REASON_VERTICES, /* a matrix of so many vertices is not held */
    RESULT_REASON_COUNT
};

/* A plain value. */
struct result_summary {
    enum result_form form; /* never auto, once chosen */
    enum result_reason reason;
    uint64_t bytes; /* of its file; 0 until it is there */
    uint64_t arcs;  /* of a hierarchy that is there */
};

/* The member "result" of a job's document, and back from it; false for one that is none. */
json_t *result_summary_json(const struct result_summary *summary);
bool result_summary_from_json(const json_t *object, struct result_summary *ret_summary);
