/* Problem details in the sense of RFC 9457: a status plus the facts that help its reader. A plain
 * value: copied freely, owns nothing. Zero is "no problem". */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PROBLEM_TEXT_SIZE 320

struct problem {
    enum status status;
    char detail[PROBLEM_TEXT_SIZE];
    char hint[PROBLEM_TEXT_SIZE]; /* what to do; empty when there is nothing to say */
    uint64_t line;                /* from 1; 0 where the format has no lines */
    uint64_t column;              /* from 1, in bytes; 0 = the whole line */
    bool has_index;
    uint64_t index; /* of the entry of a list, from 0 */
    bool has_limit;
    double limit;
    double actual;
};

/* Fills status and detail, clears the rest and returns status, so that a failing function can end
 * in "return problem_set(...)". problem may be NULL when the caller does not want the words. */
enum status problem_set(struct problem *problem, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for STATUS_BAD_GRAPH at a place of a file: a line of 0 is left to whoever counts lines.
 */
enum status problem_bad_graph(struct problem *problem, uint64_t line, uint64_t column,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same with a hint. */
enum status problem_bad_graph_hint(struct problem *problem, uint64_t line, uint64_t column,
                                   const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Additions to a problem just set; all accept NULL. */
void problem_at(struct problem *problem, uint64_t line, uint64_t column);
void problem_index(struct problem *problem, uint64_t index);
void problem_limit(struct problem *problem, double limit, double actual);
void problem_hint(struct problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define PROBLEM_TYPE_SIZE 96
#define PROBLEM_TYPES "/problems/"
/* Prints the type of problems with this status: "/problems/no-such-vertex". */
void problem_print_type(enum status status, char ret_type[PROBLEM_TYPE_SIZE]);

struct json_t;

/* A number of a document: an integer where it has no fraction, null where it is not finite. */
struct json_t *problem_number_json(double value);

/* The problem as a JSON object: type, title, status, detail, code, and where they apply limit,
 * actual, hint, line, column, index, request_id. request_id may be NULL. Returns a new reference,
 * NULL when out of memory. */
struct json_t *problem_json(const struct problem *problem, const char *request_id);

/* Reads back what problem_json wrote; false when the object is not a problem. */
bool problem_from_json(const struct json_t *object, struct problem *ret_problem);
