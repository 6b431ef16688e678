/* 9th DIMACS Implementation Challenge, shortest paths: "c ..." comments, one "p sp n m", then m
 * times "a U V W" with vertices 1..n. Decimal weights occur in the wild and are taken too. */
#include "proto/read/lines.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "a", three times a blank and nine digits, CR and LF, and one byte to look ahead. */
#define PLAIN_ARC_SIZE 34

struct dimacs {
    struct reader reader;
    struct graph_options options;
    struct line_splitter splitter;
    struct graph_builder *builder;
    bool announced; /* the p line was seen */
    uint32_t vertex_count;
    uint64_t arc_count;
};

static enum status refuse_at(uint64_t column, const char *detail, struct problem *reterr)
{
    problem_set(reterr, STATUS_BAD_GRAPH, "%s", detail);
    problem_at(reterr, 0, column);
    return STATUS_BAD_GRAPH;
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

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!line_word_is(word, others[i][0])) {
            continue;
        }
        problem_set(reterr, STATUS_BAD_GRAPH, "The line 'p %s' announces another problem: %s.",
                    others[i][0], others[i][1]);
        problem_at(reterr, 0, word.column);
        problem_hint(reterr, "A shortest path problem begins with 'p sp n m'.");
        return STATUS_BAD_GRAPH;
    }
    return line_word_refuse(word, "'sp'", reterr);
}

static enum status admit(struct dimacs *dimacs, int64_t vertex_count, int64_t arc_count,
                         struct problem *reterr)
{
    const struct graph_options *options = &dimacs->options;
    enum status status;

    status = reader_admit_count(options, (uint64_t)vertex_count, reterr);
    if (status == STATUS_OK) {
        status = reader_admit_weight_name(options, reterr);
    }
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

static enum status take_problem_line(struct dimacs *dimacs, struct word_cursor cursor,
                                     struct problem *reterr)
{
    struct word name = line_word_next(&cursor);
    struct word vertices = line_word_next(&cursor);
    struct word arcs = line_word_next(&cursor);
    int64_t vertex_count;
    int64_t arc_count;
    enum status status;

    if (dimacs->announced) {
        return refuse_at(1, "There is a second p line.", reterr);
    }
    if (!line_word_is(name, "sp")) {
        return refuse_problem(name, reterr);
    }
    status = line_word_parse_count(vertices, "the number of vertices", &vertex_count, reterr);
    if (status == STATUS_OK) {
        status = line_word_parse_count(arcs, "the number of arcs", &arc_count, reterr);
    }
    if (status == STATUS_OK) {
        status = line_word_expect_end(&cursor, reterr);
    }
    return status == STATUS_OK ? admit(dimacs, vertex_count, arc_count, reterr) : status;
}

static enum status take_arc(struct dimacs *dimacs, struct word_cursor cursor,
                            struct problem *reterr)
{
    struct word source = line_word_next(&cursor);
    struct word target = line_word_next(&cursor);
    struct word weight = line_word_next(&cursor);
    uint32_t ends[2];
    enum status status;

    if (!dimacs->announced) {
        return refuse_at(1, "There is an arc before the p line.", reterr);
    }
    if (graph_builder_edge_count(dimacs->builder) == dimacs->arc_count) {
        return refuse_at(1, "There are more arcs than the p line announces.", reterr);
    }
    status = line_word_parse_vertex(source, dimacs->vertex_count, &ends[0], reterr);
    if (status == STATUS_OK) {
        status = line_word_parse_vertex(target, dimacs->vertex_count, &ends[1], reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (weight.size == 0) {
        return line_word_refuse(weight, "a weight", reterr);
    }
    status = line_word_expect_end(&cursor, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    return reader_add_edge(dimacs->builder, &dimacs->options, ends, weight.bytes, weight.size,
                           weight.column, reterr);
}

/* An arc as nearly all are written, "a 12 345 6". Where the line ends; NULL for every other line,
 * which take_arc reads, or finds the words for what is wrong. At least PLAIN_ARC_SIZE bytes. */
static inline const char *scan_arc(const struct dimacs *dimacs, const char *at,
                                   struct edge_i4 *ret_arc)
{
    uint32_t ends[2];
    uint32_t weight;

    if (at[0] != 'a' || at[1] != ' ' || (at = word_scan_ahead(at + 2, &ends[0])) == NULL ||
        *at != ' ' || (at = word_scan_ahead(at + 1, &ends[1])) == NULL || *at != ' ' ||
        (at = word_scan_ahead(at + 1, &weight)) == NULL) {
        return NULL;
    }
    /* Vertex 0 wraps around. */
    *ret_arc = (struct edge_i4){ends[0] - 1, ends[1] - 1, (int32_t)weight};
    return ret_arc->source < dimacs->vertex_count && ret_arc->target < dimacs->vertex_count
               ? word_scan_end(at)
               : NULL;
}

/* Before the p line no arc is wanted. */
static uint64_t scan_arcs(void *context, const char *bytes, size_t size, size_t *ret_size)
{
    const struct dimacs *dimacs = context;
    const char *end = bytes + size;
    const char *at = bytes;
    const char *next;
    uint64_t wanted = dimacs->arc_count - graph_builder_edge_count(dimacs->builder);
    struct edge_i4 *arcs;
    uint64_t room;
    uint64_t count = 0;

    wanted = wanted < size ? wanted : size;
    if (wanted == 0 || size < PLAIN_ARC_SIZE || !graph_builder_has_integers(dimacs->builder) ||
        graph_builder_offer(dimacs->builder, wanted, &arcs, &room) != STATUS_OK) {
        return 0;
    }
    while (count < room && end - at >= PLAIN_ARC_SIZE &&
           (next = scan_arc(dimacs, at, &arcs[count])) != NULL) {
        at = next;
        count++;
    }
    graph_builder_commit(dimacs->builder, count);
    *ret_size = (size_t)(at - bytes);
    return count;
}

static enum status take_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct word_cursor cursor = {line, line, line + size};
    struct word letter = line_word_next(&cursor);

    if (letter.size == 0 || letter.bytes[0] == 'c') {
        return STATUS_OK;
    }
    if (line_word_is(letter, "a")) {
        return take_arc(context, cursor, reterr);
    }
    if (line_word_is(letter, "p")) {
        return take_problem_line(context, cursor, reterr);
    }
    return line_word_refuse(letter, "c, p or a", reterr);
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
    struct dimacs *dimacs = calloc(1, sizeof(*dimacs));

    if (dimacs == NULL) {
        return STATUS_NO_MEMORY;
    }
    dimacs->options = *options;
    snprintf(dimacs->reader.notes.weight, sizeof(dimacs->reader.notes.weight), READER_WEIGHT_VALUE);
    dimacs->reader.notes.says_direction = true;
    dimacs->splitter.take = take_line;
    dimacs->splitter.scan = scan_arcs;
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
    return reader_finish_range(dimacs->builder, dimacs->vertex_count, 1, true, ret_graph, reterr);
}

const struct reader_class reader_dimacs_class = {
    .format = FORMAT_DIMACS,
    .create = create,
    .feed = feed,
    .finish = finish,
    .destroy = destroy,
};
