/* Edge lists: SNAP, CSV (RFC 4180), TSV, KONECT. There is one edge per line; '#' and '%' begin
 * comments. The first lines determine the delimiter, the header and the columns. */
#include "proto/name_table.h"
#include "proto/number.h"
#include "proto/read/columns.h"
#include "proto/read/edge_checks.h"
#include "proto/read/reader.h"
#include "proto/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffer size for a header and the row after it. */
#define SCRATCH_SIZE ((size_t)2 * READER_LINE_LIMIT)

struct edges {
    struct reader reader;
    struct columns columns;
    struct name_table *names; /* unused when the options give a vertex count */
    struct field_cursor cursor;
    char announced; /* delimiter declared by a line "sep=;", or 0 */
    bool decided;   /* whether delimiter and columns are known */
    bool is_plain;  /* only the columns source, target and perhaps weight, and no n= */
    struct edge_comments comments;
    bool is_counted; /* the first line contains the numbers of vertices and edges */
    bool has_dicts;  /* each line ends with a Python dict */
    bool has_header;
    bool may_be_edge;    /* the header was guessed, so the first line may be an edge */
    int64_t integers[3]; /* leading integers of the first line; missing ones are 0 */
    struct table_row row;
    struct edge_record record;
    char *scratch;      /* buffer for quoted fields, without their doubled quotes */
    struct text joined; /* lines of a quoted field that is still open */
    uint64_t joined_line;
    struct text held; /* first line, until the next line shows its meaning */
    uint64_t held_line;
    struct text comment; /* last comment above the first line, which may be the header */
    uint64_t comment_line;
};

static enum status cut_row(struct edges *edges, const char *line, size_t size,
                           struct problem *reterr)
{
    edges->cursor.scratch = edges->scratch;
    return field_cut_row(&edges->row, &edges->cursor, line, size, reterr);
}

static enum status number_vertex(const struct edges *edges, struct field field, uint32_t *ret_row,
                                 struct problem *reterr)
{
    const uint32_t vertex_count = edges->reader.options.vertex_count;
    int64_t vertex;

    if (!number_parse_integer(field.bytes, field.size, &vertex) || vertex < 0 ||
        vertex >= vertex_count) {
        return problem_bad_graph(reterr, 0, field.column,
                                 "'%.*s' is not a vertex: with n=%u, vertices are 0 to n-1.",
                                 field.size > 40 ? 40 : (int)field.size, field.bytes, vertex_count);
    }
    *ret_row = (uint32_t)vertex;
    return STATUS_OK;
}

static enum status name_vertex(struct edges *edges, struct field field, uint32_t *ret_row,
                               struct problem *reterr)
{
    const bool is_quoted =
        field.bytes >= edges->scratch && field.bytes < edges->scratch + SCRATCH_SIZE;
    const uint32_t named = name_table_count(edges->names);
    char digits[24];

    if (!is_quoted) {
        field = edge_check_integer(field, digits);
    }
    if (edges->reader.options.has_vertex_count) {
        return number_vertex(edges, field, ret_row, reterr);
    }
    STATUS_TRY(reader_name_vertex(edges->names, field, ret_row, reterr));
    if (*ret_row < named) {
        return STATUS_OK;
    }
    STATUS_TRY(is_quoted ? STATUS_OK : edge_check_name(field, edges->has_header, reterr));
    return graph_builder_admit(&edges->reader.builder, (uint64_t)named + 1, reterr);
}

/* Refuses a line with the wrong number of columns. The problem's position is the first extra
 * column, or the last column if some are missing. */
static enum status refuse_count(const struct edges *edges, const struct table_row *row,
                                size_t first, struct problem *reterr)
{
    const struct field *place = &row->fields[row->count > first ? first : row->count - 1];
    const bool has_comment = place->size > 0 && strchr("#%/", *place->bytes) != NULL;
    const char *hint =
        has_comment ? "Put the comment on a separate line, and begin it with # and a space."
        : edges->held.size > 0 && row->count == first + 1
            ? "In R, omit the row names: write.table(edges, 'g.txt', row.names=FALSE)."
        : edges->cursor.delimiter == ' '
            ? "If each line lists a vertex and its neighbours, convert the file: import json, "
              "networkx; json.dump(networkx.node_link_data(networkx.read_adjlist('g.txt')), "
              "open('g.json', 'w'))"
            : NULL;
    return problem_bad_graph_hint(reterr, edges->reader.splitter.line, place->column, hint,
                                  "The line has %zu columns, but the first line has %zu.",
                                  row->count, first);
}

