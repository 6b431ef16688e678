#include "proto/problem.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Prints a text. A text that does not fit is cut between two UTF-8 characters. */
__attribute__((format(printf, 2, 0))) static void print_text(char to[PROBLEM_TEXT_SIZE],
                                                             const char *format, va_list arguments)
{
    int size = vsnprintf(to, PROBLEM_TEXT_SIZE, format, arguments);

    if (size < PROBLEM_TEXT_SIZE) {
        return;
    }
    size = PROBLEM_TEXT_SIZE - 4;
    while (size > 0 && ((unsigned char)to[size] & 0xC0) == 0x80) {
        size--;
    }
    memcpy(to + size, "...", 4);
}

/* Sets the problem to the facts, the printed detail, and the hint, unless the status is STATUS_OK.
 * problem and hint may be NULL. */
__attribute__((format(printf, 4, 0))) static void fill_problem(struct problem *problem,
                                                               const struct problem *facts,
                                                               const char *hint, const char *format,
                                                               va_list arguments)
{
    if (problem != NULL && facts->status != STATUS_OK) {
        *problem = *facts;
        print_text(problem->detail, format, arguments);
        if (hint != NULL) {
            problem_hint(problem, "%s", hint);
        }
    }
}

enum status problem_refuse_at(struct problem *problem, enum status status, uint64_t line,
                              uint64_t column, const char *hint, const char *format, ...)
{
    const struct problem facts = {.status = status, .line = line, .column = column};
    va_list arguments;
    va_start(arguments, format);
    fill_problem(problem, &facts, hint, format, arguments);
    va_end(arguments);
    return status;
}

enum status problem_refuse_limit(struct problem *problem, enum status status, double limit,
                                 double actual, const char *hint, const char *format, ...)
{
    const struct problem facts = {
        .status = status, .has_limit = true, .limit = limit, .actual = actual};
    va_list arguments;
    va_start(arguments, format);
    fill_problem(problem, &facts, hint, format, arguments);
    va_end(arguments);
    return status;
}

void problem_at(struct problem *problem, uint64_t line, uint64_t column)
{
    if (problem != NULL) {
        problem->line = line;
        problem->column = column;
    }
}

void problem_index(struct problem *problem, uint64_t index)
{
    if (problem != NULL) {
        problem->has_index = true;
        problem->index = index;
    }
}

void problem_hint(struct problem *problem, const char *format, ...)
{
    va_list arguments;

    if (problem == NULL) {
        return;
    }
    va_start(arguments, format);
    print_text(problem->hint, format, arguments);
    va_end(arguments);
}

void problem_hint_list(struct problem *problem, const char *label, const char *const *words)
{
    char list[PROBLEM_TEXT_SIZE] = "";
    size_t size = 0;

    for (; *words != NULL && size < sizeof(list); words++) {
        size += (size_t)snprintf(list + size, sizeof(list) - size, "%s%s", size > 0 ? ", " : "",
                                 *words);
    }
    problem_hint(problem, "%s %s.", label, list);
}

/* Converts a code such as "TooLarge" to "/problems/too-large", a URI relative to the service. */
void problem_print_type(enum status status, char ret_type[PROBLEM_TYPE_SIZE])
{
    const char *code = status_info(status)->code;
    size_t size = strlen(PROBLEM_TYPES);
    memcpy(ret_type, PROBLEM_TYPES, size);
    for (size_t i = 0; code[i] != '\0' && size + 2 < PROBLEM_TYPE_SIZE; i++) {
        if (i > 0 && isupper((unsigned char)code[i])) {
            ret_type[size++] = '-';
        }
        ret_type[size++] = (char)tolower((unsigned char)code[i]);
    }
    ret_type[size] = '\0';
}

json_t *problem_number_json(double value)
{
    if (!isfinite(value)) {
        return json_null();
    }
    if (value == trunc(value) && fabs(value) < 9e15) {
        return json_integer((json_int_t)value);
    }
    return json_real(value);
}

/* Returns words as a JSON string. If they are not UTF-8, bytes beyond ASCII become '?'. */
static json_t *words_of(const char *words)
{
    char clean[PROBLEM_TEXT_SIZE];
    json_t *string = json_string(words);

    if (string != NULL) {
        return string;
    }
    snprintf(clean, sizeof(clean), "%s", words);
    for (char *at = clean; *at != '\0'; at++) {
        if ((unsigned char)*at >= 0x80) {
            *at = '?';
        }
    }
    return json_string(clean);
}

/* Returns a number as JSON; NULL for 0, so that the member is omitted. */
static json_t *count_json(uint64_t count)
{
    return count > 0 ? json_integer((json_int_t)count) : NULL;
}

json_t *problem_json(const struct problem *problem, const char *request_id)
{
    const struct status_info *info = status_info(problem->status);
    const bool has_limit = problem->has_limit;
    char type[PROBLEM_TYPE_SIZE];

    problem_print_type(problem->status, type);
    /* json_pack omits a member marked with * whose value is NULL. */
    return json_pack("{s:s, s:s, s:i, s:o, s:s, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:s*}", "type",
                     type, "title", info->title, "status", (int)info->http, "detail",
                     words_of(problem->detail[0] ? problem->detail : info->title), "code",
                     info->code, "limit", has_limit ? problem_number_json(problem->limit) : NULL,
                     "actual", has_limit ? problem_number_json(problem->actual) : NULL, "hint",
                     problem->hint[0] != '\0' ? words_of(problem->hint) : NULL, "line",
                     count_json(problem->line), "column", count_json(problem->column), "index",
                     problem->has_index ? json_integer((json_int_t)problem->index) : NULL,
                     "request_id", request_id);
}
