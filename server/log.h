/* One JSON line per event on standard error. Any thread; a line is one write, never torn. */
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

/* "debug", "info", "warning", "error". */
const char *log_level_name(enum log_level level);
void log_set_level(enum log_level level);
/* Whether an event of this level is written: to be asked where making one costs something. */
bool log_is_on(enum log_level level);
void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);

/* log_write(LOG_INFO, "job_done", LOG_TEXT("job", id), LOG_NUMBER("seconds", s));
 * at least one field. */
#define log_write(level, event, ...)                                                               \
    log_event((level), (event), (const struct log_field[]){__VA_ARGS__},                           \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))
