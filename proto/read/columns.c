#include "proto/read/columns.h"

#include "proto/number.h"
#include "proto/read/reader.h"
#include "proto/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Pairs of names for source and target, compared ignoring case, spaces, '_' and '-'. */
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

/* Names of weight columns, optionally followed by a unit. "weight" takes precedence. */
static const char *const weight_names[] = {"weight",   "w",     "cost",     "distance",
                                           "length",   "dist",  "value",    "time",
                                           "duration", "count", "capacity", NULL};
static const char *const units[] = {"m",      "km",     "cm",      "mm", "mi",    "miles",
                                    "meters", "metres", "ft",      "s",  "sec",   "seconds",
                                    "min",    "ms",     "minutes", "h",  "hours", NULL};
/* Names of columns that number the edges and are not weights. */
static const char *const id_names[] = {"id",    "edgeid", "linkid", "roadid", "wayid",
                                       "eid",   "fid",    "gid",    "ogcfid", "key",
                                       "index", "osmid",  "suid",   "",       NULL};
/* Pairs of columns that identify tables of places (lon and lat, x and y) or nodes (id, label). */
static const char *const place_names[][2][6] = {
    [PLACES_DEGREES] = {{"lon", "lng", "long", "longitude", "stoplon"},
                        {"lat", "latitude", "stoplat"}},
    [PLACES_PLANE] = {{"x", "xcoord", "easting"}, {"y", "ycoord", "northing"}},
    [PLACES_NODES] = {{"id", "nodeid"}, {"label", "name"}},
};

/* Removes the type from a header field of Neo4j such as "weight:float". A field such as
 * "id:START_ID(Person)" becomes the name of the source column. */
static struct field bare_name(struct field name)
{
    const char *colon = memchr(name.bytes, ':', name.size);

    if (colon == NULL) {
        return name;
    }
    const size_t left = (size_t)(name.bytes + name.size - colon);
    if (left > 8 && strncasecmp(colon, ":START_ID", 9) == 0) {
        return (struct field){"startid", 7, name.column, 0};
    }
    if (left > 6 && strncasecmp(colon, ":END_ID", 7) == 0) {
        return (struct field){"endid", 5, name.column, 0};
    }
    name.size -= left;
    return name;
}

/* Returns whether the text is a unit, as in "weight_km" and "time (s)". */
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

/* Returns the index of the name in a list, or NO_COLUMN. may_have_unit: a unit may follow it. */
static size_t rank_of(struct field name, const char *const *list, bool may_have_unit)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        if (name_is(name, list[i], may_have_unit)) {
            return i;
        }
    }
    return NO_COLUMN;
}

size_t columns_find_name(const struct table_row *row, const char *name)
{
    for (size_t i = 0; i < row->count; i++) {
        if (name_is(row->fields[i], name, false)) {
            return i;
        }
    }
    return NO_COLUMN;
}

static bool find_pair(const struct table_row *row, const char *const pairs[][2], size_t count,
                      size_t ret_columns[2])
{
    for (size_t i = 0; i < count; i++) {
        const size_t first = columns_find_name(row, pairs[i][0]);
        const size_t second = columns_find_name(row, pairs[i][1]);

        if (first != NO_COLUMN && second != NO_COLUMN) {
            ret_columns[0] = first;
            ret_columns[1] = second;
            return true;
        }
    }
    return false;
}

bool columns_find_places(const struct table_row *header, enum places kind, size_t ret_columns[2])
{
    for (int i = 0; i < 2; i++) {
        const char *const *name = place_names[kind][i];

        do {
            ret_columns[i] = columns_find_name(header, *name++);
        } while (ret_columns[i] == NO_COLUMN && *name != NULL);
    }
    return ret_columns[0] != NO_COLUMN && ret_columns[1] != NO_COLUMN;
}

/* Returns whether this name excludes a column from being a source or target. */
static bool is_no_end(struct field name)
{
    return rank_of(name, weight_names, true) != NO_COLUMN ||
           rank_of(name, id_names, false) != NO_COLUMN || name_is(name, "oneway", false) ||
           is_unit(name.bytes, name.bytes + name.size);
}

