#include "proto/read/edge_columns.h"

#include "proto/number.h"
#include "proto/read/lines.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Spelt without case, blanks, '_' and '-'; a source and the target beside it make a pair. */
static const char *const end_names[][2] = {
    {"source", "target"},     {"sourceid", "targetid"},
    {"src", "dst"},           {"source", "destination"},
    {"src", "dest"},          {"origin", "destination"},
    {"origin", "dest"},       {"from", "to"},
    {"fromnode", "tonode"},   {"fromnodeid", "tonodeid"},
    {"fromid", "toid"},       {"u", "v"},
    {"station1", "station2"}, {"node1", "node2"},
    {"nodea", "nodeb"},       {"vertex1", "vertex2"},
    {"start", "end"},         {"tail", "head"},
    {"id1", "id2"},
};
#define END_NAME_COUNT (sizeof(end_names) / sizeof(end_names[0]))

/* The first that occurs is the weight. */
static const char *const weight_names[] = {"weight", "w",    "cost",     "distance", "length",
                                           "dist",   "time", "duration", "count",    "capacity"};
#define WEIGHT_NAME_COUNT (sizeof(weight_names) / sizeof(weight_names[0]))

static bool has_unquoted(const char *line, size_t size, char wanted, size_t *ret_count)
{
    bool quoted = false;

    *ret_count = 0;
    for (size_t i = 0; i < size; i++) {
        if (line[i] == '"') {
            quoted = !quoted;
        }
        *ret_count += !quoted && line[i] == wanted;
    }
    return *ret_count > 0;
}

/* Numbers hold no blanks, so a line of numbers between blanks of any kind is just that. */
static bool is_all_numbers(const char *line, size_t size)
{
    size_t at = 0;

    while (at < size) {
        size_t begin = at;
        double value;

        while (at < size && line[at] != ' ' && line[at] != '\t') {
            at++;
        }
        if (at > begin && !number_parse_real(line + begin, at - begin, &value)) {
            return false;
        }
        at += at < size;
    }
    return true;
}

char edge_columns_delimiter(const char *line, size_t size)
{
    size_t semicolons;
    size_t commas;
    size_t tabs;

    if (is_all_numbers(line, size)) {
        return ' ';
    }
    if (has_unquoted(line, size, '\t', &tabs)) {
        return '\t';
    }
    has_unquoted(line, size, ',', &commas);
    has_unquoted(line, size, ';', &semicolons);
    /* "1;2;3,5" has a decimal comma. */
    if (semicolons > commas) {
        return ';';
    }
    return commas > 0 ? ',' : ' ';
}

static bool is_number(struct edge_field field)
{
    double value;

    return number_parse_real(field.bytes, field.size, &value);
}

static bool name_is(struct edge_field field, const char *name)
{
    for (size_t i = 0; i < field.size; i++) {
        if (strchr(" _-", field.bytes[i]) != NULL) {
            continue;
        }
        if (*name == '\0' || tolower((unsigned char)field.bytes[i]) != *name++) {
            return false;
        }
    }
    return *name == '\0';
}

static size_t find_name(const struct edge_row *row, const char *name)
{
    for (size_t i = 0; i < row->count; i++) {
        if (name_is(row->fields[i], name)) {
            return i;
        }
    }
    return NO_COLUMN;
}

static bool find_ends(const struct edge_row *header, size_t *ret_source, size_t *ret_target)
{
    for (size_t i = 0; i < END_NAME_COUNT; i++) {
        size_t source = find_name(header, end_names[i][0]);
        size_t target = find_name(header, end_names[i][1]);

        if (source != NO_COLUMN && target != NO_COLUMN) {
            *ret_source = source;
            *ret_target = target;
            return true;
        }
    }
    return false;
}

static size_t find_weight(const struct edge_row *header)
{
    for (size_t i = 0; i < WEIGHT_NAME_COUNT; i++) {
        size_t column = find_name(header, weight_names[i]);

        if (column != NO_COLUMN) {
            return column;
        }
    }
    return NO_COLUMN;
}

bool edge_columns_has_weight(const struct edge_row *header, const struct edge_row *row)
{
    size_t named = find_weight(header);

    return is_number(row->fields[2]) || (named != NO_COLUMN && is_number(row->fields[named]));
}

enum edge_header edge_columns_judge(const struct edge_row *first)
{
    size_t source;
    size_t target;

    for (size_t i = 0; i < first->count; i++) {
        if (is_number(first->fields[i])) {
            return EDGE_HEADER_NO;
        }
    }
    if (find_ends(first, &source, &target)) {
        return EDGE_HEADER_YES;
    }
    return first->count > 2 ? EDGE_HEADER_PERHAPS : EDGE_HEADER_NO;
}

static enum status refuse_weight_name(const struct edge_row *header, const char *wanted,
                                      size_t count, struct problem *reterr)
{
    char list[PROBLEM_TEXT_SIZE] = "";
    size_t size = 0;

    problem_set(reterr, STATUS_BAD_PARAMETER, "weight=%s names no column of weights.", wanted);
    if (header == NULL) {
        problem_hint(reterr, "There is no header: give the number of the column, 3 to %zu.", count);
        return STATUS_BAD_PARAMETER;
    }
    for (size_t i = 0; i < header->count && size + 2 < sizeof(list); i++) {
        size += (size_t)snprintf(list + size, sizeof(list) - size, "%s%.*s", i > 0 ? ", " : "",
                                 header->fields[i].size > 64 ? 64 : (int)header->fields[i].size,
                                 header->fields[i].bytes);
    }
    problem_hint(reterr, "The columns are: %s.", list);
    return STATUS_BAD_PARAMETER;
}

