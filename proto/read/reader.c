#include "proto/read/reader.h"

#include "proto/number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Integers beyond this are not all doubles. */
#define EXACT_LIMIT (1ll << 53)

enum status reader_create(enum format format, const struct graph_options *options,
                          struct reader **ret_reader)
{
    static const struct reader_class *const classes[] = {
        &reader_dimacs_class, &reader_edges_class, &reader_nthu_class,
        &reader_json_class,   &reader_mtx_class,   &reader_metis_class,
        &reader_npy_class,    &reader_jgf_class,   &reader_graphml_class,
    };

    const struct reader_class *class = NULL;

    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        class = classes[i]->format == format ? classes[i] : class;
    }
    if (class == NULL) {
        return STATUS_UNSUPPORTED_MEDIA_TYPE;
    }
    struct reader *reader = calloc(1, class->size);

    if (reader == NULL) {
        return STATUS_NO_MEMORY;
    }
    reader->class_ = class;
    reader->options = *options;
    reader->splitter.take = class->take_line;
    reader->splitter.scan = class->scan_lines;
    reader->splitter.context = reader;
    if (graph_builder_create(options, &reader->builder) != STATUS_OK ||
        (class->init != NULL && class->init(reader) != STATUS_OK)) {
        reader_destroy(reader);
        return STATUS_NO_MEMORY;
    }
    *ret_reader = reader;
    return STATUS_OK;
}

enum status reader_feed(struct reader *reader, const char *bytes, size_t size,
                        struct problem *reterr)
{
    if (size == 0) {
        return STATUS_OK;
    }
    reader->fed = true;
    return reader->class_->feed != NULL
               ? reader->class_->feed(reader, bytes, size, reterr)
               : line_splitter_feed(&reader->splitter, bytes, size, reterr);
}

enum status reader_finish(struct reader *reader, struct graph **ret_graph, struct problem *reterr)
{
    if (!reader->fed) {
        return problem_set(reterr, STATUS_EMPTY_BODY, "The body is empty.");
    }
    const enum status status = line_splitter_end(&reader->splitter, reterr);

    return status == STATUS_OK ? reader->class_->finish(reader, ret_graph, reterr) : status;
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
    if (status == STATUS_OK) {
        status = admit_edges(&reader->options, edge_count, reterr);
    }
    if (status == STATUS_OK) {
        graph_builder_expect(reader->builder, edge_count);
    }
    return status;
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
    } else {
        problem_set(reterr, status, "There is not enough memory for the graph.");
    }
    return true;
}

/* Case is not significant; a sign may stand in front. */
static bool is_not_finite(const char *text, size_t size)
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
    } else if (is_not_finite(weight, size)) {
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

enum status reader_parse_weight(const char *weight, size_t size, uint64_t column,
                                double *ret_weight, struct problem *reterr)
{
    int64_t integer;

    if (!number_parse_integer(weight, size, &integer)) {
        bool is_decimal = false;

        for (size_t i = 0; i < size; i++) {
            is_decimal = is_decimal || weight[i] == '.' || (weight[i] | 0x20) == 'e';
        }
        return is_decimal && number_parse_real(weight, size, ret_weight)
                   ? STATUS_OK
                   : refuse_weight(weight, size, column, reterr);
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
    double value;
    enum status status = reader_parse_weight(weight, size, column, &value, reterr);

    if (status != STATUS_OK) {
        return status;
    }
    status = graph_builder_add_real(reader->builder, ends[0], ends[1], value);
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
        return problem_set(reterr, STATUS_NO_MEMORY, "There is not enough memory for the graph.");
    }
    status = graph_builder_finish(reader->builder, &names, NULL, directed, ret_graph, reterr);
    vertex_names_destroy(names);
    return status;
}