bool columns_find_known(const struct table_row *header, size_t ret_columns[3])
{
    size_t columns[3];

    if (header->count != 3 || !find_pair(header, end_names, END_NAME_COUNT, columns)) {
        return false;
    }
    columns[2] = 3 - columns[0] - columns[1];
    const struct field weight = header->fields[columns[2]];
    if (columns_look_numeric(weight) || name_is(weight, "null", false) ||
        rank_of(weight, id_names, false) != NO_COLUMN) {
        return false;
    }
    memcpy(ret_columns, columns, sizeof(columns));
    return true;
}

/* Returns the column that a parameter specifies, by name or by number from 1. */
static size_t find_wanted(const struct table_row *header, const char *wanted, size_t count)
{
    const size_t size = strlen(wanted);
    size_t found = NO_COLUMN;
    size_t matches = 0;
    int64_t number;

    for (size_t i = 0; header != NULL && i < header->count; i++) {
        if (header->fields[i].size == size &&
            strncasecmp(header->fields[i].bytes, wanted, size) == 0) {
            found = i;
            matches++;
        }
    }
    if (matches == 0 && number_parse_integer(wanted, size, &number) && number >= 1 &&
        number <= (int64_t)count) {
        return (size_t)number - 1;
    }
    return matches == 1 ? found : NO_COLUMN;
}

bool columns_look_numeric(struct field field)
{
    const unsigned char *at = (const unsigned char *)field.bytes;
    size_t left = field.size;
    size_t mark = 1;

    /* Skip signs and currency symbols: dollar, cent, pound, yen, euro and others. */
    while (mark > 0 && left > 1) {
        mark = *at == '\0' || strchr("+-.$~<> ", *at) == NULL ? 0 : 1;
        if (at[0] == 0xC2 && at[1] >= 0xA2 && at[1] <= 0xA5) {
            mark = 2;
        } else if (left > 3 && at[0] == 0xE2 && (at[1] == 0x82 || at[1] == 0x88)) {
            mark = 3;
        }
        at += mark;
        left -= mark;
    }
    return left > 0 && isdigit(*at);
}

/* Records the kind of values in a column that has no role; numbers take precedence over words. */
static void look_at(const struct columns *columns, struct column *column, struct field value)
{
    const bool is_number = reader_is_number(columns->reader, value);

    if (value.size == 0 || column->look >= LOOK_NUMBER) {
        return;
    }
    if (!is_number && !columns_look_numeric(value)) {
        column->look = LOOK_WORDS;
        return;
    }
    column->look = is_number ? LOOK_NUMBER : LOOK_UNREADABLE_NUMBER;
    column->first = value;
    snprintf(column->sample, sizeof(column->sample), "%.*s",
             (int)text_utf8_size(value.bytes, value.size > 30 ? 30 : value.size), value.bytes);
    if (value.line == 0) {
        column->first.line = columns->reader->splitter.line;
    }
}

/* Prints a list of columns, truncated to fit: all columns or, if are_unused, the columns without a
 * role whose kind of values is at least `least`. Returns the first of them, or NULL. */
static const struct column *list_columns(const struct columns *columns, bool are_unused,
                                         enum column_look least, const char *separator,
                                         char list[PROBLEM_TEXT_SIZE])
{
    const struct column *first = NULL;
    size_t size = 0;

    list[0] = '\0';
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->list[i];

        if (are_unused && (column->role != ROLE_UNUSED || column->look < least ||
                           (least > LOOK_EMPTY && column->is_id))) {
            continue;
        }
        if (size < PROBLEM_TEXT_SIZE / 2) {
            size += (size_t)snprintf(list + size, PROBLEM_TEXT_SIZE - size, "%s%s",
                                     first != NULL ? separator : "", column->name);
        }
        first = first == NULL ? column : first;
    }
    return first;
}

void columns_init(struct columns *columns, struct reader *reader)
{
    columns->reader = reader;
    columns->is_unweighted = strcmp(reader->options.weight, "none") == 0;
    columns->rival = NO_COLUMN;
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        columns->roles[i] = NO_COLUMN;
    }
}

/* Adds a column; an empty name is replaced by the number of the column. */
static struct column *add_column(struct columns *columns, struct field name)
{
    struct column *column = &columns->list[columns->count++];
    const size_t shown = text_utf8_size(
        name.bytes, name.size > COLUMN_NAME_SIZE - 4 ? COLUMN_NAME_SIZE - 4 : name.size);

