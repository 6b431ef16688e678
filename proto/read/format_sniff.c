#include "proto/read/reader.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool is_text(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];

        if ((c < 0x20 && strchr("\t\n\v\f\r", c) == NULL) || c == 0 || c == 0x7F) {
            return false;
        }
    }
    return true;
}

enum verdict { VERDICT_OPEN, VERDICT_DIMACS, VERDICT_OTHER };

/* "c" opens comments but may also be the name of a vertex: only a line that cannot be an edge
 * decides at once. */
static enum verdict judge_line(const char *line, size_t size)
{
    if (size > 0 && line[size - 1] == '\r') {
        size--;
    }
    if (size == 0) {
        return VERDICT_OPEN;
    }
    if (size == 1) {
        return line[0] == 'c' ? VERDICT_DIMACS : VERDICT_OTHER;
    }
    if (line[1] != ' ' && line[1] != '\t') {
        return VERDICT_OTHER;
    }
    if (line[0] == 'c') {
        return VERDICT_OPEN;
    }
    if (line[0] == 'p' && size > 2 && isalpha((unsigned char)line[2])) {
        return VERDICT_DIMACS;
    }
    return VERDICT_OTHER;
}

static bool looks_like_dimacs(const char *bytes, size_t size)
{
    size_t whole = size;

    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end == NULL ? size : (size_t)(end - bytes);

        switch (judge_line(bytes, length)) {
        case VERDICT_DIMACS:
            return true;
        case VERDICT_OTHER:
            return false;
        case VERDICT_OPEN:
            break;
        }
        length += end != NULL;
        bytes += length;
        size -= length;
    }
    /* A page of lines that all begin with "c " is a licence, not a graph. */
    return whole >= FORMAT_SNIFF_SIZE - 3;
}

/* The first lines, read as those of a METIS file. */
struct metis_look {
    bool headed;
    uint64_t header[4]; /* n, m, fmt, ncon */
    size_t header_words;
    uint64_t rows;
    bool varies;       /* some row has another number of words than the header: no list of edges */
    bool out_of_range; /* some word can be no vertex, and there are no weights */
};

/* Digits, at most 18; false for anything else. */
static bool look_at_word(const char *word, size_t size, uint64_t *ret_value)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++) {
        if (!isdigit((unsigned char)word[i]) || size > 18) {
            return false;
        }
        value = value * 10 + (uint64_t)(word[i] - '0');
    }
    *ret_value = value;
    return true;
}

static void look_at_header(struct metis_look *look, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        look->header[i] = values[i];
    }
    look->header_words = count;
    look->headed = true;
}

/* False when no METIS file has this line. */
static bool look_at_line(struct metis_look *look, const char *line, size_t size, bool whole)
{
    uint64_t values[4] = {0};
    size_t count = 0;

    for (size_t at = 0; at < size;) {
        size_t length = 0;
        uint64_t value;

        if (strchr(" \t\r", line[at]) != NULL) {
            at++;
            continue;
        }
        while (at + length < size && strchr(" \t\r", line[at + length]) == NULL) {
            length++;
        }
        if (!look_at_word(line + at, length, &value) || (!look->headed && count == 4)) {
            return false;
        }
        if (count < 4) {
            values[count] = value;
        }
        look->out_of_range |= look->headed && look->header[2] == 0 && value - 1 >= look->header[0];
        count++;
        at += length;
    }
    if (!look->headed && count > 0) {
        look_at_header(look, values, count);
        return count >= 2;
    }
    look->rows += look->headed;
    look->varies |= count > 0 && (whole ? count != look->header_words : count > look->header_words);
    return true;
}

/* fmt is made of zeros and ones, and there is an edge: "1 0" alone is rather one. */
static bool has_metis_header(const struct metis_look *look)
{
    uint64_t fmt = look->header[2];

    return look->headed && look->header[0] > 0 && look->header[1] > 0 && fmt <= 111 &&
           fmt % 10 <= 1 && fmt / 10 % 10 <= 1;
}

