#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/transport/stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Vertices in a piece of JSON: a few KiB of text. */
#define VERTICES_PER_PIECE 512
/* Rows for which an answer that is being computed has a line end, so that the client sees that it
 * comes. */
#define ROWS_PER_LINE 64

/* single: the number is a distance of a float32 matrix. */
static void append_number(struct text *text, double value, bool single)
{
    if (isfinite(value)) {
        writer_append_real(text, value, single);
    } else {
        text_append_string(text, "null");
    }
}

static void append_distance(struct text *text, const struct statistics *statistics, double value)
{
    append_number(text, value, statistics->kind == KIND_F4);
}

/* ---- What is there of each vertex ---- */

enum column { ECCENTRICITY, CLOSENESS, REACHABLE, COLUMNS };

static void append_cell(struct text *text, const struct statistics *statistics, size_t column,
                        uint32_t row)
{
    double closeness;

    if (column == REACHABLE) {
        text_printf(text, "%" PRIu32, statistics->reachable[row]);
    } else if (column == ECCENTRICITY && statistics->reachable[row] > 0) {
        append_distance(text, statistics, statistics->eccentricity[row]);
    } else if (column == CLOSENESS && statistics_closeness(statistics, row, &closeness)) {
        append_number(text, closeness, false);
    } else {
        text_append_string(text, "null");
    }
}

/* ---- What is there once ---- */

static void append_member(struct text *text, const struct statistics *statistics, const char *name,
                          double value, bool is_distance)
{
    text_printf(text, ",\"%s\":", name);
    if (statistics->summary->reachable_pairs == 0) {
        text_append_string(text, "null");
    } else {
        append_number(text, value, is_distance && statistics->kind == KIND_F4);
    }
}

static void append_histogram(struct text *text, const struct statistics *statistics)
{
    const struct statistics_summary *summary = statistics->summary;

    text_append_string(text, ",\"histogram\":");
    if (summary->reachable_pairs == 0) {
        text_append_string(text, "null");
        return;
    }
    text_append_string(text, "{\"min\":");
    append_distance(text, statistics, summary->bin_begin);
    text_append_string(text, ",\"bin_width\":");
    append_number(text, summary->bin_width, false);
    text_append_string(text, ",\"counts\":[");
    for (size_t bin = 0; bin < STATISTICS_BINS; bin++) {
        text_printf(text, "%s%" PRIu64, bin == 0 ? "" : ",", summary->bins[bin]);
    }
    text_append_string(text, "]}");
}

/* ---- The rows of a hierarchy ---- */

/* Statistics that are made while they are asked for, row by row, twice: the first time finds the
 * bins of the histogram. */
struct sweep {
    const struct result *result; /* the stream's */
    struct result_rows rows;
    struct statistics statistics;
    void *storage; /* of these */
    double lowest;
    uint64_t next; /* row, counted on through both times */
};

static void destroy_sweep(void *context)
{
    struct sweep *sweep = context;

    search_pool_finish_rows(&sweep->rows);
    free(sweep->storage);
    free(sweep);
}

static enum status create_sweep(const struct result *result, struct sweep **ret_sweep)
{
    const uint32_t n = result_vertex_count(result);
    struct sweep *sweep = calloc(1, sizeof(*sweep));

    if (sweep == NULL || (sweep->storage = malloc(statistics_size(n))) == NULL) {
        free(sweep);
        return STATUS_NO_MEMORY;
    }
    sweep->result = result;
    sweep->statistics = statistics_init(sweep->storage, n, result_kind(result));
    *ret_sweep = sweep;
    return STATUS_OK;
}

/* Goes on with the next row. */
static enum status sweep_row(struct sweep *sweep)
{
    struct statistics *statistics = &sweep->statistics;
    const uint32_t n = statistics->vertex_count;
    const uint32_t row = (uint32_t)(sweep->next % n);
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    const void *distances;

    STATUS_TRY(result_distances(sweep->result, row, &sweep->rows, &distances));
    if (distances == NULL) {
        return STATUS_OK;
    }
    if (sweep->next < n) {
        statistics_reduce_row(statistics, row, statistics->kind, distances, &sweep->lowest);
    } else {
        statistics_count_row(statistics, row, statistics->kind, distances, bins);
    }
    for (size_t bin = 0; bin < STATISTICS_BINS; bin++) {
        statistics->summary->bins[bin] += bins[bin];
    }
    if (++sweep->next == n) {
        statistics_summarize(statistics, sweep->lowest);
        sweep->next += statistics->summary->reachable_pairs == 0 ? n : 0; /* there are no bins */
    }
    return STATUS_OK;
}

