#include "server/http/api/grid_answer.h"

#include "server/http/request/headers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Size in bytes of a piece of a binary answer. */
#define PIECE_BYTES ((size_t)32768)

static const enum format formats[] = {FORMAT_NPY, FORMAT_JSON,   FORMAT_RAW, FORMAT_NTHU,
                                      FORMAT_CSV, FORMAT_NDJSON, FORMAT_MTX};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Binary answers of more bytes are not compressed with gzip, which is slower than most networks. */
#define GZIP_MOST_BYTES (UINT64_C(64) << 20)

enum status grid_answer_choose(const struct request *request, enum format first,
                               enum format *ret_format, struct problem *reterr)
{
    const char *name = query_value(&request->query, "format");
    enum format offered[FORMATS] = {first};
    const char *types[FORMATS + 1] = {format_info(first)->media_types[0]};
    const char *names[FORMATS + 1] = {format_info(first)->name};
    size_t count = 1;
    size_t chosen = 0;
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i] != first) {
            offered[count] = formats[i];
            types[count] = format_info(formats[i])->media_types[0];
            names[count++] = format_info(formats[i])->name;
        }
    }
    if (name == NULL) {
        STATUS_TRY(request_choose_type(request, types, &chosen, reterr));
    }
    while (name != NULL && chosen < FORMATS && strcmp(names[chosen], name) != 0) {
        chosen++;
    }
    if (chosen == FORMATS) {
        problem_set(reterr, STATUS_BAD_PARAMETER, "Distances are not available in this format.");
        problem_hint_list(reterr, "The available formats are", names);
        return STATUS_BAD_PARAMETER;
    }
    *ret_format = offered[chosen];
    return STATUS_OK;
}

static enum status check_selection(const struct request *request, const struct grid_answer *answer,
                                   struct problem *reterr)
{
    const enum kind kind = result_kind(request->result);
    const double limit = (double)request->http_context->config->json_cell_limit;
    const double cells = (double)answer->rows.axis.count * (double)answer->columns.axis.count;
    if (answer->format == FORMAT_NTHU && kind_is_float(kind)) {
        return problem_refuse(
            reterr, STATUS_NOT_ACCEPTABLE, "Request npy or raw, or solve the graph with kind=i4.",
            "The format nthu requires int32 distances, but the result has kind %s.",
            kind_name(kind));
    }
    if (answer->format != FORMAT_JSON || cells <= limit) {
        return STATUS_OK;
    }
    return problem_refuse_limit(
        reterr, STATUS_TOO_LARGE, limit, cells,
        "Request format=npy, csv or ndjson, or select fewer vertices with rows= and cols=.",
        "The response would have more distances than the limit for JSON allows.");
}

void grid_answer_close(void *context)
{
    struct grid_answer *answer = context;
    slice_finish(&answer->rows);
    slice_finish(&answer->columns);
    rectangle_close(&answer->rectangle);
}

/* Computes the size of a binary answer, and the header of npy. */
static enum status measure_bytes(struct grid_answer *answer)
{
    const struct grid *grid = &answer->writer.grid;
    answer->as = answer->format == FORMAT_NTHU ? KIND_I4 : grid->kind;
    STATUS_TRY(grid_size(grid, answer->as, &answer->end));
    if (answer->format == FORMAT_NPY) {
        npy_header_write(grid->kind, grid->rows.count, grid->columns.count, answer->header);
        answer->header_size = sizeof(answer->header);
        answer->end += answer->header_size;
    }
    return STATUS_OK;
}

/* Determines whether a distance may be infinite. For a hierarchy this is always assumed. */
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

static enum status open_grid(struct grid_answer *answer, const struct result *result)
{
    const struct axis *rows = &answer->rows.axis;
    const struct axis *columns = &answer->columns.axis;
    struct rectangle *rectangle = &answer->rectangle;
    struct grid_text *writer = &answer->writer;
    writer->form = answer->form;
    STATUS_TRY(find_unreachable(result, &writer->has_unreachable));
    STATUS_TRY(answer->format == FORMAT_MTX
                   ? rectangle_open_columns(rectangle, result, rows, columns)
                   : rectangle_open(rectangle, result, rows, columns));
    writer->grid = (struct grid){.kind = result_kind(result),
                                 .names = result_names(result),
                                 .rows = *rows,
                                 .columns = *columns,
                                 .cells = rectangle->cells,
                                 .row = rectangle_row,
                                 .context = rectangle};
    return format_is_binary(answer->format) ? measure_bytes(answer) : STATUS_OK;
}

enum status grid_answer_open(struct stream *stream, struct problem *reterr)
{
    const struct request *request = stream->request;
    struct grid_answer *answer = (void *)stream->context;
    const struct format_info *info = format_info(answer->format);
    const bool binary = format_is_binary(answer->format);
    STATUS_TRY(check_selection(request, answer, reterr));
    STATUS_TRY(open_grid(answer, stream->result));
    stream->media_type = info->media_types[0];
    /* A byte range refers to uncompressed bytes, so its answer is not compressed. */
    if (binary && request->method == METHOD_GET && request_header(request, "Range") != NULL) {
        stream->codings = 0;
    } else if (binary && answer->end > GZIP_MOST_BYTES) {
        stream->codings = 1u << CODING_ZSTD;
    }
    if (request->method != METHOD_POST) {
        snprintf(stream->representation, sizeof(stream->representation), "%s", info->name);
    }
    return STATUS_OK;
}