    const struct field singular = {name.bytes, name.size - (name.size > 0), 0, 0};

    *column = (struct column){.rank = rank_of(name, weight_names, true),
                              .is_plural = rank_of(singular, weight_names, false) != NO_COLUMN,
                              .is_id = rank_of(name, id_names, false) != NO_COLUMN};
    if (shown > 0) {
        memcpy(column->name, name.bytes, shown);
    } else {
        snprintf(column->name, sizeof(column->name), "column %zu", columns->count);
    }
    return column;
}

static void set_role(struct columns *columns, size_t index, enum column_role role)
{
    if (columns->roles[role] != NO_COLUMN) {
        columns->list[columns->roles[role]].role = ROLE_UNUSED;
    }
    columns->roles[role] = index;
    columns->list[index].role = role;
    columns->last_role = role > columns->last_role ? role : columns->last_role;
}

/* Proposes a column with a known name as the weight. "weight" takes precedence over all other
 * names. Two columns with other names are ambiguous, unless a column "weight" follows. */
static void propose_weight(struct columns *columns, size_t index)
{
    const size_t weight = columns->roles[ROLE_WEIGHT];
    const size_t rank = columns->list[index].rank;

    if (weight == NO_COLUMN || (rank == 0 && columns->list[weight].rank != 0 &&
                                columns->reader->builder.list.count == 0)) {
        set_role(columns, index, ROLE_WEIGHT);
        columns->rival = NO_COLUMN;
    } else if (columns->list[weight].rank != 0 || rank == 0) {
        columns->rival = index;
    }
}

static enum status refuse_rivals(const struct columns *columns, struct field place,
                                 struct problem *reterr)
{
    const char *first = columns->list[columns->roles[ROLE_WEIGHT]].name;
    const char *second = columns->list[columns->rival].name;

    problem_bad_graph(reterr, place.line, place.column,
                      "Edges have both \"%s\" and \"%s\", and either may be the weight.", first,
                      second);
    problem_hint(reterr, "Choose one with weight=%s or weight=%s.", first, second);
    return STATUS_BAD_GRAPH;
}

/* Returns whether a column holds the weight of the reverse direction, for example reverse_cost_s
 * for cost_s. */
static bool is_reverse_of(const char *reverse, const char *cost)
{
    return strncasecmp(reverse, "reverse", 7) == 0 &&
           strcasecmp(reverse + 7 + strspn(reverse + 7, " _-"), cost) == 0;
}

/* Assigns a role that the name alone determines, except the roles of source and target. */
static void propose_role(struct columns *columns, size_t index, struct field name)
{
    const char *wanted = columns->reader->options.weight;
    struct column *column = &columns->list[index];

    columns->has_reversed |= name_is(name, "reversed", false);
    if (name_is(name, "oneway", false)) {
        set_role(columns, index, ROLE_ONE_WAY);
    } else if (name_is(name, "reversecost", true) &&
               (is_reverse_of(column->name, wanted) ||
                (columns->roles[ROLE_REVERSE] == NO_COLUMN &&
                 (wanted[0] == '\0' || isdigit((unsigned char)wanted[0]))))) {
        set_role(columns, index, ROLE_REVERSE);
    } else if (wanted[0] == '\0' && column->rank != NO_COLUMN) {
        propose_weight(columns, index);
    }
}

/* Returns whether the column with the reverse weight is used. It is used only if its name matches
 * that of the weight column, as reverse_cost matches cost. */
static bool is_reverse_used(const struct columns *columns)
{
    const size_t weight = columns->roles[ROLE_WEIGHT];
    const size_t reverse = columns->roles[ROLE_REVERSE];

    return reverse != NO_COLUMN && weight != NO_COLUMN &&
           is_reverse_of(columns->list[reverse].name, columns->list[weight].name);
}

bool columns_is_end(const struct columns *columns, const struct table_row *row, size_t index)
{
    const struct graph_options *options = &columns->reader->options;

    return options->source_column[0] == '\0'
               ? index < 2
               : find_wanted(row, options->source_column, row->count) == index ||
                     find_wanted(row, options->target_column, row->count) == index;
}

