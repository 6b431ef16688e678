/* Shortest path format of the 9th DIMACS Implementation Challenge: "c ..." comments, one line "p sp
 * n m", then m lines "a U V W" with vertices 1..n. Decimal weights are accepted. */
#include "proto/read/reader.h"

#include <string.h>

struct dimacs {
    struct reader reader;
    uint64_t arcs; /* number of arcs read, including arcs that no_edge= removes */
};

/* Refuses DIMACS files of other problems by name, such as "p aux sp co" (coordinates). */
static enum status refuse_problem(struct field word, struct field object, struct problem *reterr)
{
    static const struct {
        const char *name;
        const char *object; /* second word; NULL: any word */
        const char *subject;
        const char *hint; /* NULL: a hint that gives the format of shortest path problems */
    } others[] = {
        {"edge", NULL, "graph colouring or cliques", NULL},
        {"col", NULL, "graph colouring", NULL},
        {"max", NULL, "maximum flow", NULL},
        {"min", NULL, "minimum cost flow", NULL},
        {"asn", NULL, "assignment", NULL},
        {"cnf", NULL, "satisfiability", NULL},
        {"tw", NULL, "tree width", NULL},
        {"aux", "p2p", "a list of queries",
         "Upload the .gr file, then send the pairs to /distances of that graph, one SOURCE,TARGET "
         "per line."},
        {"aux", NULL, "a list of coordinates of vertices",
         "Upload the .gr file of the same name, then PUT this file to /coordinates of that graph."},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!line_word_is(word, others[i].name) ||
            (others[i].object != NULL && !line_word_is(object, others[i].object))) {
            continue;
        }
        return problem_bad_graph_hint(reterr, 0, word.column,
                                      others[i].hint != NULL
                                          ? others[i].hint
                                          : "A shortest path problem begins with 'p sp n m'.",
                                      "The line 'p %s' declares a different type of problem: %s.",
                                      others[i].name, others[i].subject);
    }
    return line_word_refuse(word, "'sp'", reterr);
}

static enum status parse_problem_line(struct dimacs *dimacs, struct word_cursor cursor,
                                      struct problem *reterr)
{
    struct field name = line_word_next(&cursor);
    struct field vertices = line_word_next(&cursor);
    struct field arcs = line_word_next(&cursor);
    int64_t vertex_count;
    int64_t arc_count;

    if (dimacs->reader.is_announced) {
        return problem_bad_graph(reterr, 0, 1, "There is a second p line.");
    }
    if (!line_word_is(name, "sp")) {
        return refuse_problem(name, arcs, reterr);
    }
    STATUS_TRY(line_word_parse_count(vertices, "the number of vertices", &vertex_count, reterr));
    STATUS_TRY(line_word_parse_count(arcs, "the number of arcs", &arc_count, reterr));
    STATUS_TRY(line_word_expect_end(&cursor, reterr));
    return reader_announce(&dimacs->reader, (uint64_t)vertex_count, (uint64_t)arc_count, reterr);
}

static enum status parse_arc(struct dimacs *dimacs, struct word_cursor cursor,
                             struct problem *reterr)
{
    struct field source = line_word_next(&cursor);
    struct field target = line_word_next(&cursor);
    struct field weight = line_word_next(&cursor);
    uint32_t ends[2];

    if (!dimacs->reader.is_announced) {
        return problem_bad_graph(reterr, 0, 1, "There is an arc before the p line.");
    }
    if (dimacs->arcs == dimacs->reader.announced_edges) {
        return problem_bad_graph(reterr, 0, 1, "There are more arcs than the p line declares.");
    }
    STATUS_TRY(line_word_parse_vertex(source, dimacs->reader.announced_vertices, &ends[0], reterr));
    STATUS_TRY(line_word_parse_vertex(target, dimacs->reader.announced_vertices, &ends[1], reterr));
    if (weight.size == 0) {
        return line_word_refuse(weight, "a weight", reterr);
    }
    STATUS_TRY(line_word_expect_end(&cursor, reterr));
    dimacs->arcs++;
    return reader_add_edge(&dimacs->reader, ends, weight, reterr);
}

static enum status parse_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct dimacs *dimacs = context;
    struct word_cursor cursor = {line, line, line + size};
    uint32_t arc[3];

    if (size > 2 && memcmp(line, "a ", 2) == 0 &&
        line_parse_integers(line + 2, size - 2, ' ', 3, arc) &&
        dimacs->arcs < dimacs->reader.announced_edges &&
        arc[0] - 1 < dimacs->reader.announced_vertices &&
        arc[1] - 1 < dimacs->reader.announced_vertices) {
        dimacs->arcs++;
        return reader_add_real(&dimacs->reader, (uint32_t[]){arc[0] - 1, arc[1] - 1}, arc[2],
                               reterr);
    }
    const struct field letter = line_word_next(&cursor);

    if (letter.size == 0 || letter.bytes[0] == 'c') {
        return STATUS_OK;
    }
    if (line_word_is(letter, "a")) {
        return parse_arc(context, cursor, reterr);
    }
    if (line_word_is(letter, "p")) {
        return parse_problem_line(context, cursor, reterr);
    }
    return line_word_refuse(letter, "c, p or a", reterr);
}

static enum status finish_dimacs(struct reader *reader, struct graph **ret_graph,
                                 struct problem *reterr)
{
    struct dimacs *dimacs = (struct dimacs *)reader;

    if (!reader->is_announced) {
        return problem_set(reterr, STATUS_BAD_GRAPH, "There is no line 'p sp n m'.");
    }
    if (dimacs->arcs < reader->announced_edges) {
        return problem_refuse_at(reterr, STATUS_TRUNCATED, reader->splitter.line, 0, NULL,
                                 "The p line declares m=%llu arcs, but %llu were found.",
                                 (unsigned long long)reader->announced_edges,
                                 (unsigned long long)dimacs->arcs);
    }
    return reader_finish_range(reader, reader->announced_vertices, 1, NULL, true, ret_graph,
                               reterr);
}

const struct reader_class reader_dimacs_class = {
    .size = sizeof(struct dimacs),
    .parse_line = parse_line,
    .finish = finish_dimacs,
    .says_direction = true,
    .has_weights = true,
};
