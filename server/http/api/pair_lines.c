#include "server/http/api/pair_lines.h"

#include "proto/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The line goes on to the next end of one. */
static void find_end(struct pair_lines *lines)
{
    const char *stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));

    lines->size = (size_t)((stop == NULL ? lines->end : stop) - lines->line);
    lines->at = stop == NULL ? lines->end : stop + 1;
    lines->size -= lines->size > 0 && lines->line[lines->size - 1] == '\r';
}

static bool next_line(struct pair_lines *lines)
{
    if (lines->at == lines->end) {
        return false;
    }
    lines->line = lines->at;
    lines->number += 1 + lines->joined;
    lines->joined = 0;
    find_end(lines);
    return true;
}

static enum status refuse(const struct pair_lines *lines, const char *at, const char *what,
                          struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_REQUEST, "%s", what);
    problem_at(reterr, lines->number, (uint64_t)(at - lines->line) + 1);
    return STATUS_BAD_REQUEST;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ---- CSV ---- */

/* Into buffer, where doubled quotes are one; over the ends of lines. at: behind the opening quote.
 */
static enum status take_quoted(struct pair_lines *lines, const char **at,
                               char buffer[VERTEX_NAME_LIMIT + 1], struct scanned_name *ret_field,
                               struct problem *reterr)
{
    const char *first = *at;
    size_t size = 0;

    for (;;) {
        if (*at == lines->line + lines->size) {
            if (lines->at == lines->end) {
                return refuse(lines, first, "A quote does not end.", reterr);
            }
            lines->joined++;
            find_end(lines);
            continue;
        }
        if (**at == '"') {
            ++*at;
            if (*at == lines->end || **at != '"') {
                break;
            }
        }
        if (size > VERTEX_NAME_LIMIT) {
            return refuse(lines, first, "A name is longer than any is.", reterr);
        }
        buffer[size++] = *(*at)++;
    }
    *ret_field = (struct scanned_name){.bytes = buffer, .size = size};
    return STATUS_OK;
}

static enum status take_field(struct pair_lines *lines, const char **at,
                              char buffer[VERTEX_NAME_LIMIT + 1], struct scanned_name *ret_field,
                              struct problem *reterr)
{
    const char *end = lines->line + lines->size;

    while (*at < end && is_blank(**at)) {
        ++*at;
    }
    if (*at < end && **at == '"') {
        ++*at;
        return take_quoted(lines, at, buffer, ret_field, reterr);
    }
    const char *first = *at;

    while (*at < end && **at != ',') {
        ++*at;
    }
    const char *stop = *at;

    while (stop > first && is_blank(stop[-1])) {
        stop--;
    }
    *ret_field = (struct scanned_name){.bytes = first, .size = (size_t)(stop - first)};
    return STATUS_OK;
}

static enum status take_fields(struct pair_lines *lines, size_t count, const char *shape,
                               struct scanned_name *ret_fields, struct problem *reterr)
{
    const char *at = lines->line;
    char words[PROBLEM_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (at == lines->line + lines->size || *at != ',')) {
            snprintf(words, sizeof(words), "A line is %s: a comma is missing.", shape);
            return refuse(lines, at, words, reterr);
        }
        at += i > 0;
        enum status status = take_field(lines, &at, lines->buffers[i], &ret_fields[i], reterr);

        if (status != STATUS_OK) {
            return status;
        }
    }
    while (at < lines->line + lines->size && is_blank(*at)) {
        at++;
    }
    snprintf(words, sizeof(words), "A line is %s: something follows.", shape);
    return at == lines->line + lines->size ? STATUS_OK : refuse(lines, at, words, reterr);
}

static bool is_header(const struct scanned_name *fields, size_t count)
{
    static const char *const names[] = {"source", "target", "weight"};

    for (size_t i = 0; i < count; i++) {
        if (fields[i].size != 6 || strncasecmp(fields[i].bytes, names[i], 6) != 0) {
            return false;
        }
    }
    return true;
}

enum status pair_lines_next_csv(struct pairs_reader *reader, struct problem *reterr)
{
    struct pair_lines *lines = &reader->lines;
    const size_t count = reader->is_weighted ? 3 : 2;
    const char *shape = reader->is_weighted ? "source,target,weight" : "source,target";

    while (next_line(lines)) {
        if (lines->size == 0) {
            continue;
        }
        enum status status = take_fields(lines, count, shape, reader->pair, reterr);

        if (status != STATUS_OK || reader->count > 0 || reader->has_header ||
            !is_header(reader->pair, count)) {
            return status;
        }
        reader->has_header = true;
    }
    reader->ended = true;
    return STATUS_OK;
}

/* ---- DIMACS ---- */

/* Size 0 at the end of the line. */
static struct scanned_name next_word(const struct pair_lines *lines, const char **at)
{
    const char *end = lines->line + lines->size;

    while (*at < end && is_blank(**at)) {
        ++*at;
    }
    const char *first = *at;

    while (*at < end && !is_blank(**at)) {
        ++*at;
    }
    return (struct scanned_name){.bytes = first, .size = (size_t)(*at - first)};
}

static bool is_word(struct scanned_name field, const char *word)
{
    return field.size == strlen(word) && memcmp(field.bytes, word, field.size) == 0;
}

/* at: behind the "p". */
static enum status take_announcement(const struct pair_lines *lines, const char *at,
                                     int64_t *ret_count, struct problem *reterr)
{
    static const char *const words[] = {"aux", "sp", "p2p"};

    for (size_t i = 0; i < 3; i++) {
        if (!is_word(next_word(lines, &at), words[i])) {
            return refuse(lines, lines->line, "This is not \"p aux sp p2p K\".", reterr);
        }
    }
    const struct scanned_name count = next_word(lines, &at);

    if (!number_parse_integer(count.bytes, count.size, ret_count) || *ret_count < 0 ||
        next_word(lines, &at).size > 0) {
        return refuse(lines, count.bytes, "The count of queries is not a number.", reterr);
    }
    return STATUS_OK;
}

enum status pair_lines_next_p2p(struct pairs_reader *reader, struct problem *reterr)
{
    struct pair_lines *lines = &reader->lines;

    while (next_line(lines)) {
        const char *at = lines->line;
        const struct scanned_name word = next_word(lines, &at);

        if (word.size == 0 || is_word(word, "c")) {
            continue;
        }
        if (is_word(word, "q") && lines->announced >= 0) {
            reader->pair[0] = next_word(lines, &at);
            reader->pair[1] = next_word(lines, &at);
            return reader->pair[1].size > 0 && next_word(lines, &at).size == 0
                       ? STATUS_OK
                       : refuse(lines, at, "A query is \"q SOURCE TARGET\".", reterr);
        }
        if (!is_word(word, "p") || lines->announced >= 0) {
            return refuse(lines, word.bytes,
                          "A p2p file is \"p aux sp p2p K\", then K times \"q SOURCE TARGET\".",
                          reterr);
        }
        enum status status = take_announcement(lines, at, &lines->announced, reterr);

        if (status != STATUS_OK) {
            return status;
        }
    }
    reader->ended = true;
    if (lines->announced < 0) {
        return problem_set(reterr, STATUS_BAD_REQUEST, "The line \"p aux sp p2p K\" is missing.");
    }
    if (reader->count == (uint64_t)lines->announced) {
        return STATUS_OK;
    }
    return problem_set(reterr, STATUS_BAD_REQUEST,
                       "The file announces %" PRId64 " queries and has %" PRIu64 ".",
                       lines->announced, reader->count);
}
