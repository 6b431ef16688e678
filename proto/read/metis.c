/* METIS graph files (manual of METIS 5.1, section 4.1.1): "n m [fmt [ncon]]", then for each vertex
 * a line "[size] [w1..wncon] v1 [e1] v2 [e2] ..", vertices from 1. The digits of fmt say which of
 * vertex sizes, vertex weights and edge weights there are. '%' opens a comment line; an empty line
 * is a vertex without neighbours. Vertex sizes and weights say nothing about distances and are
 * passed over.
 *
 * Both ends of an edge list it, and the two lists must agree. They are matched at once: the
 * neighbours above a row wait, in order, for their own rows, which come in order too. So 24 bytes a
 * row are enough beside the edges, each of which is collected once. */
#include "proto/number.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A vertex with four million neighbours. */
#define LIST_BYTES_LIMIT ((size_t)32 << 20)
#define FIRST_CAPACITY 256

/* A neighbour of the vertex at hand. */
struct neighbour {
    uint32_t row;
    uint64_t column;
    double weight;
};

/* The list of a vertex that was read. */
struct list {
    uint64_t begin; /* of its edges to later rows, in the builder */
    uint64_t next;  /* the first of them whose other end has not listed it */
    uint64_t line;
};

struct metis {
    struct reader reader;
    struct neighbour *neighbours; /* of the vertex at hand */
    size_t neighbour_count;
    size_t neighbour_capacity;
    struct list *lists;
    uint32_t list_count;
    uint32_t list_capacity;
    bool headed; /* the header was read */
    uint32_t vertex_count;
    int64_t edge_count;
    int64_t passed_count; /* sizes and weights of a vertex, in front of its neighbours */
    bool has_edge_weights;
};

/* ---- The header ---- */

/* fmt has one to three digits, each 0 or 1, the last one for edge weights; ncon is the number of
 * weights per vertex. Both may be missing. */
static enum status parse_fmt(struct metis *metis, struct word_cursor *cursor,
                             struct problem *reterr)
{
    const struct word fmt = line_word_next(cursor);
    const struct word ncon = line_word_next(cursor);
    struct reader_notes *notes = &metis->reader.notes;
    char digits[4] = "000";
    int64_t constraints;

    if (fmt.size <= 3) {
        memcpy(digits + 3 - fmt.size, fmt.bytes, fmt.size);
    }
    if (fmt.size > 3 || strspn(digits, "01") != 3) {
        return line_word_refuse(fmt, "fmt, such as 1, 10 or 011,", reterr);
    }
    const bool has_vertex_weights = digits[1] == '1';
    constraints = has_vertex_weights;
    if (ncon.size > 0 &&
        (!number_parse_integer(ncon.bytes, ncon.size, &constraints) || constraints < 0 ||
         constraints > UINT32_MAX || (constraints == 0 && has_vertex_weights))) {
        return line_word_refuse(ncon, "the number of weights per vertex", reterr);
    }
    if (constraints > 0 && !has_vertex_weights) {
        problem_bad_graph(reterr, 0, ncon.column,
                          "There are weights per vertex, but fmt says that vertices have none.");
        problem_hint(reterr, "The second digit of fmt is 1 when vertices have weights.");
        return STATUS_BAD_GRAPH;
    }
    metis->passed_count = constraints + (digits[0] == '1');
    metis->has_edge_weights = digits[2] == '1';
    snprintf(notes->variant, sizeof(notes->variant), "fmt %s", digits);
    if (metis->has_edge_weights) {
        snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    }
    notes->says_direction = true;
    return STATUS_OK;
}

static enum status parse_header(struct metis *metis, struct word_cursor cursor,
                                struct problem *reterr)
{
    const struct graph_options *options = &metis->reader.options;
    int64_t vertex_count;
    STATUS_TRY(line_word_parse_count(line_word_next(&cursor), "the number of vertices",
                                     &vertex_count, reterr));
    STATUS_TRY(line_word_parse_count(line_word_next(&cursor), "the number of edges",
                                     &metis->edge_count, reterr));
    STATUS_TRY(parse_fmt(metis, &cursor, reterr));
    STATUS_TRY(line_word_expect_end(&cursor, reterr));
    if (options->has_directed && options->directed) {
        problem_set(reterr, STATUS_BAD_PARAMETER,
                    "directed=true cannot hold: the edges of this format lead both ways.");
        problem_hint(reterr, "Leave directed= out, or upload the arcs as an edge list.");
        return STATUS_BAD_PARAMETER;
    }
    metis->headed = true;
    metis->vertex_count = (uint32_t)vertex_count;
    return reader_announce(&metis->reader, (uint64_t)vertex_count, (uint64_t)metis->edge_count,
                           reterr);
}

/* ---- The list of a vertex ---- */