/* By name, or by number from 1. */
static size_t find_wanted(const struct edge_row *header, const char *wanted, size_t count)
{
    size_t size = strlen(wanted);
    int64_t number;

    for (size_t i = 0; header != NULL && i < header->count; i++) {
        if (header->fields[i].size == size &&
            strncasecmp(header->fields[i].bytes, wanted, size) == 0) {
            return i;
        }
    }
    if (number_parse_integer(wanted, size, &number) && number >= 1 && number <= (int64_t)count) {
        return (size_t)number - 1;
    }
    return NO_COLUMN;
}

static size_t default_weight(const struct edge_row *header, const struct edge_row *first,
                             const struct edge_columns *columns)
{
    size_t named = header == NULL ? NO_COLUMN : find_weight(header);

    if (header == NULL) {
        return columns->count > 2 ? 2 : NO_COLUMN;
    }
    if (named != NO_COLUMN && named != columns->source && named != columns->target) {
        return named;
    }
    if (columns->count == 3) {
        size_t other = 3 - columns->source - columns->target;

        return is_number(first->fields[other]) ? other : NO_COLUMN;
    }
    return NO_COLUMN;
}

enum status edge_columns_choose(const struct edge_row *header, const struct edge_row *first,
                                const struct graph_options *options,
                                struct edge_columns *ret_columns, struct problem *reterr)
{
    struct edge_columns columns = {.count = first->count, .source = 0, .target = 1};

    if (header != NULL) {
        find_ends(header, &columns.source, &columns.target);
    }
    if (options->weight[0] == '\0') {
        columns.weight = default_weight(header, first, &columns);
    } else {
        columns.weight = find_wanted(header, options->weight, columns.count);
        if (columns.weight == NO_COLUMN || columns.weight == columns.source ||
            columns.weight == columns.target) {
            return refuse_weight_name(header, options->weight, columns.count, reterr);
        }
    }
    *ret_columns = columns;
    return STATUS_OK;
}

bool edge_columns_are_plain(const struct edge_columns *columns)
{
    return columns->source == 0 && columns->target == 1 &&
           columns->count == (columns->weight == NO_COLUMN ? 2 : 3);
}

/* A vertex in digits alone; one with a zero in front has another name than its number. */
static const char *scan_vertex(const char *at, const char *end, uint32_t *ret_number)
{
    const char *after = word_scan_small(at, end, ret_number);

    return after == NULL || (*at == '0' && after > at + 1) ? NULL : after;
}

/* All that can be in a number, so that nothing is to be cut or unquoted. */
static bool is_plain_number(const char *at, const char *end)
{
    bool plain = at < end;

    for (; plain && at < end; at++) {
        plain = (*at >= '0' && *at <= '9') || *at == '.' || *at == '-' || *at == '+' || *at == 'e';
    }
    return plain;
}

bool edge_columns_scan(const struct edge_columns *columns, char delimiter, const char *line,
                       size_t size, struct edge_scan *ret_scan)
{
    const char *end = line + size;
    const char *at = scan_vertex(line, end, &ret_scan->ends[0]);

    if (at == NULL || at == end || *at != delimiter) {
        return false;
    }
    at = scan_vertex(at + 1, end, &ret_scan->ends[1]);
    ret_scan->weight = 1;
    ret_scan->size = 0;
    ret_scan->column = 0;
    if (at == NULL || columns->weight == NO_COLUMN) {
        return at == end;
    }
    if (at == end || *at != delimiter) {
        return false;
    }
    at++;
    ret_scan->column = (uint64_t)(at - line) + 1;
    if (word_scan_small(at, end, &ret_scan->weight) == end) {
        return true;
    }
    ret_scan->bytes = at;
    ret_scan->size = (size_t)(end - at);
    return is_plain_number(at, end);
}

/* Three times nine digits and a delimiter, CR and LF, and one byte to look ahead. */
#define LINE_SIZE 33

/* In digits alone, with no zero in front. NULL for a vertex that is new, too. */
static inline const char *scan_row(const struct edge_lines *lines, const char *at,
                                   uint32_t *ret_row)
{
    const char *after;
    uint32_t number;

    after = word_scan_ahead(at, &number);
    if (after == NULL || (*at == '0' && after > at + 1) || number >= lines->number_limit) {
        return NULL;
    }
    *ret_row = lines->row_of != NULL ? lines->row_of[number] - 1 : number;
    return *ret_row == UINT32_MAX ? NULL : after;
}

/* Where the line ends; NULL for every other line. At least LINE_SIZE bytes. */
static inline const char *scan_line(const struct edge_lines *lines, const char *at,
                                    struct edge_i4 *ret_edge)
{
    uint32_t weight = 1;
    uint32_t ends[2];

    if ((at = scan_row(lines, at, &ends[0])) == NULL || *at != lines->delimiter ||
        (at = scan_row(lines, at + 1, &ends[1])) == NULL ||
        (lines->has_weight &&
         (*at != lines->delimiter || (at = word_scan_ahead(at + 1, &weight)) == NULL))) {
        return NULL;
    }
    *ret_edge = (struct edge_i4){ends[0], ends[1], (int32_t)weight};
    return word_scan_end(at);
}

uint64_t edge_lines_scan(const struct edge_lines *lines, const char *bytes, size_t size,
                         struct edge_i4 *edges, uint64_t room, size_t *ret_size)
{
    const char *end = bytes + size;
    const char *at = bytes;
    const char *next;
    uint64_t count = 0;

    while (count < room && end - at >= LINE_SIZE &&
           (next = scan_line(lines, at, &edges[count])) != NULL) {
        at = next;
        count++;
    }
    *ret_size = (size_t)(at - bytes);
    return count;
}
