#include "proto/read/reader.h"

#include "proto/number.h"
#include "proto/read/json_scanner.h"
#include "proto/read/name_table.h"
#include "proto/read/table.h"
#include "proto/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Integers beyond this are not all doubles. */
#define EXACT_LIMIT (1ll << 53)

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
    reader->splitter.take = class->parse_line;
    reader->splitter.scan = class->scan_lines;
    reader->splitter.limit = class->line_limit;
    reader->splitter.context = reader;
    if (graph_builder_create(options, &reader->builder) != STATUS_OK ||
        (class->init != NULL && class->init(reader) != STATUS_OK)) {
        reader_destroy(reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = reader;
    return STATUS_OK;
}

/* A lack of memory is put into words here, and nowhere else. */
static enum status tell_lack(enum status status, struct problem *reterr)
{
    return status == STATUS_NO_MEMORY
               ? problem_set(reterr, status, "There is not enough memory for the graph.")
               : status;
}

enum status reader_feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    if (size == 0) {
        return STATUS_OK;
    }
    reader->fed = true;
    return tell_lack(reader->class_->feed != NULL
                         ? reader->class_->feed(reader, bytes, size, reterr)
                         : line_splitter_feed(&reader->splitter, bytes, size, reterr),
                     reterr);
}

enum status reader_finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    if (!reader->fed) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "The body is empty.");
    }
    enum status status = line_splitter_end(&reader->splitter, reterr);

    if (status == STATUS_OK) {
        status = reader->class_->finish(reader, ret_graph, reterr);
    }
    return tell_lack(status, reterr);
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
    graph_builder_destroy(reader->builder);
    free(reader);
}

uint64_t reader_memory(const struct reader *reader)
{
    const struct line_splitter *splitter = &reader->splitter;
    /* A long line becomes edges at once when it ends: one at each second byte at most, which take
     * twice as much as long as they are lists of METIS. */
    const uint64_t line_bytes =
        splitter->limit > 0 ? splitter->pending_size * GRAPH_BUILDER_EDGE_BYTES : 0;

    return graph_builder_memory(reader->builder) + splitter->pending_capacity + line_bytes +
           (reader->class_->memory != NULL ? reader->class_->memory(reader) : 0);
}

uint64_t reader_announced_memory(const struct reader *reader)
{
    const uint64_t read = graph_builder_edge_count(reader->builder);
    const uint64_t left = reader->announced_edges > read ? reader->announced_edges - read : 0;
    uint64_t bytes;

    return __builtin_mul_overflow(left, GRAPH_BUILDER_EDGE_BYTES, &bytes) ||
                   __builtin_add_overflow(bytes, graph_builder_memory(reader->builder), &bytes)
               ? UINT64_MAX
               : bytes;
}

bool reader_awaits_line(const struct reader *reader)
{
    return reader->class_->parse_line != NULL && reader->splitter.line == 0;
}

const struct reader_notes *reader_notes(const struct reader *reader)
{
    return &reader->notes;
}

static enum status admit_edges(const struct graph_options *options, uint64_t edge_count,
                               struct problem *reterr)
{
    if (options->edge_limit == 0 || edge_count <= options->edge_limit) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TOO_LARGE,
                "The graph has %llu edges or more, but at most %llu are accepted.",
                (unsigned long long)edge_count, (unsigned long long)options->edge_limit);
    problem_limit(reterr, (double)options->edge_limit, (double)edge_count);
    problem_hint(reterr, "Merge parallel edges, or upload a smaller graph.");
    return STATUS_TOO_LARGE;
}

enum status reader_admit_count(const struct reader *reader, uint64_t announced,
                               struct problem *reterr)
{
    const struct graph_options *options = &reader->options;

    if (!options->has_vertex_count || options->vertex_count == announced) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_PARAMETER,
                "The parameter n is %u, but the file announces %llu vertices.",
                options->vertex_count, (unsigned long long)announced);
    problem_hint(reterr, "Leave n= out: the file says it.");
    return STATUS_BAD_PARAMETER;
}