bool columns_know_header(const struct columns *columns, const struct table_row *row)
{
    const struct graph_options *options = &columns->reader->options;
    size_t ends[2];

    if (options->source_column[0] != '\0' && options->target_column[0] != '\0') {
        return find_wanted(row, options->source_column, 0) != NO_COLUMN &&
               find_wanted(row, options->target_column, 0) != NO_COLUMN;
    }
    return find_pair(row, end_names, END_NAME_COUNT, ends);
}

static enum status refuse_name(const struct columns *columns, const char *parameter,
                               const char *wanted, struct problem *reterr)
{
    char list[PROBLEM_TEXT_SIZE];

    (void)list_columns(columns, false, LOOK_EMPTY, ", ", list);
    problem_set(reterr, STATUS_BAD_PARAMETER, "%s=%s names no suitable column, or several columns.",
                parameter, wanted);
    problem_hint(reterr, "The columns are: %s.", list);
    return STATUS_BAD_PARAMETER;
}

bool columns_are_places(const struct table_row *header, const struct table_row *first)
{
    size_t pair[2];

    return first->count == header->count && (columns_find_places(header, PLACES_NODES, pair) ||
                                             ((columns_find_places(header, PLACES_DEGREES, pair) ||
                                               columns_find_places(header, PLACES_PLANE, pair)) &&
                                              columns_look_numeric(first->fields[pair[0]]) &&
                                              columns_look_numeric(first->fields[pair[1]])));
}

static enum status refuse_ends(const struct columns *columns, const struct table_row *header,
                               const struct table_row *first, struct problem *reterr)
{
    char list[PROBLEM_TEXT_SIZE];

    if (header != NULL && columns_are_places(header, first)) {
        return problem_bad_graph_hint(
            reterr, 0, header->fields[0].column,
            "Upload the edges first, then PUT this file to /v1/graphs/{g}/coordinates. If the file "
            "is a list of edges, name its columns with source_column= and target_column=.",
            "This is a table of places or nodes, not a list of edges.");
    }
    if (header == NULL) {
        return problem_bad_graph_hint(
            reterr, 0, first->fields[2].column,
            "weight=3 reads edges from columns 1 and 2 and weights from column 3; source_column= "
            "and target_column= choose other columns; format=matrix reads a matrix. Put comments "
            "on separate lines. A DIMACS file needs a line p sp N M.",
            "There is no header, and each line has %zu columns, so a line may be an edge with its "
            "weight in column 3 or later, or a row of a matrix.",
            first->count);
    }
    (void)list_columns(columns, false, LOOK_EMPTY, ", ", list);
    return problem_bad_graph_hint(
        reterr, 0, header->fields[0].column,
        "Name the columns with source_column=, target_column= and weight=, or specify "
        "format=matrix if the file is a matrix.",
        "No columns have recognized names for source and target. The columns are: %s.", list);
}

static enum status choose_ends(struct columns *columns, const struct table_row *header,
                               const struct table_row *first, bool has_time, size_t ret_ends[2],
                               struct problem *reterr)
{
    const struct graph_options *options = &columns->reader->options;
    const char *wanted[2] = {options->source_column, options->target_column};
    static const char *const parameters[2] = {"source_column", "target_column"};

    ret_ends[0] = 0;
    ret_ends[1] = 1;
    if (wanted[0][0] != '\0' || wanted[1][0] != '\0') {
        columns->ends = ENDS_BY_PARAMETER;
        for (int i = 0; i < 2; i++) {
            ret_ends[i] = find_wanted(header, wanted[i], columns->count);
            if (ret_ends[i] == NO_COLUMN || (i == 1 && ret_ends[0] == ret_ends[1])) {
                return refuse_name(columns, parameters[i], wanted[i], reterr);
            }
        }
        return STATUS_OK;
    }
    if (header != NULL && find_pair(header, end_names, END_NAME_COUNT, ret_ends)) {
        return STATUS_OK;
    }
    columns->ends = ENDS_BY_POSITION;
    if (header == NULL) {
        return columns->count <= 3 || options->weight[0] != '\0' ||
                       (has_time && columns->count == 4)
                   ? STATUS_OK
                   : refuse_ends(columns, NULL, first, reterr);
    }
    return (columns->count <= 3 || options->weight[0] != '\0') &&
                   !columns_are_places(header, first) && !is_no_end(header->fields[0]) &&
                   !is_no_end(header->fields[1]) &&
                   (columns->count != 3 || columns_look_numeric(first->fields[2]))
               ? STATUS_OK
               : refuse_ends(columns, header, first, reterr);
}