/* Drops an empty field after the `wanted` fields, which a trailing delimiter produces. */
static void drop_empty_last(struct table_row *row, size_t wanted)
{
    row->count -= row->count == wanted + 1 && row->fields[wanted].size == 0;
}

static enum status add_record(struct edges *edges, struct edge_record *record,
                              struct problem *reterr)
{
    STATUS_TRY(name_vertex(edges, record->values[ROLE_SOURCE], &record->ends[0], reterr));
    STATUS_TRY(name_vertex(edges, record->values[ROLE_TARGET], &record->ends[1], reterr));
    record->place = record->values[ROLE_TARGET];
    return columns_add_edge(&edges->columns, record, false, reterr);
}

static enum status parse_edge(struct edges *edges, struct problem *reterr)
{
    struct table_row *row = &edges->row;

    drop_empty_last(row, edges->columns.count);
    if (row->count != edges->columns.count) {
        return refuse_count(edges, row, edges->columns.count, reterr);
    }
    STATUS_TRY(columns_read_row(&edges->columns, row, &edges->record, reterr));
    return add_record(edges, &edges->record, reterr);
}

/* Chooses the columns from the first row of data, edges->row; header may be NULL. */
static enum status decide_columns(struct edges *edges, const struct table_row *header,
                                  struct problem *reterr)
{
    const struct graph_options *options = &edges->reader.options;
    struct reader_notes *notes = &edges->reader.notes;
    const size_t *roles = edges->columns.roles;

    if (edges->row.count < 2) {
        return problem_bad_graph_hint(
            reterr, 0, edges->row.fields[0].column,
            "Separate the columns by commas, semicolons, tabs or spaces, and remove any line above "
            "the list that gives the number of vertices or edges.",
            "There is one column, but an edge needs a source and a target.");
    }
    STATUS_TRY(
        columns_choose(&edges->columns, header, &edges->row, edges->comments.is_konect, reterr));
    edges->decided = true;
    edges->has_header = header != NULL;
    edges->is_plain = !options->has_vertex_count && roles[ROLE_SOURCE] == 0 &&
                      roles[ROLE_TARGET] == 1 && edges->columns.last_role <= ROLE_WEIGHT &&
                      edges->columns.count == (roles[ROLE_WEIGHT] == 2 ? 3 : 2);
    edges->comments.undirected |= edges->columns.undirected;
    snprintf(notes->variant, sizeof(notes->variant), "%s, %s header",
             field_delimiter_name(edges->cursor.delimiter), header == NULL ? "no" : "with");
    return options->has_vertex_count
               ? graph_builder_admit(&edges->reader.builder, options->vertex_count, reterr)
               : STATUS_OK;
}

static enum status parse_dict_line(struct edges *edges, const char *line, size_t size,
                                   struct problem *reterr)
{
    const size_t begin = edge_dict_find(line, size);
    struct table_row *row = &edges->row;
    struct edge_record record = {0};

    STATUS_TRY(cut_row(edges, line, begin, reterr));
    drop_empty_last(row, 2);
    if (row->count != 2) {
        return refuse_count(edges, row, 2, reterr);
    }
    STATUS_TRY(edge_dict_parse(line, begin, size, &edges->columns, &record, reterr));
    record.values[ROLE_SOURCE] = row->fields[0];
    record.values[ROLE_TARGET] = row->fields[1];
    return add_record(edges, &record, reterr);
}

/* Accepts the two numbers of the first line as the numbers of vertices and edges, because that line
 * has no weight, unlike later lines. */
