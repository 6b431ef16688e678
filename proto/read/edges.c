/* Edge lists: SNAP, CSV (RFC 4180), TSV, KONECT. One edge a line, '#' and '%' open comments; the
 * first lines decide the delimiter, the header and the columns. */
#include "proto/number.h"
#include "proto/read/edge_columns.h"
#include "proto/read/name_table.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct edges {
    struct reader reader;
    struct name_table *names; /* unused when the options give a vertex count */
    uint32_t named;
    struct field_cursor cursor;
    bool decided;    /* delimiter and columns are known */
    bool plain;      /* they are source, target and perhaps weight */
    bool undirected; /* the file says so */
    bool is_konect;  /* a comment says so */
    struct edge_columns columns;
    struct edge_row row;
    char *scratch; /* fields with doubled quotes, unescaped; as long as a line */
    char *held;    /* the first line, while it may be a header */
    size_t held_size;
    uint64_t held_line;
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

    if (!number_parse_integer(field.bytes, field.size, &vertex)) {
        return problem_bad_graph(reterr, 0, field.column,
                                 "'%.*s' is no vertex of 0..n-1 with n=%u.",
                                 field.size > 40 ? 40 : (int)field.size, field.bytes, vertex_count);
    }
    if (vertex < 0 || vertex >= vertex_count) {
        return problem_bad_graph(reterr, 0, field.column,
                                 "Vertex %lld is outside 0..n-1 with n=%u.", (long long)vertex,
                                 vertex_count);
    }
    *ret_row = (uint32_t)vertex;
    return STATUS_OK;
}

static enum status name_vertex(struct edges *edges, struct field field, uint32_t *ret_row,
                               struct problem *reterr)
{
    enum status status;

    if (edges->reader.options.has_vertex_count) {
        return number_vertex(edges, field, ret_row, reterr);
    }
    if (field.size == 0) {
        return problem_bad_graph(reterr, 0, field.column, "The name of the vertex is empty.");
    }
    if (field.size > VERTEX_NAME_LIMIT) {
        return problem_bad_graph(reterr, 0, field.column,
                                 "The name of the vertex is longer than 1024 bytes.");
    }
    status = name_table_intern(edges->names, field.bytes, field.size, ret_row);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "There is not enough memory for the names.");
    }
    if (name_table_count(edges->names) == edges->named) {
        return STATUS_OK;
    }
    status = reader_check_name(field.bytes, field.size, field.column, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    edges->named = name_table_count(edges->names);
    return graph_builder_admit(edges->reader.builder, edges->named, reterr);
}

/* At the first column too many, or at the last one when some miss. */
static enum status refuse_count(const struct edge_row *row, size_t first, struct problem *reterr)
{
    problem_bad_graph(reterr, 0, row->fields[row->count > first ? first : row->count - 1].column,
                      "The line has %zu columns, but the first line has %zu.", row->count, first);
    problem_hint(reterr, "If each line has a vertex and its neighbours, convert it: import json, "
                         "networkx; json.dump(networkx.node_link_data(networkx.read_adjlist("
                         "'g.txt')), open('g.json', 'w'))");
    return STATUS_BAD_GRAPH;
}

/* One graph is directed or undirected as a whole. */
static enum status check_type(const struct edges *edges, struct field type, struct problem *reterr)
{
    bool directed;

    if (edges->reader.options.has_directed ||
        (edge_columns_type(type, &directed) && directed != edges->undirected)) {
        return STATUS_OK;
    }
    problem_bad_graph(reterr, 0, type.column,
                      "The type of the edge is '%.*s', and the edges before are %s.",
                      type.size > 40 ? 40 : (int)type.size, type.bytes,
                      edges->undirected ? "undirected" : "directed");
    problem_hint(reterr,
                 "directed=true or directed=false reads all edges alike; an undirected edge "
                 "is also two directed ones.");
    return STATUS_BAD_GRAPH;
}

static enum status take_edge(struct edges *edges, struct problem *reterr)
{
    const struct edge_row *row = &edges->row;
    const struct edge_columns *columns = &edges->columns;
    struct field weight = {"1", 1, 0};
    uint32_t ends[2];
    enum status status = STATUS_OK;

