#include "proto/read/reader.h"

#include "proto/name_table.h"
#include "proto/number.h"
#include "proto/read/columns.h"
#include "proto/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Doubles represent all integers up to this limit exactly, but not all above it. */
#define EXACT_LIMIT (1ll << 53)

enum status reader_set_option(struct graph_options *options, const char *name, const char *value,
                              struct problem *reterr)
{
    char *const names[] = {options->weight, options->source_column, options->target_column};
    static const char *const parameters[] = {"weight", "source_column", "target_column"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(name, parameters[i]) == 0) {
            if (value[0] == '\0' || strlen(value) >= sizeof(options->weight)) {
                return problem_set(
                    reterr, STATUS_BAD_PARAMETER,
                    "%s must be the name of a column or attribute, 1 to 63 bytes long.", name);
            }
            memcpy(names[i], value, strlen(value) + 1);
            return STATUS_OK;
        }
    }
    if (strcmp(name, "decimal") == 0) {
        options->has_decimal_comma = strcmp(value, ",") == 0;
        return options->has_decimal_comma || strcmp(value, ".") == 0
                   ? STATUS_OK
                   : problem_set(reterr, STATUS_BAD_PARAMETER,
                                 "decimal must be the decimal separator, a point or a comma.");
    }
    options->no_edge = strcmp(value, "none") == 0 ? NO_EDGE_NONE : NO_EDGE_VALUE;
    return options->no_edge == NO_EDGE_NONE ||
                   number_parse_real(value, strlen(value), &options->no_edge_value)
               ? STATUS_OK
               : problem_set(reterr, STATUS_BAD_PARAMETER,
                             "no_edge must be the weight that marks a missing edge, or none.");
}

enum status reader_create(enum format format, const struct graph_options *options,
                          struct reader **ret_reader)
{
    static const struct reader_class *const classes[FORMAT_COUNT] = {
        [FORMAT_DIMACS] = &reader_dimacs_class,   [FORMAT_MTX] = &reader_mtx_class,
        [FORMAT_METIS] = &reader_metis_class,     [FORMAT_EDGES] = &reader_edges_class,
        [FORMAT_MATRIX] = &reader_matrix_class,   [FORMAT_NTHU] = &reader_nthu_class,
        [FORMAT_JSON] = &reader_json_class,       [FORMAT_JGF] = &reader_json_class,
        [FORMAT_GRAPHML] = &reader_graphml_class, [FORMAT_NPY] = &reader_npy_class,
    };
    const struct reader_class *class = classes[format];

    if (class == NULL) {
        return STATUS_UNSUPPORTED_MEDIA_TYPE;
    }
    struct reader *reader = calloc(1, class->size);

    if (reader == NULL) {
        return STATUS_NO_MEMORY;
    }
    reader->class_ = class;
    reader->format = format;
    reader->options = *options;
    reader->notes.says_direction = class->says_direction;
    memcpy(reader->notes.weight, READER_WEIGHT_VALUE,
           class->has_weights ? sizeof(READER_WEIGHT_VALUE) : 0);
    reader->splitter.take = class->parse_line;
    reader->splitter.limit = class->line_limit;
    reader->splitter.context = reader;
    reader->records.take = class->take_records;
    reader->records.context = reader;
    record_splitter_expect_header(&reader->records, class->header_size);
    reader->builder = graph_builder_init(&reader->options);
    if (class->init != NULL && class->init(reader) != STATUS_OK) {
        reader_destroy(reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = reader;
    return STATUS_OK;
}

/* Checks that options about columns are given only for formats that have columns. */
static enum status admit_options(const struct reader *reader, struct problem *reterr)
{
    const struct graph_options *options = &reader->options;
    const char *const values[][2] = {{"weight", options->weight},
                                     {"source_column", options->source_column},
                                     {"target_column", options->target_column},
                                     {"decimal", options->has_decimal_comma ? "," : ""}};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        const char *const *known = format_info(reader->format)->parameters;

        while (*known != NULL && strcmp(*known, values[i][0]) != 0) {
            known++;
        }
        if (values[i][1][0] != '\0' && *known == NULL) {
            problem_set(reterr, STATUS_BAD_PARAMETER,
                        "%s=%s does not apply, because the edges of this format have no columns to "
                        "choose from.",
                        values[i][0], values[i][1]);
            problem_hint(reterr, "Omit %s=.", values[i][0]);
            return STATUS_BAD_PARAMETER;
        }
    }
    return STATUS_OK;
}

enum status reader_feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    if (size == 0) {
        return STATUS_OK;
    }
    STATUS_TRY(reader->fed ? STATUS_OK : admit_options(reader, reterr));
    reader->fed = true;
    return reader->class_->feed != NULL ? reader->class_->feed(reader, bytes, size, reterr)
           : reader->class_->take_records != NULL
               ? record_splitter_feed(&reader->records, bytes, size, reterr)
               : line_splitter_feed(&reader->splitter, bytes, size, reterr);
}

