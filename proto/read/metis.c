/* METIS graph files (manual of METIS 5.1, section 4.1.1): "n m [fmt [ncon]]", then for each vertex
 * a line "[size] [w1..wncon] v1 [e1] v2 [e2] ..", vertices from 1. The digits of fmt say which of
 * vertex sizes, vertex weights and edge weights there are. '%' opens a comment line; an empty line
 * is a vertex without neighbours. Read word by word, as a line is as long as a vertex has
 * neighbours. Vertex sizes and weights say nothing about distances and are passed over.
 *
 * Both ends of an edge list it, and the two lists must agree. They are matched at once: the
 * neighbours above a row wait, in order, for their own rows, which come in order too. So 24 bytes a
 * row are enough beside the edges, each of which is collected once. */
#include "proto/number.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest number. */
#define WORD_LIMIT 512
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
    char word[WORD_LIMIT]; /* at hand */
    size_t word_size;
    uint64_t word_column;
    uint64_t line; /* at hand, from 1 */
    uint64_t column;
    uint64_t words;    /* complete in this line */
    bool comment;      /* the line is one */
    bool headed;       /* the header was read */
    int64_t header[2]; /* n, m */
    bool has_sizes;
    bool has_vertex_weights;
    bool has_edge_weights;
    int64_t constraints; /* weights per vertex */
    uint32_t vertex_count;
    bool wants_weight; /* of the last neighbour */
};

static enum status refuse(const struct metis *metis, const char *expected, struct problem *reterr)
{
    if (metis->word_size == 0) {
        return problem_bad_graph(reterr, metis->line, metis->column,
                                 "The line ends where %s should be.", expected);
    }
    return problem_bad_graph(
        reterr, metis->line, metis->word_column, "There is '%.*s' where %s should be.",
        metis->word_size > 40 ? 40 : (int)metis->word_size, metis->word, expected);
}

/* One to three digits, each 0 or 1, the last one for edge weights. */
static enum status take_fmt(struct metis *metis, struct problem *reterr)
{
    char digits[4] = "000";

    if (metis->word_size > 3 || strspn(metis->word, "01") != metis->word_size) {
        return refuse(metis, "fmt, such as 1, 10 or 011,", reterr);
    }
    memcpy(digits + 3 - metis->word_size, metis->word, metis->word_size);
    metis->has_sizes = digits[0] == '1';
    metis->has_vertex_weights = digits[1] == '1';
    metis->has_edge_weights = digits[2] == '1';
    metis->constraints = metis->has_vertex_weights;
    return STATUS_OK;
}

static enum status take_constraints(struct metis *metis, struct problem *reterr)
{
    int64_t count;

    if (!number_parse_integer(metis->word, metis->word_size, &count) || count < 0 ||
        count > UINT32_MAX || (count == 0 && metis->has_vertex_weights)) {
        return refuse(metis, "the number of weights per vertex", reterr);
    }
    if (count > 0 && !metis->has_vertex_weights) {
        problem_bad_graph(reterr, metis->line, metis->word_column,
                          "There are weights per vertex, but fmt says that vertices have none.");
        problem_hint(reterr, "The second digit of fmt is 1 when vertices have weights.");
        return STATUS_BAD_GRAPH;
    }
    metis->constraints = count;
    return STATUS_OK;
}

static enum status take_header_word(struct metis *metis, struct problem *reterr)
{
    static const char *const counts[] = {"the number of vertices", "the number of edges"};
    uint64_t index = metis->words;

    if (index < 2) {
        if (!number_parse_integer(metis->word, metis->word_size, &metis->header[index]) ||
            metis->header[index] < 0) {
            return refuse(metis, counts[index], reterr);
        }
        return STATUS_OK;
    }
    if (index == 2) {
        return take_fmt(metis, reterr);
    }
    return index == 3 ? take_constraints(metis, reterr)
                      : refuse(metis, "the end of the line", reterr);
}

static enum status end_header(struct metis *metis, struct problem *reterr)
{
    const struct graph_options *options = &metis->reader.options;
    struct reader_notes *notes = &metis->reader.notes;
    enum status status;

    if (metis->words < 2) {
        return refuse(metis, "the number of edges", reterr);
    }
    if (options->has_directed && options->directed) {
        status = problem_set(reterr, STATUS_BAD_PARAMETER,
                             "directed=true cannot hold: the edges of this format lead both ways.");
        problem_hint(reterr, "Leave directed= out, or upload the arcs as an edge list.");
    } else {
        status = reader_announce(&metis->reader, (uint64_t)metis->header[0],
                                 (uint64_t)metis->header[1], reterr);
    }
    if (status != STATUS_OK) {
        problem_at(reterr, metis->line, 0);
        return status;
    }
    metis->headed = true;
    metis->vertex_count = (uint32_t)metis->header[0];
    snprintf(notes->variant, sizeof(notes->variant), "fmt %d%d%d", metis->has_sizes,
             metis->has_vertex_weights, metis->has_edge_weights);
    if (metis->has_edge_weights) {
        snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    }
    notes->says_direction = true;
    return STATUS_OK;
}

