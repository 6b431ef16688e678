/* Edge lists: SNAP, CSV (RFC 4180), TSV, KONECT. One edge a line, '#' and '%' open comments; the
 * first lines decide the delimiter, the header and the columns. */
#include "proto/number.h"
#include "proto/read/edge_dialects.h"
#include "proto/read/edge_lines.h"
#include "proto/read/name_table.h"
#include "proto/read/reader.h"
#include "proto/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for a header and the row after it. */
#define SCRATCH_SIZE ((size_t)2 * READER_LINE_LIMIT)

struct edges {
    struct reader reader;
    struct name_table *names; /* unused when the options give a vertex count */
    uint32_t named;
    struct field_cursor cursor;
    char between; /* in the lines scanned: the delimiter, or a tab as one of the blanks */
    bool decided; /* delimiter and columns are known */
    bool plain;   /* they are source, target and perhaps weight */
    struct edge_dialect dialect;
    struct edge_hints hints;
    bool is_counted; /* the first line has the counts */
    bool has_data;   /* each line ends with a dict */
    bool has_header;
    int64_t integers[3]; /* of the first line; 0 where it has fewer */
    bool first_is_pair;  /* the first line has two fields */
    struct edge_columns columns;
    struct edge_row row;
    char *scratch;    /* fields with doubled quotes, unescaped; as long as a line */
    struct text held; /* the first line, while it may be a header or counts */
    uint64_t held_line;
    struct text comment; /* the last one above it, which may be a header, too */
    uint64_t comment_line;
};

static enum status cut_row(struct edges *edges, const char *line, size_t size,
                           struct problem *reterr)
{
    struct edge_row *row = &edges->row;
    struct field_cursor *cursor = &edges->cursor;
    enum status status = STATUS_OK;

    row->count = 0;
    cursor->scratch = edges->scratch;
    field_cursor_begin(cursor, line, size);
    while (cursor->more && status == STATUS_OK) {
        if (row->count == EDGE_COLUMN_LIMIT) {
            return problem_bad_graph(reterr, 0, (uint64_t)(cursor->at - line) + 1,
                                     "There are more than 64 columns.");
        }
        status = field_cursor_next(cursor, &row->fields[row->count++], reterr);
    }
    return status;
}

static enum status number_vertex(const struct edges *edges, struct field field, uint32_t *ret_row,
                                 struct problem *reterr)
{
    const uint32_t vertex_count = edges->reader.options.vertex_count;
    int64_t vertex;

    if (!number_parse_integer(field.bytes, field.size, &vertex) || vertex < 0 ||
        vertex >= vertex_count) {
        return problem_bad_graph(reterr, 0, field.column,
                                 "'%.*s' is not a vertex of 0..n-1 with n=%u.",
                                 field.size > 40 ? 40 : (int)field.size, field.bytes, vertex_count);
    }
    *ret_row = (uint32_t)vertex;
    return STATUS_OK;
}

/* After a name was looked up: it may be new. */
static enum status admit_named(struct edges *edges, struct problem *reterr)
{
    const uint32_t named = name_table_count(edges->names);

    if (named == edges->named) {
        return STATUS_OK;
    }
    edges->named = named;
    return graph_builder_admit(edges->reader.builder, named, reterr);
}

static enum status name_vertex(struct edges *edges, struct field field, uint32_t *ret_row,
                               struct problem *reterr)
{
    const bool is_quoted =
        field.bytes >= edges->scratch && field.bytes < edges->scratch + SCRATCH_SIZE;
    char digits[24];

    if (!is_quoted) {
        field = edge_dialect_integer(field, digits);
    }
    if (edges->reader.options.has_vertex_count) {
        return number_vertex(edges, field, ret_row, reterr);
    }
    STATUS_TRY(
        reader_name_vertex(edges->names, field.bytes, field.size, field.column, ret_row, reterr));
    if (!is_quoted && name_table_count(edges->names) > edges->named) {
        STATUS_TRY(edge_dialect_check_name(field, edges->has_header, reterr));
    }
    return admit_named(edges, reterr);
}

