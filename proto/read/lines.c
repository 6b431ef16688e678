#include "proto/read/lines.h"

#include "proto/number.h"
#include "proto/read/reader.h"
#include "proto/text.h"

#include <strings.h>

void line_splitter_finish(struct line_splitter *splitter)
{
    text_finish(&splitter->pending);
}

static size_t limit_of(const struct line_splitter *splitter)
{
    return splitter->limit > 0 ? splitter->limit : READER_LINE_LIMIT;
}

/* Refuses a NUL byte and a line over the limit. Looks only at the bytes up to the limit, so that
 * the result does not depend on how the text is cut into pieces. */
static enum status check_bytes(const struct line_splitter *splitter, uint64_t number,
                               const char *line, size_t size, struct problem *reterr)
{
    const size_t limit = limit_of(splitter);
    size_t seen = size > limit ? limit : size;
    const char *nul = memchr(line, '\0', seen);

    if (nul != NULL) {
        return problem_bad_graph(reterr, number, (uint64_t)(nul - line) + 1,
                                 "The line contains a NUL byte, so it is not text.");
    }
    if (size > limit) {
        return problem_bad_graph(reterr, number, 0, "The line is longer than %zu bytes.", limit);
    }
    return STATUS_OK;
}

static enum status hand_on(struct line_splitter *splitter, const char *line, size_t size,
                           struct problem *reterr)
{
    splitter->line++;
    if (size > limit_of(splitter) || splitter->has_nul) {
        STATUS_TRY(check_bytes(splitter, splitter->line, line, size, reterr));
    }
    while (size > 0 && line[size - 1] == '\r') {
        size--;
    }
    const size_t mark = splitter->line == 1 ? text_mark_size(line, size) : 0;
    line += mark;
    size -= mark;
    const enum status status = splitter->take(splitter->context, line, size, reterr);
    if (status != STATUS_OK && reterr != NULL && reterr->line == 0) {
        reterr->line = splitter->line;
    }
    return status;
}

/* Appends bytes to the unfinished line. The line is cut one byte beyond the limit, which
 * check_bytes then refuses. */
static enum status append_pending(struct line_splitter *splitter, const char *bytes, size_t size,
                                  struct problem *reterr)
{
    struct text *pending = &splitter->pending;
    const size_t room = limit_of(splitter) + 1 - pending->size;

    text_append(pending, bytes, size < room ? size : room);
    STATUS_TRY(text_status(pending));
    return pending->size > limit_of(splitter)
               ? check_bytes(splitter, splitter->line + 1, pending->bytes, pending->size, reterr)
               : STATUS_OK;
}

enum status line_splitter_feed(struct line_splitter *splitter, const char *bytes, size_t size,
                               struct problem *reterr)
{
    splitter->has_nul |= memchr(bytes, '\0', size) != NULL;
    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        const size_t length = end == NULL ? size : (size_t)(end - bytes);

        if (end != NULL && splitter->pending.size == 0) {
            STATUS_TRY(hand_on(splitter, bytes, length, reterr));
        } else {
            STATUS_TRY(append_pending(splitter, bytes, length, reterr));
            STATUS_TRY(end != NULL ? line_splitter_end(splitter, reterr) : STATUS_OK);
        }
        bytes += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return STATUS_OK;
}

enum status line_splitter_end(struct line_splitter *splitter, struct problem *reterr)
{
    const size_t size = splitter->pending.size;

    if (size == 0) {
        return STATUS_OK;
    }
    splitter->pending.size = 0;
    return hand_on(splitter, splitter->pending.bytes, size, reterr);
}

bool line_parse_integers(const char *line, size_t size, char delimiter, size_t count,
                         uint32_t *ret_integers)
{
    const char *const end = line + size;

    for (;; line++) {
        const char *const begin = line;
        uint32_t value = 0;

        for (uint32_t digit; line < end && (digit = (uint32_t)*line - '0') <= 9; line++) {
            value = value * 10 + digit;
        }
        if ((size_t)(line - begin) - 1 > 7 || (*begin == '0' && line - begin > 1)) {
            return false;
        }
        *ret_integers++ = value;
        if (--count == 0 || line == end) {
            return count == 0 && line == end;
        }
        if (*line != delimiter && (*line != '\t' || delimiter != ' ')) {
            return false;
        }
    }
}

bool line_word_is(struct field word, const char *text)
{
    return word.size == strlen(text) && strncasecmp(word.bytes, text, word.size) == 0;
}

enum status line_word_refuse(struct field word, const char *expected, struct problem *reterr)
{
    if (word.size == 0) {
        return problem_bad_graph(reterr, 0, word.column, "Expected %s but the line ends.",
                                 expected);
    }
    return problem_bad_graph(reterr, 0, word.column, "Expected %s but found '%.*s'.", expected,
                             word.size > 40 ? 40 : (int)word.size, word.bytes);
}

enum status line_word_expect_end(struct word_cursor *cursor, struct problem *reterr)
{
    struct field word = line_word_next(cursor);

    return word.size == 0 ? STATUS_OK : line_word_refuse(word, "the end of the line", reterr);
}

enum status line_word_parse_vertex(struct field word, uint32_t vertex_count, uint32_t *ret_row,
                                   struct problem *reterr)
{
    int64_t vertex;

    if (!number_parse_integer(word.bytes, word.size, &vertex)) {
        return line_word_refuse(word, "a vertex", reterr);
    }
    if (vertex < 1 || vertex > vertex_count) {
        return problem_bad_graph_hint(
            reterr, 0, word.column, vertex == 0 ? "This format numbers vertices from 1." : NULL,
            "Vertex %lld is outside the range 1 to %u.", (long long)vertex, vertex_count);
    }
    *ret_row = (uint32_t)(vertex - 1);
    return STATUS_OK;
}

enum status line_word_parse_count(struct field word, const char *expected, int64_t *ret_count,
                                  struct problem *reterr)
{
    int64_t count;

    if (!number_parse_integer(word.bytes, word.size, &count) || count < 0) {
        return line_word_refuse(word, expected, reterr);
    }
    *ret_count = count;
    return STATUS_OK;
}