/* ---- The list of a vertex ---- */

static enum status no_memory(struct problem *reterr)
{
    return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
}

static enum status add_neighbour(struct metis *metis, struct problem *reterr)
{
    const uint64_t column = metis->word_column;
    int64_t vertex;

    if (!number_parse_integer(metis->word, metis->word_size, &vertex)) {
        return refuse(metis, "a vertex", reterr);
    }
    if (vertex < 1 || vertex > metis->vertex_count) {
        problem_bad_graph(reterr, metis->line, column, "Vertex %lld is not in 1..%u.",
                          (long long)vertex, metis->vertex_count);
        if (vertex == 0) {
            problem_hint(reterr, "The vertices of this format are counted from 1.");
        }
        return STATUS_BAD_GRAPH;
    }
    if (metis->neighbour_count == metis->neighbour_capacity) {
        const size_t capacity =
            metis->neighbour_capacity == 0 ? FIRST_CAPACITY : metis->neighbour_capacity * 2;
        struct neighbour *neighbours =
            reallocarray(metis->neighbours, capacity, sizeof(*neighbours));

        if (neighbours == NULL) {
            return no_memory(reterr);
        }
        metis->neighbours = neighbours;
        metis->neighbour_capacity = capacity;
    }
    metis->neighbours[metis->neighbour_count++] =
        (struct neighbour){(uint32_t)(vertex - 1), column, 1};
    metis->wants_weight = metis->has_edge_weights;
    return STATUS_OK;
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
        return refuse_one_way(row, neighbour->row, metis->line, neighbour->column, reterr);
    }
    if (weight != neighbour->weight) {
        char here[NUMBER_PRINT_SIZE];
        char there[NUMBER_PRINT_SIZE];
        problem_bad_graph(reterr, metis->line, neighbour->column,
                          "The edge has weight %.*s here and %.*s in the list of vertex %u.",
                          (int)number_print_real(neighbour->weight, false, here), here,
                          (int)number_print_real(weight, false, there), there, neighbour->row + 1);
        problem_hint(reterr, "Both ends of an edge list it, with the same weight.");
        return STATUS_BAD_GRAPH;
    }
    other->next++;
    return STATUS_OK;
}

static enum status take_neighbour(struct metis *metis, const struct neighbour *neighbour,
                                  struct problem *reterr)
{
    const uint32_t row = metis->list_count;
    enum status status;

    if (neighbour->row == row) {
        problem_bad_graph(reterr, metis->line, neighbour->column,
                          "Vertex %u lists itself: this format has no loops.", row + 1);
        problem_hint(reterr, "Take the loop out: it shortens no path.");
        return STATUS_BAD_GRAPH;
    }
    if (neighbour->row < row) {
        return match(metis, neighbour, reterr);
    }
    status = graph_builder_add_real(metis->reader.builder, row, neighbour->row, neighbour->weight);
    if (reader_add_failed(&metis->reader, status, reterr)) {
        problem_at(reterr, metis->line, neighbour->column);
    }
    return status;
}

static uint64_t words_before_lists(const struct metis *metis)
{
    return (uint64_t)metis->has_sizes + (uint64_t)metis->constraints;
}

static enum status take_row_word(struct metis *metis, struct problem *reterr)
{
    enum status status;
    int64_t number;

    if (metis->list_count == metis->vertex_count) {
        return problem_bad_graph(reterr, metis->line, metis->word_column,
                                 "There are more lines than the header announces vertices, n=%u.",
                                 metis->vertex_count);
    }
    if (metis->words < words_before_lists(metis)) {
        /* A size or a weight of the vertex: a number that is not used. */
        return number_parse_integer(metis->word, metis->word_size, &number)
                   ? STATUS_OK
                   : refuse(metis, "a weight of the vertex", reterr);
    }
    if (!metis->wants_weight) {
        return add_neighbour(metis, reterr);
    }
    metis->wants_weight = false;
    status = reader_parse_weight(metis->word, metis->word_size, metis->word_column,
                                 &metis->neighbours[metis->neighbour_count - 1].weight, reterr);
    if (status != STATUS_OK) {
        problem_at(reterr, metis->line, metis->word_column);
    }
    return status;
}

static enum status end_word(struct metis *metis, struct problem *reterr)
{
    enum status status;

    if (metis->word_size == 0) {
        return STATUS_OK;
    }
    if (metis->word_size >= WORD_LIMIT) {
        metis->word_size = WORD_LIMIT - 1;
        return refuse(metis, "a number of less than 512 digits", reterr);
    }
    metis->word[metis->word_size] = '\0';
    status = metis->headed ? take_row_word(metis, reterr) : take_header_word(metis, reterr);
    metis->word_size = 0;
    metis->words++;
    return status;
}

