/* METIS graph files (manual of METIS 5.1, section 4.1.1): "n m [fmt [ncon]]", then for each vertex
 * a line "[size] [w1..wncon] v1 [e1] v2 [e2] ..", with vertices numbered from 1. The digits of fmt
 * say whether there are vertex sizes, vertex weights and edge weights. '%' begins a comment line;
 * an empty line is a vertex without neighbours. Vertex sizes and weights do not affect distances
 * and are skipped.
 *
 * Both endpoints list an edge, which is added when the smaller endpoint lists it. At the end,
 * checksums of the edges listed by smaller and by larger endpoints show whether the lists agree. */
#include "proto/number.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Maximum size of a line in bytes, enough for a vertex with four million neighbours. */
#define LIST_BYTES_LIMIT ((size_t)32 << 20)

struct metis {
    struct reader reader;
    uint32_t row_count;   /* number of vertex lines read so far */
    int64_t passed_count; /* number of sizes and weights to skip before a vertex's neighbours */
    bool has_edge_weights;
    uint64_t listed;  /* number of edges added, by their smaller endpoints */
    uint64_t sums[2]; /* checksums of the edges that smaller and larger endpoints list */
};

/* Parses fmt and ncon, which are optional. fmt has one to three digits, 0 or 1; the last digit says
 * whether edges have weights. ncon is the number of weights per vertex. */
static enum status parse_fmt(struct metis *metis, struct word_cursor *cursor,
                             struct problem *reterr)
{
    const struct field fmt = line_word_next(cursor);
    const struct field ncon = line_word_next(cursor);
    struct reader_notes *notes = &metis->reader.notes;
    char digits[4] = "000";

    if (fmt.size <= 3) {
        memcpy(digits + 3 - fmt.size, fmt.bytes, fmt.size);
    }
    if (fmt.size > 3 || strspn(digits, "01") != 3) {
        return line_word_refuse(fmt, "fmt, such as 1, 10 or 011,", reterr);
    }
    const bool has_vertex_weights = digits[1] == '1';
    int64_t constraints = has_vertex_weights;
    if (ncon.size > 0 &&
        (!number_parse_integer(ncon.bytes, ncon.size, &constraints) || constraints < 0 ||
         constraints > UINT32_MAX || (constraints == 0 && has_vertex_weights))) {
        return line_word_refuse(ncon, "the number of weights per vertex", reterr);
    }
    if (constraints > 0 && !has_vertex_weights) {
        return problem_bad_graph_hint(
            reterr, 0, ncon.column, "Set the second digit of fmt to 1 if vertices have weights.",
            "The header gives a number of vertex weights, but fmt says that there are none.");
    }
    metis->passed_count = constraints + (digits[0] == '1');
    metis->has_edge_weights = digits[2] == '1';
    snprintf(notes->variant, sizeof(notes->variant), "fmt %s", digits);
    if (metis->has_edge_weights) {
        snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    }
    return STATUS_OK;
}

static enum status parse_header(struct metis *metis, struct word_cursor cursor,
                                struct problem *reterr)
{
    const struct graph_options *options = &metis->reader.options;
    int64_t vertex_count;
    int64_t edge_count;
    STATUS_TRY(line_word_parse_count(line_word_next(&cursor), "the number of vertices",
                                     &vertex_count, reterr));
    STATUS_TRY(
        line_word_parse_count(line_word_next(&cursor), "the number of edges", &edge_count, reterr));
    STATUS_TRY(parse_fmt(metis, &cursor, reterr));
    STATUS_TRY(line_word_expect_end(&cursor, reterr));
    if (options->has_directed && options->directed) {
        return problem_refuse(
            reterr, STATUS_BAD_PARAMETER, "Omit directed=, or upload the arcs as an edge list.",
            "directed=true is not possible: the edges of this format are undirected.");
    }
    return reader_announce(&metis->reader, (uint64_t)vertex_count, (uint64_t)edge_count, reterr);
}

static uint64_t hash_edge(uint32_t first, uint32_t second, double weight)
{
    const struct edge edge = {first, second, weight + 0.0};
    return XXH3_64bits(&edge, sizeof(edge));
}

