/* 9th DIMACS Implementation Challenge, shortest paths: "c ..." comments, one "p sp n m", then m
 * times "a U V W" with vertices 1..n. Decimal weights occur in the wild and are taken too. */
#include "proto/line_splitter.h"
#include "proto/number.h"
#include "proto/reader_classes.h"

#include <stdlib.h>
#include <string.h>

struct dimacs {
    struct reader reader;
    struct graph_options options;
    struct line_splitter splitter;
    struct graph_builder *builder;
    bool announced; /* the p line was seen */
    uint32_t vertex_count;
    uint64_t arc_count;
};

/* What is left of a line; begin stays for the columns. */
struct cursor {
    const char *begin;
    const char *at;
    const char *end;
};

struct word {
    const char *bytes;
    size_t size;
    uint64_t column;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct word next_word(struct cursor *cursor)
{
    const char *at = cursor->at;
    struct word word;

    while (at < cursor->end && is_blank(*at)) {
        at++;
    }
    word.bytes = at;
    word.column = (uint64_t)(at - cursor->begin) + 1;
    while (at < cursor->end && !is_blank(*at)) {
        at++;
    }
    word.size = (size_t)(at - word.bytes);
    cursor->at = at;
    return word;
}

static bool word_is(struct word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

static enum status refuse(struct word word, const char *expected, struct problem *reterr)
{
    if (word.size == 0) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The line ends where %s should be.", expected);
    } else {
        problem_set(reterr, STATUS_BAD_GRAPH, "There is '%.*s' where %s should be.",
                    word.size > 40 ? 40 : (int)word.size, word.bytes, expected);
    }
    problem_at(reterr, 0, word.column);
    return STATUS_BAD_GRAPH;
}

static enum status refuse_at(uint64_t column, const char *detail, struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_GRAPH, "%s", detail);
    problem_at(reterr, 0, column);
    return STATUS_BAD_GRAPH;
}

static enum status expect_end(struct cursor *cursor, struct problem *reterr)
{
    struct word word = next_word(cursor);

    return word.size == 0 ? STATUS_OK : refuse(word, "the end of the line", reterr);
}

static enum status refuse_problem(struct word word, struct problem *reterr)
{
    static const char *const others[][2] = {
        {"edge", "graph colouring or cliques"},
        {"col", "graph colouring"},
        {"max", "maximum flow"},
        {"min", "minimum cost flow"},
        {"asn", "assignment"},
        {"cnf", "satisfiability"},
        {"aux", "a list of queries, not a graph"},
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!word_is(word, others[i][0])) {
            continue;
        }
        problem_set(reterr, STATUS_BAD_GRAPH, "The line 'p %s' announces another problem: %s.",
                    others[i][0], others[i][1]);
        problem_at(reterr, 0, word.column);
        problem_hint(reterr, "A shortest path problem begins with 'p sp n m'.");
        return STATUS_BAD_GRAPH;
    }
    return refuse(word, "'sp'", reterr);
}

static enum status admit(struct dimacs *dimacs, int64_t vertex_count, int64_t arc_count,
                         struct problem *reterr)
{
    const struct graph_options *options = &dimacs->options;
    enum status status;