enum status reader_finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    if (!reader->fed) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "The body is empty.");
    }
    struct line_splitter *splitter = &reader->splitter;
    struct text *pending = &splitter->pending;
    while (pending->size > 0 && pending->bytes[pending->size - 1] == READER_DOS_END) {
        pending->size--;
    }
    STATUS_TRY(reader->class_->take_records != NULL ? record_splitter_end(&reader->records, reterr)
                                                    : line_splitter_end(splitter, reterr));
    return reader->class_->finish(reader, ret_graph, reterr);
}

void reader_destroy(struct reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->class_->cleanup != NULL) {
        reader->class_->cleanup(reader);
    }
    line_splitter_finish(&reader->splitter);
    text_finish(&reader->records.pending);
    graph_builder_clear(&reader->builder);
    free(reader);
}

uint64_t reader_memory(const struct reader *reader)
{
    const struct line_splitter *splitter = &reader->splitter;
    /* All edges of a long line are added when it ends: at most one edge per two bytes. Counting
     * GRAPH_BUILDER_EDGE_BYTES per byte allows for twice the memory of each edge. */
    const uint64_t line_bytes =
        splitter->limit > 0 ? splitter->pending.size * GRAPH_BUILDER_EDGE_BYTES : 0;

    return graph_builder_memory(&reader->builder) + splitter->pending.capacity + line_bytes +
           (reader->class_->memory != NULL ? reader->class_->memory(reader) : 0);
}

uint64_t reader_announced_memory(const struct reader *reader)
{
    const uint64_t read = reader->builder.list.count;
    const uint64_t left = reader->announced_edges > read ? reader->announced_edges - read : 0;
    uint64_t bytes;

    return __builtin_mul_overflow(left, GRAPH_BUILDER_EDGE_BYTES, &bytes) ||
                   __builtin_add_overflow(bytes, graph_builder_memory(&reader->builder), &bytes)
               ? UINT64_MAX
               : bytes;
}

bool reader_awaits_line(const struct reader *reader)
{
    return reader->class_->parse_line != NULL && reader->splitter.line == 0;
}

enum status reader_admit_count(const struct reader *reader, uint64_t announced,
                               struct problem *reterr)
{
    const struct graph_options *options = &reader->options;

    if (!options->has_vertex_count || options->vertex_count == announced) {
        return STATUS_OK;
    }
    return problem_refuse(reterr, STATUS_BAD_PARAMETER,
                          "Omit n=, because the file declares the number of vertices.",
                          "The parameter n is %u, but the file declares %llu vertices.",
                          options->vertex_count, (unsigned long long)announced);
}

enum status reader_announce(struct reader *reader, uint64_t vertex_count, uint64_t edge_count,
                            struct problem *reterr)
{
    reader->announced_edges = edge_count;
    STATUS_TRY(reader_admit_count(reader, vertex_count, reterr));
    STATUS_TRY(graph_builder_admit(&reader->builder, vertex_count, reterr));
    STATUS_TRY(graph_builder_admit_edges(&reader->builder, edge_count, reterr));
    reader->announced_vertices = (uint32_t)vertex_count;
    reader->is_announced = true;
    return STATUS_OK;
}

enum status reader_name_vertex(struct name_table *names, struct field name, uint32_t *ret_row,
                               struct problem *reterr)
{
    const uint32_t count = name_table_count(names);