/* At the first column too many, or at the last one when some miss. */
static enum status refuse_count(const struct edges *edges, const struct edge_row *row, size_t first,
                                const char *hint, struct problem *reterr)
{
    problem_bad_graph(reterr, edges->reader.splitter.line,
                      row->fields[row->count > first ? first : row->count - 1].column,
                      "The line has %zu columns, but the first line has %zu.", row->count, first);
    problem_hint(reterr, "%s", hint);
    return STATUS_BAD_GRAPH;
}

static enum status parse_edge(struct edges *edges, struct problem *reterr)
{
    const struct edge_row *row = &edges->row;
    const struct edge_columns *columns = &edges->columns;
    const uint32_t named = edges->named;
    struct field weight = {"1", 1, 0};
    uint32_t ends[2];
    enum status status = STATUS_OK;

    if (row->count != columns->count) {
        return refuse_count(edges, row, columns->count,
                            edges->cursor.delimiter != ' '
                                ? ""
                                : "If each line has a vertex and its neighbours, convert it: "
                                  "import json, networkx; json.dump(networkx.node_link_data("
                                  "networkx.read_adjlist('g.txt')), open('g.json', 'w'))",
                            reterr);
    }
    if (columns->open != 0) {
        status = edge_columns_check_open(columns, row, reterr);
    }
    if (status == STATUS_OK && columns->type != NO_COLUMN && !edges->reader.options.has_directed) {
        status =
            edge_columns_check_type(row->fields[columns->type], edges->dialect.undirected, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    STATUS_TRY(name_vertex(edges, row->fields[columns->source], &ends[0], reterr));
    STATUS_TRY(name_vertex(edges, row->fields[columns->target], &ends[1], reterr));
    /* Files that were joined. */
    if (edges->has_header && edges->named == named + 2 &&
        edge_columns_judge(row) == EDGE_HEADER_YES) {
        return problem_bad_graph(reterr, 0, row->fields[0].column,
                                 "The line is the header again, and no edge.");
    }
    if (columns->weight != NO_COLUMN) {
        weight = row->fields[columns->weight];
    }
    return reader_add_edge(&edges->reader, ends, weight.bytes, weight.size, weight.column, reterr);
}

/* The columns, once the first row of data is in edges->row; header may be NULL. */
static enum status decide(struct edges *edges, const struct edge_row *header,
                          struct problem *reterr)
{
    const struct graph_options *options = &edges->reader.options;
    struct reader_notes *notes = &edges->reader.notes;
    bool directed;

    if (edges->row.count < 2) {
        problem_bad_graph(reterr, 0, edges->row.fields[0].column,
                          "There is one column, but an edge needs source and target.");
        problem_hint(reterr, "Columns stand between commas, semicolons, tabs or blanks, and no "
                             "number of vertices or edges stands above them.");
        return STATUS_BAD_GRAPH;
    }
    edges->hints.has_time = edges->dialect.is_konect;
    STATUS_TRY(edge_columns_choose(header, &edges->row, &edges->hints, &edges->columns, reterr));
    edges->decided = true;
    edges->has_header = header != NULL;
    if (edges->columns.type != NO_COLUMN &&
        edge_columns_type(edges->row.fields[edges->columns.type], &directed)) {
        edges->dialect.undirected = !directed;
        notes->says_direction = true;
    }
    edge_columns_note(&edges->columns, header, edges->cursor.delimiter, notes);
    edges->plain = edge_columns_are_plain(&edges->columns);
    return options->has_vertex_count
               ? graph_builder_admit(edges->reader.builder, options->vertex_count, reterr)
               : STATUS_OK;
}

static enum status parse_data_line(struct edges *edges, const char *line, size_t size,
                                   struct problem *reterr)
{
    const size_t begin = edge_dialect_find_data(line, size);
    struct edge_row *row = &edges->row;

    STATUS_TRY(cut_row(edges, line, begin, reterr));
    /* A comma before the dict opens a field of nothing. */
    row->count -= row->count == 3 && row->fields[2].size == 0;
    if (row->count != 2) {
        return refuse_count(edges, row, 2, "", reterr);
    }
    STATUS_TRY(edge_dialect_weight(line, begin, size, &edges->hints, edges->reader.notes.weight,
                                   &row->fields[row->count++], reterr));
    return parse_edge(edges, reterr);
}

/* Takes the first line: a header, the counts of vertices and edges above edges with weights, or an
 * edge. next is the line behind it, without fields at the end of the file. */
static enum status settle_first(struct edges *edges, const struct edge_row *first,
                                const struct edge_row *next, struct problem *reterr)
{
    const enum edge_header header = edge_columns_judge(first);
    int64_t *counts = edges->integers;
    const size_t count = edge_dialect_integers(first, counts);
    int64_t integers[3];
    enum status status;

    edges->first_is_pair = first->count == 2;
    if (count < first->count) { /* an edge with a decimal, not counts */
        memset(counts, 0, sizeof(edges->integers));
    }
    edges->row = *next;
    if (header != EDGE_HEADER_NO && next->count > 0 && next->count != first->count) {
        return refuse_count(edges, next, first->count,
                            next->count == first->count + 1
                                ? "R writes no names of rows with write.table(edges, 'g.txt', "
                                  "row.names=FALSE)."
                                : "",
                            reterr);
    }
    if (header == EDGE_HEADER_YES && next->count == 0) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "There is a header, but no edge after it.");
    }
    if (header == EDGE_HEADER_PERHAPS &&
        (next->count == 0 || !edge_columns_has_weight(first, next))) {
        const struct field third = first->fields[2];

        problem_bad_graph(reterr, 0, third.column, "The weight '%.*s' is not a number.",
                          third.size > 40 ? 40 : (int)third.size, third.bytes);
        problem_hint(reterr, "A header needs known names, such as source,target,weight.");
        return STATUS_BAD_GRAPH;
    }
    if (header != EDGE_HEADER_NO || (count == 0 && first->count == 2 && next->count == 2 &&
                                     edge_dialect_integers(next, integers) == 2)) {
        return decide(edges, first, reterr);
    }
    if (first->count == 2 && count == 2 && counts[0] > 0 && counts[1] > 0 && next->count == 3 &&
        edge_columns_has_weight(first, next)) {
        edges->is_counted = true;
        warning_hint(warning_add(&edges->reader.notes.warnings, WARNING_FORMAT_GUESSED,
                                 "The first line, %lld %lld, was read as the numbers of vertices "
                                 "and edges.",
                                 (long long)counts[0], (long long)counts[1]),
                     "An edge has a weight there, as in the other lines.");
        status = reader_admit_count(&edges->reader, (uint64_t)counts[0], reterr);
        return status == STATUS_OK
                   ? graph_builder_admit(edges->reader.builder, (uint64_t)counts[0], reterr)
                   : status;
    }
    edges->row = *first;
    STATUS_TRY(decide(edges, NULL, reterr));
    return parse_edge(edges, reterr);
}