/* Chooses the weight column: by parameter, by known name, or as the third of three columns. */
static enum status choose_weight(struct columns *columns, const struct table_row *header,
                                 const struct table_row *first, bool has_time,
                                 struct problem *reterr)
{
    const char *wanted = columns->reader->options.weight;
    const size_t weight = columns->roles[ROLE_WEIGHT];
    size_t left = 0;

    if (columns->is_unweighted) {
        return STATUS_OK;
    }
    if (wanted[0] != '\0') {
        left = find_wanted(header, wanted, columns->count);
        if (left == NO_COLUMN || columns->list[left].role == ROLE_SOURCE ||
            columns->list[left].role == ROLE_TARGET) {
            return refuse_name(columns, "weight", wanted, reterr);
        }
        set_role(columns, left, ROLE_WEIGHT);
        return STATUS_OK;
    }
    if (columns->rival != NO_COLUMN) {
        return refuse_rivals(columns, header->fields[columns->rival], reterr);
    }
    while (left < columns->count && columns->list[left].role != ROLE_UNUSED) {
        left++;
    }
    if (weight != NO_COLUMN || left == columns->count ||
        (columns->count != 3 && !(has_time && columns->count == 4)) ||
        (header != NULL &&
         (columns->list[left].is_id || !columns_look_numeric(first->fields[left])))) {
        return STATUS_OK;
    }
    set_role(columns, left, ROLE_WEIGHT);
    if (header != NULL) {
        warning_hint(warning_add(&columns->reader->notes.warnings, WARNING_FORMAT_GUESSED,
                                 "The weights were read from %s, the only remaining column.",
                                 columns->list[left].name),
                     "Name the weight column with weight=.");
    }
    return STATUS_OK;
}

/* Assigns the roles of the columns from the header and the first row. */
static void add_columns(struct columns *columns, const struct table_row *header,
                        const struct table_row *first, const size_t ends[2])
{
    set_role(columns, ends[0], ROLE_SOURCE);
    set_role(columns, ends[1], ROLE_TARGET);
    for (size_t i = 0; i < columns->count && header != NULL; i++) {
        const struct field value = first->fields[i];

        if (columns->list[i].role != ROLE_UNUSED) {
            continue;
        }
        propose_role(columns, i, header->fields[i]);
        if (name_is(header->fields[i], "type", false) &&
            (name_is(value, "directed", false) || name_is(value, "undirected", false))) {
            set_role(columns, i, ROLE_TYPE);
            columns->undirected = name_is(value, "undirected", false);
        }
    }
}

enum status columns_choose(struct columns *columns, const struct table_row *header,
                           const struct table_row *first, bool has_time, struct problem *reterr)
{
    struct reader_notes *notes = &columns->reader->notes;
    char number[NUMBER_PRINT_SIZE];
    size_t ends[2];

    columns->has_header = header != NULL;
    for (size_t i = 0; i < first->count; i++) {
        (void)add_column(
            columns,
            header != NULL
                ? header->fields[i]
                : (struct field){number, number_print_integer((int64_t)i + 1, number), 0, 0});
    }
    STATUS_TRY(choose_ends(columns, header, first, has_time, ends, reterr));
    add_columns(columns, header, first, ends);
    STATUS_TRY(choose_weight(columns, header, first, has_time, reterr));
    if (columns->ends == ENDS_BY_POSITION && header != NULL) {
        warning_hint(warning_add(&notes->warnings, WARNING_HEADER_GUESSED,
                                 "The first line was read as a header with source column %s and "
                                 "target column %s, although these names are not recognized.",
                                 columns->list[0].name, columns->list[1].name),
                     "Name the columns source, target and weight, or specify source_column= and "
                     "target_column=.");
    }
    notes->says_direction |= columns->roles[ROLE_TYPE] != NO_COLUMN;
    return STATUS_OK;
}

static enum status check_type(const struct columns *columns, struct field type,
                              struct problem *reterr)
{
    const bool directed = name_is(type, "directed", false);