static enum status add_neighbour(struct metis *metis, struct field vertex,
                                 struct word_cursor *cursor, struct problem *reterr)
{
    const uint32_t row = metis->row_count;
    struct field weight = {"1", 1, vertex.column, 0};
    uint32_t ends[2] = {row, 0};
    double value = 0;
    STATUS_TRY(line_word_parse_vertex(vertex, metis->reader.announced_vertices, &ends[1], reterr));
    if (metis->has_edge_weights && (weight = line_word_next(cursor)).size == 0) {
        return line_word_refuse(weight, "the weight of the edge", reterr);
    }
    if (ends[1] == row) {
        return problem_bad_graph_hint(
            reterr, 0, vertex.column, "Remove the loop: it shortens no path.",
            "Vertex %u lists itself, but this format has no loops.", row + 1);
    }
    if (number_parse_real(weight.bytes, weight.size, &value) && ends[1] < row) {
        metis->sums[1] += hash_edge(ends[1], row, value);
        return STATUS_OK;
    }
    metis->sums[0] += hash_edge(row, ends[1], value);
    metis->listed++;
    return reader_add_edge(&metis->reader, ends, weight, reterr);
}

static enum status parse_row(struct metis *metis, struct word_cursor cursor, struct problem *reterr)
{
    struct field word;
    int64_t number;

    for (int64_t i = 0; i < metis->passed_count; i++) {
        word = line_word_next(&cursor);
        if (!number_parse_integer(word.bytes, word.size, &number)) {
            return line_word_refuse(word, "a weight of the vertex", reterr);
        }
    }
    while ((word = line_word_next(&cursor)).size > 0) {
        STATUS_TRY(add_neighbour(metis, word, &cursor, reterr));
    }
    metis->row_count++;
    return STATUS_OK;
}

static enum status parse_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct metis *metis = context;
    const struct word_cursor cursor = {line, line, line + size};
    struct word_cursor ahead = cursor;
    const struct field first = line_word_next(&ahead);
    if (first.size > 0 && first.bytes[0] == '%') {
        return STATUS_OK;
    }
    if (metis->reader.is_announced && metis->row_count < metis->reader.announced_vertices) {
        return parse_row(metis, cursor, reterr);
    }
    if (first.size == 0) {
        return STATUS_OK;
    }
    return metis->reader.is_announced
               ? problem_bad_graph(
                     reterr, 0, first.column,
                     "The file has more vertex lines than the header declares (n=%u).",
                     metis->reader.announced_vertices)
               : parse_header(metis, cursor, reterr);
}

static enum status check_complete(const struct metis *metis, struct problem *reterr)
{
    if (metis->row_count < metis->reader.announced_vertices) {
        return problem_refuse_at(
            reterr, STATUS_TRUNCATED, metis->reader.splitter.line + 1, 0,
            "Write an empty line for a vertex without neighbours.",
            "The header declares n=%u vertices, but there are %u lines after it.",
            metis->reader.announced_vertices, metis->row_count);
    }
    if (metis->sums[0] != metis->sums[1]) {
        return problem_bad_graph_hint(
            reterr, 0, 0,
            "List each edge at both endpoints, or upload a directed graph as an edge list.",
            "The two endpoints of some edge do not list each other with the same weight.");
    }
    if (metis->listed == metis->reader.announced_edges) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(
        reterr, 0, 0, "Count each edge once in m, even though both of its endpoints list it.",
        "The header declares m=%llu edges, but the lists contain %llu.",
        (unsigned long long)metis->reader.announced_edges, (unsigned long long)metis->listed);
}

static enum status finish_metis(struct reader *reader, struct graph **ret_graph,
                                struct problem *reterr)
{
    struct metis *metis = (struct metis *)reader;
    if (!reader->is_announced) {
        return problem_set(reterr, STATUS_TRUNCATED, "There is no header 'n m [fmt [ncon]]'.");
    }
    /* If the last vertex has no neighbours, its empty line may be missing. */
    if (metis->row_count + 1 == (uint64_t)reader->announced_vertices) {
        STATUS_TRY(line_splitter_feed(&reader->splitter, "\n", 1, reterr));
    }
    STATUS_TRY(check_complete(metis, reterr));
    return reader_finish_range(reader, reader->announced_vertices, 1, NULL, false, ret_graph,
                               reterr);
}

const struct reader_class reader_metis_class = {
    .size = sizeof(struct metis),
    .parse_line = parse_line,
    .line_limit = LIST_BYTES_LIMIT,
    .finish = finish_metis,
    .says_direction = true,
};
