#include "server/http/api/grid_answer.h"

#include "proto/npy_header.h"
#include "server/http/api/rectangle.h"
#include "server/http/request/headers.h"
#include "server/http/transport/stream.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a piece of a binary answer. */
#define PIECE_BYTES ((size_t)32768)

static const enum format formats[] = {FORMAT_NPY, FORMAT_JSON,   FORMAT_RAW, FORMAT_NTHU,
                                      FORMAT_CSV, FORMAT_NDJSON, FORMAT_MTX};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* gzip is slower than most wires: not for matrices larger than this. */
#define GZIP_MOST_BYTES (UINT64_C(64) << 20)

/* ---- Which format ---- */

static enum status refuse_format(enum status status, struct problem *reterr)
{
    struct text list = {0};

    problem_set(reterr, status, "Distances are not answered in such a form.");
    for (size_t i = 0; i < FORMATS; i++) {
        text_printf(&list, "%s%s (%s)", i == 0 ? "" : ", ", format_info(formats[i])->name,
                    format_info(formats[i])->media_types[0]);
    }
    if (text_status(&list) == STATUS_OK) {
        problem_hint(reterr, "Answered: %s.", list.bytes);
    }
    text_finish(&list);
    return status;
}

static enum status choose_by_accept(const struct request *request, enum format first,
                                    enum format *ret_format, struct problem *reterr)
{
    const char *media_types[FORMATS + 2] = {format_info(first)->media_types[0]};
    size_t chosen;

    for (size_t i = 0; i < FORMATS; i++) {
        media_types[i + 1] = format_info(formats[i])->media_types[0];
    }
    if (!header_choose_type(request_header(request, "Accept"), media_types, &chosen)) {
        return refuse_format(STATUS_NOT_ACCEPTABLE, reterr);
    }
    *ret_format = chosen == 0 ? first : formats[chosen - 1];
    return STATUS_OK;
}

enum status grid_answer_choose(const struct request *request, enum format first,
                               enum format *ret_format, struct problem *reterr)
{
    const char *name = query_value(&request->query, "format");
    size_t chosen = 0;

    if (name == NULL) {
        return choose_by_accept(request, first, ret_format, reterr);
    }
    while (chosen < FORMATS && strcmp(format_info(formats[chosen])->name, name) != 0) {
        chosen++;
    }
    if (chosen == FORMATS) {
        return refuse_format(STATUS_BAD_PARAMETER, reterr);
    }
    *ret_format = formats[chosen];
    return STATUS_OK;
}

static bool is_binary(enum format format)
{
    return format == FORMAT_NPY || format == FORMAT_RAW || format == FORMAT_NTHU;
}

static enum status check_selection(const struct request *request,
                                   const struct grid_request *selection, struct problem *reterr)
{
    const enum kind kind = result_kind(request->result);
    const double limit = (double)request->http_context->config->json_cell_limit;
    const double cells = (double)selection->rows.axis.count * (double)selection->columns.axis.count;

    if (selection->format == FORMAT_NTHU && kind_is_float(kind)) {
        problem_set(reterr, STATUS_NOT_ACCEPTABLE, "nthu has int32 distances; these are %s.",
                    kind_name(kind));
        problem_hint(reterr, "Ask for npy or raw, or solve the graph with kind=i4.");
        return STATUS_NOT_ACCEPTABLE;
    }
    if (selection->format != FORMAT_JSON || cells <= limit) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TOO_LARGE, "These are more distances than go into one JSON.");
    problem_limit(reterr, limit, cells);
    problem_hint(reterr, "Ask for format=npy, csv or ndjson, for fewer rows= and cols=, or for "
                         "single distances.");
    return STATUS_TOO_LARGE;
}

/* ---- The grid ---- */

void grid_request_finish(struct grid_request *selection)
{
    slice_finish(&selection->rows);
    slice_finish(&selection->columns);
}

/* The state of a streamed answer, which is made while it is sent. */
struct source {
    struct grid_request selection;
    struct rectangle rectangle;
    struct grid_text writer;
    const struct grid *grid; /* the writer's */
    /* For binary formats: */
    enum kind as;
    unsigned char header[NPY_HEADER_SIZE];
    size_t header_size;
    uint64_t offset; /* of the next byte of the answer, header included */
    uint64_t end;    /* of the last one to send */
};

static enum status find_row(void *context, uint32_t index, const void **ret_elements)
{
    return rectangle_row(context, index, ret_elements);
}

static void destroy_source(void *context)
{
    struct source *source = context;

    grid_request_finish(&source->selection);
    grid_text_finish(&source->writer);
    rectangle_close(&source->rectangle);
    free(source);
}

/* The bytes of a binary form; a header may stand before them. */
static enum status measure_bytes(struct source *source)
{
    const struct grid *grid = source->grid;
    const enum format format = source->selection.format;