/* The next row, with a line end after some. */
static bool make_line(struct stream *stream, struct sweep *sweep, struct text *text)
{
    const uint64_t before = sweep->next;
    const enum status status = sweep_row(sweep);

    text_append(text, "\n", sweep->next > before && sweep->next % ROWS_PER_LINE == 0);
    return status == STATUS_OK || stream_fail(stream, text, status);
}

/* ---- The stream ---- */

static const struct statistics *statistics_of(const struct stream *stream)
{
    const struct sweep *sweep = stream->plan.context;

    return sweep != NULL ? &sweep->statistics : result_statistics(stream->result);
}

/* position counts the pieces, of which every column has the same number, at least one. */
static bool make_pieces(struct stream *stream, struct text *text)
{
    static const char *const names[] = {"eccentricity", "closeness", "reachable"};
    const struct statistics *statistics = statistics_of(stream);
    const struct statistics_summary *summary = statistics->summary;
    struct sweep *sweep = stream->plan.context;
    const uint32_t n = statistics->vertex_count;
    const uint64_t pieces =
        n == 0 ? 1 : ((uint64_t)n + VERTICES_PER_PIECE - 1) / VERTICES_PER_PIECE;
    const uint32_t first = (uint32_t)(stream->position % pieces * VERTICES_PER_PIECE);
    const uint32_t stop = n - first < VERTICES_PER_PIECE ? n : first + VERTICES_PER_PIECE;
    const size_t column = (size_t)(stream->position / pieces);

    if (sweep != NULL && sweep->next < 2 * (uint64_t)n) {
        return make_line(stream, sweep, text);
    }
    if (stream->position == 0) {
        text_printf(text, "{\"n\":%" PRIu32 ",\"kind\":\"%s\",\"reachable_pairs\":%" PRIu64, n,
                    kind_name(statistics->kind), summary->reachable_pairs);
        append_member(text, statistics, "diameter", summary->diameter, true);
        append_member(text, statistics, "radius", summary->radius, true);
        append_member(text, statistics, "mean_distance", summary->mean_distance, false);
    }
    if (first == 0) {
        text_printf(text, ",\"%s\":[", names[column]);
    }
    for (uint32_t row = first; row < stop; row++) {
        text_append(text, ",", row > 0);
        append_cell(text, statistics, column, row);
    }
    text_append(text, "]", stop == n);
    stream->position++;
    if (stream->position < pieces * COLUMNS) {
        return true;
    }
    append_histogram(text, statistics);
    text_append_string(text, "}\n");
    return false;
}

static void answer_swept(struct request *request)
{
    const uint32_t limit = request->http_context->config->row_limit;
    const uint32_t n = result_vertex_count(request->result);
    struct sweep *sweep = NULL;
    struct problem problem;

    if (n > limit) {
        problem_set(&problem, STATUS_NOT_A_MATRIX,
                    "The result is a hierarchy, of which so many rows are not computed at once.");
        problem_limit(&problem, limit, n);
        problem_hint(&problem, "Ask for rows, tables or pairs, solve the graph with "
                               "result=matrix, or have hierarchy.row_limit raised.");
        request_refuse(request, &problem);
        return;
    }
    if (create_sweep(request->result, &sweep) != STATUS_OK) {
        request_refuse_with(request, STATUS_NO_MEMORY, "There is no memory for the request.", NULL);
        return;
    }
    request_negotiate(request, false);
    if (request_tag(request, "stats")) {
        destroy_sweep(sweep);
    } else {
        stream_answer(request, &(struct stream_plan){.media_type = "application/json",
                                                     .context = sweep,
                                                     .destroy = destroy_sweep,
                                                     .make = make_pieces});
    }
}

void serve_statistics(struct request *request)
{
    if (result_form(request->result) == RESULT_FORM_HIERARCHY) {
        answer_swept(request);
        return;
    }
    if (result_statistics(request->result) == NULL) {
        request_refuse_with(request, STATUS_CORRUPT, "The stored result is damaged.", NULL);
        return;
    }
    request_negotiate(request, false);
    if (!request_tag(request, "stats")) {
        stream_answer(request,
                      &(struct stream_plan){.media_type = "application/json", .make = make_pieces});
    }
}