static enum status parse_counts(struct edges *edges, const int64_t counts[2],
                                struct problem *reterr)
{
    edges->is_counted = true;
    warning_hint(warning_add(&edges->reader.notes.warnings, WARNING_FORMAT_GUESSED,
                             "The first line, %lld %lld, was read as the numbers of vertices and "
                             "edges.",
                             (long long)counts[0], (long long)counts[1]),
                 "If the line is an edge, add a weight, as in the other lines.");
    STATUS_TRY(reader_admit_count(&edges->reader, (uint64_t)counts[0], reterr));
    return graph_builder_admit(&edges->reader.builder, (uint64_t)counts[0], reterr);
}

/* Returns whether the first line is a header: none of its fields is a number, and either its names
 * are known or the next line has numbers in the columns of weights. check_header verifies the guess
 * after the last line. */
static bool is_header(struct edges *edges, const struct table_row *first,
                      const struct table_row *next)
{
    const struct columns *columns = &edges->columns;
    const bool is_known = columns_know_header(columns, first);
    bool has_numbers = next->count > 0;

    for (size_t i = 0; i < next->count && has_numbers; i++) {
        has_numbers = reader_is_number(&edges->reader, next->fields[i]) || first->count > 3 ||
                      (first->count == 3 && columns_is_end(columns, first, i));
    }
    for (size_t i = 0; i < first->count; i++) {
        if (is_known ? reader_is_number(&edges->reader, first->fields[i])
                     : columns_look_numeric(first->fields[i])) {
            return false;
        }
    }
    edges->may_be_edge =
        columns->reader->options.source_column[0] == '\0' && (!is_known || first->count == 2);
    return is_known || has_numbers || columns_are_places(first, next);
}

/* Parses the first line: a header, the numbers of vertices and edges, or an edge. next: the line
 * after it, which has no fields at the end of the file. */
static enum status settle_first(struct edges *edges, struct table_row *first,
                                struct table_row *next, struct problem *reterr)
{
    int64_t *counts = edges->integers;

    if (first->count > 2 && first->fields[first->count - 1].size == 0 &&
        (next->count < first->count || next->fields[first->count - 1].size == 0)) {
        drop_empty_last(first, first->count - 1);
    }
    drop_empty_last(next, first->count);
    size_t count = 0;
    while (count < first->count && count < 3 &&
           number_parse_integer(first->fields[count].bytes, first->fields[count].size,
                                &counts[count])) {
        count++;
    }
    if (count < first->count) { /* the line has a decimal, so it is an edge */
        memset(counts, 0, sizeof(edges->integers));
    }
    const bool has_header = is_header(edges, first, next);
    edges->row = *next;
    if (has_header && next->count > 0 && next->count != first->count) {
        return refuse_count(edges, next, first->count, reterr);
    }
    if (has_header && next->count == 0) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "There is no edge after the header.");
    }
    if (has_header) {
        return decide_columns(edges, first, reterr);
    }
    if (first->count == 2 && count == 2 && counts[0] > 0 && counts[1] > 0 && next->count == 3 &&
        reader_is_number(&edges->reader, next->fields[2])) {
        return parse_counts(edges, counts, reterr);
    }
    edges->row = *first;
    STATUS_TRY(decide_columns(edges, NULL, reterr));
    return parse_edge(edges, reterr);
}

/* Parses the held first line and the line after it. `line` is NULL at the end of the file. */
static enum status parse_held_line(struct edges *edges, const char *line, size_t size,
                                   struct problem *reterr)
{
    char *scratch = edges->scratch;
    struct table_row next = {0};
    enum status status = cut_row(edges, edges->held.bytes, edges->held.size, reterr);

