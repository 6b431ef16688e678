#include "proto/read/edge_checks.h"

#include "proto/number.h"
#include "proto/read/lines.h"
#include "proto/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum status edge_comments_parse(struct edge_comments *comments, const char *line, size_t size,
                                struct problem *reterr)
{
    struct word_cursor cursor = {line, line + 1, line + size};
    const struct field first = line_word_next(&cursor);
    const struct field second = line_word_next(&cursor);
    const bool directed = line_word_is(first, "directed");

    if (line_word_is(first, "%MatrixMarket")) {
        return problem_bad_graph_hint(reterr, 0, 1, "Remove the lines above %%MatrixMarket.",
                                      "The line %%%%MatrixMarket is not the first line.");
    }
    if (line_word_is(second, "graph") || line_word_is(second, "graph:")) {
        comments->undirected |= line_word_is(first, "undirected");
        /* SNAP writes "Directed graph (each unordered pair of nodes is saved once)" above directed
         * and above undirected lists, so that comment does not state the direction. */
        comments->says_direction |=
            comments->undirected || (directed && memmem(line, size, "unordered", 9) == NULL);
        return STATUS_OK;
    }
    CHECK(second.bytes != NULL); /* the compiler of sanitizer builds cannot prove this */
    const bool is_kind = second.size == 0 || memmem(second.bytes, second.size, "weighted", 8) ||
                         memmem(second.bytes, second.size, "signed", 6) ||
                         line_word_is(second, "positive") || line_word_is(second, "dynamic");
    comments->is_konect |=
        line[0] == '%' && is_kind &&
        (line_word_is(first, "sym") || line_word_is(first, "asym") || line_word_is(first, "bip"));
    if (comments->is_konect && line_word_is(first, "bip")) {
        return problem_bad_graph_hint(
            reterr, 0, 0,
            "Rename the vertices on the right to r1, r2 and so on: awk '!/^%/ {print $1, \"r\" $2, "
            "$3}'; then upload with directed=false.",
            "The list is bipartite, and each side numbers its vertices from 1, so 1 on the left "
            "and 1 on the right are different vertices.");
    }
    comments->undirected |= comments->is_konect && line_word_is(first, "sym");
    comments->says_direction |= comments->is_konect;
    return STATUS_OK;
}

struct field edge_check_integer(struct field field, char digits[24])
{
    size_t size = 0;
    double value;

    while (size < field.size && field.bytes[size] >= '0' && field.bytes[size] <= '9') {
        size++;
    }
    if (size > 0 && size + 1 < field.size &&
        (field.bytes[size] == '.' || memcmp(field.bytes + size, "e+", 2) == 0) &&
        number_parse_real(field.bytes, field.size, &value) && value < 1e15 &&
        value == (double)(int64_t)value) {
        field.size = (size_t)snprintf(digits, 24, "%.0f", value);
        field.bytes = digits;
    }
    return field;
}

enum status edge_check_name(struct field name, bool has_header, struct problem *reterr)
{
    const bool is_number = memchr(name.bytes, '.', name.size) != NULL &&
                           number_parse_real(name.bytes, name.size, &(double){0});
    const char last = name.bytes[name.size - 1];
    const bool is_quoted = name.size > 1 && *name.bytes == last && strchr("'`", last) != NULL;
    /* A name may contain a byte order mark if files were concatenated, and end in a no-break space
     * if it was copied from HTML. */
    bool has_control = memmem(name.bytes, name.size, "\xEF\xBB\xBF", 3) != NULL ||
                       (name.size > 2 && memcmp(name.bytes + name.size - 2, "\xC2\xA0", 2) == 0);
    size_t signs = 0;
    size_t digits = 0;
    size_t delimiters = 0;
    int open = 0;

