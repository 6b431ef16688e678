#include "server/http/api/serve.h"

#include "proto/write/writer.h"
#include "server/http/api/statistics_sweep.h"

#include <inttypes.h>
#include <math.h>

/* Number of vertices per piece of JSON; such a piece has a few KiB. */
#define VERTICES_PER_PIECE 512

/* Appends a value; single: it is a distance of a float32 matrix, printed with fewer digits. */
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

enum column { ECCENTRICITY, CLOSENESS, REACHABLE, COLUMNS };

static void append_cell(struct text *text, const struct statistics *statistics, size_t column,
                        uint32_t row)
{
    if (column == REACHABLE) {
        text_printf(text, "%" PRIu32, statistics->reachable[row]);
    } else if (column == ECCENTRICITY) {
        append_distance(text, statistics, statistics->eccentricity[row]);
    } else {
        append_number(text, statistics_closeness(statistics, row), false);
    }
}

static void append_member(struct text *text, const struct statistics *statistics, const char *name,
                          double value, bool is_distance)
{
    text_printf(text, ",\"%s\":", name);
    if (statistics->summary->reachable_pairs == 0 &&
        (!is_distance || statistics->vertex_count == 0)) {
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

/* Continues to compute the statistics of a hierarchy. A matrix has them in its file, so a matrix
 * without them is damaged. */
static enum status sweep_some(struct stream *stream, struct statistics_sweep **sweep)
{
    const struct request *request = stream->request;
    const double rows = 2.0 * result_vertex_count(stream->result);
    bool is_done;
    if (result_form(stream->result) == RESULT_FORM_MATRIX) {
        return STATUS_CORRUPT;
    }
    if (*sweep == NULL) {
        STATUS_TRY(statistics_sweep_check(request, rows, &stream->problem));
        STATUS_TRY(statistics_sweep_create(request, sweep));
    }
    STATUS_TRY(statistics_sweep_step(*sweep, &is_done));
    return is_done && result_statistics(stream->result) == NULL ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Appends a piece of a column; stream->position numbers the pieces of all columns. Each column has
 * the same number of pieces, at least one. */
static bool make_pieces(struct stream *stream, struct text *text)
{
    static const char *const names[] = {"eccentricity", "closeness", "reachable"};
    const struct statistics *statistics = result_statistics(stream->result);
    if (statistics == NULL) {
        return stream_check(stream, sweep_some(stream, (void *)stream->context));
    }
    const struct statistics_summary *summary = statistics->summary;
    const uint32_t n = statistics->vertex_count;
    const uint64_t pieces =
        n == 0 ? 1 : ((uint64_t)n + VERTICES_PER_PIECE - 1) / VERTICES_PER_PIECE;
    const uint32_t first = (uint32_t)(stream->position % pieces * VERTICES_PER_PIECE);
    const uint32_t stop = n - first < VERTICES_PER_PIECE ? n : first + VERTICES_PER_PIECE;
    const size_t column = (size_t)(stream->position / pieces);
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

static void close_sweep(void *context)
{
    statistics_sweep_destroy(*(struct statistics_sweep **)context);
}

const struct stream_kind serve_statistics = {.representation = "stats",
                                             .context_size = sizeof(struct statistics_sweep *),
                                             .close = close_sweep,
                                             .make = make_pieces};