    struct table_row first = edges->row;
    if (status == STATUS_OK && line != NULL) {
        /* Puts the fields of the next line into the rest of the scratch buffer, because the fields
         * of the first line are still in use. */
        edges->scratch = edges->cursor.scratch;
        status = cut_row(edges, line, size, reterr);
        edges->scratch = scratch;
        STATUS_TRY(status);
        next = edges->row;
    }
    status = status == STATUS_OK ? settle_first(edges, &first, &next, reterr) : status;
    if (status != STATUS_OK && reterr != NULL && reterr->line == 0) {
        problem_at(reterr, edges->held_line, reterr->column);
    }
    text_finish(&edges->held);
    if (status != STATUS_OK || line == NULL) {
        return status;
    }
    edges->row = next;
    STATUS_TRY(edges->decided ? STATUS_OK : decide_columns(edges, NULL, reterr));
    return parse_edge(edges, reterr);
}

/* Uses the comment above the first line as a header if it names the columns. */
static void settle_comment(struct edges *edges, const char *line, size_t size)
{
    const char *comment = edges->comment.bytes;

    if (edges->comment.size < 2 || cut_row(edges, line, size, NULL) != STATUS_OK ||
        columns_know_header(&edges->columns, &edges->row)) {
        return;
    }
    const size_t count = edges->row.count;
    if (cut_row(edges, comment + 1, edges->comment.size - 1, NULL) == STATUS_OK &&
        edges->row.count == count && columns_know_header(&edges->columns, &edges->row)) {
        edges->held = edges->comment;
        edges->held_line = edges->comment_line;
        edges->held.bytes[0] = ' ';
        edges->comment = (struct text){0};
    }
}

static enum status parse_first_line(struct edges *edges, const char *line, size_t size,
                                    struct problem *reterr)
{
    const size_t begin = edge_dict_find(line, size);
    const char delimiter =
        edges->announced != '\0'
            ? edges->announced
            : field_delimiter(line, begin, edges->reader.options.has_decimal_comma);

    if (size > 1 && memcmp(line, "//", 2) == 0) {
        return problem_bad_graph_hint(reterr, 0, 1, "Begin comments with # and a space.",
                                      "The line begins with //, but comments begin with #.");
    }
    edges->cursor.delimiter = delimiter;
    if (begin < size) {
        edges->has_dicts = edges->decided = true;
        snprintf(edges->reader.notes.variant, sizeof(edges->reader.notes.variant), "%s, no header",
                 field_delimiter_name(delimiter));
        return parse_dict_line(edges, line, size, reterr);
    }
    settle_comment(edges, line, size);
    if (edges->held.size > 0) {
        return parse_held_line(edges, line, size, reterr);
    }
    /* The first line is held until the next line shows its meaning. */
    text_append(&edges->held, line, size);
    edges->held_line = edges->reader.splitter.line;
    return text_status(&edges->held);
}

/* Returns whether a line that begins like a comment may be an edge: it has as many columns as an
 * edge, and no space after its first character, as in the value '#N/A'. Columns separated by spaces
 * do not count, because comments contain words. */
static bool may_be_edge(struct edges *edges, const char *line, size_t size)
{
    size_t wanted = edges->columns.count;

    if (size < 2 || field_is_blank(line[1]) || edges->cursor.delimiter == ' ' || edges->has_dicts) {
        return false;
    }
    if (!edges->decided && cut_row(edges, edges->held.bytes, edges->held.size, NULL) == STATUS_OK) {
        wanted = edges->row.count;
    }
    return cut_row(edges, line, size, NULL) == STATUS_OK && edges->row.count == wanted;
}

/* Parses a comment. A comment above the first line may state the direction or be the header. */
static enum status parse_comment(struct edges *edges, const char *line, size_t size,
                                 struct problem *reterr)
{
    if (size == 1 && line[0] == '#') {
        return problem_bad_graph_hint(
            reterr, 0, 1, "Remove this line and the nodes above it, or put a comment after the #.",
            "A line with only # separates the nodes of a TGF file from its edges.");
    }
    if (edges->decided || edges->held.size > 0) {
        return !may_be_edge(edges, line, size)
                   ? STATUS_OK
                   : problem_bad_graph_hint(
                         reterr, 0, 1,
                         "Put a space after the # or % of a comment, or quotes around a value.",
                         "The line begins with %c like a comment, but has as many columns as an "
                         "edge.",
                         *line);
    }
    text_clear(&edges->comment);
    text_append(&edges->comment, line, size);
    edges->comment_line = edges->reader.splitter.line;
    STATUS_TRY(edge_comments_parse(&edges->comments, line, size, reterr));
    edges->reader.notes.says_direction |= edges->comments.says_direction;
    return text_status(&edges->comment);
}

