#include "server/log.h"
#include "tests/lib/test.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

static char captured[65536];
static int real_stderr;
static int pipe_ends[2];

static void begin(void)
{
    assert_int_equal(pipe(pipe_ends), 0);
    real_stderr = dup(STDERR_FILENO);
    assert_true(dup2(pipe_ends[1], STDERR_FILENO) >= 0);
    close(pipe_ends[1]);
}

/* Restores standard error, and returns the text that was logged since begin(). */
static const char *end(void)
{
    size_t size = 0;
    ssize_t got;
    assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
    close(real_stderr);
    while ((got = read(pipe_ends[0], captured + size, sizeof captured - 1 - size)) > 0) {
        size += (size_t)got;
    }
    close(pipe_ends[0]);
    captured[size] = '\0';
    return captured;
}

TEST(an_event_is_one_line_of_json)
{
    begin();
    log_write(LOG_INFO, "job_done", LOG_TEXT("job", "j_1"), LOG_NUMBER("seconds", 1.5),
              LOG_NUMBER("rows", 1 << 30));
    const char *line = end();
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(event);
    assert_int_equal(strlen(json_string_value(json_object_get(event, "time"))),
                     strlen("2026-01-01T00:00:00.000Z"));
    assert_string_equal(json_string_value(json_object_get(event, "level")), "info");
    assert_string_equal(json_string_value(json_object_get(event, "event")), "job_done");
    assert_string_equal(json_string_value(json_object_get(event, "job")), "j_1");
    assert_true(json_number_value(json_object_get(event, "seconds")) == 1.5);
    assert_int_equal(json_integer_value(json_object_get(event, "rows")), 1 << 30);
    json_decref(event);
}

TEST(special_characters_in_a_field_are_escaped)
{
    begin();
    log_write(LOG_ERROR, "bad_name", LOG_TEXT("name", "\",\"level\":\"info\n\x01\xff"),
              LOG_TEXT("none", NULL), LOG_TEXT("empty", ""), LOG_NUMBER("rate", NAN));
    const char *line = end();
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(event);
    assert_string_equal(json_string_value(json_object_get(event, "name")),
                        "\",\"level\":\"info\n\x01\xef\xbf\xbd");
    assert_null(json_object_get(event, "none"));
    assert_null(json_object_get(event, "empty"));
    assert_true(json_is_null(json_object_get(event, "rate")));
    json_decref(event);
}

TEST(numbers_are_printed_without_rounding_noise)
{
    begin();
    log_write(LOG_INFO, "numbers", LOG_NUMBER("seconds", 0.1 + 0.2 + 1e-13),
              LOG_NUMBER("bytes", UINT64_C(1) << 50), LOG_NUMBER("tiny", 0.00163));
    assert_non_null(strstr(end(), ",\"seconds\":0.3,\"bytes\":1125899906842624,\"tiny\":0.00163}"));
}

TEST(events_below_the_level_are_not_logged)
{
    begin();
    log_set_level(LOG_WARNING);
    log_write(LOG_INFO, "quiet", LOG_NUMBER("n", 1));
    log_write(LOG_WARNING, "loud", LOG_NUMBER("n", 1));
    log_set_level(LOG_DEBUG);
    log_write(LOG_DEBUG, "detail", LOG_NUMBER("n", 1));
    log_set_level(LOG_INFO);
    const char *lines = end();
    assert_null(strstr(lines, "quiet"));
    assert_non_null(strstr(lines, "\"level\":\"warning\",\"event\":\"loud\""));
    assert_non_null(strstr(lines, "\"level\":\"debug\",\"event\":\"detail\""));
}
