#include "server/command/matrix_output.h"

#include "proto/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* JSON is handed on in pieces of about this size. */
#define PIECE_SIZE ((size_t)1 << 20)

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
        bool mapped = format != FORMAT_JSON && output_file_is_draft(&output->file);
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

static void append_vertices(struct text *text, const char *key, const struct graph *graph)
{
    text_printf(text, "\"%s\":[", key);
    for (uint32_t row = 0; row < graph->vertex_count; ++row) {
        text_append_string(text, row > 0 ? "," : "");
        writer_append_vertex(text, graph->names, row);
    }
    text_append_string(text, "]");
}

static void append_row(struct text *text, const struct matrix *matrix, uint32_t row)
{
    size_t size = kind_size(matrix->kind);
    const char *element =
        (const char *)matrix->elements + (size_t)row * matrix->vertex_count * size;
    text_append_string(text, row > 0 ? ",\n[" : "[");
    for (uint32_t column = 0; column < matrix->vertex_count; ++column, element += size) {
        text_append_string(text, column > 0 ? "," : "");
        writer_append_distance(text, matrix->kind, element);
    }
    text_append_string(text, "]");
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

static enum status write_json(struct matrix_output *output, const struct graph *graph,
                              struct problem *reterr)
{
    struct text text = {0};
    text_append_string(&text, "{");
    append_vertices(&text, "sources", graph);
    text_append_string(&text, ",");
    append_vertices(&text, "destinations", graph);
    text_append_string(&text, ",\n\"distances\":[");
    enum status status = STATUS_OK;
    for (uint32_t row = 0; status == STATUS_OK && row < graph->vertex_count; ++row) {
        append_row(&text, &output->matrix, row);
        status = flush(output, &text, PIECE_SIZE, reterr);
    }
    text_append_string(&text, "]}\n");
    if (status == STATUS_OK) {
        status = flush(output, &text, 0, reterr);
    }
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
    if (output->format == FORMAT_JSON) {
        status = write_json(output, graph, reterr);
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