/* Takes the first line, and the one behind it; NULL at the end of the file. */
static enum status parse_held_line(struct edges *edges, const char *line, size_t size,
                                   struct problem *reterr)
{
    char *scratch = edges->scratch;
    struct edge_row first;
    struct edge_row next = {0};
    enum status status = cut_row(edges, edges->held.bytes, edges->held.size, reterr);

    first = edges->row;
    if (status == STATUS_OK && line != NULL) {
        /* The first line keeps its scratch while the next one is cut into the rest of it. */
        edges->scratch = edges->cursor.scratch;
        status = cut_row(edges, line, size, reterr);
        edges->scratch = scratch;
        if (status != STATUS_OK) {
            return status;
        }
        next = edges->row;
    }
    if (status == STATUS_OK) {
        status = settle_first(edges, &first, &next, reterr);
    }
    if (status != STATUS_OK && reterr != NULL && reterr->line == 0) {
        problem_at(reterr, edges->held_line, reterr->column);
    }
    text_finish(&edges->held);
    if (status != STATUS_OK || line == NULL) {
        return status;
    }
    edges->row = next;
    STATUS_TRY(edges->decided ? STATUS_OK : decide(edges, NULL, reterr));
    return parse_edge(edges, reterr);
}

static enum status refuse_comment(char sign, struct problem *reterr)
{
    problem_bad_graph(reterr, 0, 1, "The line may be a comment, or an edge like the others.");
    problem_hint(reterr, "Put a blank behind the %c of a comment, and quotes around a name.", sign);
    return STATUS_BAD_GRAPH;
}

