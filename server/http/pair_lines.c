#include "server/http/pair_lines.h"

#include "proto/number.h"
#include "proto/vertex_names.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* One line at a time, its end left out. */
struct lines {
    const char *at; /* of the rest */
    const char *end;
    const char *line;
    size_t size;
    uint64_t number;
    uint64_t joined; /* lines more that a quoted name made part of this one */
};

/* The line goes on to the next end of one. */
static void find_end(struct lines *lines)
{
    const char *stop = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));

    lines->size = (size_t)((stop == NULL ? lines->end : stop) - lines->line);
    lines->at = stop == NULL ? lines->end : stop + 1;
    lines->size -= lines->size > 0 && lines->line[lines->size - 1] == '\r';
}

static bool next_line(struct lines *lines)
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

static bool join_next_line(struct lines *lines)
{
    if (lines->at == lines->end) {
        return false;
    }
    lines->joined++;
    find_end(lines);
    return true;
}

static enum status refuse(const struct lines *lines, const char *at, const char *what,
                          struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_REQUEST, "%s", what);
    problem_at(reterr, lines->number, (uint64_t)(at - lines->line) + 1);
    return STATUS_BAD_REQUEST;
}

struct field {
    const char *bytes;
    size_t size;
};

static enum status hand_out(const struct lines *lines, const struct field pair[2],
                            const struct pairs_visitor *visitor, struct problem *reterr)
{
    enum status status = visitor->pair(visitor->context, pair[0].bytes, pair[0].size, pair[1].bytes,
                                       pair[1].size, reterr);

    if (status != STATUS_OK) {
        problem_at(reterr, lines->number, 0);
    }
    return status;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ---- CSV ---- */

/* Into buffer, where doubled quotes are one; over the ends of lines. at: behind the opening quote.
 */
static enum status take_quoted(struct lines *lines, const char **at,
                               char buffer[VERTEX_NAME_LIMIT + 1], struct field *ret_field,
                               struct problem *reterr)
{
    const char *first = *at;
    size_t size = 0;

    for (;;) {
        if (*at == lines->line + lines->size) {
            if (!join_next_line(lines)) {
                return refuse(lines, first, "A quote does not end.", reterr);
            }
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
    *ret_field = (struct field){buffer, size};
    return STATUS_OK;
}

static enum status take_field(struct lines *lines, const char **at,
                              char buffer[VERTEX_NAME_LIMIT + 1], struct field *ret_field,
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
    *ret_field = (struct field){first, (size_t)(stop - first)};
    return STATUS_OK;
}

static enum status take_csv_pair(struct lines *lines, char buffers[2][VERTEX_NAME_LIMIT + 1],
                                 struct field ret_pair[2], struct problem *reterr)
{
    const char *at = lines->line;
    enum status status = take_field(lines, &at, buffers[0], &ret_pair[0], reterr);

    if (status == STATUS_OK && (at == lines->line + lines->size || *at != ',')) {
        status = refuse(lines, at, "A line is source,target: a comma is missing.", reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    at++;
    status = take_field(lines, &at, buffers[1], &ret_pair[1], reterr);
    const char *end = lines->line + lines->size;

    while (at < end && is_blank(*at)) {
        at++;
    }
    return status != STATUS_OK || at == end
               ? status
               : refuse(lines, at, "A line is source,target: something follows.", reterr);
}

static bool is_header(const struct field pair[2])
{
    return pair[0].size == 6 && pair[1].size == 6 && strncasecmp(pair[0].bytes, "source", 6) == 0 &&
           strncasecmp(pair[1].bytes, "target", 6) == 0;
}

enum status pair_lines_csv(const char *bytes, size_t size, const struct pairs_visitor *visitor,
                           struct problem *reterr)
{
    struct lines lines = {.at = bytes, .end = bytes + size};
    char buffers[2][VERTEX_NAME_LIMIT + 1];
    struct field pair[2];
    bool first = true;

    while (next_line(&lines)) {
        if (lines.size == 0) {
            continue;
        }
        enum status status = take_csv_pair(&lines, buffers, pair, reterr);

        if (status != STATUS_OK) {
            return status;
        }
        if (first && is_header(pair)) {
            if (visitor->header != NULL) {
                visitor->header(visitor->context);
            }
        } else {
            status = hand_out(&lines, pair, visitor, reterr);
        }
        if (status != STATUS_OK) {
            return status;
        }
        first = false;
    }
    return STATUS_OK;
}

/* ---- DIMACS ---- */

/* Size 0 at the end of the line. */
static struct field next_word(const struct lines *lines, const char **at)
{
    const char *end = lines->line + lines->size;

    while (*at < end && is_blank(**at)) {
        ++*at;
    }
    const char *first = *at;

    while (*at < end && !is_blank(**at)) {
        ++*at;
    }
    return (struct field){first, (size_t)(*at - first)};
}

static bool is_word(struct field field, const char *word)
{
    return field.size == strlen(word) && memcmp(field.bytes, word, field.size) == 0;
}

/* at: behind the "p". */
static enum status take_announcement(const struct lines *lines, const char *at, int64_t *ret_count,
                                     struct problem *reterr)
{
    static const char *const words[] = {"aux", "sp", "p2p"};

    for (size_t i = 0; i < 3; i++) {
        if (!is_word(next_word(lines, &at), words[i])) {
            return refuse(lines, lines->line, "This is not \"p aux sp p2p K\".", reterr);
        }
    }
    const struct field count = next_word(lines, &at);

    if (!number_parse_integer(count.bytes, count.size, ret_count) || *ret_count < 0 ||
        next_word(lines, &at).size > 0) {
        return refuse(lines, count.bytes, "The count of queries is no number.", reterr);
    }
    return STATUS_OK;
}

/* at: behind the "q". */
static enum status take_query(const struct lines *lines, const char *at, struct field ret_pair[2],
                              struct problem *reterr)
{
    ret_pair[0] = next_word(lines, &at);
    ret_pair[1] = next_word(lines, &at);
    if (ret_pair[1].size == 0 || next_word(lines, &at).size > 0) {
        return refuse(lines, at, "A query is \"q SOURCE TARGET\".", reterr);
    }
    return STATUS_OK;
}

static enum status take_line(const struct lines *lines, int64_t *announced, int64_t *count,
                             const struct pairs_visitor *visitor, struct problem *reterr)
{
    const char *at = lines->line;
    const struct field word = next_word(lines, &at);
    struct field pair[2];

    if (word.size == 0 || is_word(word, "c")) {
        return STATUS_OK;
    }
    if (is_word(word, "p") && *announced < 0) {
        return take_announcement(lines, at, announced, reterr);
    }
    if (!is_word(word, "q") || *announced < 0) {
        return refuse(lines, word.bytes,
                      "A p2p file is \"p aux sp p2p K\", then K times \"q SOURCE TARGET\".",
                      reterr);
    }
    ++*count;
    enum status status = take_query(lines, at, pair, reterr);

    return status == STATUS_OK ? hand_out(lines, pair, visitor, reterr) : status;
}

enum status pair_lines_p2p(const char *bytes, size_t size, const struct pairs_visitor *visitor,
                           struct problem *reterr)
{
    struct lines lines = {.at = bytes, .end = bytes + size};
    enum status status = STATUS_OK;
    int64_t announced = -1;
    int64_t count = 0;

    while (status == STATUS_OK && next_line(&lines)) {
        status = take_line(&lines, &announced, &count, visitor, reterr);
    }
    if (status != STATUS_OK || count == announced) {
        return status;
    }
    if (announced < 0) {
        return problem_set(reterr, STATUS_BAD_REQUEST, "The line \"p aux sp p2p K\" is missing.");
    }
    return problem_set(reterr, STATUS_BAD_REQUEST,
                       "The file announces %" PRId64 " queries and has %" PRId64 ".", announced,
                       count);
}