    if ((directed || name_is(type, "undirected", false)) && directed != columns->undirected) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(reterr, 0, type.column,
                                  "Specify directed=true or directed=false for all edges, or write "
                                  "each undirected edge as two directed edges.",
                                  "The type of the edge is '%.*s', but the edges before it are %s.",
                                  type.size > 40 ? 40 : (int)type.size, type.bytes,
                                  columns->undirected ? "undirected" : "directed");
}

enum status columns_read_row(struct columns *columns, const struct table_row *row,
                             struct edge_record *record, struct problem *reterr)
{
    const bool is_open = columns->roles[ROLE_WEIGHT] == NO_COLUMN;

    for (size_t role = ROLE_SOURCE; role <= columns->last_role; role++) {
        const size_t index = columns->roles[role];

        record->values[role] =
            index != NO_COLUMN ? row->fields[index] : (struct field){NULL, 0, 0, 0};
    }
    for (size_t i = 0; i < columns->count && is_open; i++) {
        if (columns->list[i].role == ROLE_UNUSED) {
            look_at(columns, &columns->list[i], row->fields[i]);
        }
    }
    if (columns->roles[ROLE_TYPE] != NO_COLUMN && !columns->reader->options.has_directed) {
        return check_type(columns, record->values[ROLE_TYPE], reterr);
    }
    return STATUS_OK;
}

enum status columns_find(struct columns *columns, struct field name, bool is_nested,
                         size_t *ret_index, struct problem *reterr)
{
    const char *wanted = columns->reader->options.weight;
    const size_t shown = name.size > COLUMN_NAME_SIZE - 4 ? COLUMN_NAME_SIZE - 4 : name.size;

    for (size_t i = 0; i < columns->count; i++) {
        const size_t at = (columns->last + 1 + i) % columns->count;
        const struct column *column = &columns->list[at];

        if (strlen(column->name) == shown && memcmp(column->name, name.bytes, shown) == 0 &&
            column->is_nested == is_nested) {
            *ret_index = columns->last = at;
            return STATUS_OK;
        }
    }
    if (columns->count == COLUMN_LIMIT) {
        return problem_bad_graph_hint(reterr, name.line, name.column,
                                      "Export only the attribute with the weight.",
                                      "The edges have more than %d attributes.", COLUMN_LIMIT);
    }
    struct column *column = add_column(columns, name);

    columns->has_header = true;
    *ret_index = columns->last = columns->count - 1;
    column->is_nested = is_nested;
    if (!is_nested && strlen(wanted) == name.size && memcmp(wanted, name.bytes, name.size) == 0 &&
        !columns->is_unweighted) {
        set_role(columns, *ret_index, ROLE_WEIGHT);
    } else if (!is_nested) {
        propose_role(columns, *ret_index, name);
    }
    return STATUS_OK;
}

enum status columns_accept_value(struct columns *columns, size_t index, struct field value,
                                 struct edge_record *record, struct problem *reterr)
{
    struct column *column = &columns->list[index];
    struct field *to = &record->values[column->role];
    char *copy = columns->values[column->role];

    if (column->role == ROLE_UNUSED) {
        look_at(columns, column, value);
        return STATUS_OK;
    }
    if (to->bytes != NULL && record->from[column->role] == index) {
        return problem_bad_graph(reterr, value.line, value.column,
                                 "The edge has the attribute \"%s\" twice.", column->name);
    }
    if (value.size >= COLUMN_VALUE_SIZE) {
        return problem_bad_graph(reterr, value.line, value.column,
                                 "The value is longer than %d bytes.", COLUMN_VALUE_SIZE - 1);
    }
    memcpy(copy, value.bytes, value.size);
    record->from[column->role] = index;
    *to = value;
    to->bytes = copy;
    return STATUS_OK;
}

void columns_bar_numbers(struct columns *columns, size_t index)
{
    struct column *column = &columns->list[index];

    if (column->role == ROLE_WEIGHT) {
        column->role = ROLE_UNUSED;
        columns->roles[ROLE_WEIGHT] = NO_COLUMN;
    }
    column->is_id = true;
}

enum way { WAY_FORTH, WAY_BACK, WAY_BOTH };