static enum status end_row(struct metis *metis, struct problem *reterr)
{
    const uint64_t begin = graph_builder_edge_count(metis->reader.builder);
    enum status status = STATUS_OK;

    if (metis->list_count == metis->vertex_count) {
        return STATUS_OK;
    }
    if (metis->words < words_before_lists(metis)) {
        return refuse(metis, "a weight of the vertex", reterr);
    }
    if (metis->wants_weight) {
        return refuse(metis, "the weight of the edge", reterr);
    }
    /* Most files list neighbours in order. */
    for (size_t i = 1; i < metis->neighbour_count; i++) {
        if (compare_neighbours(&metis->neighbours[i - 1], &metis->neighbours[i]) > 0) {
            qsort(metis->neighbours, metis->neighbour_count, sizeof(*metis->neighbours),
                  compare_neighbours);
            break;
        }
    }
    for (size_t i = 0; i < metis->neighbour_count && status == STATUS_OK; i++) {
        status = take_neighbour(metis, &metis->neighbours[i], reterr);
    }
    metis->neighbour_count = 0;
    if (status == STATUS_OK && metis->list_count == metis->list_capacity) {
        const uint32_t capacity =
            metis->list_capacity == 0 ? FIRST_CAPACITY : metis->list_capacity * 2;
        struct list *lists = reallocarray(metis->lists, capacity, sizeof(*lists));

        if (lists == NULL) {
            return no_memory(reterr);
        }
        metis->lists = lists;
        metis->list_capacity = capacity;
    }
    if (status == STATUS_OK) {
        metis->lists[metis->list_count++] = (struct list){begin, begin, metis->line};
    }
    return status;
}

/* ---- Lines and words ---- */

static enum status end_line(struct metis *metis, struct problem *reterr)
{
    enum status status = end_word(metis, reterr);

    if (status == STATUS_OK && !metis->comment) {
        if (metis->headed) {
            status = end_row(metis, reterr);
        } else if (metis->words > 0) {
            status = end_header(metis, reterr);
        }
    }
    metis->comment = false;
    metis->words = 0;
    metis->line++;
    metis->column = 1;
    return status;
}

static enum status take_byte(struct metis *metis, char c, struct problem *reterr)
{
    enum status status = STATUS_OK;

    if (c == '\n') {
        return end_line(metis, reterr);
    }
    if (c == '\0') {
        return problem_bad_graph(reterr, metis->line, metis->column,
                                 "There is a NUL byte: this is not text.");
    }
    if (c == ' ' || c == '\t' || c == '\r') {
        status = end_word(metis, reterr);
    } else if (c == '%' && metis->words == 0 && metis->word_size == 0) {
        metis->comment = true;
    } else if (!metis->comment) {
        if (metis->word_size == 0) {
            metis->word_column = metis->column;
        }
        if (metis->word_size < WORD_LIMIT) {
            metis->word[metis->word_size++] = c;
        }
        /* A byte order mark is no part of the first word. */
        if (metis->line == 1 && metis->word_column == 1 && metis->word_size == 3 &&
            memcmp(metis->word, "\xEF\xBB\xBF", 3) == 0) {
            metis->word_size = 0;
            metis->column = 0;
        }
    }
    metis->column++;
    return status;
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    struct metis *metis = (struct metis *)reader;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < size && status == STATUS_OK; i++) {
        status = take_byte(metis, bytes[i], reterr);
    }
    return status;
}

static enum status check_complete(const struct metis *metis, struct problem *reterr)
{
    const uint64_t found = graph_builder_edge_count(metis->reader.builder);

    if (metis->list_count < metis->vertex_count) {
        problem_set(reterr, STATUS_TRUNCATED,
                    "The header announces n=%u vertices, but there are %u lines after it.",
                    metis->vertex_count, metis->list_count);
        problem_at(reterr, metis->line, 0);
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
    if (found == (uint64_t)metis->header[1]) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_GRAPH,
                "The header announces m=%lld edges, but the lists hold %llu.",
                (long long)metis->header[1], (unsigned long long)found);
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
    enum status status = metis->column > 1 ? end_line(metis, reterr) : STATUS_OK;

    /* The last line need not be ended; that of a last vertex without neighbours may be nothing. */
    if (status == STATUS_OK && metis->headed &&
        metis->list_count + 1 == (uint64_t)metis->vertex_count) {
        status = end_line(metis, reterr);
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

static enum status init(struct reader *reader)
{
    struct metis *metis = (struct metis *)reader;

    metis->line = 1;
    metis->column = 1;
    return STATUS_OK;
}

const struct reader_class reader_metis_class = {
    .format = FORMAT_METIS,
    .size = sizeof(struct metis),
    .init = init,
    .feed = feed,
    .finish = finish,
    .cleanup = free_lists,
    .memory = memory,
};