/* The comment above the first line may name its columns, and is the header then, or be an edge of a
 * vertex such as "#A". */
static enum status settle_comment(struct edges *edges, const char *line, size_t size,
                                  struct problem *reterr)
{
    const char *comment = edges->comment.bytes;
    const struct edge_row *row = &edges->row;
    size_t count = 0;

    if (edges->comment.size < 2 || cut_row(edges, line, size, NULL) != STATUS_OK ||
        (count = row->count) < 2 || edge_columns_judge(row) == EDGE_HEADER_YES ||
        cut_row(edges, comment + 1, edges->comment.size - 1, NULL) != STATUS_OK ||
        row->count != count) {
        return STATUS_OK;
    }
    if (edge_columns_judge(row) == EDGE_HEADER_YES) {
        edges->held = edges->comment;
        edges->held_line = edges->comment_line;
        edges->held.bytes[0] = ' ';
        edges->comment = (struct text){0};
    } else if (count == 3 && !field_is_blank(comment[1]) && edge_columns_has_weight(row, row)) {
        refuse_comment(comment[0], reterr);
        problem_at(reterr, edges->comment_line, 1);
        return STATUS_BAD_GRAPH;
    }
    return STATUS_OK;
}

static enum status parse_first_line(struct edges *edges, const char *line, size_t size,
                                    struct problem *reterr)
{
    const size_t begin = edge_dialect_find_data(line, size);
    const char delimiter = field_delimiter(line, begin);

    edges->cursor.delimiter = delimiter;
    edges->between = delimiter == ' ' && memchr(line, '\t', size) != NULL ? '\t' : delimiter;
    if (begin < size) {
        edges->has_data = edges->decided = true;
        edges->columns = (struct edge_columns){3, 0, 1, NO_COLUMN, NO_COLUMN, 0};
        edge_columns_note(&edges->columns, NULL, delimiter, &edges->reader.notes);
        edges->columns.weight = 2;
        return parse_data_line(edges, line, size, reterr);
    }
    const enum status status = settle_comment(edges, line, size, reterr);
    if (status != STATUS_OK || edges->held.size > 0) {
        return status == STATUS_OK ? parse_held_line(edges, line, size, reterr) : status;
    }
    /* The line is kept until the next one tells what it is. */
    text_append(&edges->held, line, size);
    edges->held_line = edges->reader.splitter.line;
    return text_status(&edges->held);
}

/* ret_taken false: the line has to be read the long way. */
static enum status parse_plain_line(struct edges *edges, const char *line, size_t size,
                                    bool *ret_taken, struct problem *reterr)
{
    const struct graph_options *options = &edges->reader.options;
    struct field weight;
    uint32_t ends[2];
    enum status status = STATUS_OK;

    *ret_taken = edge_lines_cut(line, size, edges->between, edges->columns.weight != NO_COLUMN,
                                ends, &weight) &&
                 (!options->has_vertex_count ||
                  (ends[0] < options->vertex_count && ends[1] < options->vertex_count));
    if (!*ret_taken) {
        return STATUS_OK;
    }
    for (int i = 0; i < 2 && status == STATUS_OK && !options->has_vertex_count; i++) {
        status = name_table_intern_number(edges->names, ends[i], &ends[i]);
        if (status == STATUS_OK) {
            status = admit_named(edges, reterr);
        }
    }
    return status == STATUS_OK ? reader_add_edge(&edges->reader, ends, weight.bytes, weight.size,
                                                 weight.column, reterr)
                               : status;
}