    source->as = format == FORMAT_NTHU ? KIND_I4 : grid->kind;
    STATUS_TRY(grid_size(grid, source->as, &source->end));
    if (format == FORMAT_NPY) {
        npy_header_write(grid->kind, grid->rows.count, grid->columns.count, source->header);
        source->header_size = sizeof(source->header);
        source->end += source->header_size;
    }
    return STATUS_OK;
}

/* Whether some distance may be unreachable. */
static enum status find_unreachable(const struct result *result, bool *ret_has)
{
    const uint64_t n = result_vertex_count(result);

    *ret_has = true;
    if (result_form(result) == RESULT_FORM_MATRIX) {
        const struct statistics *statistics = result_statistics(result);

        if (statistics == NULL) {
            return STATUS_CORRUPT;
        }
        *ret_has = statistics->summary->reachable_pairs < n * (n - (n > 0));
    }
    return STATUS_OK;
}

/* Moves the request. */
static enum status create_source(const struct request *request, struct grid_request *take_request,
                                 struct source **ret_source)
{
    const struct result *result = request->result;
    struct source *source;
    bool has_unreachable;

    STATUS_TRY(find_unreachable(result, &has_unreachable));
    source = calloc(1, sizeof(*source));
    if (source == NULL) {
        return STATUS_NO_MEMORY;
    }
    source->selection = *take_request;
    take_request->rows = take_request->columns = (struct slice){0};
    const struct axis *rows = &source->selection.rows.axis;
    const struct axis *columns = &source->selection.columns.axis;
    const bool by_columns =
        source->selection.format == FORMAT_MTX && result_form(result) == RESULT_FORM_HIERARCHY;
    enum status status = STATUS_OK;
    if (by_columns) {
        rectangle_open_columns(&source->rectangle, result, rows, columns);
    } else {
        status = rectangle_open(&source->rectangle, result, rows, columns);
    }

    source->writer = (struct grid_text){
        .grid = {result_kind(result), result_names(result), *rows, *columns,
                 source->rectangle.cells, find_row, &source->rectangle},
        .form = source->selection.form,
        .has_unreachable = has_unreachable,
        .by_columns = by_columns,
    };
    source->grid = &source->writer.grid;
    if (status == STATUS_OK && is_binary(source->selection.format)) {
        status = measure_bytes(source);
    }
    if (status != STATUS_OK) {
        destroy_source(source);
        return status;
    }
    *ret_source = source;
    return STATUS_OK;
}

static bool make_text(struct stream *stream, struct text *text)
{
    struct source *source = stream->plan.context;
    const bool more = grid_text_next(&source->writer, text);

    if (text->failed) {
        const bool is_damaged = result_is_damaged(stream->result);

        return stream_fail(stream, text, is_damaged ? STATUS_CORRUPT : STATUS_NO_MEMORY);
    }
    return more;
}

/* ---- Binary ---- */

/* Copies some bytes of the answer from its offset on; none of a row that is not there yet. */
static enum status copy_bytes(const struct source *source, size_t size, char *to, size_t *ret_size)
{
    if (source->offset >= source->header_size) {
        return grid_copy(source->grid, source->as, source->offset - source->header_size, size, to,
                         ret_size);
    }
    const size_t left = source->header_size - (size_t)source->offset;

    *ret_size = left < size ? left : size;
    memcpy(to, source->header + source->offset, *ret_size);
    return STATUS_OK;
}

static bool make_bytes(struct stream *stream, struct text *text)
{
    struct source *source = stream->plan.context;
    const uint64_t left = source->end - source->offset;
    const size_t size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
    char *to = text_reserve(text, size);
    size_t copied = 0;

    if (to != NULL && size > 0) {
        const enum status status = copy_bytes(source, size, to, &copied);

        if (status != STATUS_OK) {
            return stream_fail(stream, text, status);
        }
        text_advance(text, copied);
    }
    source->offset += copied;
    return source->offset < source->end;
}

static bool is_all(const struct axis *axis, const struct result *result)
{
    return axis->list == NULL && axis->first == 0 && axis->count == result_vertex_count(result);
}

/* Whether the bytes lie in the result's file as they are answered, from *ret_offset on: whole rows
 * that follow each other, with the file's header only when they are all. */
static bool is_in_file(const struct source *source, const struct result *result,
                       uint64_t *ret_offset)
{
    const struct grid *grid = source->grid;

    if (result_form(result) != RESULT_FORM_MATRIX || grid->rows.list != NULL ||
        !is_all(&grid->columns, result) || source->as != grid->kind ||
        (source->header_size > 0 && !is_all(&grid->rows, result))) {
        return false;
    }
    *ret_offset = NPY_HEADER_SIZE - source->header_size +
                  (uint64_t)grid->rows.first * grid->columns.count * kind_size(grid->kind);
    return true;
}

