/* The log: one JSON line per event on standard error. Any thread; each line is a single write, so
 * lines of several threads never mix. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

struct log_field {
    const char *key;
    const char *text; /* NULL: number is the value; empty: the field is left out */
    double number;
};

#define LOG_TEXT(key, text) ((struct log_field){(key), (text) != NULL ? (text) : "", 0})
#define LOG_NUMBER(key, number) ((struct log_field){(key), NULL, (double)(number)})

/* Returns "debug", "info", "warning" or "error". */
const char *log_level_name(enum log_level level);
void log_set_level(enum log_level level);
/* Returns whether events of this level are written. Callers check this before they build an
 * expensive event. */
bool log_is_on(enum log_level level);
void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);

/* Writes an event with at least one field, such as log_write(LOG_INFO, "job_done", LOG_TEXT("job",
 * id), LOG_NUMBER("seconds", s)); */
#define log_write(level, event, ...)                                                               \
    log_event((level), (event), (const struct log_field[]){__VA_ARGS__},                           \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))
