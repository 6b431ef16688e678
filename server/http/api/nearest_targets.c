#include "server/http/api/serve.h"

#include "proto/nearest.h"
#include "proto/number.h"
#include "proto/write/writer.h"
#include "server/http/api/rectangle.h"
#include "server/http/api/slice.h"
#include "server/http/transport/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest k: the nearest of one source are printed in one step. */
#define COUNT_LIMIT 1000

/* Sources one after the other, each among the same targets. */
struct search {
    struct slice sources;
    struct slice targets;
    uint32_t count; /* of the nearest */
    struct rectangle rectangle;
    char *cells; /* from the source in hand to the targets */
    struct nearest nearest;
    bool has_head; /* of the answer */
    bool is_begun; /* for the source in hand */
};

static void destroy_search(void *context)
{
    struct search *search = context;
    rectangle_close(&search->rectangle);
    slice_finish(&search->sources);
    slice_finish(&search->targets);
    nearest_finish(&search->nearest);
    free(search->cells);
    free(search);
}

static enum status parse_count(struct name_scanner *scanner, uint32_t *ret_count,
                               struct problem *reterr)
{
    struct scanned_name number = {0};
    int64_t count;
    STATUS_TRY(name_scanner_number(scanner, &number, reterr));
    if (!number_parse_integer(number.bytes, number.size, &count) || count < 1 ||
        count > COUNT_LIMIT) {
        return problem_set(reterr, STATUS_BAD_PARAMETER, "k is an integer from 1 to %d.",
                           COUNT_LIMIT);
    }
    *ret_count = (uint32_t)count;
    return STATUS_OK;
}

/* A list that is absent is all vertices; k is 1 unless it is given. */
static enum status parse_question(const struct request *request, struct search *search,
                                  struct problem *reterr)
{
    static const char *const keys[] = {"sources", "targets", "k", NULL};
    const struct vertex_names *names = result_names(request->result);
    struct slice *const slices[] = {&search->sources, &search->targets};
    bool seen[3] = {false};
    struct name_scanner scanner;
    name_scanner_init(&scanner, request->document.bytes, request->document.size,
                      request->match.route->query->question);
    STATUS_TRY(name_scanner_expect(&scanner, '{', reterr));
    if (!name_scanner_take(&scanner, '}')) {
        do {
            size_t key;
            STATUS_TRY(name_scanner_key(&scanner, keys, &key, reterr));
            if (seen[key]) {
                return name_scanner_refuse(&scanner, "a key comes twice", reterr);
            }
            seen[key] = true;
            STATUS_TRY(key == 2 ? parse_count(&scanner, &search->count, reterr)
                                : slice_scan(slices[key], names, &scanner, reterr));
        } while (name_scanner_take(&scanner, ','));
        STATUS_TRY(name_scanner_expect(&scanner, '}', reterr));
    }
    for (size_t i = 0; i < 2; i++) {
        if (!seen[i]) {
            slice_all(slices[i], names);
        }
    }
    return name_scanner_end(&scanner, reterr);
}

/* Copies the distances of the next source, if they are there. */
static enum status begin_source(struct search *search, enum kind kind, uint32_t index)
{
    const size_t size = kind_size(kind);
    struct nearest_query query = {
        .kind = kind,
        .distances = search->cells,
        .vertex_count = search->targets.axis.count,
        .source = UINT32_MAX, /* a source among the targets is its own nearest */
        .count = search->count,
        .within = INFINITY,
    };
    const void *row;
    STATUS_TRY(rectangle_row(&search->rectangle, index, &row));
    if (row == NULL) {
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < query.vertex_count; i++) {
        memcpy(search->cells + i * size,
               (const char *)row + axis_at(&search->rectangle.cells, i) * size, size);
    }
    search->is_begun = true;
    return nearest_begin(&search->nearest, &query);
}

/* Appends the answer for one source, as GET .../nearest has it. */
static void append_source(const struct search *search, const struct result *result, uint32_t index,
                          struct text *text)
{
    const struct vertex_names *names = result_names(result);
    const enum kind kind = result_kind(result);
    const struct nearest *nearest = &search->nearest;
    text_append_string(text, index > 0 ? ",{\"source\":" : "{\"source\":");
    writer_append_vertex(text, names, axis_at(&search->sources.axis, index));
    text_append_string(text, ",\"vertices\":[");
    for (size_t i = 0; i < nearest->count; i++) {
        text_append(text, ",", i > 0);
        writer_append_vertex(text, names, axis_at(&search->targets.axis, nearest->rows[i]));
    }
    text_append_string(text, "],\"distances\":[");
    for (size_t i = 0; i < nearest->count; i++) {
        text_append(text, ",", i > 0);
        writer_append_distance(text, kind, search->cells + nearest->rows[i] * kind_size(kind));
    }
    text_append_string(text, "]}");
}

/* position counts sources. */
static bool make_source(struct stream *stream, struct text *text)
{
    struct search *search = stream->plan.context;
    const uint32_t index = (uint32_t)stream->position;
    text_append(text, "{\"nearest\":[", search->has_head ? 0 : strlen("{\"nearest\":["));
    search->has_head = true;
    if (index == search->sources.axis.count) {
        text_append_string(text, "]}\n");
        return false;
    }
    if (!search->is_begun) {
        const enum status status = begin_source(search, result_kind(stream->result), index);
        return status == STATUS_OK || stream_fail(stream, text, status);
    }
    if (nearest_step(&search->nearest)) {
        append_source(search, stream->result, index, text);
        nearest_finish(&search->nearest);
        search->is_begun = false;
        stream->position++;
    }
    return true;
}

static enum status open_search(const struct request *request, struct search *search,
                               struct problem *reterr)
{
    const double limit = (double)request->http_context->config->json_cell_limit;
    const size_t element = kind_size(result_kind(request->result));
    STATUS_TRY(parse_question(request, search, reterr));
    const double cells = (double)search->sources.axis.count * search->count;
    if (cells > limit) {
        problem_set(reterr, STATUS_TOO_LARGE, "These are more distances than go into one JSON.");
        problem_limit(reterr, limit, cells);
        problem_hint(reterr, "Ask for fewer sources, or for a smaller k.");
        return STATUS_TOO_LARGE;
    }
    search->cells = malloc((search->targets.axis.count + (size_t)1) * element);
    if (search->cells == NULL ||
        rectangle_open(&search->rectangle, request->result, &search->sources.axis,
                       &search->targets.axis) != STATUS_OK) {
        return problem_set(reterr, STATUS_NO_MEMORY, "There is no memory for the request.");
    }
    return STATUS_OK;
}

void serve_nearest_targets(struct request *request)
{
    struct search *search = calloc(1, sizeof(*search));
    struct problem problem;
    if (search == NULL) {
        request_refuse_with(request, STATUS_NO_MEMORY, "There is no memory for the request.", NULL);
        return;
    }
    search->count = 1;
    if (open_search(request, search, &problem) != STATUS_OK) {
        destroy_search(search);
        request_refuse(request, &problem);
        return;
    }
    request_negotiate(request, false);
    request_vary(request);
    stream_answer(request, &(struct stream_plan){.media_type = "application/json",
                                                 .context = search,
                                                 .destroy = destroy_search,
                                                 .make = make_source});
}
