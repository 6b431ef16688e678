#include "server/http/serve.h"

#include "proto/writer.h"
#include "server/http/preference.h"
#include "server/http/range.h"
#include "server/http/stream.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* A piece of a row of JSON: a few KiB of text. */
#define CELLS_PER_PIECE 512

/* In the order in which they are liked here. */
static const enum format formats[] = {FORMAT_NPY, FORMAT_JSON, FORMAT_RAW, FORMAT_NTHU};
#define FORMATS (sizeof formats / sizeof formats[0])

static enum status refuse_format(enum status status, struct problem *reterr)
{
    struct text list = {0};

    problem_set(reterr, status, "A matrix is not answered in such a form.");
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

/* By parameter, else by Accept. */
static enum status choose_format(const struct exchange *exchange, enum format *ret_format,
                                 struct problem *reterr)
{
    const char *name = query_value(&exchange->query, "format");
    const char *media_types[FORMATS + 1] = {NULL};
    size_t chosen = 0;

    for (size_t i = 0; i < FORMATS; i++) {
        media_types[i] = format_info(formats[i])->media_types[0];
    }
    if (name != NULL) {
        while (chosen < FORMATS && strcmp(format_info(formats[chosen])->name, name) != 0) {
            chosen++;
        }
        if (chosen == FORMATS) {
            return refuse_format(STATUS_BAD_PARAMETER, reterr);
        }
    } else if (!preference_choose(exchange_request_header(exchange, "Accept"), media_types,
                                  &chosen)) {
        return refuse_format(STATUS_NOT_ACCEPTABLE, reterr);
    }
    *ret_format = formats[chosen];
    return STATUS_OK;
}

static enum status check_format(const struct exchange *exchange, enum format format,
                                struct problem *reterr)
{
    double cells = (double)result_vertex_count(exchange->result);
    double limit = (double)exchange->house->config->json_cell_limit;

    cells *= cells;
    if (format == FORMAT_NTHU && result_kind(exchange->result) != KIND_I4) {
        problem_set(reterr, STATUS_NOT_ACCEPTABLE, "nthu has int32 distances; these are %s.",
                    kind_name(result_kind(exchange->result)));
        problem_hint(reterr, "Ask for npy or raw, or solve the graph with kind=i4.");
        return STATUS_NOT_ACCEPTABLE;
    }
    if (format != FORMAT_JSON || cells <= limit) {
        return STATUS_OK;
    }
    problem_set(reterr, STATUS_TOO_LARGE, "The matrix has more distances than go into one JSON.");
    problem_limit(reterr, limit, cells);
    problem_hint(reterr, "Ask for format=npy, or for single distances.");
    return STATUS_TOO_LARGE;
}

/* ---- JSON ---- */

static void append_names(struct text *text, const char *key, const struct vertex_names *names)
{
    text_printf(text, "\"%s\":[", key);
    for (uint32_t row = 0; row < vertex_names_count(names); row++) {
        if (row > 0) {
            text_append_char(text, ',');
        }
        writer_append_vertex(text, names, row);
    }
    text_append_string(text, "],");
}

/* position counts cells; the names, which are fewer than a row of distances is long, come with the
 * first. */
static bool make_cells(struct stream *stream, struct text *text)
{
    uint32_t n = result_vertex_count(stream->result);
    uint64_t row = n == 0 ? 0 : stream->position / n;
    uint32_t first = n == 0 ? 0 : (uint32_t)(stream->position % n);
    uint32_t stop = n - first < CELLS_PER_PIECE ? n : first + CELLS_PER_PIECE;

    if (stream->position == 0) {
        text_append_char(text, '{');
        append_names(text, "sources", result_names(stream->result));
        append_names(text, "destinations", result_names(stream->result));
        text_append_string(text, "\"distances\":[");
    }
    if (row == n) {
        text_append_string(text, "]}\n");
        return false;
    }
    if (first == 0) {
        text_append_string(text, row == 0 ? "[" : ",[");
    }
    for (uint32_t column = first; column < stop; column++) {
        if (column > 0) {
            text_append_char(text, ',');
        }
        result_append_distance(stream->result, (uint32_t)row, column, text);
    }
    if (stop == n) {
        text_append_char(text, ']');
    }
    stream->position += stop - first;
    return true;
}

/* ---- Files ---- */

/* The window of the result file that a format is. */
struct window {
    uint64_t offset;
    uint64_t size;
};

static struct window window_of(const struct result *result, enum format format)
{
    uint64_t bytes = result_file_npy_bytes(result_matrix_file(result));
    uint64_t offset = format == FORMAT_NPY ? 0 : NPY_HEADER_SIZE;