enum status reader_admit_weight_name(const struct reader *reader, struct problem *reterr)
{
    if (reader->options.weight[0] == '\0') {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_BAD_PARAMETER,
                "weight=%s has no meaning here: the edges of this format have one weight, without "
                "a name.",
                reader->options.weight);
    problem_hint(reterr, "Leave weight= out.");
    return STATUS_BAD_PARAMETER;
}

enum status reader_announce(struct reader *reader, uint64_t vertex_count, uint64_t edge_count,
                            struct problem *reterr)
{
    enum status status = reader_admit_count(reader, vertex_count, reterr);

    if (status == STATUS_OK) {
        status = reader_admit_weight_name(reader, reterr);
    }
    if (status == STATUS_OK) {
        status = graph_builder_admit(reader->builder, vertex_count, reterr);
    }
    reader->announced_edges = edge_count;
    return status == STATUS_OK ? admit_edges(&reader->options, edge_count, reterr) : status;
}

enum status reader_name_vertex(struct name_table *names, const char *name, size_t size,
                               uint64_t column, uint32_t *ret_row, struct problem *reterr)
{
    const uint32_t count = name_table_count(names);
    size_t valid;

    if (size == 0) {
        return problem_bad_graph(reterr, 0, column, "The name of the vertex is empty.");
    }
    if (size > VERTEX_NAME_LIMIT) {
        return problem_bad_graph(reterr, 0, column,
                                 "The name of the vertex is longer than 1024 bytes.");
    }
    if (name_table_intern(names, name, size, ret_row) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    /* The others were seen. */
    valid = *ret_row < count ? size : text_utf8_size(name, size);
    if (valid == size) {
        return STATUS_OK;
    }
    problem_bad_graph(reterr, 0, column + valid, "The name of the vertex is not UTF-8.");
    problem_hint(reterr, "Name the charset of the text: charset=iso-8859-1, windows-1252, "
                         "shift_jis or another.");
    return STATUS_BAD_GRAPH;
}

static void refuse_range(struct problem *reterr)
{
    problem_set(reterr, STATUS_WEIGHT_RANGE,
                "An integer weight beyond 2^53 is not exact in double precision.");
    problem_hint(reterr, "Scale the weights down.");
}

bool reader_add_failed(const struct reader *reader, enum status status, struct problem *reterr)
{
    const struct graph_options *options = &reader->options;

    if (status == STATUS_OK) {
        return false;
    }
    if (status == STATUS_TOO_LARGE) {
        return admit_edges(options, options->edge_limit + 1, reterr) != STATUS_OK;
    }
    if (status == STATUS_WEIGHT_RANGE) {
        refuse_range(reterr);
    }
    return true;
}

enum status reader_refuse_missing(struct json_place place, struct problem *reterr)
{
    problem_bad_graph(reterr, place.line, place.column, "The weight is missing.");
    problem_hint(reterr,
                 "Other edges have one. Give it a weight or remove it, or give weight=none, "
                 "which counts each edge 1.");
    return STATUS_BAD_GRAPH;
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

static enum status refuse_weight(const char *weight, size_t size, uint64_t column,
                                 struct problem *reterr)
{
    int shown = size > 40 ? 40 : (int)size;
    size_t digits = 0;

    while (digits < size && (isdigit((unsigned char)weight[digits]) ||
                             (digits == 0 && (weight[0] == '-' || weight[0] == '+')))) {
        digits++;
    }
    if (size == 0) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The weight is missing.");
    } else if (reader_is_not_finite(weight, size)) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The weight '%.*s' is not a finite number.", shown,
                    weight);
        problem_hint(reterr, "Leave the edge out: what is not listed is unreachable.");
    } else if (memchr(weight, ',', size) != NULL) {
        problem_set(reterr, STATUS_BAD_GRAPH, "The weight '%.*s' has a decimal comma.", shown,
                    weight);
        problem_hint(reterr, "Write decimals with a point.");
    } else if (digits == size) {
        problem_set(reterr, STATUS_WEIGHT_RANGE, "The weight %.*s is beyond 64 bits.", shown,
                    weight);
        problem_hint(reterr, "Scale the weights down.");
    } else {
        problem_set(reterr, STATUS_BAD_GRAPH,
                    "The weight '%.*s' is not a number in the range of a double.", shown, weight);
    }
    problem_at(reterr, 0, column);
    return digits == size && size > 0 ? STATUS_WEIGHT_RANGE : STATUS_BAD_GRAPH;
}