static enum status add_neighbour(struct metis *metis, struct word vertex,
                                 struct word_cursor *cursor, struct problem *reterr)
{
    struct neighbour neighbour = {.column = vertex.column, .weight = 1};
    enum status status =
        line_word_parse_vertex(vertex, metis->vertex_count, &neighbour.row, reterr);

    if (status == STATUS_OK && metis->has_edge_weights) {
        const struct word weight = line_word_next(cursor);

        status = weight.size == 0 ? line_word_refuse(weight, "the weight of the edge", reterr)
                                  : reader_parse_weight(weight.bytes, weight.size, weight.column,
                                                        &neighbour.weight, reterr);
    }
    if (status == STATUS_OK && metis->neighbour_count == metis->neighbour_capacity) {
        const size_t capacity =
            metis->neighbour_capacity == 0 ? FIRST_CAPACITY : metis->neighbour_capacity * 2;

        if (!edge_array_resize(&metis->neighbours, capacity, sizeof(*metis->neighbours))) {
            return STATUS_NO_MEMORY;
        }
        metis->neighbour_capacity = capacity;
    }
    if (status == STATUS_OK) {
        metis->neighbours[metis->neighbour_count++] = neighbour;
    }
    return status;
}

static int compare_neighbours(const void *a, const void *b)
{
    const struct neighbour *x = a;
    const struct neighbour *y = b;

    if (x->row != y->row) {
        return x->row < y->row ? -1 : 1;
    }
    if (x->weight != y->weight) {
        return x->weight < y->weight ? -1 : 1;
    }
    return (x->column > y->column) - (x->column < y->column);
}

static enum status refuse_one_way(uint32_t lister, uint32_t other, uint64_t line, uint64_t column,
                                  struct problem *reterr)
{
    problem_bad_graph(reterr, line, column,
                      "Vertex %u lists vertex %u, but vertex %u does not list vertex %u.",
                      lister + 1, other + 1, other + 1, lister + 1);
    problem_hint(reterr, "Both ends of an edge list it; a file of directed edges is an edge list.");
    return STATUS_BAD_GRAPH;
}

/* The end of a row's edges to later rows. */
static uint64_t end_of(const struct metis *metis, uint32_t row)
{
    return row + 1 < metis->list_count ? metis->lists[row + 1].begin
                                       : graph_builder_edge_count(metis->reader.builder);
}

/* The row at hand lists an earlier one, which must have listed it, next of those left. The row's
 * own edges to later rows come after these. */
static enum status match(struct metis *metis, const struct neighbour *neighbour,
                         struct problem *reterr)
{
    const uint32_t row = metis->list_count;
    struct list *other = &metis->lists[neighbour->row];
    uint32_t ends[2] = {0, NO_VERTEX};
    double weight = 0;

    if (other->next < end_of(metis, neighbour->row)) {
        weight = graph_builder_edge(metis->reader.builder, other->next, ends);
    }
    if (ends[1] < row) {
        return refuse_one_way(neighbour->row, ends[1], other->line, 0, reterr);
    }
    if (ends[1] != row) {
        return refuse_one_way(row, neighbour->row, 0, neighbour->column, reterr);
    }
    if (weight != neighbour->weight) {
        char here[NUMBER_PRINT_SIZE];
        char there[NUMBER_PRINT_SIZE];
        problem_bad_graph(reterr, 0, neighbour->column,
                          "The edge has weight %.*s here and %.*s in the list of vertex %u.",
                          (int)number_print_real(neighbour->weight, false, here), here,
                          (int)number_print_real(weight, false, there), there, neighbour->row + 1);
        problem_hint(reterr, "Both ends of an edge list it, with the same weight.");
        return STATUS_BAD_GRAPH;
    }
    other->next++;
    return STATUS_OK;
}

static enum status parse_neighbour(struct metis *metis, const struct neighbour *neighbour,
                                   struct problem *reterr)
{
    const uint32_t row = metis->list_count;
    enum status status;

    if (neighbour->row == row) {
        problem_bad_graph(reterr, 0, neighbour->column,
                          "Vertex %u lists itself: this format has no loops.", row + 1);
        problem_hint(reterr, "Take the loop out: it shortens no path.");
        return STATUS_BAD_GRAPH;
    }
    if (neighbour->row < row) {
        return match(metis, neighbour, reterr);
    }
    status = graph_builder_add_real(metis->reader.builder, row, neighbour->row, neighbour->weight);
    if (reader_add_failed(&metis->reader, status, reterr)) {
        problem_at(reterr, 0, neighbour->column);
    }
    return status;
}

static enum status parse_row(struct metis *metis, struct word_cursor cursor, struct problem *reterr)
{
    const uint64_t begin = graph_builder_edge_count(metis->reader.builder);
    enum status status = STATUS_OK;
    struct word word;
    int64_t number;