    if (options->has_vertex_count && options->vertex_count != vertex_count) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "The parameter n is %u, but the file announces %lld vertices.",
                           options->vertex_count, (long long)vertex_count);
    }
    status = reader_admit_weight_name(options, reterr);
    if (status == STATUS_OK) {
        status = graph_builder_admit(dimacs->builder, (uint64_t)vertex_count, reterr);
    }
    if (status == STATUS_OK) {
        status = reader_admit_edges(options, (uint64_t)arc_count, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    dimacs->announced = true;
    dimacs->vertex_count = (uint32_t)vertex_count;
    dimacs->arc_count = (uint64_t)arc_count;
    graph_builder_expect(dimacs->builder, dimacs->arc_count);
    return STATUS_OK;
}

static enum status take_problem_line(struct dimacs *dimacs, struct cursor cursor,
                                     struct problem *reterr)
{
    struct word name = next_word(&cursor);
    struct word vertices = next_word(&cursor);
    struct word arcs = next_word(&cursor);
    int64_t vertex_count;
    int64_t arc_count;
    enum status status;

    if (dimacs->announced) {
        return refuse_at(1, "There is a second p line.", reterr);
    }
    if (!word_is(name, "sp")) {
        return refuse_problem(name, reterr);
    }
    if (!number_parse_integer(vertices.bytes, vertices.size, &vertex_count) || vertex_count < 0) {
        return refuse(vertices, "the number of vertices", reterr);
    }
    if (!number_parse_integer(arcs.bytes, arcs.size, &arc_count) || arc_count < 0) {
        return refuse(arcs, "the number of arcs", reterr);
    }
    status = expect_end(&cursor, reterr);
    return status == STATUS_OK ? admit(dimacs, vertex_count, arc_count, reterr) : status;
}

static enum status parse_vertex(const struct dimacs *dimacs, struct word word, uint32_t *ret_row,
                                struct problem *reterr)
{
    int64_t vertex;

    if (!number_parse_integer(word.bytes, word.size, &vertex)) {
        return refuse(word, "a vertex", reterr);
    }
    if (vertex < 1 || vertex > dimacs->vertex_count) {
        problem_set(reterr, STATUS_BAD_GRAPH, "Vertex %lld is not in 1..%u.", (long long)vertex,
                    dimacs->vertex_count);
        problem_at(reterr, 0, word.column);
        return STATUS_BAD_GRAPH;
    }
    *ret_row = (uint32_t)(vertex - 1);
    return STATUS_OK;
}

static enum status take_arc(struct dimacs *dimacs, struct cursor cursor, struct problem *reterr)
{
    struct word source = next_word(&cursor);
    struct word target = next_word(&cursor);
    struct word weight = next_word(&cursor);
    uint32_t ends[2];
    enum status status;

    if (!dimacs->announced) {
        return refuse_at(1, "There is an arc before the p line.", reterr);
    }
    if (graph_builder_edge_count(dimacs->builder) == dimacs->arc_count) {
        return refuse_at(1, "There are more arcs than the p line announces.", reterr);
    }
    status = parse_vertex(dimacs, source, &ends[0], reterr);
    if (status == STATUS_OK) {
        status = parse_vertex(dimacs, target, &ends[1], reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (weight.size == 0) {
        return refuse(weight, "a weight", reterr);
    }
    status = expect_end(&cursor, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    return reader_add_edge(dimacs->builder, &dimacs->options, ends, weight.bytes, weight.size,
                           weight.column, reterr);
}

/* At most nine digits and, before them, one blank. */
static bool scan_small(struct cursor *cursor, uint32_t *ret_value)
{
    const char *at = cursor->at + 1;
    const char *begin = at;
    uint32_t value = 0;

    if (cursor->at == cursor->end || *cursor->at != ' ') {
        return false;
    }
    while (at < cursor->end && *at >= '0' && *at <= '9' && at - begin < 10) {
        value = value * 10 + (uint32_t)(*at++ - '0');
    }
    cursor->at = at;
    *ret_value = value;
    return at > begin && at - begin < 10;
}

/* An arc as nearly all are written, "a 12 345 6": read in one go. False, and nothing done, for
 * every other line; take_arc reads it and finds the words for what is wrong. */
static bool scan_arc(const struct dimacs *dimacs, struct cursor cursor, uint32_t ends[2],
                     uint32_t *ret_weight)
{
    if (cursor.at == cursor.end || *cursor.at++ != 'a' || !scan_small(&cursor, &ends[0]) ||
        !scan_small(&cursor, &ends[1]) || !scan_small(&cursor, ret_weight)) {
        return false;
    }
    /* Vertex 0 wraps around; before the p line there is no vertex at all. */
    ends[0]--;
    ends[1]--;
    return cursor.at == cursor.end && ends[0] < dimacs->vertex_count &&
           ends[1] < dimacs->vertex_count &&
           graph_builder_edge_count(dimacs->builder) < dimacs->arc_count;
}

static enum status take_scanned(struct dimacs *dimacs, const uint32_t ends[2], uint32_t weight,
                                struct problem *reterr)
{
    enum status status = graph_builder_add_integer(dimacs->builder, ends[0], ends[1], weight);

    (void)reader_add_failed(status, &dimacs->options, reterr);
    return status;
}

static enum status take_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    uint32_t weight;
    uint32_t ends[2];
    struct cursor cursor = {line, line, line + size};
    struct word letter;

    if (scan_arc(context, cursor, ends, &weight)) {
        return take_scanned(context, ends, weight, reterr);
    }
    letter = next_word(&cursor);
    if (letter.size == 0 || letter.bytes[0] == 'c') {
        return STATUS_OK;
    }
    if (word_is(letter, "a")) {
        return take_arc(context, cursor, reterr);
    }
    if (word_is(letter, "p")) {
        return take_problem_line(context, cursor, reterr);
    }
    return refuse(letter, "c, p or a", reterr);
}

static void destroy(struct reader *reader)
{
    struct dimacs *dimacs = (struct dimacs *)reader;

    line_splitter_finish(&dimacs->splitter);
    graph_builder_destroy(dimacs->builder);
    free(dimacs);
}

static enum status create(const struct graph_options *options, struct reader **ret_reader)
{
    struct dimacs *dimacs = calloc(1, sizeof *dimacs);

    if (dimacs == NULL) {
        return STATUS_NO_MEMORY;
    }
    dimacs->reader.class_ = &reader_dimacs_class;
    dimacs->options = *options;
    dimacs->splitter.take = take_line;
    dimacs->splitter.context = dimacs;
    if (graph_builder_create(options, &dimacs->builder) != STATUS_OK) {
        destroy(&dimacs->reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = &dimacs->reader;
    return STATUS_OK;
}

static enum status feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    return line_splitter_feed(&((struct dimacs *)reader)->splitter, bytes, size, reterr);
}

static enum status finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    struct dimacs *dimacs = (struct dimacs *)reader;
    enum status status = line_splitter_end(&dimacs->splitter, reterr);
    struct vertex_names *names;
    uint64_t found;

    if (status != STATUS_OK) {
        return status;
    }
    if (!dimacs->announced) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "There is no line 'p sp n m'.");
    }
    found = graph_builder_edge_count(dimacs->builder);
    if (found < dimacs->arc_count) {
        problem_set(reterr, STATUS_TRUNCATED,
                    "The p line announced m=%llu arcs, but %llu were found.",
                    (unsigned long long)dimacs->arc_count, (unsigned long long)found);
        problem_at(reterr, dimacs->splitter.line, 0);
        return STATUS_TRUNCATED;
    }
    if (vertex_names_create_range(dimacs->vertex_count, 1, &names) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
    }
    status = graph_builder_finish(dimacs->builder, &names, NULL, true, ret_graph, reterr);
    vertex_names_destroy(names);
    return status;
}

const struct reader_class reader_dimacs_class = {
    .format = FORMAT_DIMACS,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