static uint64_t scan_lines(void *context, const char *bytes, size_t size, size_t *ret_size)
{
    const struct edges *edges = context;
    struct edge_lines lines = {.number_limit = edges->reader.options.vertex_count,
                               .delimiter = edges->between,
                               .has_weight = edges->columns.weight != NO_COLUMN};

    if (!edges->plain) {
        return 0;
    }
    if (!edges->reader.options.has_vertex_count) {
        lines.row_of = name_table_direct(edges->names, &lines.number_limit);
    }
    return edge_lines_scan(&lines, edges->reader.builder, UINT64_MAX, bytes, size, ret_size);
}

/* A comment below the first line, unless it looks like an edge of a vertex such as "#A". */
static enum status parse_comment(struct edges *edges, const char *line, size_t size,
                                 struct problem *reterr)
{
    size_t count = edges->columns.count;
    enum status status = STATUS_OK;

    if (edges->held.size > 0) {
        status = cut_row(edges, edges->held.bytes, edges->held.size, NULL);
        count = edges->row.count;
    }
    if (size == 1 && line[0] == '#') {
        problem_bad_graph(reterr, 0, 1, "The line parts the nodes of a TGF file from its edges.");
        problem_hint(reterr, "Remove it and the nodes above it, or put a word into a comment.");
        return STATUS_BAD_GRAPH;
    }
    return edges->has_data || size < 2 || field_is_blank(line[1]) || status != STATUS_OK ||
                   cut_row(edges, line, size, NULL) != STATUS_OK || edges->row.count != count
               ? STATUS_OK
               : refuse_comment(line[0], reterr);
}

static enum status parse_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct edges *edges = context;
    size_t blanks = 0;
    enum status status;
    bool taken;

    if (edges->plain &&
        (edges->reader.options.has_vertex_count || name_table_numbers(edges->names, NULL))) {
        status = parse_plain_line(edges, line, size, &taken, reterr);
        if (taken || status != STATUS_OK) {
            return status;
        }
    }
    while (blanks < size && field_is_blank(line[blanks])) {
        blanks++;
    }
    if (blanks == size) {
        return STATUS_OK;
    }
    if (line[blanks] == '#' || line[blanks] == '%') {
        if (edges->decided || edges->held.size > 0) {
            return parse_comment(edges, line + blanks, size - blanks, reterr);
        }
        text_clear(&edges->comment);
        text_append(&edges->comment, line + blanks, size - blanks);
        edges->comment_line = edges->reader.splitter.line;
        status = edge_dialect_take_comment(&edges->dialect, line + blanks, size - blanks, reterr);
        edges->reader.notes.says_direction |= edges->dialect.says_direction;
        return status == STATUS_OK ? text_status(&edges->comment) : status;
    }
    if (edges->held.size > 0) {
        return parse_held_line(edges, line, size, reterr);
    }
    if (!edges->decided) {
        return parse_first_line(edges, line, size, reterr);
    }
    if (edges->has_data) {
        return parse_data_line(edges, line, size, reterr);
    }
    STATUS_TRY(cut_row(edges, line, size, reterr));
    return parse_edge(edges, reterr);
}

static void cleanup(struct reader *reader)
{
    struct edges *edges = (struct edges *)reader;

    name_table_destroy(edges->names);
    free(edges->scratch);
    text_finish(&edges->held);
    text_finish(&edges->comment);
}

static enum status init(struct reader *reader)
{
    struct edges *edges = (struct edges *)reader;