    for (int64_t i = 0; i < metis->passed_count; i++) {
        word = line_word_next(&cursor);
        if (!number_parse_integer(word.bytes, word.size, &number)) {
            return line_word_refuse(word, "a weight of the vertex", reterr);
        }
    }
    metis->neighbour_count = 0;
    while (status == STATUS_OK && (word = line_word_next(&cursor)).size > 0) {
        status = add_neighbour(metis, word, &cursor, reterr);
    }
    /* Most files list neighbours in order. */
    for (size_t i = 1; i < metis->neighbour_count && status == STATUS_OK; i++) {
        if (compare_neighbours(&metis->neighbours[i - 1], &metis->neighbours[i]) > 0) {
            qsort(metis->neighbours, metis->neighbour_count, sizeof(*metis->neighbours),
                  compare_neighbours);
            break;
        }
    }
    for (size_t i = 0; i < metis->neighbour_count && status == STATUS_OK; i++) {
        status = parse_neighbour(metis, &metis->neighbours[i], reterr);
    }
    if (status == STATUS_OK && metis->list_count == metis->list_capacity) {
        const uint32_t capacity =
            metis->list_capacity == 0 ? FIRST_CAPACITY : metis->list_capacity * 2;

        if (!edge_array_resize(&metis->lists, capacity, sizeof(*metis->lists))) {
            return STATUS_NO_MEMORY;
        }
        metis->list_capacity = capacity;
    }
    if (status == STATUS_OK) {
        metis->lists[metis->list_count++] =
            (struct list){begin, begin, metis->reader.splitter.line};
    }
    return status;
}

static enum status parse_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct metis *metis = context;
    const struct word_cursor cursor = {line, line, line + size};
    struct word_cursor ahead = cursor;
    const struct word first = line_word_next(&ahead);

    if (first.size > 0 && first.bytes[0] == '%') {
        return STATUS_OK;
    }
    if (metis->headed && metis->list_count < metis->vertex_count) {
        return parse_row(metis, cursor, reterr);
    }
    if (first.size == 0) {
        return STATUS_OK;
    }
    return metis->headed
               ? problem_bad_graph(reterr, 0, first.column,
                                   "There are more lines than the header announces vertices, n=%u.",
                                   metis->vertex_count)
               : parse_header(metis, cursor, reterr);
}

/* ---- The end ---- */

static enum status check_complete(const struct metis *metis, struct problem *reterr)
{
    const uint64_t found = graph_builder_edge_count(metis->reader.builder);

    if (metis->list_count < metis->vertex_count) {
        problem_set(reterr, STATUS_TRUNCATED,
                    "The header announces n=%u vertices, but there are %u lines after it.",
                    metis->vertex_count, metis->list_count);
        problem_at(reterr, metis->reader.splitter.line + 1, 0);
        problem_hint(reterr, "A vertex without neighbours has an empty line.");
        return STATUS_TRUNCATED;
    }
    for (uint32_t row = 0; row < metis->list_count; row++) {
        const struct list *list = &metis->lists[row];
        uint32_t ends[2];

        if (list->next < end_of(metis, row)) {
            (void)graph_builder_edge(metis->reader.builder, list->next, ends);
            return refuse_one_way(row, ends[1], list->line, 0, reterr);
        }
    }
    if (found == (uint64_t)metis->edge_count) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_GRAPH,
                "The header announces m=%lld edges, but the lists hold %llu.",
                (long long)metis->edge_count, (unsigned long long)found);
    problem_hint(reterr, "m counts an edge once, though both of its ends list it.");
    return STATUS_BAD_GRAPH;
}

static void free_lists(struct reader *reader)
{
    struct metis *metis = (struct metis *)reader;

    free(metis->neighbours);
    free(metis->lists);
    metis->neighbours = NULL;
    metis->lists = NULL;
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct metis *metis = (struct metis *)reader;
    enum status status = STATUS_OK;

    /* The line of a last vertex without neighbours may be nothing. */
    if (metis->headed && metis->list_count + 1 == (uint64_t)metis->vertex_count) {
        status = line_splitter_feed(&reader->splitter, "\n", 1, reterr);
    }
    if (status == STATUS_OK && !metis->headed) {
        return problem_set(reterr, STATUS_TRUNCATED, "There is no header 'n m [fmt [ncon]]'.");
    }
    if (status == STATUS_OK) {
        status = check_complete(metis, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    free_lists(reader);
    return reader_finish_range(reader, metis->vertex_count, 1, false, ret_graph, reterr);
}

/* The longest list of a vertex counts twice: it may have to be sorted. */
static uint64_t memory(const struct reader *reader)
{
    const struct metis *metis = (const struct metis *)reader;

    return metis->list_capacity * sizeof(*metis->lists) +
           metis->neighbour_capacity * 2 * sizeof(*metis->neighbours);
}

const struct reader_class reader_metis_class = {
    .size = sizeof(struct metis),
    .parse_line = parse_line,
    .line_limit = LIST_BYTES_LIMIT,
    .finish = finish,
    .cleanup = free_lists,
    .memory = memory,
};
