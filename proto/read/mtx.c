/* Matrix Market exchange format (math.nist.gov/MatrixMarket/formats.html): a header line
 * "%%MatrixMarket matrix coordinate|array FIELD SYMMETRY", '%' comments, the size, then the
 * entries. coordinate: an entry "I J [A]", counted from 1, is an edge from I to J, even if A is 0.
 * array: entries are values, column by column; each is an edge, except inf and nan, which mark
 * missing edges. Symmetric matrices list one triangle and are undirected graphs. */
#include "proto/number.h"
#include "proto/read/reader.h"

#include <stdio.h>
#include <string.h>

enum entry_type { FIELD_REAL, FIELD_INTEGER, FIELD_PATTERN };
enum symmetry { SYMMETRY_GENERAL, SYMMETRY_SYMMETRIC, SYMMETRY_SKEW };

struct mtx {
    struct reader reader;
    bool headed; /* whether the header line was read */
    bool array;
    enum entry_type field;
    enum symmetry symmetry;
    bool mirrored;    /* an entry off the diagonal represents two directed edges */
    uint64_t entries; /* number of entries read */
    uint32_t row;     /* row of the next value of an array */
    uint32_t column;
};

static enum status parse_field(struct mtx *mtx, struct field word, struct problem *reterr)
{
    if (line_word_is(word, "integer") || line_word_is(word, "unsigned-integer")) {
        mtx->field = FIELD_INTEGER;
    } else if (line_word_is(word, "pattern")) {
        mtx->field = FIELD_PATTERN;
    } else if (!line_word_is(word, "real") && !line_word_is(word, "double")) {
        return line_word_refuse(word, "integer, real or pattern", reterr);
    }
    if (mtx->field == FIELD_PATTERN && mtx->array) {
        return problem_bad_graph_hint(reterr, 0, word.column,
                                      "Write the matrix in coordinate format.",
                                      "An array lists every entry, so it cannot be a pattern.");
    }
    return STATUS_OK;
}

static enum status parse_symmetry(struct mtx *mtx, struct field word, struct problem *reterr)
{
    if (line_word_is(word, "symmetric")) {
        mtx->symmetry = SYMMETRY_SYMMETRIC;
    } else if (line_word_is(word, "skew-symmetric")) {
        mtx->symmetry = SYMMETRY_SKEW;
    } else if (!line_word_is(word, "general")) {
        return line_word_refuse(word, "general, symmetric or skew-symmetric", reterr);
    }
    if (mtx->symmetry == SYMMETRY_SKEW && mtx->field == FIELD_PATTERN) {
        return problem_bad_graph_hint(reterr, 0, word.column, "Write general or symmetric.",
                                      "A pattern has no signs, so it cannot be skew-symmetric.");
    }
    return STATUS_OK;
}

static const char *const field_names[] = {"real", "integer", "pattern"};
static const char *const symmetry_names[] = {"general", "symmetric", "skew-symmetric"};

/* Evaluates the complete header line and checks that the parameters agree with it. */
static enum status settle_header(struct mtx *mtx, struct problem *reterr)
{
    const struct graph_options *options = &mtx->reader.options;
    struct reader_notes *notes = &mtx->reader.notes;
    if (mtx->symmetry == SYMMETRY_SKEW && options->has_directed && !options->directed) {
        return problem_set(reterr, STATUS_BAD_PARAMETER,
                           "directed=false is not possible: in a skew-symmetric matrix the reverse "
                           "edge has the opposite weight.");
    }
    mtx->headed = true;
    mtx->mirrored = mtx->symmetry == SYMMETRY_SKEW || (mtx->symmetry == SYMMETRY_SYMMETRIC &&
                                                       options->has_directed && options->directed);
    snprintf(notes->variant, sizeof(notes->variant), "%s %s %s",
             mtx->array ? "array" : "coordinate", field_names[mtx->field],
             symmetry_names[mtx->symmetry]);
    if (mtx->field != FIELD_PATTERN) {
        snprintf(notes->weight, sizeof(notes->weight), READER_WEIGHT_VALUE);
    }
    return STATUS_OK;
}