/* Copies the next bytes of the answer, or none if their row is not computed yet. */
static enum status copy_bytes(const struct grid_answer *answer, size_t size, char *to,
                              size_t *ret_size)
{
    if (answer->offset >= answer->header_size) {
        return grid_copy(&answer->writer.grid, answer->as, answer->offset - answer->header_size,
                         size, to, ret_size);
    }
    const size_t left = answer->header_size - (size_t)answer->offset;
    *ret_size = left < size ? left : size;
    memcpy(to, answer->header + answer->offset, *ret_size);
    return STATUS_OK;
}

static enum status append_bytes(struct grid_answer *answer, struct text *text)
{
    const uint64_t left = answer->end - answer->offset;
    const size_t size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
    char *to = text_reserve(text, size);
    size_t copied;
    if (to == NULL || size == 0) {
        return STATUS_OK;
    }
    STATUS_TRY(copy_bytes(answer, size, to, &copied));
    text_advance(text, copied);
    answer->offset += copied;
    return STATUS_OK;
}

bool grid_answer_make(struct stream *stream, struct text *text)
{
    struct grid_answer *answer = (void *)stream->context;
    if (format_is_binary(answer->format)) {
        return stream_check(stream, append_bytes(answer, text)) && answer->offset < answer->end;
    }
    const bool more = grid_text_next(&answer->writer, text);
    const enum status status = !text->failed                       ? STATUS_OK
                               : result_is_damaged(stream->result) ? STATUS_CORRUPT
                                                                   : STATUS_NO_MEMORY;
    return stream_check(stream, status) && more;
}

static bool is_all(const struct axis *axis, const struct result *result)
{
    return axis->list == NULL && axis->first == 0 && axis->count == result_vertex_count(result);
}

/* Returns whether the answer is a contiguous part of the result's file, starting at *ret_offset.
 * The answer must consist of consecutive whole rows, and of all rows if it has an npy header. */
static bool is_in_file(const struct grid_answer *answer, const struct result *result,
                       uint64_t *ret_offset)
{
    const struct grid *grid = &answer->writer.grid;
    if (result_form(result) != RESULT_FORM_MATRIX || grid->rows.list != NULL ||
        !is_all(&grid->columns, result) || answer->as != grid->kind ||
        (answer->header_size > 0 && !is_all(&grid->rows, result))) {
        return false;
    }
    *ret_offset = NPY_HEADER_SIZE - answer->header_size +
                  (uint64_t)grid->rows.first * grid->columns.count * kind_size(grid->kind);
    return true;
}

static struct MHD_Response *file_response(const struct result *result, uint64_t offset,
                                          uint64_t size)
{
    int descriptor = fcntl(result_file_descriptor(result_content(result)), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) {
        return NULL;
    }
    struct MHD_Response *response =
        MHD_create_response_from_fd_at_offset64(size, descriptor, offset);
    if (response == NULL) {
        close(descriptor);
    }
    return response;
}

static void describe_answer(struct request *request, const struct grid_answer *answer)
{
    const enum format format = answer->format;
    const enum kind kind = answer->as;
    if (format_is_binary(format)) {
        request_set_header(request, "Accept-Ranges", "bytes");
    }
    if (format == FORMAT_RAW) {
        request_set_header(request, "X-Matrix-Shape", "%" PRIu32 ",%" PRIu32,
                           answer->writer.grid.rows.count, answer->writer.grid.columns.count);
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

/* Applies the Range header to the answer. Returns false if it has refused the request. */
static bool apply_range(struct request *request, struct stream *stream, struct grid_answer *answer)
{
    const char *condition = request_header(request, "If-Range");
    /* Range applies to GET only, and with If-Range only if the ETag is unchanged. */
    const bool counts = request->method == METHOD_GET &&
                        (condition == NULL || strcmp(condition, request->tag) == 0);
    const uint64_t whole = answer->end;
    uint64_t first = 0;
    uint64_t size = whole;
    switch (header_range(counts ? request_header(request, "Range") : NULL, whole, &first, &size)) {
    case RANGE_UNSATISFIABLE:
        request_set_header(request, "Content-Range", "bytes */%" PRIu64, whole);
        request_set_header(request, "Accept-Ranges", "bytes");
        request_refuse_with(request, STATUS_RANGE_NOT_SATISFIABLE,
                            "The byte range lies outside the matrix.", NULL);
        return false;
    case RANGE_PART:
        request_set_header(request, "Content-Range", "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                           first, first + size - 1, whole);
        stream->http_status = MHD_HTTP_PARTIAL_CONTENT;
        break;
    case RANGE_WHOLE:
        break;
    }
    answer->offset = first;
    answer->end = first + size;
    return true;
}

bool grid_answer_divert(struct stream *stream)
{
    struct request *request = stream->request;
    const struct result *result = stream->result;
    struct grid_answer *answer = (void *)stream->context;
    const bool is_plain = format_is_binary(answer->format) && request->coding == CODING_IDENTITY;
    uint64_t in_file;
    if (is_plain && !apply_range(request, stream, answer)) {
        return true;
    }
    const uint64_t size = answer->end - answer->offset;
    describe_answer(request, answer);
    if (!is_plain || !is_in_file(answer, result, &in_file) ||
        !result_file_is_sound(result_content(result), in_file + answer->offset, size)) {
        stream->size = is_plain ? size : 0;
        return false;
    }
    request_add_type(request, stream->media_type);
    request->conn->deadlines.whole = size;
    request_answer(request, stream->http_status,
                   file_response(result, in_file + answer->offset, size));
    return true;
}
