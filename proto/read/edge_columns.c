#include "proto/read/edge_columns.h"

#include "proto/number.h"
#include "proto/read/reader.h"
#include "proto/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Spelt without case, blanks, '_' and '-'; a source and the target beside it make a pair. */
static const char *const end_names[][2] = {
    {"source", "target"},       {"sourceid", "targetid"}, {"src", "dst"},
    {"source", "destination"},  {"src", "dest"},          {"origin", "destination"},
    {"origin", "dest"},         {"from", "to"},           {"fromnode", "tonode"},
    {"fromnodeid", "tonodeid"}, {"fromid", "toid"},       {"u", "v"},
    {"fromstopid", "tostopid"}, {"fromstop", "tostop"},   {"station1", "station2"},
    {"node1", "node2"},         {"nodea", "nodeb"},       {"vertex1", "vertex2"},
    {"start", "end"},           {"tail", "head"},         {"id1", "id2"},
    {"startid", "endid"},       {"startnode", "endnode"}, {"sourcenode", "targetnode"},
};
#define END_NAME_COUNT (sizeof(end_names) / sizeof(end_names[0]))

/* The first that occurs is the weight; a unit may follow. */
static const char *const weight_names[] = {"weight",   "w",     "cost",     "distance",
                                           "length",   "dist",  "value",    "time",
                                           "duration", "count", "capacity", NULL};
static const char *const units[] = {"m",      "km",     "cm",      "mm", "mi",    "miles",
                                    "meters", "metres", "ft",      "s",  "sec",   "seconds",
                                    "min",    "ms",     "minutes", "h",  "hours", NULL};
/* Numbers of edges, and no weights. */
static const char *const id_names[] = {"id",    "edgeid", "eid", "key", "index",
                                       "osmid", "suid",   "",    NULL};

static bool is_number(struct field field)
{
    double value;

    return number_parse_real(field.bytes, field.size, &value);
}

/* Before the ':' of Neo4j's headers, "weight:float"; but "id:START_ID(Person)" is a start. */
static struct field bare_name(struct field name)
{
    const char *colon = memchr(name.bytes, ':', name.size);
    size_t left;

    if (colon == NULL) {
        return name;
    }
    left = (size_t)(name.bytes + name.size - colon);
    if (left > 8 && strncasecmp(colon, ":START_ID", 9) == 0) {
        return (struct field){"startid", 7, name.column};
    }
    if (left > 6 && strncasecmp(colon, ":END_ID", 7) == 0) {
        return (struct field){"endid", 5, name.column};
    }
    name.size -= left;
    return name;
}

/* As in "weight_km" and "time (s)". */
static bool is_unit(const char *at, const char *end)
{
    while (end > at && strchr(")]", end[-1]) != NULL) {
        end--;
    }
    for (size_t i = 0; units[i] != NULL; i++) {
        if (strlen(units[i]) == (size_t)(end - at) &&
            strncasecmp(units[i], at, (size_t)(end - at)) == 0) {
            return true;
        }
    }
    return false;
}

static bool name_is(struct field field, const char *name, bool may_have_unit)
{
    const struct field bare = bare_name(field);
    const char *const end = bare.bytes + bare.size;
    const char *at = bare.bytes;

    for (;; at++, name++) {
        const char *const begin = at;

        while (at < end && strchr(" _-([", *at) != NULL) {
            at++;
        }
        if (*name == '\0') {
            return at == end || (at > begin && may_have_unit && is_unit(at, end));
        }
        if (at == end || tolower((unsigned char)*at) != *name) {
            return false;
        }
    }
}

static size_t find_name(const struct edge_row *row, const char *name)
{
    for (size_t i = 0; i < row->count; i++) {
        if (name_is(row->fields[i], name, false)) {
            return i;
        }
    }
    return NO_COLUMN;
}