static enum status parse_header(struct mtx *mtx, struct word_cursor cursor, struct problem *reterr)
{
    struct field banner = line_word_next(&cursor);
    struct field object = line_word_next(&cursor);
    struct field layout = line_word_next(&cursor);
    if (!line_word_is(banner, "%%MatrixMarket")) {
        return line_word_refuse(banner, "%%MatrixMarket", reterr);
    }
    if (!line_word_is(object, "matrix")) {
        return line_word_refuse(object, "matrix", reterr);
    }
    mtx->array = line_word_is(layout, "array");
    if (!mtx->array && !line_word_is(layout, "coordinate")) {
        return line_word_refuse(layout, "coordinate or array", reterr);
    }
    STATUS_TRY(parse_field(mtx, line_word_next(&cursor), reterr));
    STATUS_TRY(parse_symmetry(mtx, line_word_next(&cursor), reterr));
    STATUS_TRY(line_word_expect_end(&cursor, reterr));
    return settle_header(mtx, reterr);
}

static enum status parse_size(struct mtx *mtx, struct word_cursor cursor, struct problem *reterr)
{
    struct field rows = line_word_next(&cursor);
    struct field columns = line_word_next(&cursor);
    int64_t row_count;
    int64_t column_count;
    int64_t entry_count = 0;

    STATUS_TRY(line_word_parse_count(rows, "the number of rows", &row_count, reterr));
    STATUS_TRY(line_word_parse_count(columns, "the number of columns", &column_count, reterr));
    if (!mtx->array && line_word_parse_count(line_word_next(&cursor), "the number of entries",
                                             &entry_count, reterr) != STATUS_OK) {
        problem_hint(
            reterr,
            "Write a line with the numbers of rows, columns and entries before the entries.");
        return STATUS_BAD_GRAPH;
    }
    STATUS_TRY(line_word_expect_end(&cursor, reterr));
    if (row_count != column_count) {
        return problem_bad_graph_hint(reterr, 0, columns.column, "Send a square matrix.",
                                      "The matrix is not square, so its rows are not vertices.");
    }
    /* An array lists the whole matrix, or its lower triangle with or without the diagonal. Vertex
     * counts above the limit are refused first, so that the product cannot overflow. */
    if (mtx->array && row_count <= GRAPH_VERTEX_LIMIT) {
        entry_count = mtx->symmetry == SYMMETRY_GENERAL     ? row_count * row_count
                      : mtx->symmetry == SYMMETRY_SYMMETRIC ? row_count * (row_count + 1) / 2
                                                            : row_count * (row_count - 1) / 2;
        mtx->row = mtx->symmetry == SYMMETRY_SKEW ? 1 : 0;
    }
    return reader_announce(&mtx->reader, (uint64_t)row_count, (uint64_t)entry_count, reterr);
}

static enum status refuse_more(uint64_t column, struct problem *reterr)
{
    return problem_bad_graph_hint(reterr, 0, column,
                                  "Correct the size line, or remove the extra entries.",
                                  "There are more entries than the size line declares.");
}

/* Adds the edge of an entry, and also the reverse edge if the entry represents two. */
static enum status add_entry(struct mtx *mtx, const uint32_t ends[2], struct field weight,
                             struct problem *reterr)
{
    int64_t integer;

    if (mtx->field == FIELD_INTEGER && !number_parse_integer(weight.bytes, weight.size, &integer) &&
        memchr(weight.bytes, '.', weight.size) != NULL) {
        return problem_bad_graph_hint(reterr, 0, weight.column, "Write real in the header.",
                                      "The header says integer, but '%.*s' has a decimal point.",
                                      weight.size > 40 ? 40 : (int)weight.size, weight.bytes);
    }
    const uint64_t before = mtx->reader.builder.list.count;
    mtx->entries++;
    STATUS_TRY(reader_add_edge(&mtx->reader, ends, weight, reterr));
    if (!mtx->mirrored || ends[0] == ends[1] || mtx->reader.builder.list.count == before) {
        return STATUS_OK;
    }
    const double value = mtx->reader.builder.list.edges[before].weight;
    return graph_builder_add(&mtx->reader.builder, ends[1], ends[0],
                             mtx->symmetry == SYMMETRY_SKEW ? -value : value, reterr);
}