    edges->hints = (struct edge_hints){reader->options.weight, false, &reader->notes.warnings};
    edges->scratch = malloc(SCRATCH_SIZE);
    return edges->scratch != NULL ? name_table_create(&edges->names) : STATUS_NO_MEMORY;
}

/* The names in order have a table of their own, beside the one that they are looked up in. */
static uint64_t memory(const struct reader *reader)
{
    const struct name_table *names = ((const struct edges *)reader)->names;

    return 2 * (name_table_memory(names) + name_table_count(names) * sizeof(uint32_t));
}

/* Numbers come in ascending order, other names as they were met. */
static enum status build(struct edges *edges, struct graph **ret_graph, struct problem *reterr)
{
    const int64_t *numbers;
    const bool numbered = name_table_numbers(edges->names, &numbers);
    const uint32_t count = name_table_count(edges->names);
    struct vertex_names *names = NULL;
    uint32_t *order = NULL;
    uint32_t *row_of = NULL;
    enum status status = STATUS_OK;

    if (numbered) {
        order = calloc((size_t)count + 1, sizeof(*order));
        row_of = calloc((size_t)count + 1, sizeof(*row_of));
        status = order != NULL && row_of != NULL ? name_table_order(edges->names, order, row_of)
                                                 : STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK && edges->is_counted) {
        const bool base = numbers[order[0]] > 0;

        for (uint32_t i = 0; i < count; i++) {
            row_of[i] = (uint32_t)(numbers[i] - base);
        }
        status = vertex_names_create_range((uint32_t)edges->integers[0], base, &names);
    } else if (status == STATUS_OK) {
        status = vertex_names_create_ordered(edges->names, order, count, numbered, &names);
    }
    if (status == STATUS_OK) {
        status = graph_builder_finish(edges->reader.builder, &names, row_of,
                                      !edges->dialect.undirected, ret_graph, reterr);
    }
    vertex_names_destroy(names);
    free(order);
    free(row_of);
    return status;
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct edges *edges = (struct edges *)reader;
    const struct graph_options *options = &reader->options;
    enum status status = STATUS_OK;

    if (!edges->decided && (edges->held.size > 0 || !options->has_vertex_count)) {
        status = edges->held.size > 0
                     ? parse_held_line(edges, NULL, 0, reterr)
                     : problem_set(reterr, STATUS_EMPTY_BODY, "There is no edge in the list.");
    }
    if (status == STATUS_OK && (edges->is_counted || !options->has_vertex_count)) {
        status = edge_dialect_check_counts(edges->integers, edges->first_is_pair, edges->is_counted,
                                           reader->builder, edges->names, reterr);
        if (status != STATUS_OK) {
            problem_at(reterr, edges->held_line, 0);
        }
    }
    if (edges->has_data && options->weight[0] != '\0' && reader->notes.weight[0] == '\0' &&
        !edge_columns_are_unweighted(options->weight)) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "weight=%s names an attribute that no edge has.", options->weight);
    }
    const bool is_bare = !edges->has_header && !edges->has_data;
    if (status == STATUS_OK && is_bare && edges->columns.weight == 2 &&
        options->weight[0] == '\0' && !edges->dialect.is_konect) {
        status = edge_dialect_check_times(reader->builder, reterr);
        if (status != STATUS_OK) {
            problem_at(reterr, edges->held_line, 0);
        }
    }
    if (status != STATUS_OK) {
        return status;
    }
    edge_dialect_warn(reader->builder, edges->names, is_bare && edges->columns.count == 2,
                      &reader->notes.warnings);
    return options->has_vertex_count
               ? reader_finish_range(reader, options->vertex_count, 0, !edges->dialect.undirected,
                                     ret_graph, reterr)
               : build(edges, ret_graph, reterr);
}

const struct reader_class reader_edges_class = {
    .size = sizeof(struct edges),
    .init = init,
    .parse_line = parse_line,
    .scan_lines = scan_lines,
    .finish = finish,
    .cleanup = cleanup,
    .memory = memory,
};