static enum status parse_record(struct edges *edges, const char *line, size_t size,
                                struct problem *reterr)
{
    const size_t blanks = field_skip_blanks(line, 0, size);

    if (blanks == size) {
        return STATUS_OK;
    }
    if (line[blanks] == '#' || line[blanks] == '%') {
        return parse_comment(edges, line + blanks, size - blanks, reterr);
    }
    if (edges->held.size > 0) {
        return parse_held_line(edges, line, size, reterr);
    }
    if (!edges->decided) {
        edges->announced =
            edges->announced == '\0' ? field_announced_delimiter(line, size) : edges->announced;
        return field_announced_delimiter(line, size) != '\0'
                   ? STATUS_OK
                   : parse_first_line(edges, line, size, reterr);
    }
    if (edges->has_dicts) {
        return parse_dict_line(edges, line, size, reterr);
    }
    STATUS_TRY(cut_row(edges, line, size, reterr));
    return parse_edge(edges, reterr);
}

static enum status parse_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct edges *edges = context;
    uint32_t integers[3] = {0, 0, 1};

    if (edges->is_plain && edges->joined.size == 0 &&
        line_parse_integers(line, size, edges->cursor.delimiter, edges->columns.count, integers)) {
        const uint32_t ends[2] = {name_table_find_integer(edges->names, integers[0]),
                                  name_table_find_integer(edges->names, integers[1])};

        if (ends[0] != UINT32_MAX && ends[1] != UINT32_MAX) {
            return reader_add_real(&edges->reader, ends, integers[2], reterr);
        }
    }
    edges->joined_line = edges->joined.size == 0 ? edges->reader.splitter.line : edges->joined_line;
    if (!field_join(&edges->joined, edges->cursor.delimiter, &line, &size) &&
        edges->joined.size < READER_LINE_LIMIT) {
        return text_status(&edges->joined);
    }
    const enum status status =
        edges->joined.size > READER_LINE_LIMIT
            ? problem_bad_graph(reterr, 0, 0, "The closing quote is missing.")
            : parse_record(edges, line, size, reterr);
    if (status != STATUS_OK && reterr != NULL && reterr->line == 0) {
        problem_at(reterr, edges->joined_line, reterr->column);
    }
    text_clear(&edges->joined);
    return status;
}

static void cleanup_edges(struct reader *reader)
{
    struct edges *edges = (struct edges *)reader;

    name_table_destroy(edges->names);
    free(edges->scratch);
    text_finish(&edges->held);
    text_finish(&edges->comment);
    text_finish(&edges->joined);
}

static enum status init_edges(struct reader *reader)
{
    struct edges *edges = (struct edges *)reader;

    columns_init(&edges->columns, reader);
    edges->scratch = malloc(SCRATCH_SIZE);
    return edges->scratch != NULL ? name_table_create(&edges->names) : STATUS_NO_MEMORY;
}

static uint64_t measure_memory(const struct reader *reader)
{
    return name_table_memory(((const struct edges *)reader)->names);
}

/* Builds a graph with the number of vertices that the first line declares. Vertices are numbered
 * from 0 if a vertex is named 0, otherwise from 1. */
static enum status build_counted(struct edges *edges, uint32_t *row_of, struct graph **ret_graph,
                                 struct problem *reterr)
{
    uint32_t row;
    const bool base = !name_table_find(edges->names, "0", 1, &row);

    for (row = 0; row < name_table_count(edges->names); row++) {
        row_of[row] = (uint32_t)(name_table_number(edges->names, row) - base);
    }
    return reader_finish_range(&edges->reader, (uint32_t)edges->integers[0], base, row_of,
                               !edges->comments.undirected, ret_graph, reterr);
}