static enum status parse_one_way(struct columns *columns, struct field value, enum way *ret_way,
                                 struct problem *reterr)
{
    static const char *const forth[] = {"yes", "true", "1", "t", NULL};
    static const char *const both[] = {"no", "false", "0", "f", NULL};
    const bool is_back = value.size == 2 && memcmp(value.bytes, "-1", 2) == 0;

    *ret_way = WAY_FORTH;
    if (columns->has_reversed) {
        return STATUS_OK;
    }
    if (is_back) {
        columns->back_ways++;
        *ret_way = WAY_BACK;
    } else if (value.size == 0 || rank_of(value, both, false) != NO_COLUMN) {
        columns->both_ways++;
        *ret_way = WAY_BOTH;
    } else if (rank_of(value, forth, false) == NO_COLUMN) {
        return problem_bad_graph_hint(
            reterr, value.line, value.column,
            "Write yes, true or 1 for source to target, -1 for target to source, and no, false or "
            "0 for both directions; or remove the column.",
            "oneway is '%.*s', which is not yes, no or -1.", value.size > 40 ? 40 : (int)value.size,
            value.bytes);
    }
    return STATUS_OK;
}

/* Adds one direction of a record as an edge. In a table of pgRouting, a negative cost marks a
 * closed direction, which is not added. */
static enum status add_way(struct columns *columns, uint32_t source, uint32_t target,
                           struct field weight, struct problem *reterr)
{
    const uint32_t ends[2] = {source, target};
    char point[COLUMN_VALUE_SIZE];
    const struct field read = reader_point(columns->reader, weight, point);
    double cost;

    if (is_reverse_used(columns) && number_parse_real(read.bytes, read.size, &cost) && cost < 0) {
        columns->no_ways++;
        return STATUS_OK;
    }
    return reader_add_edge(columns->reader, ends, weight, reterr);
}

/* Checks that either all edges have a weight or none has. */
static enum status check_weight(struct columns *columns, const struct edge_record *record,
                                struct problem *reterr)
{
    const struct field weight = record->values[ROLE_WEIGHT];
    const bool is_missing = weight.size == 0;
    struct field place = weight.bytes != NULL ? weight : record->place;

    if (columns->roles[ROLE_WEIGHT] == NO_COLUMN || (!is_missing && !columns->has_unweighted)) {
        if (!columns->has_unweighted && is_missing) {
            columns->unweighted = place;
            columns->has_unweighted = true;
        }
        return STATUS_OK;
    }
    place = columns->has_unweighted ? columns->unweighted : place;
    return problem_bad_graph_hint(reterr, place.line, place.column,
                                  "Other edges have a weight. Add the weight, remove the edge, or "
                                  "count each edge as 1 with weight=none.",
                                  "The weight is missing.");
}

enum status columns_add_edge(struct columns *columns, const struct edge_record *record,
                             bool is_undirected, struct problem *reterr)
{
    struct field weight = record->values[ROLE_WEIGHT];
    struct field back = record->values[ROLE_REVERSE];
    enum way way = is_undirected ? WAY_BOTH : WAY_FORTH;

    if (!columns->is_unweighted) {
        STATUS_TRY(columns->rival != NO_COLUMN ? refuse_rivals(columns, record->place, reterr)
                                               : STATUS_OK);
        STATUS_TRY(check_weight(columns, record, reterr));
    }
    if (columns->roles[ROLE_WEIGHT] == NO_COLUMN || weight.bytes == NULL) {
        weight = (struct field){"1", 1, record->place.column, record->place.line};
    }
    if (columns->roles[ROLE_ONE_WAY] != NO_COLUMN && !is_undirected) {
        STATUS_TRY(parse_one_way(columns, record->values[ROLE_ONE_WAY], &way, reterr));
    }
    const bool has_back = is_reverse_used(columns) && back.bytes != NULL && back.size > 0;
    back = has_back ? back : weight;
    if (way != WAY_BACK) {
        STATUS_TRY(add_way(columns, record->ends[0], record->ends[1], weight, reterr));
    }
    if (way != WAY_FORTH || has_back) {
        return add_way(columns, record->ends[1], record->ends[0], back, reterr);
    }
    return STATUS_OK;
}

