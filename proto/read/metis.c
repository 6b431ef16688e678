/* METIS graph files (manual of METIS 5.1, section 4.1.1): "n m [fmt [ncon]]", then for each vertex
 * a line "[size] [w1..wncon] v1 [e1] v2 [e2] ..", vertices from 1. The digits of fmt say which of
 * vertex sizes, vertex weights and edge weights there are. '%' opens a comment line; an empty line
 * is a vertex without neighbours. Read word by word, as a line is as long as a vertex has
 * neighbours. Vertex sizes and weights say nothing about distances and are passed over. */
#include "proto/number.h"
#include "proto/read/neighbour_rows.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest number. */
#define WORD_LIMIT 512

struct metis {
    struct reader reader;
    struct graph_options options;
    struct graph_builder *builder;
    struct neighbour_rows lists;
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
    struct neighbour_rows_entry entry; /* without its weight yet */
    bool wants_weight;
};

static enum status refuse(const struct metis *metis, const char *expected, struct problem *reterr)
{
    if (metis->word_size == 0) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The line ends where %s should be.", expected);
    } else {
        problem_set(reterr, STATUS_BAD_GRAPH, "There is '%.*s' where %s should be.",
                    metis->word_size > 40 ? 40 : (int)metis->word_size, metis->word, expected);
    }
    problem_at(reterr, metis->line, metis->word_size == 0 ? metis->column : metis->word_column);
    return STATUS_BAD_GRAPH;
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
        problem_set(reterr, STATUS_BAD_GRAPH,
                    "There are weights per vertex, but fmt says that vertices have none.");
        problem_at(reterr, metis->line, metis->word_column);
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

static enum status check_parameters(const struct metis *metis, struct problem *reterr)
{
    const struct graph_options *options = &metis->options;
    enum status status = reader_admit_weight_name(options, reterr);

    if (status == STATUS_OK && options->has_directed && options->directed) {
        problem_set(reterr, STATUS_BAD_PARAMETER,
                    "directed=true cannot hold: the edges of this format lead both ways.");
        problem_hint(reterr, "Leave directed= out, or upload the arcs as an edge list.");
        return STATUS_BAD_PARAMETER;
    }
    if (status == STATUS_OK) {
        status = reader_admit_count(options, (uint64_t)metis->header[0], reterr);
    }
    return status;
}

static enum status end_header(struct metis *metis, struct problem *reterr)
{
    struct reader_notes *notes = &metis->reader.notes;
    enum status status;

    if (metis->words < 2) {
        return refuse(metis, "the number of edges", reterr);
    }
    status = check_parameters(metis, reterr);
    if (status == STATUS_OK) {
        status = graph_builder_admit(metis->builder, (uint64_t)metis->header[0], reterr);
    }
    if (status == STATUS_OK) {
        status = reader_admit_edges(&metis->options, (uint64_t)metis->header[1], reterr);
    }
    if (status != STATUS_OK) {
        problem_at(reterr, metis->line, 0);
        return status;
    }
    metis->headed = true;
    metis->vertex_count = (uint32_t)metis->header[0];
    graph_builder_expect(metis->builder, (uint64_t)metis->header[1]);
    snprintf(notes->variant, sizeof(notes->variant), "fmt %d%d%d", metis->has_sizes,
             metis->has_vertex_weights, metis->has_edge_weights);
    if (metis->has_edge_weights) {
        snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    }
    notes->says_direction = true;
    return STATUS_OK;
}

/* A size or a weight of the vertex: a number that is not used. */
static enum status pass_over(const struct metis *metis, struct problem *reterr)
{
    int64_t number;

    if (!number_parse_integer(metis->word, metis->word_size, &number)) {
        return refuse(metis, "a weight of the vertex", reterr);
    }
    return STATUS_OK;
}

static enum status take_neighbour(struct metis *metis, struct problem *reterr)
{
    int64_t vertex;

    if (!number_parse_integer(metis->word, metis->word_size, &vertex)) {
        return refuse(metis, "a vertex", reterr);
    }
    if (vertex < 1 || vertex > metis->vertex_count) {
        problem_set(reterr, STATUS_BAD_GRAPH, "Vertex %lld is not in 1..%u.", (long long)vertex,
                    metis->vertex_count);
        problem_at(reterr, metis->line, metis->word_column);
        if (vertex == 0) {
            problem_hint(reterr, "The vertices of this format are counted from 1.");
        }
        return STATUS_BAD_GRAPH;
    }
    metis->entry = (struct neighbour_rows_entry){(uint32_t)(vertex - 1), metis->word_column, 1};
    metis->wants_weight = metis->has_edge_weights;
    return metis->wants_weight ? STATUS_OK
                               : neighbour_rows_add(&metis->lists, metis->entry, reterr);
}

static enum status take_weight(struct metis *metis, struct problem *reterr)
{
    enum status status = reader_parse_weight(metis->word, metis->word_size, metis->word_column,
                                             &metis->entry.weight, reterr);