    if (name.size == 0) {
        return problem_bad_graph_hint(reterr, 0, name.column,
                                      "Name the vertex, or remove the edge.",
                                      "The name of the vertex is empty.");
    }
    if (name.size > VERTEX_NAME_LIMIT) {
        return problem_bad_graph(reterr, 0, name.column,
                                 "The name of the vertex is longer than 1024 bytes.");
    }
    STATUS_TRY(name_table_intern(names, name.bytes, name.size, ret_row));
    /* A name that was already in the table has been checked for valid UTF-8 before. */
    const size_t valid = *ret_row < count ? name.size : text_utf8_size(name.bytes, name.size);
    if (valid == name.size) {
        return STATUS_OK;
    }
    return problem_bad_graph_hint(
        reterr, 0, name.column + valid,
        "Specify the charset of the text, such as charset=iso-8859-1, windows-1252 or shift_jis.",
        "The name of the vertex is not UTF-8.");
}

struct field reader_point(const struct reader *reader, struct field field, char *point)
{
    const char *comma;

    if (!reader->options.has_decimal_comma || field.size >= COLUMN_VALUE_SIZE ||
        (comma = memchr(field.bytes, ',', field.size)) == NULL ||
        memchr(field.bytes, '.', field.size) != NULL) {
        return field;
    }
    memcpy(point, field.bytes, field.size);
    point[comma - field.bytes] = '.';
    field.bytes = point;
    return field;
}

bool reader_is_number(const struct reader *reader, struct field field)
{
    char point[COLUMN_VALUE_SIZE];

    field = reader_point(reader, field, point);
    return number_parse_real(field.bytes, field.size, &(double){0});
}

/* Sets *ret_is_edge to false for the value of no_edge=. If the request gives no no_edge=, refuses
 * INT32_MAX and INT64_MAX, which often mark missing edges. */
static enum status judge_value(const struct reader *reader, double value, bool *ret_is_edge,
                               struct problem *reterr)
{
    const struct graph_options *options = &reader->options;

    *ret_is_edge = options->no_edge != NO_EDGE_VALUE || value != options->no_edge_value;
    if (options->no_edge != NO_EDGE_UNSAID || (value != INT32_MAX && value != (double)INT64_MAX)) {
        return STATUS_OK;
    }
    const char *largest = value == INT32_MAX ? "2147483647" : "9223372036854775807";
    problem_bad_graph(
        reterr, 0, 0,
        "The weight %s is the largest value of an integer type and may mark a missing edge.",
        largest);
    problem_hint(reterr, "no_edge=%s omits edges with this value; no_edge=none keeps these edges.",
                 largest);
    return STATUS_BAD_GRAPH;
}

enum status reader_add_real(struct reader *reader, const uint32_t ends[2], double value,
                            struct problem *reterr)
{
    bool is_edge;

    STATUS_TRY(judge_value(reader, value, &is_edge, reterr));
    return is_edge ? graph_builder_add(&reader->builder, ends[0], ends[1], value, reterr)
                   : STATUS_OK;
}

enum status reader_add_integer(struct reader *reader, const uint32_t ends[2], int64_t value,
                               struct problem *reterr)
{
    bool is_edge;

    if (value >= -EXACT_LIMIT && value <= EXACT_LIMIT) {
        return reader_add_real(reader, ends, (double)value, reterr);
    }
    STATUS_TRY(judge_value(reader, (double)value, &is_edge, reterr));
    if (!is_edge) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_WEIGHT_RANGE,
                "An integer weight beyond 2^53 is not exact in double precision.");
    problem_hint(reterr, "Scale the weights down, or omit edges of this weight with no_edge=%lld.",
                 (long long)value);
    return STATUS_WEIGHT_RANGE;
}

