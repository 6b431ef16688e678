#include "proto/line_words.h"

#include "proto/number.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct word word_next(struct word_cursor *cursor)
{
    const char *at = cursor->at;
    struct word word;

    while (at < cursor->end && is_blank(*at)) {
        at++;
    }
    word.bytes = at;
    word.column = (uint64_t)(at - cursor->begin) + 1;
    while (at < cursor->end && !is_blank(*at)) {
        at++;
    }
    word.size = (size_t)(at - word.bytes);
    cursor->at = at;
    return word;
}

bool word_is(struct word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

bool word_is_like(struct word word, const char *text)
{
    return word.size == strlen(text) && strncasecmp(word.bytes, text, word.size) == 0;
}

enum status word_refuse(struct word word, const char *expected, struct problem *reterr)
{
    if (word.size == 0) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The line ends where %s should be.", expected);
    } else {
        problem_set(reterr, STATUS_BAD_GRAPH, "There is '%.*s' where %s should be.",
                    word.size > 40 ? 40 : (int)word.size, word.bytes, expected);
    }
    problem_at(reterr, 0, word.column);
    return STATUS_BAD_GRAPH;
}

enum status word_expect_end(struct word_cursor *cursor, struct problem *reterr)
{
    struct word word = word_next(cursor);

    return word.size == 0 ? STATUS_OK : word_refuse(word, "the end of the line", reterr);
}

enum status word_parse_vertex(struct word word, uint32_t vertex_count, uint32_t *ret_row,
                              struct problem *reterr)
{
    int64_t vertex;

    if (!number_parse_integer(word.bytes, word.size, &vertex)) {
        return word_refuse(word, "a vertex", reterr);
    }
    if (vertex < 1 || vertex > vertex_count) {
        problem_set(reterr, STATUS_BAD_GRAPH, "Vertex %lld is not in 1..%u.", (long long)vertex,
                    vertex_count);
        problem_at(reterr, 0, word.column);
        if (vertex == 0) {
            problem_hint(reterr, "The vertices of this format are counted from 1.");
        }
        return STATUS_BAD_GRAPH;
    }
    *ret_row = (uint32_t)(vertex - 1);
    return STATUS_OK;
}

enum status word_parse_count(struct word word, const char *expected, int64_t *ret_count,
                             struct problem *reterr)
{
    int64_t count;

    if (!number_parse_integer(word.bytes, word.size, &count) || count < 0) {
        return word_refuse(word, expected, reterr);
    }
    *ret_count = count;
    return STATUS_OK;
}