/* Few edge lists are METIS files to the last word, and no METIS file is to be missed. */
static bool is_metis(const char *bytes, size_t size)
{
    const struct graph_options options = {0};
    struct reader *reader = NULL;
    struct graph *graph = NULL;
    enum status status = reader_create(FORMAT_METIS, &options, &reader);

    if (status == STATUS_OK) {
        status = reader_feed(reader, bytes, size, NULL);
    }
    if (status == STATUS_OK) {
        status = reader_finish(reader, &graph, NULL);
    }
    graph_destroy(graph);
    reader_destroy(reader);
    return status == STATUS_OK;
}

/* An edge list has the same number of columns in every line, and the lines of a METIS file have
 * not; a short body is read to its end to see. */
static bool looks_like_metis(const char *bytes, size_t size)
{
    const char *begin = bytes;
    size_t whole = size;
    struct metis_look look = {0};
    bool complete = size < FORMAT_SNIFF_SIZE - 3;

    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end == NULL ? size : (size_t)(end - bytes);

        if (bytes[0] != '%' && !look_at_line(&look, bytes, length, end != NULL || complete)) {
            return false;
        }
        length += end != NULL;
        bytes += length;
        size -= length;
    }
    if (!has_metis_header(&look) || look.out_of_range || look.rows > look.header[0]) {
        return false;
    }
    return complete ? is_metis(begin, whole) : look.varies;
}

/* From after the opening quote to the closing one, NULL when it is not there. */
static const char *end_of_string(const char *at, const char *end)
{
    while (at < end && *at != '"') {
        at += *at == '\\' ? 2 : 1;
    }
    return at < end ? at : NULL;
}

static bool text_is(const char *text, size_t size, const char *wanted)
{
    return strlen(wanted) == size && memcmp(text, wanted, size) == 0;
}

static bool is_key(const char *after, const char *end)
{
    while (after < end && strchr(" \t\r\n", *after) != NULL) {
        after++;
    }
    return after < end && *after == ':';
}

struct json_look {
    unsigned depth;
    bool in_graph; /* below the key "graph" of the document */
};

/* Whether this key makes the document a JSON Graph. */
static bool look_at_key(struct json_look *look, const char *key, size_t size)
{
    if (look->depth == 1) {
        look->in_graph = text_is(key, size, "graph");
        return text_is(key, size, "graphs");
    }
    return look->depth == 2 && look->in_graph &&
           (text_is(key, size, "nodes") || text_is(key, size, "edges"));
}

/* The lists of a JSON Graph lie within "graph" or "graphs", those of other JSON beside a "graph" of
 * attributes. */
static bool looks_like_jgf(const char *bytes, size_t size)
{
    const char *end = bytes + size;
    struct json_look look = {0};

    for (const char *at = bytes; at < end; at++) {
        if (*at == '{' || *at == '[') {
            look.depth++;
        } else if (*at == '}' || *at == ']') {
            look.depth--;
        } else if (*at == '"') {
            const char *key = at + 1;

            at = end_of_string(key, end);
            if (at == NULL) {
                return false;
            }
            if (is_key(at + 1, end) && look_at_key(&look, key, (size_t)(at - key))) {
                return true;
            }
        }
    }
    return false;
}

/* Case is not significant. */
static bool begins_with(const char *bytes, size_t size, const char *text)
{
    size_t length = strlen(text);

    return size >= length && strncasecmp(bytes, text, length) == 0;
}

enum format format_sniff(const char *bytes, size_t size)
{
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) {
        return FORMAT_NPY;
    }
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    if (size == 0 || !is_text(bytes, size)) {
        return FORMAT_NONE;
    }
    if (begins_with(bytes, size, "%%MatrixMarket")) {
        return FORMAT_MTX;
    }
    while (size > 0 && strchr(" \t\r\n", *bytes) != NULL) {
        bytes++;
        size--;
    }
    if (size > 0 && *bytes == '<') {
        return FORMAT_GRAPHML;
    }
    if (size > 0 && (*bytes == '{' || *bytes == '[')) {
        return looks_like_jgf(bytes, size) ? FORMAT_JGF : FORMAT_JSON;
    }
    if (looks_like_metis(bytes, size)) {
        return FORMAT_METIS;
    }
    return looks_like_dimacs(bytes, size) ? FORMAT_DIMACS : FORMAT_EDGES;
}