bool reader_is_not_finite(const char *text, size_t size)
{
    static const char *const words[] = {"inf", "infinity", "nan", "na", "null", "none"};

    if (size > 0 && (*text == '-' || *text == '+')) {
        text++;
        size--;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == size && strncasecmp(text, words[i], size) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns a hint for a weight that is not a number. */
static const char *find_hint(struct field weight)
{
    return reader_is_not_finite(weight.bytes, weight.size)
               ? "Omit the edge: missing edges must not be listed."
           : memchr(weight.bytes, ',', weight.size) != NULL
               ? "Specify \"decimal=,\" to read decimal commas, or write decimals with a point and "
                 "without thousands separators."
           : isalpha((unsigned char)*weight.bytes)
               ? "Write a number, or omit a missing edge. If the line is a header, use names such "
                 "as source,target,weight, or specify source_column= and target_column=. "
                 "weight=none counts each edge as 1; format=matrix reads a matrix."
           : weight.size > 4 && memchr(weight.bytes, 'e', weight.size) != NULL
               ? "If this weight marks a missing edge, omit the edge."
               : "Write only the number, without units, currency signs or thousands separators.";
}

static enum status refuse_weight(struct field weight, struct problem *reterr)
{
    const int shown = weight.size > 40 ? 40 : (int)weight.size;
    const size_t sign = weight.size > 0 && (weight.bytes[0] == '-' || weight.bytes[0] == '+');
    size_t digits = sign;

    while (digits < weight.size && isdigit((unsigned char)weight.bytes[digits])) {
        digits++;
    }
    if (weight.size == 0) {
        return problem_bad_graph(reterr, weight.line, weight.column, "The weight is missing.");
    }
    if (digits == weight.size && digits > sign) {
        return problem_refuse_at(
            reterr, STATUS_WEIGHT_RANGE, weight.line, weight.column,
            "Scale the weights down or, if this weight marks a missing edge, omit the edge.",
            "The weight %.*s does not fit in 64 bits.", shown, weight.bytes);
    }
    return problem_bad_graph_hint(
        reterr, weight.line, weight.column, find_hint(weight),
        reader_is_not_finite(weight.bytes, weight.size)
            ? "The weight '%.*s' is not a finite number."
        : memchr(weight.bytes, ',', weight.size) != NULL
            ? "The weight '%.*s' contains a decimal comma."
            : "The weight '%.*s' is not a number in the range of a double.",
        shown, weight.bytes);
}

/* Parses a weight that is not an integer. */
static enum status parse_decimal(const struct reader *reader, struct field weight,
                                 double *ret_weight, struct problem *reterr)
{
    char point[COLUMN_VALUE_SIZE];
    if (reader->options.has_decimal_comma && memchr(weight.bytes, '.', weight.size) != NULL) {
        return problem_bad_graph_hint(
            reterr, weight.line, weight.column,
            "Omit \"decimal=,\", or write decimals with a comma and without thousands separators.",
            "The weight '%.*s' contains a decimal point, but decimal= requires a decimal comma.",
            weight.size > 40 ? 40 : (int)weight.size, weight.bytes);
    }
    weight = reader_point(reader, weight, point);
    const bool is_decimal = memchr(weight.bytes, '.', weight.size) != NULL ||
                            memchr(weight.bytes, 'e', weight.size) != NULL ||
                            memchr(weight.bytes, 'E', weight.size) != NULL;

    return is_decimal && number_parse_real(weight.bytes, weight.size, ret_weight)
               ? STATUS_OK
               : refuse_weight(weight, reterr);
}

enum status reader_add_edge(struct reader *reader, const uint32_t ends[2], struct field weight,
                            struct problem *reterr)
{
    enum status status;
    int64_t integer;
    double real;

    if (number_parse_integer(weight.bytes, weight.size, &integer)) {
        status = reader_add_integer(reader, ends, integer, reterr);
    } else {
        STATUS_TRY(parse_decimal(reader, weight, &real, reterr));
        status = reader_add_real(reader, ends, real, reterr);
    }
    if (status != STATUS_OK) {
        problem_at(reterr, weight.line, weight.column);
    }
    return status;
}

/* Builds the graph with these names, which are moved even on failure. */
static enum status finish_graph(struct reader *reader, struct vertex_names *names,
                                const uint32_t *row_of, bool directed, struct graph **ret_graph,
                                struct problem *reterr)
{
    const enum status status =
        graph_builder_finish(&reader->builder, &names, row_of, directed, ret_graph, reterr);

    vertex_names_destroy(names);
    return status;
}

enum status reader_finish_range(struct reader *reader, uint32_t count, uint32_t base,
                                const uint32_t *row_of, bool directed, struct graph **ret_graph,
                                struct problem *reterr)
{
    struct vertex_names *names;

    STATUS_TRY(vertex_names_create_range(count, base, &names));
    return finish_graph(reader, names, row_of, directed, ret_graph, reterr);
}

enum status reader_finish_names(struct reader *reader, struct name_table **take_names,
                                const uint32_t *row_of, bool numeric, bool directed,
                                struct graph **ret_graph, struct problem *reterr)
{
    struct vertex_names *names;

    STATUS_TRY(row_of != NULL ? name_table_permute(*take_names, row_of) : STATUS_OK);
    STATUS_TRY(vertex_names_create(take_names, numeric, &names));
    return finish_graph(reader, names, row_of, directed, ret_graph, reterr);
}
