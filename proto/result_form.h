/* The form in which the distances of a graph are stored: as a matrix, or as a hierarchy, from which
 * the distances of each query are computed (server/solver/hierarchy). Pure functions. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum result_form {
    RESULT_FORM_AUTO = 0, /* only in requests: the server chooses the form that is ready soonest */
    RESULT_FORM_MATRIX,
    RESULT_FORM_HIERARCHY,
    RESULT_FORM_COUNT
};

/* Parses the name of a form: "auto", "matrix", "hierarchy". False for any other name. */
bool result_form_from_name(const char *name, enum result_form *ret_form);

/* The reason why a form was chosen, in words for users. */
#define RESULT_REASON_SIZE 120
#define RESULT_REASON_ASKED "requested"
#define RESULT_REASON_FITS "the matrix fits"

/* Summary of a result for documents. A plain value. */
struct result_summary {
    enum result_form form; /* form of the result; never auto after the form has been chosen */
    char reason[RESULT_REASON_SIZE];
    uint64_t bytes; /* size of the result file, an estimate until it is solved; 0 = unknown */
    uint64_t arcs;  /* number of arcs of a hierarchy; 0 before it exists */
};

/* These functions convert a summary to the member "result" of a job's document, and back.
 * result_summary_from_json returns false for any other object. */
json_t *result_summary_json(const struct result_summary *summary);
bool result_summary_from_json(const json_t *object, struct result_summary *ret_summary);