static struct MHD_Response *file_response(const struct result *result, uint64_t offset,
                                          uint64_t size)
{
    int descriptor = fcntl(result_file_descriptor(result_content(result)), F_DUPFD_CLOEXEC, 0);
    struct MHD_Response *response;

    if (descriptor < 0) {
        return NULL;
    }
    response = MHD_create_response_from_fd_at_offset64(size, descriptor, offset);
    if (response == NULL) {
        close(descriptor);
    }
    return response;
}

static void describe_answer(struct request *request, const struct source *source)
{
    const enum format format = source->selection.format;
    const enum kind kind = source->as;

    if (is_binary(format)) {
        request_set_header(request, "Accept-Ranges", "bytes");
    }
    if (format == FORMAT_RAW) {
        request_set_header(request, "X-Matrix-Shape", "%" PRIu32 ",%" PRIu32,
                           source->grid->rows.count, source->grid->columns.count);
        request_set_header(request, "X-Matrix-Dtype", "<%s", kind_name(kind));
        if (kind_is_float(kind)) {
            request_set_header(request, "X-Matrix-Unreachable", "inf");
        } else {
            request_set_header(request, "X-Matrix-Unreachable", "%d",
                               kind == KIND_U2 ? UNREACHABLE_U2 : UNREACHABLE_I4);
        }
    }
    if (format != FORMAT_JSON && format != FORMAT_NDJSON) {
        request_set_header(request, "Content-Disposition", "attachment; filename=\"%s.%s\"",
                           result_graph_id(request->result), format_info(format)->name);
    }
}

/* Sets the range of bytes to send and its headers; false after a refusal. */
static bool apply_range(struct request *request, struct source *source, unsigned *ret_http_status)
{
    const char *condition = request_header(request, "If-Range");
    /* A range counts with GET alone, and only while the bytes are still those that the client has a
     * part of. */
    const bool counts = request->method == METHOD_GET &&
                        (condition == NULL || strcmp(condition, request->tag) == 0);
    const uint64_t whole = source->end;
    uint64_t first = 0;
    uint64_t size = whole;

    *ret_http_status = MHD_HTTP_OK;
    switch (header_range(counts ? request_header(request, "Range") : NULL, whole, &first, &size)) {
    case RANGE_UNSATISFIABLE:
        request_set_header(request, "Content-Range", "bytes */%" PRIu64, whole);
        request_set_header(request, "Accept-Ranges", "bytes");
        request_refuse_with(request, STATUS_RANGE_NOT_SATISFIABLE,
                            "The range lies outside the matrix.", NULL);
        return false;
    case RANGE_PART:
        request_set_header(request, "Content-Range", "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                           first, first + size - 1, whole);
        *ret_http_status = MHD_HTTP_PARTIAL_CONTENT;
        break;
    case RANGE_WHOLE:
        break;
    }
    source->offset = first;
    source->end = first + size;
    return true;
}

/* Moves the source. */
static void answer_bytes(struct request *request, struct source *source)
{
    const struct result *result = request->result;
    const char *media_type = format_info(source->selection.format)->media_types[0];
    unsigned http_status;
    uint64_t in_file;

    if (!apply_range(request, source, &http_status)) {
        destroy_source(source);
        return;
    }
    const uint64_t size = source->end - source->offset;

    describe_answer(request, source);
    if (is_in_file(source, result, &in_file) &&
        result_is_sound(result, in_file + source->offset, size)) {
        request_add_type(request, media_type);
        request->conn->deadlines.whole = size;
        request_answer(request, http_status, file_response(result, in_file + source->offset, size));
        destroy_source(source);
        return;
    }
    stream_answer(request, &(struct stream_plan){media_type, http_status, size, false, source,
                                                 destroy_source, make_bytes});
}

/* ---- The whole ---- */

void grid_answer(struct request *request, struct grid_request *take_request)
{
    const struct format_info *info = format_info(take_request->format);
    const bool binary = is_binary(take_request->format);
    struct source *source = NULL;
    struct problem problem;
    enum status status = check_selection(request, take_request, &problem);

    if (status == STATUS_OK) {
        status = create_source(request, take_request, &source);
        problem_set(&problem, status, "%s",
                    status == STATUS_CORRUPT ? "The stored result is damaged."
                                             : "There is no memory for the request.");
    }
    if (status != STATUS_OK) {
        grid_request_finish(take_request);
        request_refuse(request, &problem);
        return;
    }
    request_negotiate(request, binary && source->end > GZIP_MOST_BYTES);
    /* A part of the bytes is a part of them as they are. */
    if (binary && request->method == METHOD_GET && request_header(request, "Range") != NULL) {
        request->coding = CODING_IDENTITY;
    }
    if (request->method == METHOD_POST) {
        request_vary(request);
    } else if (request_tag(request, info->name)) {
        destroy_source(source);
        return;
    }
    if (binary && request->coding == CODING_IDENTITY) {
        answer_bytes(request, source);
        return;
    }
    describe_answer(request, source);
    stream_answer(request, &(struct stream_plan){info->media_types[0], 0, 0, false, source,
                                                 destroy_source, binary ? make_bytes : make_text});
}
