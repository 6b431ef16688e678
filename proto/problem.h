/* Problem details in the sense of RFC 9457: a status and the details that help a user. A plain
 * value: copied freely, owns nothing. A zeroed struct is "no problem". */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PROBLEM_TEXT_SIZE 320

struct problem {
    enum status status;
    char detail[PROBLEM_TEXT_SIZE];
    char hint[PROBLEM_TEXT_SIZE]; /* advice to the user; empty when there is none */
    uint64_t line;                /* line of the file, from 1; 0 if the format has no lines */
    uint64_t column;              /* column in bytes, counted from 1; 0 = the whole line */
    bool has_index;
    uint64_t index; /* index, from 0, of the list entry that is wrong */
    bool has_limit;
    double limit;
    double actual;
};

/* Fills in status, detail, position in the file and hint, and clears the other members, unless the
 * status is STATUS_OK. A line of 0 is filled in later by the caller; hint and problem may be NULL.
 * Returns the status, so that a failing function can end in "return problem_refuse_at(...)". */
enum status problem_refuse_at(struct problem *problem, enum status status, uint64_t line,
                              uint64_t column, const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
#define problem_set(problem, status, ...)                                                          \
    problem_refuse_at(problem, status, 0, 0, NULL, __VA_ARGS__)
#define problem_refuse(problem, status, hint, ...)                                                 \
    problem_refuse_at(problem, status, 0, 0, hint, __VA_ARGS__)
/* Explains the status of a call: if it is not STATUS_OK, sets the problem. Returns the status. */
#define problem_explain(problem, status, ...) problem_set(problem, status, __VA_ARGS__)
#define problem_bad_graph_hint(problem, line, column, hint, ...)                                   \
    problem_refuse_at(problem, STATUS_BAD_GRAPH, line, column, hint, __VA_ARGS__)
#define problem_bad_graph(problem, line, column, ...)                                              \
    problem_bad_graph_hint(problem, line, column, NULL, __VA_ARGS__)

/* Does the same as problem_set, and also stores a limit, the amount that exceeds it, and a hint,
 * which may be NULL. */
enum status problem_refuse_limit(struct problem *problem, enum status status, double limit,
                                 double actual, const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* These functions add members to a problem that has been set. All accept NULL. */
void problem_at(struct problem *problem, uint64_t line, uint64_t column);
void problem_index(struct problem *problem, uint64_t index);
void problem_hint(struct problem *problem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets the hint "LABEL word, word." from a list that ends with NULL. */
void problem_hint_list(struct problem *problem, const char *label, const char *const *words);

#define PROBLEM_TYPE_SIZE 96
#define PROBLEM_TYPES "/problems/"
/* Prints the problem type of a status, such as "/problems/no-such-vertex". */
void problem_print_type(enum status status, char ret_type[PROBLEM_TYPE_SIZE]);

struct json_t;

/* Returns a JSON number, an integer if it has no fraction; null if it is not finite. */
struct json_t *problem_number_json(double value);

/* Returns the problem as a JSON object with type, title, status, detail and code, and, where they
 * apply, limit, actual, hint, line, column, index and request_id. A new reference, NULL when out of
 * memory. */
struct json_t *problem_json(const struct problem *problem, const char *request_id);