static void warn_directions(const struct columns *columns, struct warnings *warnings)
{
    const bool has_one_way = columns->roles[ROLE_ONE_WAY] != NO_COLUMN && !columns->has_reversed;

    if (has_one_way || is_reverse_used(columns)) {
        warning_hint(
            warning_add(
                warnings, WARNING_DIRECTIONS_READ,
                "Edge directions were read from the column %s. Edges in both directions: %llu, "
                "reversed: %llu; directions omitted because of a negative cost: %llu.",
                has_one_way ? "oneway" : "reverse_cost", (unsigned long long)columns->both_ways,
                (unsigned long long)columns->back_ways, (unsigned long long)columns->no_ways),
            "Remove the column to read each record as one edge from source to target.");
    }
}

static void warn_unused(const struct columns *columns, struct warnings *warnings)
{
    char list[PROBLEM_TEXT_SIZE];

    if (columns->is_unweighted || list_columns(columns, true, LOOK_EMPTY, ", ", list) == NULL) {
        return;
    }
    struct warning *warning =
        columns->roles[ROLE_WEIGHT] != NO_COLUMN
            ? warning_add(warnings, WARNING_COLUMNS_UNUSED,
                          "These columns are not part of the graph: %s.", list)
            : warning_add(warnings, WARNING_WEIGHTS_ABSENT,
                          "Each edge counts as 1; these columns are not used: %s.", list);
    warning_hint(warning, "Name the weight column with weight=, or specify weight=none if there is "
                          "no weight column.");
    (void)list_columns(columns, true, LOOK_EMPTY, "\x1F", warning->columns);
}

/* If no edge has a weight, refuses unused columns of numbers, because one may be the weight. */
static enum status check_left(const struct columns *columns, struct problem *reterr)
{
    const char *wanted = columns->reader->options.weight;
    char list[PROBLEM_TEXT_SIZE];

    if (columns->roles[ROLE_WEIGHT] != NO_COLUMN || columns->is_unweighted) {
        return STATUS_OK;
    }
    if (wanted[0] != '\0' && columns->reader->builder.list.count > 0) {
        return refuse_name(columns, "weight", wanted, reterr);
    }
    const struct column *first = list_columns(columns, true, LOOK_NUMBER, ", ", list);
    if (first == NULL) {
        return STATUS_OK;
    }
    problem_bad_graph(reterr, first->first.line, first->first.column,
                      "No column is recognized as the weight, but the field '%s' is a number. "
                      "Numeric columns: %s.",
                      first->sample, list);
    problem_hint(
        reterr,
        first->look != LOOK_NUMBER
            ? "Write only the number, without units, currency signs or thousands separators. For "
              "decimal commas, specify \"decimal=,\". To count each edge as 1, specify weight=none."
        : first->is_nested || first->is_text
            ? columns->reader->format == FORMAT_JGF
                  ? "Write the weight as a number in the metadata of the edge, such as "
                    "\"metadata\": {\"weight\": 5}, or count each edge as 1 with weight=none."
                  : "Write the weight as a number in the edge itself, such as \"weight\": 5, name "
                    "another attribute with weight=, or count each edge as 1 with weight=none."
            : "Specify weight=%s to read the weights from this column, or weight=none to count "
              "each edge as 1.",
        first->name);
    return STATUS_BAD_GRAPH;
}

enum status columns_finish(struct columns *columns, struct problem *reterr)
{
    struct reader_notes *notes = &columns->reader->notes;
    const size_t unused[2] = {is_reverse_used(columns) ? NO_COLUMN : columns->roles[ROLE_REVERSE],
                              columns->has_reversed ? columns->roles[ROLE_ONE_WAY] : NO_COLUMN};
    const size_t weight = columns->roles[ROLE_WEIGHT];

    STATUS_TRY(check_left(columns, reterr));
    for (int i = 0; i < 2; i++) {
        if (unused[i] != NO_COLUMN) {
            columns->list[unused[i]].role = ROLE_UNUSED;
        }
    }
    warn_directions(columns, &notes->warnings);
    warn_unused(columns, &notes->warnings);
    notes->says_direction |= columns->roles[ROLE_ONE_WAY] != NO_COLUMN || is_reverse_used(columns);
    if (weight != NO_COLUMN) {
        snprintf(notes->weight, sizeof(notes->weight), "%s%s", columns->has_header ? "" : "column ",
                 columns->list[weight].name);
    }
    return STATUS_OK;
}