/* A weight that is no integer. */
static enum status parse_decimal(const char *weight, size_t size, uint64_t column,
                                 double *ret_weight, struct problem *reterr)
{
    const bool is_decimal = memchr(weight, '.', size) != NULL ||
                            memchr(weight, 'e', size) != NULL || memchr(weight, 'E', size) != NULL;

    return is_decimal && number_parse_real(weight, size, ret_weight)
               ? STATUS_OK
               : refuse_weight(weight, size, column, reterr);
}

enum status reader_parse_weight(const char *weight, size_t size, uint64_t column,
                                double *ret_weight, struct problem *reterr)
{
    int64_t integer;

    if (!number_parse_integer(weight, size, &integer)) {
        return parse_decimal(weight, size, column, ret_weight, reterr);
    }
    if (integer < -EXACT_LIMIT || integer > EXACT_LIMIT) {
        refuse_range(reterr);
        problem_at(reterr, 0, column);
        return STATUS_WEIGHT_RANGE;
    }
    *ret_weight = (double)integer;
    return STATUS_OK;
}

enum status reader_add_edge(struct reader *reader, const uint32_t ends[2], const char *weight,
                            size_t size, uint64_t column, struct problem *reterr)
{
    enum status status;
    int64_t integer;
    double real;

    /* Most weights are integers, and need not become doubles in between. */
    if (number_parse_integer(weight, size, &integer)) {
        status = graph_builder_add_integer(reader->builder, ends[0], ends[1], integer);
    } else {
        STATUS_TRY(parse_decimal(weight, size, column, &real, reterr));
        status = graph_builder_add_real(reader->builder, ends[0], ends[1], real);
    }
    if (reader_add_failed(reader, status, reterr)) {
        problem_at(reterr, 0, column);
    }
    return status;
}

enum status reader_finish_range(struct reader *reader, uint32_t count, uint32_t base, bool directed,
                                struct graph **ret_graph, struct problem *reterr)
{
    struct vertex_names *names;
    enum status status;

    if (vertex_names_create_range(count, base, &names) != STATUS_OK) {
        return STATUS_NO_MEMORY;
    }
    status = graph_builder_finish(reader->builder, &names, NULL, directed, ret_graph, reterr);
    vertex_names_destroy(names);
    return status;
}

/* ---- Which format the first bytes are of ---- */

/* Comments of DIMACS, "c" alone or before a blank, up to a line "p sp ..". "c" may be the name of a
 * vertex, but a page of lines that all begin so is a licence, and no graph. */
static bool looks_like_dimacs(const char *bytes, size_t size)
{
    const char *const end = bytes + size;

    for (const char *line = bytes, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next == NULL ? end : next;
        const size_t length = (size_t)(next - line) - (next > line && next[-1] == '\r');
        const bool is_blank = length < 2 || line[1] == ' ' || line[1] == '\t';

        if (length > 0 && (line[0] != 'c' || !is_blank || length == 1)) {
            return length == 1 ? line[0] == 'c'
                               : length > 2 && line[0] == 'p' && is_blank &&
                                     isalpha((unsigned char)line[2]);
        }
    }
    return size >= READER_SNIFF_SIZE - 3;
}

/* Whether the rows behind "n m" are no edges: those have one to three columns, and the same number
 * in each line. m edges of k columns are also n lists of k neighbours where n k is 2 m. */