    metis->wants_weight = false;
    if (status != STATUS_OK) {
        problem_at(reterr, metis->line, metis->word_column);
        return status;
    }
    return neighbour_rows_add(&metis->lists, metis->entry, reterr);
}

static uint64_t words_before_lists(const struct metis *metis)
{
    return (uint64_t)metis->has_sizes + (uint64_t)metis->constraints;
}

static enum status take_row_word(struct metis *metis, struct problem *reterr)
{
    if (metis->lists.row_count == metis->vertex_count) {
        problem_set(reterr, STATUS_BAD_GRAPH,
                    "There are more lines than the header announces vertices, n=%u.",
                    metis->vertex_count);
        problem_at(reterr, metis->line, metis->word_column);
        return STATUS_BAD_GRAPH;
    }
    if (metis->words < words_before_lists(metis)) {
        return pass_over(metis, reterr);
    }
    return metis->wants_weight ? take_weight(metis, reterr) : take_neighbour(metis, reterr);
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
    if (metis->lists.row_count == metis->vertex_count) {
        return STATUS_OK;
    }
    if (metis->words < words_before_lists(metis)) {
        return refuse(metis, "a weight of the vertex", reterr);
    }
    if (metis->wants_weight) {
        return refuse(metis, "the weight of the edge", reterr);
    }
    return neighbour_rows_end_row(&metis->lists, metis->line, reterr);
}

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

/* A byte order mark is no part of the first word. */
static void drop_mark(struct metis *metis)
{
    if (metis->line == 1 && metis->word_column == 1 && metis->word_size == 3 &&
        memcmp(metis->word, "\xEF\xBB\xBF", 3) == 0) {
        metis->word_size = 0;
        metis->column = 0;
    }
}

static enum status refuse_nul(const struct metis *metis, struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_GRAPH, "There is a NUL byte: this is not text.");
    problem_at(reterr, metis->line, metis->column);
    return STATUS_BAD_GRAPH;
}

static enum status take_byte(struct metis *metis, char c, struct problem *reterr)
{
    enum status status = STATUS_OK;

    if (c == '\n') {
        return end_line(metis, reterr);
    }
    if (c == '\0') {
        return refuse_nul(metis, reterr);
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
        drop_mark(metis);
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
    uint64_t found = graph_builder_edge_count(metis->builder);
    enum status status;

    if (metis->lists.row_count < metis->vertex_count) {
        problem_set(reterr, STATUS_TRUNCATED,
                    "The header announces n=%u vertices, but there are %u lines after it.",
                    metis->vertex_count, metis->lists.row_count);
        problem_at(reterr, metis->line, 0);
        problem_hint(reterr, "A vertex without neighbours has an empty line.");
        return STATUS_TRUNCATED;
    }
    status = neighbour_rows_end(&metis->lists, reterr);
    if (status != STATUS_OK || found == (uint64_t)metis->header[1]) {
        return status;
    }
    problem_set(reterr, STATUS_BAD_GRAPH,
                "The header announces m=%lld edges, but the lists hold %llu.",
                (long long)metis->header[1], (unsigned long long)found);
    problem_hint(reterr, "m counts an edge once, though both of its ends list it.");
    return STATUS_BAD_GRAPH;
}

/* The last line, when nothing ended it; that of a last vertex without neighbours may be nothing. */
static enum status end_file(struct metis *metis, struct problem *reterr)
{
    enum status status = metis->column > 1 ? end_line(metis, reterr) : STATUS_OK;

    if (status == STATUS_OK && metis->headed &&
        metis->lists.row_count + 1 == (uint64_t)metis->vertex_count) {
        status = end_line(metis, reterr);
    }
    return status;
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct metis *metis = (struct metis *)reader;
    enum status status = end_file(metis, reterr);

    if (status == STATUS_OK && !metis->headed) {
        problem_set(reterr, STATUS_TRUNCATED, "There is no header 'n m [fmt [ncon]]'.");
        return STATUS_TRUNCATED;
    }
    if (status == STATUS_OK) {
        status = check_complete(metis, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    neighbour_rows_finish(&metis->lists);
    return reader_finish_range(metis->builder, metis->vertex_count, 1, false, ret_graph, reterr);
}

static void destroy(struct reader *reader)
{
    struct metis *metis = (struct metis *)reader;

    neighbour_rows_finish(&metis->lists);
    graph_builder_destroy(metis->builder);
    free(metis);
}

static enum status create(const struct graph_options *options, struct reader **ret_reader)
{
    struct metis *metis = calloc(1, sizeof(*metis));

    if (metis == NULL) {
        return STATUS_NO_MEMORY;
    }
    metis->options = *options;
    metis->line = 1;
    metis->column = 1;
    if (graph_builder_create(options, &metis->builder) != STATUS_OK) {
        destroy(&metis->reader);
        return STATUS_NO_MEMORY;
    }
    metis->lists.builder = metis->builder;
    metis->lists.options = &metis->options;
    *ret_reader = &metis->reader;
    return STATUS_OK;
}

const struct reader_class reader_metis_class = {
    .format = FORMAT_METIS,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