    for (size_t i = 0; i < name.size; i++) {
        const char c = name.bytes[i];

        open += (strchr("([{", c) != NULL) - (strchr(")]}", c) != NULL);
        signs += strchr("=-|<>:", c) != NULL;
        digits += isdigit((unsigned char)c) != 0;
        delimiters += strchr(" \t,;|:", c) != NULL;
        has_control |= iscntrl((unsigned char)c) != 0 && c != '\t';
        /* U+200B, U+200E, U+200F, U+2028 and U+2029 are invisible characters. */
        has_control |= c == '\xE2' && i + 2 < name.size && name.bytes[i + 1] == '\x80' &&
                       strchr("\x8B\x8E\x8F\xA8\xA9", name.bytes[i + 2]) != NULL;
    }
    /* "2;5" and "2:5" are a vertex and its weight, not a name. */
    const bool is_several = digits > 0 && delimiters > 0 && digits + delimiters == name.size;
    if (open == 0 && signs < name.size && last != ':' && !is_quoted && !is_several &&
        !has_control && memmem(name.bytes, name.size, "->", 2) == NULL &&
        (has_header || !is_number)) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(reterr, 0, name.column,
                                  "Write each line as source, target and optional weight, without "
                                  "brackets or other punctuation around them. A header can give "
                                  "another order, and a name in quotes may contain any characters.",
                                  "'%.*s' does not look like the name of a vertex.",
                                  name.size > 40 ? 40 : (int)name.size, name.bytes);
}

enum status edge_check_counts(const int64_t integers[3], size_t column_count, bool is_counted,
                              const struct graph_builder *builder, const struct name_table *names,
                              struct problem *reterr)
{
    const bool is_square = integers[0] == integers[1];
    const int64_t behind = (int64_t)builder->list.count - !is_counted;
    const int64_t least_behind = column_count == 2 ? 1 : 2;
    int64_t least = INT64_MAX;
    int64_t most = 0;
    bool fits = name_table_is_numeric(names) && (is_counted || behind > least_behind) &&
                (integers[1] == behind || (is_square && integers[2] == behind));

    /* If the first line was read as an edge, skips its vertices, which have the first rows. */
    for (uint32_t row = is_counted ? 0 : 2 - is_square; row < name_table_count(names) && fits;
         row++) {
        const int64_t number = name_table_number(names, row);

        least = number < least ? number : least;
        most = number > most ? number : most;
    }
    fits = fits && least >= 0 && most - (least > 0) < integers[0];
    if (fits == is_counted) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(
        reterr, 0, 0,
        fits ? "If the line is an edge, add a header source,target or source,target,weight; "
               "otherwise remove the line."
             : "Correct the first line or, if the line is an edge, add a weight.",
        fits ? "The first line, %lld %lld, may be an edge or the numbers of vertices and edges, "
               "because %lld edges follow."
             : "The first line, %lld %lld, does not fit the %lld lines that follow: it does not "
               "give the numbers of vertices and edges, and as an edge it lacks a weight.",
        (long long)integers[0], (long long)integers[1], (long long)behind);
}

enum status edge_check_times(const struct graph_builder *builder, struct problem *reterr)
{
    const uint64_t count = builder->list.count;
    const double year_2000 = 946684800;
    bool is_round = true; /* large weights that are not timestamps are often multiples of 1000 */
    uint64_t i = 0;

    for (; i < count; i++) {
        const double weight = builder->list.edges[i].weight;

        if (weight < year_2000 || weight > INT32_MAX) {
            break;
        }
        is_round = is_round && (int64_t)weight % 1000 == 0;
    }
    if (count < 3 || i < count || is_round) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(
        reterr, 0, 0, "weight=3 reads column 3 as weights, and weight=none counts each edge as 1.",
        "The numbers in column 3 look like times, in seconds since 1970, and nothing marks them as "
        "weights.");
}

/* Returns whether the first edge, which joins rows 0 and 1, shares no vertex with another edge. */
static bool is_first_apart(const struct graph_builder *builder)
{
    for (uint64_t i = 1; i < builder->list.count; i++) {
        const struct edge edge = builder->list.edges[i];

        if (edge.source < 2 || edge.target < 2) {
            return false;
        }
    }
    return true;
}