/* Builds the graph. Integer names are sorted; other names keep their order of appearance. */
static enum status build_graph(struct edges *edges, struct graph **ret_graph,
                               struct problem *reterr)
{
    uint32_t *row_of = NULL;
    enum status status = STATUS_OK;

    if (name_table_is_numeric(edges->names)) {
        row_of = calloc((size_t)name_table_count(edges->names) + 1, sizeof(*row_of));
        status = row_of != NULL ? name_table_order(edges->names, row_of) : STATUS_NO_MEMORY;
    }
    STATUS_THEN(status, edges->is_counted
                            ? build_counted(edges, row_of, ret_graph, reterr)
                            : reader_finish_names(&edges->reader, &edges->names, row_of, true,
                                                  !edges->comments.undirected, ret_graph, reterr));
    free(row_of);
    return status;
}

/* Refuses a guessed header if one of its names is also a vertex. Refuses any header that a later
 * line repeats: its names are then two consecutive vertices. */
static enum status check_header(const struct edges *edges, struct problem *reterr)
{
    uint32_t rows[2];
    size_t found = 0;

    for (int role = ROLE_SOURCE; role <= ROLE_TARGET && edges->has_header; role++) {
        const char *name = edges->columns.list[edges->columns.roles[role]].name;

        found += name_table_find(edges->names, name, strlen(name), &rows[found]);
        if (found > 0 && (edges->may_be_edge || (found == 2 && rows[1] == rows[0] + 1))) {
            return problem_bad_graph_hint(
                reterr, edges->held_line, 0,
                "Add a header source,target, or name the columns of this header with "
                "source_column= and target_column=. If the file was concatenated from several "
                "files, remove all headers but the first.",
                "The first line may be a header or an edge: '%s' is also a vertex in a later line.",
                name);
        }
    }
    return STATUS_OK;
}

/* Checks at the end, when the whole list is known, that the first line was read correctly. */
static enum status check_first(const struct edges *edges, struct problem *reterr)
{
    const struct reader *reader = &edges->reader;

    STATUS_TRY(check_header(edges, reterr));
    if (edges->is_counted ||
        (!reader->options.has_vertex_count && edges->columns.ends != ENDS_BY_PARAMETER)) {
        STATUS_TRY(edge_check_counts(edges->integers, edges->columns.count, edges->is_counted,
                                     &reader->builder, edges->names, reterr));
    }
    return edges->has_header || edges->has_dicts || edges->columns.roles[ROLE_WEIGHT] != 2 ||
                   reader->options.weight[0] != '\0' || edges->comments.is_konect
               ? STATUS_OK
               : edge_check_times(&reader->builder, reterr);
}

static enum status finish_edges(struct reader *reader, struct graph **ret_graph,
                                struct problem *reterr)
{
    struct edges *edges = (struct edges *)reader;
    const struct graph_options *options = &reader->options;

    if (edges->joined.size > 0) {
        STATUS_TRY(parse_record(edges, edges->joined.bytes, edges->joined.size, reterr));
    }
    if (!edges->decided && (edges->held.size > 0 || !options->has_vertex_count)) {
        STATUS_TRY(edges->held.size > 0
                       ? parse_held_line(edges, NULL, 0, reterr)
                       : problem_set(reterr, STATUS_EMPTY_BODY, "The list has no edges."));
    }
    const enum status status = check_first(edges, reterr);
    if (status != STATUS_OK) {
        problem_at(reterr, edges->held_line, 1);
        return status;
    }
    STATUS_TRY(columns_finish(&edges->columns, reterr));
    edge_check_warn(&reader->builder, edges->names, !edges->has_header && !edges->has_dicts,
                    &reader->notes.warnings);
    return options->has_vertex_count
               ? reader_finish_range(reader, options->vertex_count, 0, NULL,
                                     !edges->comments.undirected, ret_graph, reterr)
               : build_graph(edges, ret_graph, reterr);
}

const struct reader_class reader_edges_class = {
    .size = sizeof(struct edges),
    .init = init_edges,
    .parse_line = parse_line,
    .finish = finish_edges,
    .cleanup = cleanup_edges,
    .memory = measure_memory,
};
