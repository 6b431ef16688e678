#include "server/log.h"

#include "proto/job_document.h"
#include "proto/number.h"
#include "proto/text.h"
#include "server/clock.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* The current log level. It is atomic because a reload may set it while other threads log. */
static atomic_int threshold = LOG_INFO;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&threshold, (int)level, memory_order_relaxed);
}

bool log_is_on(enum log_level level)
{
    return (int)level >= atomic_load_explicit(&threshold, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};
    return names[level];
}

static void append_string(struct text *line, const char *string)
{
    text_append_json_string(line, string, strlen(string));
}

static void append_fields(struct text *line, const struct log_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].text != NULL && fields[i].text[0] == '\0') {
            continue; /* an empty field is left out */
        }
        text_append_char(line, ',');
        append_string(line, fields[i].key);
        text_append_char(line, ':');
        if (fields[i].text != NULL) {
            append_string(line, fields[i].text);
        } else if (isfinite(fields[i].number)) {
            /* Rounds fractions, such as durations, to six decimals; counts stay exact. */
            const double number = fields[i].number;
            const double shown = fabs(number) < 1e9 ? round(number * 1e6) / 1e6 : round(number);
            char digits[NUMBER_PRINT_SIZE];
            text_append(line, digits, number_print_real(shown, false, digits));
        } else {
            text_append_string(line, "null");
        }
    }
}

/* Writes a line, continuing after a partial write to a full pipe. A line that cannot be written is
 * lost, because there is no other place to report it. */
static void write_line(const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDERR_FILENO, bytes, size);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        bytes += written;
        size -= (size_t)written;
    }
}

void log_event(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    if (!log_is_on(level)) {
        return;
    }
    char time[TIME_TEXT_SIZE];
    time_print(clock_wall_s(), time);
    struct text line = {0};
    text_printf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":", time, log_level_name(level));
    append_string(&line, event);
    append_fields(&line, fields, count);
    text_append_string(&line, "}\n");
    if (text_status(&line) == STATUS_OK) {
        write_line(line.bytes, line.size);
    }
    text_finish(&line);
}