void edge_check_warn(const struct graph_builder *builder, const struct name_table *names,
                     bool may_be_header, struct warnings *warnings)
{
    static const char *const missing[] = {"NULL", "null", "NaN", "nan", "NA", "N/A", "None", "\\N"};
    const char *words[2] = {NULL, NULL}; /* a name that is not an integer, and an integer */
    size_t sizes[2];

    if (name_table_is_numeric(names)) {
        return;
    }
    for (uint32_t row = 0; row < name_table_count(names) && (words[0] == NULL || words[1] == NULL);
         row++) {
        size_t size;
        int64_t number;
        const char *name = name_table_get(names, row, &size);
        const bool is_number = number_parse_integer(name, size, &number);

        words[is_number] = name;
        sizes[is_number] = size;
    }
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        if (name_table_find(names, missing[i], strlen(missing[i]), &(uint32_t){0})) {
            warning_hint(warning_add(warnings, WARNING_FORMAT_GUESSED,
                                     "A vertex is named %s, which usually means a missing value.",
                                     missing[i]),
                         "If this name means a missing value, remove the edges of this vertex.");
            return;
        }
    }
    if (words[0] != NULL && words[1] != NULL) {
        warning_hint(warning_add(warnings, WARNING_FORMAT_GUESSED,
                                 "Some vertex names are integers, such as %.*s, and others are "
                                 "not, such as '%.*s', so some lines may not be edges.",
                                 (int)sizes[1], words[1],
                                 (int)text_utf8_size(words[0], sizes[0] > 60 ? 60 : sizes[0]),
                                 words[0]),
                     "Remove lines that are not edges, and name the columns source and target.");
    } else if (may_be_header && builder->list.count > 1 && is_first_apart(builder)) {
        warning_hint(warning_add(warnings, WARNING_FORMAT_GUESSED,
                                 "The first line was read as an edge but shares no vertex with "
                                 "another edge, so it may be a header."),
                     "If the first line is a header, name its columns source and target.");
    }
}

size_t edge_dict_find(const char *line, size_t size)
{
    const char *brace = memchr(line, '{', size);
    size_t end = size;

    while (end > 0 && field_is_blank(line[end - 1])) {
        end--;
    }
    /* Vertex names may contain braces too, but only in a dict does a quote, a space or a brace
     * follow the opening brace. */
    return brace != NULL && line[end - 1] == '}' && strchr("'\"} ", brace[1]) != NULL
               ? (size_t)(brace - line)
               : size;
}

/* Returns the index of the first stop character outside strings and inner brackets, or size. */
static size_t skip_value(const char *line, size_t at, size_t size, const char *stops)
{
    unsigned depth = 0;
    char quote = '\0';

    for (; at < size; at++) {
        const char c = line[at];

        if (quote != '\0') {
            at += c == '\\';
            quote = c == quote ? '\0' : quote;
        } else if (depth == 0 && strchr(stops, c) != NULL) {
            return at;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else {
            depth += strchr("([{", c) != NULL;
            depth -= depth > 0 && strchr(")]}", c) != NULL;
        }
    }
    return size;
}

static struct field trim_value(const char *line, size_t begin, size_t end)
{
    begin = field_skip_blanks(line, begin, end);
    while (end > begin && field_is_blank(line[end - 1])) {
        end--;
    }
    if (end - begin > 1 && line[begin] == line[end - 1] && strchr("'\"", line[begin]) != NULL) {
        begin++;
        end--;
    }
    return (struct field){line + begin, end - begin, begin + 1, 0};
}

enum status edge_dict_parse(const char *line, size_t begin, size_t size, struct columns *columns,
                            struct edge_record *record, struct problem *reterr)
{
    size_t at = field_skip_blanks(line, begin + 1, size);

    while (at < size && line[at] != '}') {
        const size_t colon = skip_value(line, at, size, ":}");
        const size_t end = skip_value(line, colon + 1, size, ",}");
        size_t index;

        if (end >= size || line[colon] != ':') {
            return problem_bad_graph(
                reterr, 0, at + 1, "The text after the edge is not a dict such as {'weight': 5}.");
        }
        const struct field key = trim_value(line, at, colon);
        struct field value = trim_value(line, colon + 1, end);

        value.size = value.size == 4 && memcmp(value.bytes, "None", 4) == 0 ? 0 : value.size;
        STATUS_TRY(columns_find(columns, key, false, &index, reterr));
        STATUS_TRY(columns_accept_value(columns, index, value, record, reterr));
        at = field_skip_blanks(line, end + (line[end] == ','), size);
    }
    return STATUS_OK;
}
