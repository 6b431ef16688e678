#include "server/http/api/serve.h"

#include "proto/write/overview.h"
#include "proto/write/writer.h"
#include "server/http/api/slice.h"
#include "server/http/api/statistics_sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_CELLS 64

struct looker {
    struct overview overview;
    struct result_rows rows;                    /* computed rows of a hierarchy */
    uint32_t *vertices;                         /* vertices whose rows are sampled, in order */
    struct overview_cell cells[OVERVIEW_CELLS]; /* current row of cells */
    uint32_t looks;                             /* number of rows sampled for the current cells */
    uint32_t looked;                            /* number of rows sampled in total */
};

static void close_looker(void *context)
{
    struct looker *looker = context;
    search_pool_finish_rows(&looker->rows);
    free(looker->vertices);
}

static void append_axis(struct text *text, const char *name, const struct overview_axis *axis,
                        const struct vertex_names *names)
{
    text_printf(text, ",\"%s\":{\"first\":%" PRIu32 ",\"stop\":%" PRIu32 ",\"vertices\":[", name,
                axis->first, axis->first + axis->count);
    for (uint32_t cell = 0; cell < axis->cells; cell++) {
        text_append(text, ",", cell > 0);
        writer_append_vertex(text, names, overview_begin(axis, cell));
    }
    text_append_string(text, "]}");
}

enum measure { LEAST, MEAN, LARGEST, UNREACHABLE };

/* Appends a measure of a cell. Four digits suffice for a share of pairs, and seven for a mean. */
static void append_measure(struct text *text, const struct overview *overview,
                           const struct overview_cell *cell, enum measure measure)
{
    const bool single = overview->kind == KIND_F4;
    if (measure == UNREACHABLE) {
        text_printf(text, "%.4g", 1 - (double)cell->finite / (double)cell->elements);
    } else if (cell->finite == 0) {
        text_append_string(text, "null");
    } else if (measure == MEAN) {
        text_printf(text, "%.7g", cell->sum / (double)cell->finite);
    } else {
        writer_append_real(text, measure == LEAST ? cell->least : cell->largest, single);
    }
}

static void append_cells(struct text *text, const struct looker *looker)
{
    static const char *const names[] = {"min", "mean", "max", "unreachable"};
    for (enum measure measure = LEAST; measure <= UNREACHABLE; measure++) {
        text_printf(text, "%s\"%s\":[", measure == LEAST ? "{" : "],", names[measure]);
        for (uint32_t column = 0; column < looker->overview.columns.cells; column++) {
            text_append(text, ",", column > 0);
            append_measure(text, &looker->overview, &looker->cells[column], measure);
        }
    }
    text_append_string(text, "]}");
}

static void append_begin(struct text *text, const struct overview *overview,
                         const struct vertex_names *names)
{
    text_printf(text, "{\"n\":%" PRIu32 ",\"kind\":\"%s\",\"sampled\":%s",
                vertex_names_count(names), kind_name(overview->kind),
                overview_is_sample(overview) ? "true" : "false");
    append_axis(text, "rows", &overview->rows, names);
    append_axis(text, "cols", &overview->columns, names);
    text_append_string(text, ",\"cells\":[");
}

/* Adds the next sampled row of the matrix to the current row of heat map cells. */
static enum status look_at_row(struct looker *looker, const struct result *result)
{
    const void *distances;
    STATUS_TRY(result_distances(result, looker->looked, &looker->rows, &distances));
    if (distances != NULL) {
        overview_add(&looker->overview, distances, looker->cells);
        looker->looks++;
        looker->looked++;
    }
    return STATUS_OK;
}

/* Samples a row of distances, or appends a row of cells. stream->position is the row of cells. */
static bool make_row(struct stream *stream, struct text *text)
{
    struct looker *looker = (void *)stream->context;
    const struct overview *overview = &looker->overview;
    const uint32_t row = (uint32_t)stream->position;
    if (row < overview->rows.cells && looker->looks < overview_looks(overview, row)) {
        return stream_check(stream, look_at_row(looker, stream->result));
    }
    if (row == 0) {
        append_begin(text, overview, result_names(stream->result));
    }
    if (row == overview->rows.cells) {
        text_append_string(text, "]}\n");
        return false;
    }
    text_append(text, ",", row > 0);
    append_cells(text, looker);
    memset(looker->cells, 0, sizeof(looker->cells));
    looker->looks = 0;
    stream->position++;
    return true;
}

static enum status parse_range(const struct request *request, const char *parameter,
                               struct overview_axis *ret_axis, struct problem *reterr)
{
    struct slice slice = {0};
    enum status status = slice_parse(&slice, result_names(request->result), parameter,
                                     query_value(&request->query, parameter), reterr);
    if (status == STATUS_OK && slice.list != NULL) {
        status = problem_set(reterr, STATUS_BAD_PARAMETER, "%s must be a range a:b for a heat map.",
                             parameter);
    }
    *ret_axis = (struct overview_axis){.first = slice.axis.first, .count = slice.axis.count};
    slice_finish(&slice);
    return status;
}

/* Lists the vertices whose rows are sampled. Returns NULL if there is not enough memory. */
static uint32_t *list_vertices(const struct overview *overview, struct result_rows *rows)
{
    uint32_t *list = malloc((overview_rows(overview) + 1) * sizeof(*list));
    uint32_t count = 0;
    for (uint32_t row = 0; list != NULL && row < overview->rows.cells; row++) {
        for (uint32_t look = 0; look < overview_looks(overview, row); look++) {
            list[count++] = overview_vertex(overview, row, look);
        }
    }
    rows->axis = (struct axis){list, 0, count};
    return list;
}

static enum status open_looker(struct stream *stream, struct problem *reterr)
{
    const struct request *request = stream->request;
    struct looker *looker = (void *)stream->context;
    const int64_t size = query_integer(&request->query, "size", DEFAULT_CELLS);
    struct overview_axis rows;
    struct overview_axis columns;
    STATUS_TRY(parse_range(request, "rows", &rows, reterr));
    STATUS_TRY(parse_range(request, "cols", &columns, reterr));
    looker->overview = overview_plan(result_kind(stream->result), rows, columns, (uint32_t)size);
    if (result_form(stream->result) == RESULT_FORM_HIERARCHY) {
        STATUS_TRY(
            statistics_sweep_check(request, (double)overview_rows(&looker->overview), reterr));
    }
    looker->vertices = list_vertices(&looker->overview, &looker->rows);
    return looker->vertices != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

const struct stream_kind serve_heatmap = {.representation = "heat",
                                          .context_size = sizeof(struct looker),
                                          .open = open_looker,
                                          .close = close_looker,
                                          .make = make_row};
