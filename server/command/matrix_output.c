#include "server/command/matrix_output.h"

#include "proto/grid_text.h"
#include "proto/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Text is handed on in pieces of about this size. */
#define PIECE_SIZE ((size_t)1 << 20)

/* False for the formats that the solver writes itself. */
static bool find_form(enum format format, enum grid_form *ret_form)
{
    static const struct {
        enum format format;
        enum grid_form form;
    } forms[] = {
        {FORMAT_JSON, GRID_JSON},
        {FORMAT_CSV, GRID_CSV},
        {FORMAT_NDJSON, GRID_NDJSON},
        {FORMAT_MTX, GRID_MTX},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        if (forms[i].format == format) {
            *ret_form = forms[i].form;
            return true;
        }
    }
    return false;
}

static enum status map_memory(struct matrix_output *output, struct problem *reterr)
{
    void *mapping = mmap(NULL, output->mapping_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        return problem_set(reterr, STATUS_NO_MEMORY, "no memory for a matrix of %zu bytes",
                           output->mapping_size);
    }
    output->mapping = mapping;
    return STATUS_OK;
}

/* The blocks are taken now: a disk that fills up later would be a SIGBUS inside the solver. */
static enum status map_file(struct matrix_output *output, struct problem *reterr)
{
    int error = posix_fallocate(output->file.file, 0, (off_t)output->mapping_size);
    if (error != 0) {
        return output_file_refuse(&output->file, error, reterr);
    }
    void *mapping =
        mmap(NULL, output->mapping_size, PROT_READ | PROT_WRITE, MAP_SHARED, output->file.file, 0);
    if (mapping == MAP_FAILED) {
        return output_file_refuse(&output->file, errno, reterr);
    }
    output->mapping = mapping;
    return STATUS_OK;
}

enum status matrix_output_open(struct matrix_output *output, const char *path, enum format format,
                               enum kind kind, uint32_t vertex_count, struct problem *reterr)
{
    size_t header = format == FORMAT_NPY ? NPY_HEADER_SIZE : 0;
    size_t size;
    output->format = format;
    output->matrix = (struct matrix){.vertex_count = vertex_count, .kind = kind};
    enum status status = output_file_open(&output->file, path, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (matrix_size(vertex_count, kind, &size) != STATUS_OK ||
        __builtin_add_overflow(size, header, &output->mapping_size) ||
        output->mapping_size > INT64_MAX) {
        return problem_set(reterr, STATUS_TOO_LARGE, "%u vertices: the matrix has no size",
                           vertex_count);
    }
    if (output->mapping_size > 0) {
        bool mapped =
            !find_form(format, &(enum grid_form){0}) && output_file_is_draft(&output->file);
        status = mapped ? map_file(output, reterr) : map_memory(output, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (header > 0) {
        npy_header_write(kind, vertex_count, vertex_count, (unsigned char *)output->mapping);
    }
    output->matrix.elements = output->mapping != NULL ? output->mapping + header : NULL;
    return STATUS_OK;
}

static enum status flush(struct matrix_output *output, struct text *text, size_t least,
                         struct problem *reterr)
{
    if (text->size < least) {
        return STATUS_OK;
    }
    enum status status = text_status(text);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "no memory");
    }
    status = output_file_write(&output->file, text->bytes, text->size, reterr);
    text_clear(text);
    return status;
}

static const void *row_of(const void *context, uint32_t row)
{
    const struct matrix *matrix = context;
    return (const char *)matrix->elements +
           (size_t)row * matrix->vertex_count * kind_size(matrix->kind);
}

static bool has_unreachable(const struct matrix *matrix)
{
    double distance;
    for (uint32_t row = 0; row < matrix->vertex_count; ++row) {
        for (uint32_t column = 0; column < matrix->vertex_count; ++column) {
            if (!matrix_distance(matrix, row, column, &distance)) {
                return true;
            }
        }
    }
    return false;
}

static enum status write_text(struct matrix_output *output, const struct graph *graph,
                              enum grid_form form, struct problem *reterr)
{
    const struct axis all = {NULL, 0, graph->vertex_count};
    struct grid_text writer = {
        .grid = {output->matrix.kind, graph->names, all, all, row_of, &output->matrix},
        .form = form,
        .has_unreachable = form == GRID_MTX && has_unreachable(&output->matrix),
    };
    struct text text = {0};
    enum status status = STATUS_OK;
    bool more = true;
    while (more && status == STATUS_OK) {
        more = grid_text_next(&writer, &text);
        status = text_status(&text) == STATUS_OK
                     ? flush(output, &text, more ? PIECE_SIZE : 0, reterr)
                     : problem_set(reterr, STATUS_NO_MEMORY, "no memory");
    }
    grid_text_finish(&writer);
    text_finish(&text);
    return status;
}

static void unmap(struct matrix_output *output)
{
    if (output->mapping != NULL) {
        munmap(output->mapping, output->mapping_size);
    }
    output->mapping = NULL;
    output->matrix.elements = NULL;
}

enum status matrix_output_commit(struct matrix_output *output, const struct graph *graph,
                                 struct problem *reterr)
{
    enum status status = STATUS_OK;
    enum grid_form form;
    if (find_form(output->format, &form)) {
        status = write_text(output, graph, form, reterr);
    } else if (!output_file_is_draft(&output->file)) {
        status = output_file_write(&output->file, output->mapping, output->mapping_size, reterr);
    }
    unmap(output);
    return status == STATUS_OK ? output_file_commit(&output->file, reterr) : status;
}

void matrix_output_finish(struct matrix_output *output)
{
    unmap(output);
    output_file_finish(&output->file);
}