bool edge_columns_is_id(struct field name)
{
    for (size_t i = 0; id_names[i] != NULL; i++) {
        if (name_is(name, id_names[i], false)) {
            return true;
        }
    }
    return false;
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

bool edge_columns_are_unweighted(const char *wanted)
{
    return strcmp(wanted, "none") == 0;
}

size_t edge_columns_rank(struct field name, const char *wanted)
{
    const char *const end = name.bytes + name.size;
    const char *at = name.bytes;
    size_t rank = 0;

    if (wanted[0] != '\0') {
        return strlen(wanted) == name.size && memcmp(wanted, name.bytes, name.size) == 0 &&
                       !edge_columns_are_unweighted(wanted)
                   ? 0
                   : NO_COLUMN;
    }
    while (at < end && strchr(" _-([", *at) != NULL) {
        at++;
    }
    const int first = at < end ? tolower((unsigned char)*at) : '\0';
    while (weight_names[rank] != NULL &&
           (weight_names[rank][0] != first || !name_is(name, weight_names[rank], true))) {
        rank++;
    }
    return weight_names[rank] != NULL ? rank : NO_COLUMN;
}

static size_t find_weight(const struct edge_row *header)
{
    size_t best = NO_COLUMN;
    size_t found = NO_COLUMN;

    for (size_t i = 0; i < header->count; i++) {
        const size_t rank = edge_columns_rank(header->fields[i], "");

        if (rank < best) {
            best = rank;
            found = i;
        }
    }
    return found;
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

bool edge_columns_type(struct field field, bool *ret_directed)
{
    *ret_directed = name_is(field, "directed", false);
    return *ret_directed || name_is(field, "undirected", false);
}

enum status edge_columns_check_type(struct field type, bool undirected, struct problem *reterr)
{
    bool directed;

    if (edge_columns_type(type, &directed) && directed != undirected) {
        return STATUS_OK;
    }
    problem_bad_graph(
        reterr, 0, type.column, "The type of the edge is '%.*s', and the edges before are %s.",
        type.size > 40 ? 40 : (int)type.size, type.bytes, undirected ? "undirected" : "directed");
    problem_hint(reterr,
                 "directed=true or directed=false reads all edges alike; an undirected edge "
                 "is also two directed ones.");
    return STATUS_BAD_GRAPH;
}

/* Long names are shown up to 60 bytes, and whole characters of these. */
static int shown_size(struct field name)
{
    return (int)text_utf8_size(name.bytes, name.size > 60 ? 60 : name.size);
}

/* The columns in the mask, by name or, without a header, by number. */
static void list_columns(const struct edge_row *header, uint64_t mask, char list[PROBLEM_TEXT_SIZE])
{
    char number[NUMBER_PRINT_SIZE];
    size_t size = 0;

    list[0] = '\0';
    for (size_t i = 0; i < EDGE_COLUMN_LIMIT && size + 2 < PROBLEM_TEXT_SIZE; i++) {
        const struct field label =
            header != NULL
                ? header->fields[i]
                : (struct field){number, number_print_integer((int64_t)i + 1, number), 0};

        if ((mask >> i & 1) != 0) {
            size += (size_t)snprintf(list + size, PROBLEM_TEXT_SIZE - size, "%s%.*s",
                                     size > 0 ? ", " : "", shown_size(label), label.bytes);
        }
    }
}

static enum status refuse_weight_name(const struct edge_row *header, const char *wanted,
                                      size_t count, struct problem *reterr)
{
    char list[PROBLEM_TEXT_SIZE];

    problem_set(reterr, STATUS_BAD_PARAMETER, "weight=%s names no column of weights.", wanted);
    if (header == NULL) {
        problem_hint(reterr, "There is no header: give the number of the column, 3 to %zu.", count);
        return STATUS_BAD_PARAMETER;
    }
    list_columns(header, UINT64_MAX >> (EDGE_COLUMN_LIMIT - header->count), list);
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

/* Several columns could be the weight, or the one that could has a name that says nothing. */
static enum status refuse_numbers(const struct edge_row *header, const struct edge_row *first,
                                  uint64_t numbers, struct problem *reterr)
{
    const struct field place = (header != NULL ? header : first)->fields[__builtin_ctzll(numbers)];
    const bool may_be_row =
        header == NULL && is_number(first->fields[0]) && is_number(first->fields[1]);
    char list[PROBLEM_TEXT_SIZE];
    char least[PROBLEM_TEXT_SIZE];

    list_columns(header, numbers, list);
    list_columns(header, numbers & -numbers, least);
    problem_bad_graph(reterr, 0, place.column,
                      may_be_row       ? "Each line is numbers without a header: an edge with its "
                                         "weight in one of the columns %s, or a row of a matrix."
                      : header == NULL ? "There is no header, and several columns have numbers: %s."
                                       : "No column has a name known for weights, and there are "
                                         "numbers in: %s.",
                      list);
    if (header == NULL && is_number(first->fields[1]) && first->fields[0].size == 1 &&
        first->fields[0].bytes[0] == 'a') {
        problem_hint(reterr, "If this is a DIMACS file, its line p sp N M is missing.");
        return STATUS_BAD_GRAPH;
    }
    problem_hint(
        reterr, "weight=%s takes the weights from that column, weight=none from none%s.", least,
        may_be_row ? "; format=matrix reads a matrix, which has as many lines as columns" : "");
    return STATUS_BAD_GRAPH;
}

/* Whether the field begins as a number does: with a digit, a sign or a mark of a currency. */
static bool looks_numeric(struct field field)
{
    const unsigned char *at = (const unsigned char *)field.bytes;
    size_t left = field.size;

    for (size_t mark = 1; mark > 0 && left > 1; at += mark, left -= mark) {
        mark = *at != '\0' && strchr("+-.$~<> ", *at) != NULL;
        if (at[0] == 0xC2 && at[1] >= 0xA2 && at[1] <= 0xA5) {
            mark = 2;
        } else if (left > 3 && at[0] == 0xE2 && (at[1] == 0x82 || at[1] == 0x88)) {
            mark = 3;
        }
    }
    return left > 0 && isdigit(*at);
}

/* Refuses a second name known for weights, unless the first is "weight" itself. */
static enum status check_rivals(const struct edge_row *header, const struct edge_columns *columns,
                                struct problem *reterr)
{
    const struct field first = header->fields[columns->weight];
    const size_t rank = edge_columns_rank(first, "");

    for (size_t i = 0; i < header->count; i++) {
        const struct field second = header->fields[i];
        const size_t other = edge_columns_rank(second, "");

        if (i != columns->weight && i != columns->source && i != columns->target &&
            other != NO_COLUMN && (rank > 0 || other == 0)) {
            problem_bad_graph(reterr, 0, second.column,
                              "The weight may be \"%.*s\" or \"%.*s\": both names are known.",
                              shown_size(first), first.bytes, shown_size(second), second.bytes);
            problem_hint(reterr, "weight=%.*s takes one of them, weight=%.*s the other.",
                         shown_size(first), first.bytes, shown_size(second), second.bytes);
            return STATUS_BAD_GRAPH;
        }
    }
    return STATUS_OK;
}

/* Chooses the weight among the columns that are no ends, when nobody says which it is. */
static enum status guess_weight(const struct edge_row *header, const struct edge_row *first,
                                const struct edge_hints *hints, struct edge_columns *columns,
                                struct problem *reterr)
{
    const size_t named = header == NULL ? NO_COLUMN : find_weight(header);
    char list[PROBLEM_TEXT_SIZE];
    uint64_t numbers = 0;
    uint64_t ids = 0;

    for (size_t i = 0; i < first->count; i++) {
        if (i != columns->source && i != columns->target) {
            numbers |= (uint64_t)looks_numeric(first->fields[i]) << i;
            ids |= (uint64_t)(header != NULL && edge_columns_is_id(header->fields[i])) << i;
            columns->open |= (uint64_t)(!looks_numeric(first->fields[i])) << i;
        }
    }
    numbers &= ~ids;
    columns->open &= ~ids;
    if (header == NULL) {
        columns->weight = first->count > 2 ? 2 : NO_COLUMN;
        columns->open = 0;
        if ((numbers & (numbers - 1)) != 0 && !(hints->has_time && first->count <= 4)) {
            return refuse_numbers(NULL, first, numbers, reterr);
        }
    } else if (named != NO_COLUMN && named != columns->source && named != columns->target) {
        columns->weight = named;
        columns->open = 0;
        STATUS_TRY(check_rivals(header, columns, reterr));
    } else if (numbers != 0 && columns->count == 3) {
        columns->weight = (size_t)__builtin_ctzll(numbers);
        columns->open = 0;
        list_columns(header, numbers, list);
        warning_hint(warning_add(hints->warnings, WARNING_FORMAT_GUESSED,
                                 "The weights were taken from the column %s, the only one left.",
                                 list),
                     "weight= names the column of the weights.");
    } else if (numbers != 0) {
        return refuse_numbers(header, first, numbers, reterr);
    }
    if (columns->open != 0) {
        list_columns(header, columns->open | ids, list);
        warning_hint(warning_add(hints->warnings, WARNING_WEIGHTS_ABSENT,
                                 "Each edge counts 1; not used: %s.", list),
                     "weight= names the column of the weights.");
        ids = 0;
    }
    for (size_t i = 0; i < first->count; i++) {
        numbers |= (uint64_t)((ids >> i & 1) != 0 && is_number(first->fields[i])) << i;
    }
    numbers &= columns->weight == NO_COLUMN ? UINT64_MAX : ~(UINT64_C(1) << columns->weight);
    if (numbers != 0) {
        list_columns(header, numbers, list);
        warning_hint(warning_add(hints->warnings, WARNING_COLUMNS_UNUSED,
                                 "There are numbers that are not part of the graph, in: %s.", list),
                     "weight= names the column of the weights.");
    }
    return STATUS_OK;
}

/* Refuses a header whose first two columns are no ends: numbers of edges, weights, or places. */
static enum status check_ends(const struct edge_row *header, const struct edge_row *first,
                              const struct edge_hints *hints, struct problem *reterr)
{
    static const char *const places[] = {"lat", "latitude", "stoplat", "y", "label"};
    bool is_clear = header->count <= 3 || hints->weight[0] != '\0';
    bool has_place = false;
    char list[PROBLEM_TEXT_SIZE];

    list_columns(header, UINT64_MAX >> (EDGE_COLUMN_LIMIT - header->count), list);
    for (size_t i = 0; i < 2; i++) {
        is_clear &= !edge_columns_is_id(header->fields[i]) &&
                    edge_columns_rank(header->fields[i], "") == NO_COLUMN;
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const size_t found = find_name(header, places[i]);

        has_place |= found != NO_COLUMN && (i == 4 || looks_numeric(first->fields[found]));
    }
    if (is_clear && !has_place) {
        return STATUS_OK;
    }
    problem_bad_graph(reterr, 0, header->fields[0].column,
                      has_place ? "This is a table of places or nodes, and no list of edges: %s."
                                : "The header names no column of sources and none of targets: %s.",
                      list);
    problem_hint(reterr, has_place ? "Upload the edges first, and PUT places to "
                                     "/v1/graphs/{g}/coordinates then."
                                   : "Name them source and target; weight= takes the ends from the "
                                     "first two columns.");
    return STATUS_BAD_GRAPH;
}

enum status edge_columns_choose(const struct edge_row *header, const struct edge_row *first,
                                const struct edge_hints *hints, struct edge_columns *ret_columns,
                                struct problem *reterr)
{
    struct edge_columns columns = {
        .count = first->count, .target = 1, .weight = NO_COLUMN, .type = NO_COLUMN};
    enum status status = STATUS_OK;
    bool has_ends = true;
    bool directed;

    if (header != NULL && !find_ends(header, &columns.source, &columns.target)) {
        has_ends = false;
        STATUS_TRY(check_ends(header, first, hints, reterr));
    }
    if (header != NULL) {
        columns.type = find_name(header, "type");
        if (columns.type != NO_COLUMN &&
            !edge_columns_type(first->fields[columns.type], &directed)) {
            columns.type = NO_COLUMN;
        }
    }
    if (header != NULL && hints->weight[0] == '\0' &&
        find_name(header, "reversecost") != NO_COLUMN) {
        problem_bad_graph(reterr, 0, header->fields[find_name(header, "reversecost")].column,
                          "The edges have a reverse_cost, that of the edge from target to source.");
        problem_hint(reterr, "weight=cost reads the edges from source to target alone. To have "
                             "both, write those with a reverse_cost once more, from target to "
                             "source.");
        return STATUS_BAD_GRAPH;
    }
    if (hints->weight[0] == '\0') {
        status = guess_weight(header, first, hints, &columns, reterr);
    } else if (!edge_columns_are_unweighted(hints->weight)) {
        columns.weight = find_wanted(header, hints->weight, columns.count);
        if (columns.weight == NO_COLUMN || columns.weight == columns.source ||
            columns.weight == columns.target) {
            return refuse_weight_name(header, hints->weight, columns.count, reterr);
        }
    }
    if (!has_ends) {
        warning_hint(warning_add(hints->warnings, WARNING_HEADER_GUESSED,
                                 "The first line was taken as a header, and its first two columns "
                                 "as source and target, as its names are not known."),
                     "Name the columns source, target and weight.");
    }
    *ret_columns = columns;
    return status;
}

enum status edge_columns_check_open(const struct edge_columns *columns, const struct edge_row *row,
                                    struct problem *reterr)
{
    for (uint64_t open = columns->open; open != 0; open &= open - 1) {
        const struct field field = row->fields[__builtin_ctzll(open)];

        if (looks_numeric(field)) {
            problem_bad_graph(
                reterr, 0, field.column,
                "There is '%.*s' in column %d, which had no number in the first line, "
                "and nothing says whether it is the weight.",
                shown_size(field), field.bytes, __builtin_ctzll(open) + 1);
            problem_hint(reterr, "weight= names the column of the weights, and weight=none says "
                                 "that there is none.");
            return STATUS_BAD_GRAPH;
        }
    }
    return STATUS_OK;
}

void edge_columns_note(const struct edge_columns *columns, const struct edge_row *header,
                       char delimiter, struct reader_notes *notes)
{
    snprintf(notes->variant, sizeof(notes->variant), "%s, %s header",
             field_delimiter_name(delimiter), header == NULL ? "no" : "with");
    if (columns->weight != NO_COLUMN && header == NULL) {
        snprintf(notes->weight, sizeof(notes->weight), "column %zu", columns->weight + 1);
    } else if (columns->weight != NO_COLUMN) {
        const struct field name = header->fields[columns->weight];

        snprintf(notes->weight, sizeof(notes->weight), "%.*s", shown_size(name), name.bytes);
    }
}

bool edge_columns_are_plain(const struct edge_columns *columns)
{
    return columns->source == 0 && columns->target == 1 &&
           columns->count == (columns->weight == NO_COLUMN ? 2 : 3);
}