    return (struct window){offset, bytes - offset};
}

static void describe_raw(struct exchange *exchange)
{
    enum kind kind = result_kind(exchange->result);
    uint32_t n = result_vertex_count(exchange->result);

    exchange_set_header(exchange, "X-Matrix-Shape", "%" PRIu32 ",%" PRIu32, n, n);
    exchange_set_header(exchange, "X-Matrix-Dtype", "<%s", kind_name(kind));
    if (kind_is_float(kind)) {
        exchange_set_header(exchange, "X-Matrix-Unreachable", "inf");
    } else {
        exchange_set_header(exchange, "X-Matrix-Unreachable", "%d",
                            kind == KIND_U2 ? UNREACHABLE_U2 : UNREACHABLE_I4);
    }
}

static struct MHD_Response *file_response(const struct result *result, struct window window)
{
    int descriptor = fcntl(result_file_descriptor(result_matrix_file(result)), F_DUPFD_CLOEXEC, 0);
    struct MHD_Response *response;

    if (descriptor < 0) {
        return NULL;
    }
    response = MHD_create_response_from_fd_at_offset64(window.size, descriptor, window.offset);
    if (response == NULL) {
        close(descriptor);
    }
    return response;
}

static void refuse_range(struct exchange *exchange, uint64_t size)
{
    struct problem problem;

    problem_set(&problem, STATUS_RANGE_NOT_SATISFIABLE, "The range lies outside the matrix.");
    exchange_set_header(exchange, "Content-Range", "bytes */%" PRIu64, size);
    exchange_refuse(exchange, &problem);
}

/* A range counts with GET alone, and only while the file is still the one that the client has a
 * part of. */
static const char *range_of(const struct exchange *exchange, const char *tag)
{
    const char *condition = exchange_request_header(exchange, "If-Range");

    if (exchange->method != METHOD_GET || (condition != NULL && strcmp(condition, tag) != 0)) {
        return NULL;
    }
    return exchange_request_header(exchange, "Range");
}

static void serve_file(struct exchange *exchange, enum format format, const char *tag)
{
    struct window window = window_of(exchange->result, format);
    unsigned http_status = MHD_HTTP_OK;
    uint64_t first;
    uint64_t size;

    switch (range_parse(range_of(exchange, tag), window.size, &first, &size)) {
    case RANGE_UNSATISFIABLE:
        refuse_range(exchange, window.size);
        return;
    case RANGE_PART:
        exchange_set_header(exchange, "Content-Range", "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                            first, first + size - 1, window.size);
        window = (struct window){window.offset + first, size};
        http_status = MHD_HTTP_PARTIAL_CONTENT;
        break;
    case RANGE_WHOLE:
        break;
    }
    exchange_set_header(exchange, "Content-Type", "%s", format_info(format)->media_types[0]);
    exchange_set_header(exchange, "Content-Disposition", "attachment; filename=\"%s.%s\"",
                        result_graph_id(exchange->result), format_info(format)->name);
    if (format == FORMAT_RAW) {
        describe_raw(exchange);
    }
    exchange_answer(exchange, http_status, file_response(exchange->result, window));
}

/* ---- The route ---- */

static void serve(struct exchange *exchange)
{
    const char *known = exchange_request_header(exchange, "If-None-Match");
    struct problem problem;
    enum format format;
    char tag[TAG_SIZE];

    if (choose_format(exchange, &format, &problem) != STATUS_OK ||
        check_format(exchange, format, &problem) != STATUS_OK) {
        exchange_refuse(exchange, &problem);
        return;
    }
    snprintf(tag, sizeof tag, "\"%s-%s\"", result_etag(exchange->result),
             format_info(format)->name);
    exchange_set_header(exchange, "ETag", "%s", tag);
    exchange_set_header(exchange, "Vary", "Accept");
    if (format != FORMAT_JSON) {
        exchange_set_header(exchange, "Accept-Ranges", "bytes");
    }
    if (known != NULL && range_list_has_tag(known, tag)) {
        exchange_answer(exchange, MHD_HTTP_NOT_MODIFIED,
                        MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT));
    } else if (format == FORMAT_JSON) {
        stream_answer(exchange, "application/json", make_cells);
    } else {
        serve_file(exchange, format, tag);
    }
}

void serve_matrix(struct exchange *exchange)
{
    struct problem problem;
    enum format format;

    if (choose_format(exchange, &format, &problem) == STATUS_OK) {
        exchange_find_result(exchange, serve);
    } else {
        exchange_refuse(exchange, &problem);
    }
}