static enum status parse_coordinate(struct mtx *mtx, struct word_cursor cursor,
                                    struct problem *reterr)
{
    struct field row = line_word_next(&cursor);
    struct field column = line_word_next(&cursor);
    struct field weight = {"1", 1, row.column, 0};
    uint32_t ends[2];
    if (mtx->entries == mtx->reader.announced_edges) {
        return refuse_more(row.column, reterr);
    }
    STATUS_TRY(line_word_parse_vertex(row, mtx->reader.announced_vertices, &ends[0], reterr));
    STATUS_TRY(line_word_parse_vertex(column, mtx->reader.announced_vertices, &ends[1], reterr));
    if (mtx->field != FIELD_PATTERN) {
        weight = line_word_next(&cursor);
        STATUS_TRY(weight.size == 0 ? line_word_refuse(weight, "a value", reterr) : STATUS_OK);
    }
    STATUS_TRY(line_word_expect_end(&cursor, reterr));
    if (mtx->symmetry == SYMMETRY_SKEW && ends[0] == ends[1]) {
        return problem_bad_graph_hint(reterr, 0, row.column,
                                      "Remove the entry: all diagonal entries are 0.",
                                      "A skew-symmetric matrix must not list its diagonal.");
    }
    return add_entry(mtx, ends, weight, reterr);
}

static enum status parse_values(struct mtx *mtx, struct word_cursor cursor, struct problem *reterr)
{
    for (struct field value = line_word_next(&cursor); value.size > 0;
         value = line_word_next(&cursor)) {
        const uint32_t ends[2] = {mtx->row, mtx->column};

        if (mtx->entries == mtx->reader.announced_edges) {
            return refuse_more(value.column, reterr);
        }
        if (value.bytes[0] != '-' && reader_is_not_finite(value.bytes, value.size)) {
            mtx->entries++;
        } else {
            STATUS_TRY(add_entry(mtx, ends, value, reterr));
        }
        /* The next value is below this one, or at the top of the next column. */
        mtx->row++;
        if (mtx->row >= mtx->reader.announced_vertices) {
            mtx->column++;
            mtx->row = mtx->symmetry == SYMMETRY_GENERAL ? 0 : mtx->column;
            mtx->row += mtx->symmetry == SYMMETRY_SKEW;
        }
    }
    return STATUS_OK;
}

static enum status parse_line(void *context, const char *line, size_t size, struct problem *reterr)
{
    struct mtx *mtx = context;
    struct word_cursor cursor = {line, line, line + size};
    struct word_cursor ahead = cursor;
    if (!mtx->headed) {
        return parse_header(mtx, cursor, reterr);
    }
    const struct field first = line_word_next(&ahead);
    if (first.size == 0 || first.bytes[0] == '%') {
        return STATUS_OK;
    }
    if (!mtx->reader.is_announced) {
        return parse_size(mtx, cursor, reterr);
    }
    return mtx->array ? parse_values(mtx, cursor, reterr) : parse_coordinate(mtx, cursor, reterr);
}

static enum status finish_mtx(struct reader *reader, struct graph **ret_graph,
                              struct problem *reterr)
{
    struct mtx *mtx = (struct mtx *)reader;
    if (reader->is_announced && mtx->entries == reader->announced_edges) {
        return reader_finish_range(reader, reader->announced_vertices, 1, NULL,
                                   mtx->symmetry != SYMMETRY_SYMMETRIC, ret_graph, reterr);
    }
    if (!reader->is_announced) {
        return problem_refuse_at(reterr, STATUS_TRUNCATED, reader->splitter.line, 0, NULL,
                                 "The file ends before the size line.");
    }
    return problem_refuse_at(reterr, STATUS_TRUNCATED, reader->splitter.line, 0, NULL,
                             "The size line declares %llu entries, but %llu were found.",
                             (unsigned long long)reader->announced_edges,
                             (unsigned long long)mtx->entries);
}

const struct reader_class reader_mtx_class = {
    .size = sizeof(struct mtx),
    .parse_line = parse_line,
    .finish = finish_mtx,
    .says_direction = true,
};
