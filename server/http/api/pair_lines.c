#include "server/http/api/pair_lines.h"

#include "proto/number.h"
#include "proto/read/fields.h"
#include "proto/read/lines.h"

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

static enum status refuse_line(const struct pair_lines *lines, const char *at, const char *what,
                               struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_REQUEST, "%s", what);
    problem_at(reterr, lines->number, (uint64_t)(at - lines->line) + 1);
    return STATUS_BAD_REQUEST;
}

/* ---- CSV ---- */

/* Into buffer, where doubled quotes are one; over the ends of lines. at: behind the opening quote.
 */
static enum status parse_quoted(struct pair_lines *lines, const char **at,
                                char buffer[VERTEX_NAME_LIMIT + 1], struct scanned_name *ret_field,
                                struct problem *reterr)
{
    const char *first = *at;
    size_t size = 0;

    for (;;) {
        if (*at == lines->line + lines->size) {
            if (lines->at == lines->end) {
                return refuse_line(lines, first, "A quote does not end.", reterr);
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
            return refuse_line(lines, first, "A name is longer than any is.", reterr);
        }
        buffer[size++] = *(*at)++;
    }
    *ret_field = (struct scanned_name){.bytes = buffer, .size = size};
    return STATUS_OK;
}

static enum status parse_field(struct pair_lines *lines, const char **at,
                               char buffer[VERTEX_NAME_LIMIT + 1], struct scanned_name *ret_field,
                               struct problem *reterr)
{
    const char *end = lines->line + lines->size;

    while (*at < end && field_is_blank(**at)) {
        ++*at;
    }
    if (*at < end && **at == '"') {
        ++*at;
        return parse_quoted(lines, at, buffer, ret_field, reterr);
    }
    const char *first = *at;

    while (*at < end && **at != ',') {
        ++*at;
    }
    const char *stop = *at;

    while (stop > first && field_is_blank(stop[-1])) {
        stop--;
    }
    *ret_field = (struct scanned_name){.bytes = first, .size = (size_t)(stop - first)};
    return STATUS_OK;
}

static enum status parse_fields(struct pair_lines *lines, size_t count, const char *shape,
                                struct scanned_name *ret_fields, struct problem *reterr)
{
    const char *at = lines->line;
    char words[PROBLEM_TEXT_SIZE];

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (at == lines->line + lines->size || *at != ',')) {
            snprintf(words, sizeof(words), "A line is %s: a comma is missing.", shape);
            return refuse_line(lines, at, words, reterr);
        }
        at += i > 0;
        STATUS_TRY(parse_field(lines, &at, lines->buffers[i], &ret_fields[i], reterr));
    }
    while (at < lines->line + lines->size && field_is_blank(*at)) {
        at++;
    }
    snprintf(words, sizeof(words), "A line is %s: something follows.", shape);
    return at == lines->line + lines->size ? STATUS_OK : refuse_line(lines, at, words, reterr);
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
        STATUS_TRY(parse_fields(lines, count, shape, reader->pair, reterr));
        if (reader->count > 0 || reader->has_header || !is_header(reader->pair, count)) {
            return STATUS_OK;
        }
        reader->has_header = true;
    }
    reader->ended = true;
    return STATUS_OK;
}

/* ---- DIMACS ---- */

/* at: behind the "p". */
static enum status parse_announcement(const struct pair_lines *lines, struct word_cursor *at,
                                      int64_t *ret_count, struct problem *reterr)
{
    static const char *const words[] = {"aux", "sp", "p2p"};

    for (size_t i = 0; i < 3; i++) {
        if (!line_word_is(line_word_next(at), words[i])) {
            return refuse_line(lines, lines->line, "This is not \"p aux sp p2p K\".", reterr);
        }
    }
    const struct field count = line_word_next(at);

    if (!number_parse_integer(count.bytes, count.size, ret_count) || *ret_count < 0 ||
        line_word_next(at).size > 0) {
        return refuse_line(lines, count.bytes, "The count of queries is not a number.", reterr);
    }
    return STATUS_OK;
}

static enum status parse_query(struct pairs_reader *reader, struct word_cursor *at,
                               struct problem *reterr)
{
    for (int i = 0; i < 2; i++) {
        const struct field word = line_word_next(at);

        reader->pair[i] = (struct scanned_name){.bytes = word.bytes, .size = word.size};
    }
    return reader->pair[1].size > 0 && line_word_next(at).size == 0
               ? STATUS_OK
               : refuse_line(&reader->lines, at->at, "A query is \"q SOURCE TARGET\".", reterr);
}

enum status pair_lines_next_p2p(struct pairs_reader *reader, struct problem *reterr)
{
    struct pair_lines *lines = &reader->lines;

    while (next_line(lines)) {
        struct word_cursor at = {lines->line, lines->line, lines->line + lines->size};
        const struct field word = line_word_next(&at);

        if (word.size == 0 || line_word_is(word, "c")) {
            continue;
        }
        if (line_word_is(word, "q") && lines->announced >= 0) {
            return parse_query(reader, &at, reterr);
        }
        if (!line_word_is(word, "p") || lines->announced >= 0) {
            return refuse_line(lines, word.bytes,
                               "A p2p file is \"p aux sp p2p K\", then K times "
                               "\"q SOURCE TARGET\".",
                               reterr);
        }
        STATUS_TRY(parse_announcement(lines, &at, &lines->announced, reterr));
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