static bool has_neighbour_lists(const char *bytes, size_t size)
{
    const char *const end = bytes + size;
    int64_t header[2] = {0, 0};
    size_t header_size = 0;
    size_t row_size = 0;
    const char *next;

    for (const char *line = bytes; line < end; line = next) {
        const char *const line_end = memchr(line, '\n', (size_t)(end - line));
        struct word_cursor cursor = {line, line, line_end == NULL ? end : line_end};
        size_t count = 0;

        next = line_end == NULL ? end : line_end + 1;
        cursor.end -= cursor.end > line && cursor.end[-1] == '\r';
        for (struct word word; *line != '%' && (word = line_word_next(&cursor)).size > 0; count++) {
            if (header_size == 0 && count < 2) {
                (void)number_parse_integer(word.bytes, word.size, &header[count]);
            }
        }
        if (header_size == 0) {
            header_size = count;
        } else if (count > 3 || (row_size > 0 && count > 0 &&
                                 (line_end != NULL ? count != row_size : count > row_size))) {
            return true;
        } else if (row_size == 0) {
            row_size = count;
        }
    }
    return header_size == 2 ? (uint64_t)header[0] * row_size == 2 * (uint64_t)header[1]
                            : header_size != row_size;
}

/* A short body is read to its end to see; "1 0" alone is rather an edge. */
static bool looks_like_metis(const char *bytes, size_t size)
{
    const bool complete = size < READER_SNIFF_SIZE - 3;
    const struct graph_options options = {0};
    struct reader *reader = NULL;
    struct graph *graph = NULL;
    enum status status = reader_create(FORMAT_METIS, &options, &reader);
    bool has_edge = false;

    if (status == STATUS_OK) {
        status = reader_feed(reader, bytes, size, NULL);
        has_edge = graph_builder_edge_count(reader->builder) > 0;
    }
    if (status == STATUS_OK && complete) {
        status = reader_finish(reader, &graph, NULL);
    }
    graph_destroy(graph);
    reader_destroy(reader);
    return status == STATUS_OK && has_edge && (complete || has_neighbour_lists(bytes, size));
}

/* The lists of a JSON Graph lie within "graph" or "graphs", those of other JSON beside a "graph" of
 * attributes. */
struct jgf_search {
    bool in_graph; /* below the key "graph" of the document */
    bool found;
};

static enum status search_token(void *context, const struct json_token *token,
                                struct problem *reterr)
{
    struct jgf_search *search = context;

    (void)reterr;
    if (token->kind == JSON_TOKEN_KEY && token->depth == 1) {
        search->in_graph = strcmp(token->text, "graph") == 0;
        search->found |= strcmp(token->text, "graphs") == 0;
    } else if (token->kind == JSON_TOKEN_KEY && token->depth == 2 && search->in_graph) {
        search->found |= strcmp(token->text, "nodes") == 0 || strcmp(token->text, "edges") == 0;
    }
    return STATUS_OK;
}

static bool looks_like_jgf(const char *bytes, size_t size)
{
    struct jgf_search search = {0};
    struct json_scanner scanner;

    json_scanner_init(&scanner);
    scanner.take = search_token;
    scanner.context = &search;
    /* Bytes that are no JSON are refused when they are read. */
    (void)!json_scanner_feed(&scanner, bytes, size, NULL);
    json_scanner_finish(&scanner);
    return search.found;
}

enum format reader_sniff(const char *bytes, size_t size)
{
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) {
        return FORMAT_NPY;
    }
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)bytes[i];

        if ((c < 0x20 && strchr("\t\n\v\f\r", c) == NULL) || c == 0 || c == 0x7F) {
            return FORMAT_NONE;
        }
    }
    if (size == 0) {
        return FORMAT_NONE;
    }
    if (size >= 14 && strncasecmp(bytes, "%%MatrixMarket", 14) == 0) {
        return FORMAT_MTX;
    }
    while (size > 0 && strchr(" \t\r\n", *bytes) != NULL) {
        bytes++;
        size--;
    }
    if (size > 0 && *bytes == '<') {
        return FORMAT_GRAPHML;
    }
    if (size > 0 && (*bytes == '{' || *bytes == '[')) {
        return looks_like_jgf(bytes, size) ? FORMAT_JGF : FORMAT_JSON;
    }
    if (looks_like_metis(bytes, size)) {
        return FORMAT_METIS;
    }
    if (looks_like_dimacs(bytes, size)) {
        return FORMAT_DIMACS;
    }
    return table_sniff(bytes, size) ? FORMAT_MATRIX : FORMAT_EDGES;
}