    if (row->count != columns->count) {
        return refuse_count(row, columns->count, reterr);
    }
    if (columns->open != 0) {
        status = edge_columns_check_open(columns, row, reterr);
    }
    if (status == STATUS_OK && columns->type != NO_COLUMN) {
        status = check_type(edges, row->fields[columns->type], reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    status = name_vertex(edges, row->fields[columns->source], &ends[0], reterr);
    if (status == STATUS_OK) {
        status = name_vertex(edges, row->fields[columns->target], &ends[1], reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (columns->weight != NO_COLUMN) {
        weight = row->fields[columns->weight];
    }
    return reader_add_edge(&edges->reader, ends, weight.bytes, weight.size, weight.column, reterr);
}

static enum status refuse_held(const struct edges *edges, const struct edge_row *held,
                               struct problem *reterr)
{
    struct field third = held->fields[2];

    problem_bad_graph(reterr, edges->held_line, third.column, "The weight '%.*s' is not a number.",
                      third.size > 40 ? 40 : (int)third.size, third.bytes);
    problem_hint(reterr, "A header needs known names, such as source,target,weight.");
    return STATUS_BAD_GRAPH;
}

static void note(struct edges *edges, const struct edge_row *header)
{
    const char *name = edges->cursor.delimiter == '\t'  ? "tabs"
                       : edges->cursor.delimiter == ' ' ? "blanks"
                       : edges->cursor.delimiter == ',' ? "commas"
                                                        : "semicolons";
    struct reader_notes *notes = &edges->reader.notes;
    size_t column = edges->columns.weight;

    snprintf(notes->variant, sizeof(notes->variant), "%s, %s header", name,
             header == NULL ? "no" : "with");
    if (column == NO_COLUMN) {
        return;
    }
    if (header == NULL) {
        snprintf(notes->weight, sizeof(notes->weight), "column %zu", column + 1);
    } else {
        snprintf(notes->weight, sizeof(notes->weight), "%.*s",
                 header->fields[column].size > 60 ? 60 : (int)header->fields[column].size,
                 header->fields[column].bytes);
    }
}

/* The columns, once the first row of data is in edges->row; header may be NULL. */
static enum status decide(struct edges *edges, const struct edge_row *header,
                          struct problem *reterr)
{
    struct reader_notes *notes = &edges->reader.notes;
    const struct edge_hints hints = {.weight = edges->reader.options.weight,
                                     .has_time = edges->is_konect,
                                     .warnings = &notes->warnings};
    enum status status;
    bool directed;

    if (edges->row.count < 2) {
        return problem_bad_graph(reterr, 0, edges->row.fields[0].column,
                                 "There is one column, but an edge needs source and target.");
    }
    status = edge_columns_choose(header, &edges->row, &hints, &edges->columns, reterr);
    edges->decided = status == STATUS_OK;
    if (status == STATUS_OK && edges->columns.type != NO_COLUMN &&
        edge_columns_type(edges->row.fields[edges->columns.type], &directed)) {
        edges->undirected = !directed;
        notes->says_direction = true;
    }
    if (status == STATUS_OK) {
        note(edges, header);
        edges->plain = edge_columns_are_plain(&edges->columns);
    }
    if (status == STATUS_OK && edges->reader.options.has_vertex_count) {
        status =
            graph_builder_admit(edges->reader.builder, edges->reader.options.vertex_count, reterr);
    }
    return status;
}

/* The line after the held one says whether that was a header or an edge without a weight. */
static enum status take_after_held(struct edges *edges, const char *line, size_t size,
                                   struct problem *reterr)
{
    char *scratch = edges->scratch;
    struct edge_row header;
    enum status status = cut_row(edges, edges->held, edges->held_size, reterr);

    CHECK(status == STATUS_OK);
    header = edges->row;
    /* The header keeps its scratch while the row is cut into the rest of it. */
    edges->scratch = edges->cursor.scratch;
    status = cut_row(edges, line, size, reterr);
    edges->scratch = scratch;
    if (status != STATUS_OK) {
        return status;
    }
    if (header.count != edges->row.count) {
        return refuse_count(&edges->row, header.count, reterr);
    }
    if (edge_columns_judge(&header) == EDGE_HEADER_PERHAPS &&
        !edge_columns_has_weight(&header, &edges->row)) {
        return refuse_held(edges, &header, reterr);
    }
    status = decide(edges, &header, reterr);
    free(edges->held);
    edges->held = NULL;
    if (status != STATUS_OK) {
        problem_at(reterr, edges->held_line, reterr != NULL ? reterr->column : 0);
        return status;
    }
    return take_edge(edges, reterr);
}

static enum status take_first(struct edges *edges, const char *line, size_t size,
                              struct problem *reterr)
{
    enum status status;

    edges->cursor.delimiter = field_delimiter(line, size);
    status = cut_row(edges, line, size, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (edge_columns_judge(&edges->row) != EDGE_HEADER_NO) {
        /* The line is kept until the next one tells whether it is a header. */
        edges->held = malloc(size + 1);
        if (edges->held == NULL) {
            return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for a line.");
        }
        memcpy(edges->held, line, size);
        edges->held_size = size;
        edges->held_line = edges->reader.splitter.line;
        return STATUS_OK;
    }
    status = decide(edges, NULL, reterr);
    return status == STATUS_OK ? take_edge(edges, reterr) : status;
}

static enum status row_of(struct edges *edges, uint32_t number, uint32_t *ret_row,
                          struct problem *reterr)
{
    enum status status;

    if (edges->reader.options.has_vertex_count) {
        *ret_row = number;
        return STATUS_OK;
    }
    status = name_table_intern_number(edges->names, number, ret_row);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "There is not enough memory for the names.");
    }
    if (*ret_row < edges->named) {
        return STATUS_OK;
    }
    edges->named = *ret_row + 1;
    return graph_builder_admit(edges->reader.builder, edges->named, reterr);
}

/* ret_taken false: the line has to be read the long way. */
static enum status take_plain(struct edges *edges, const char *line, size_t size, bool *ret_taken,
                              struct problem *reterr)
{
    struct edge_scan scan;
    uint32_t ends[2];
    enum status status;

    *ret_taken = edge_columns_scan(&edges->columns, edges->cursor.delimiter, line, size, &scan);
    if (edges->reader.options.has_vertex_count &&
        (scan.ends[0] >= edges->reader.options.vertex_count ||
         scan.ends[1] >= edges->reader.options.vertex_count)) {
        *ret_taken = false;
    }
    if (!*ret_taken) {
        return STATUS_OK;
    }
    status = row_of(edges, scan.ends[0], &ends[0], reterr);
    if (status == STATUS_OK) {
        status = row_of(edges, scan.ends[1], &ends[1], reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (scan.size > 0) {
        return reader_add_edge(&edges->reader, ends, scan.bytes, scan.size, scan.column, reterr);
    }
    status = graph_builder_add_integer(edges->reader.builder, ends[0], ends[1], scan.weight);
    if (reader_add_failed(&edges->reader, status, reterr)) {
        problem_at(reterr, 0, scan.column);
    }
    return status;
}

static uint64_t scan_lines(void *context, const char *bytes, size_t size, size_t *ret_size)
{
    const struct edges *edges = context;
    struct edge_lines lines = {.number_limit = edges->reader.options.vertex_count,
                               .delimiter = edges->cursor.delimiter,
                               .has_weight = edges->columns.weight != NO_COLUMN};
    struct edge_i4 *room;
    uint64_t room_count;
    uint64_t count;

    if (!edges->plain || !graph_builder_has_integers(edges->reader.builder) ||
        graph_builder_offer(edges->reader.builder, size, &room, &room_count) != STATUS_OK) {
        return 0;
    }
    if (!edges->reader.options.has_vertex_count) {
        lines.row_of = name_table_direct(edges->names, &lines.number_limit);
    }
    count = edge_lines_scan(&lines, bytes, size, room, room_count, ret_size);
    graph_builder_commit(edges->reader.builder, count);
    return count;
}

/* A comment above the edges may say the direction: SNAP's "# Undirected graph: x", and KONECT's
 * "% sym weighted", which gives columns 3 and 4 a meaning, too. */
static enum status take_comment(struct edges *edges, const char *line, size_t size,
                                struct problem *reterr)
{
    static const char *const kinds[] = {"",        "unweighted",      "positive", "posweighted",
                                        "signed",  "multisigned",     "weighted", "multiweighted",
                                        "dynamic", "multiposweighted"};
    struct word_cursor cursor = {line, line + 1, line + size};
    const struct word first = line_word_next(&cursor);
    const struct word second = line_word_next(&cursor);
    const bool directed = line_word_is_like(first, "directed");

    if (line_word_is_like(second, "graph") || line_word_is_like(second, "graph:")) {
        edges->undirected |= line_word_is_like(first, "undirected");
        /* "Directed graph (each unordered pair of nodes is saved once)" stands above both sorts. */
        edges->reader.notes.says_direction |=
            edges->undirected || (directed && memmem(line, size, "unordered", 9) == NULL);
        return STATUS_OK;
    }
    for (size_t i = 0; line[0] == '%' && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        edges->is_konect |= line_word_is(second, kinds[i]) &&
                            (line_word_is(first, "sym") || line_word_is(first, "asym") ||
                             line_word_is(first, "bip"));
    }
    if (edges->is_konect && line_word_is(first, "bip")) {
        problem_bad_graph(reterr, 0, 0,
                          "The list is bipartite, and each side counts its vertices "
                          "from 1: 1 on the left and 1 on the right are two.");
        problem_hint(reterr, "awk '!/^%%/ {print $1, \"r\" $2, $3}' names those on the right r1, "
                             "r2 and so on; then directed=false.");
        return STATUS_BAD_GRAPH;
    }
    edges->undirected |= edges->is_konect && line_word_is(first, "sym");
    edges->reader.notes.says_direction |= edges->is_konect;
    return STATUS_OK;
}

static enum status take_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct edges *edges = context;
    size_t blanks = 0;
    enum status status;
    bool taken;

    if (edges->plain &&
        (edges->reader.options.has_vertex_count || name_table_numbers(edges->names, NULL))) {
        status = take_plain(edges, line, size, &taken, reterr);
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
        return edges->decided ? STATUS_OK
                              : take_comment(edges, line + blanks, size - blanks, reterr);
    }
    if (edges->held != NULL) {
        return take_after_held(edges, line, size, reterr);
    }
    if (!edges->decided) {
        return take_first(edges, line, size, reterr);
    }
    status = cut_row(edges, line, size, reterr);
    return status == STATUS_OK ? take_edge(edges, reterr) : status;
}

static void cleanup(struct reader *reader)
{
    struct edges *edges = (struct edges *)reader;

    name_table_destroy(edges->names);
    free(edges->scratch);
    free(edges->held);
}

static enum status init(struct reader *reader)
{
    struct edges *edges = (struct edges *)reader;

    /* Room for a header and the row after it. */
    edges->scratch = malloc((size_t)2 * READER_LINE_LIMIT);
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
    const bool numbered = name_table_numbers(edges->names, NULL);
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
    if (status == STATUS_OK) {
        status = vertex_names_create_ordered(edges->names, order, count, numbered, &names);
    }
    if (status == STATUS_OK) {
        status = graph_builder_finish(edges->reader.builder, &names, row_of, !edges->undirected,
                                      ret_graph, reterr);
    } else {
        problem_set(reterr, status, "There is not enough memory for the graph.");
    }
    vertex_names_destroy(names);
    free(order);
    free(row_of);
    return status;
}

static enum status refuse_unfinished(struct edges *edges, struct problem *reterr)
{
    enum status status;

    if (edges->held == NULL) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "There is no edge in the list.");
    }
    status = cut_row(edges, edges->held, edges->held_size, reterr);
    CHECK(status == STATUS_OK);
    if (edge_columns_judge(&edges->row) == EDGE_HEADER_PERHAPS) {
        return refuse_held(edges, &edges->row, reterr);
    }
    return problem_set(reterr, STATUS_EMPTY_BODY, "There is a header, but no edge after it.");
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct edges *edges = (struct edges *)reader;
    const struct graph_options *options = &reader->options;

    if (!edges->decided && (edges->held != NULL || !options->has_vertex_count)) {
        return refuse_unfinished(edges, reterr);
    }
    return options->has_vertex_count ? reader_finish_range(reader, options->vertex_count, 0,
                                                           !edges->undirected, ret_graph, reterr)
                                     : build(edges, ret_graph, reterr);
}

const struct reader_class reader_edges_class = {
    .format = FORMAT_EDGES,
    .size = sizeof(struct edges),
    .init = init,
    .take_line = take_line,
    .scan_lines = scan_lines,
    .finish = finish,
    .cleanup = cleanup,
    .memory = memory,
};
