#include "server/command/matrix_input.h"

#include "proto/graph.h"
#include "proto/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum status map_file(const char *path, struct matrix_input *input, struct problem *reterr)
{
    struct stat about;
    void *bytes = MAP_FAILED;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool known = file >= 0 && fstat(file, &about) == 0;
    if (known && about.st_size > 0) {
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    }
    bool failed = !known || (about.st_size > 0 && bytes == MAP_FAILED);
    int error = errno;
    if (file >= 0) {
        close(file);
    }
    if (failed) {
        return problem_set(reterr, STATUS_IO, "%s", strerror(error));
    }
    if (bytes != MAP_FAILED) {
        input->bytes = bytes;
        input->size = (size_t)about.st_size;
    }
    return STATUS_OK;
}

/* Where the elements start, and for npy what the header says about them, the vertices too where
 * they are not known. */
static enum status read_header(const struct matrix_input *input, enum format format,
                               uint32_t *vertex_count, enum kind *kind, size_t *ret_offset,
                               struct problem *reterr)
{
    uint64_t rows;
    uint64_t columns;
    *ret_offset = 0;
    if (format != FORMAT_NPY) {
        return STATUS_OK;
    }
    enum status status =
        npy_header_read(input->bytes, input->size, kind, &rows, &columns, ret_offset, reterr);
    if (status != STATUS_OK) {
        return status;
    }
    if (*vertex_count == MATRIX_INPUT_ANY && rows == columns && rows <= GRAPH_VERTEX_LIMIT) {
        *vertex_count = (uint32_t)rows;
    }
    if (*vertex_count == MATRIX_INPUT_ANY) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "a matrix of %llu by %llu has not a row and a column for each vertex",
                           (unsigned long long)rows, (unsigned long long)columns);
    }
    if (rows != *vertex_count || columns != *vertex_count) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "a matrix of %llu by %llu; the graph has %u vertices",
                           (unsigned long long)rows, (unsigned long long)columns, *vertex_count);
    }
    return STATUS_OK;
}

enum status matrix_input_open(struct matrix_input *input, const char *path, enum format format,
                              enum kind kind, uint32_t vertex_count, struct problem *reterr)
{
    size_t offset;
    size_t size;
    enum status status = map_file(path, input, reterr);
    if (status == STATUS_OK) {
        status = read_header(input, format, &vertex_count, &kind, &offset, reterr);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (matrix_size(vertex_count, kind, &size) != STATUS_OK || input->size - offset != size ||
        offset % kind_size(kind) != 0) {
        return problem_set(reterr, STATUS_BAD_GRAPH,
                           "%zu bytes are no %s matrix of %u by %u in this format", input->size,
                           kind_name(kind), vertex_count, vertex_count);
    }
    input->matrix = (struct matrix){vertex_count, kind, input->bytes + offset};
    return STATUS_OK;
}

void matrix_input_close(struct matrix_input *input)
{
    if (input->bytes != NULL) {
        munmap(input->bytes, input->size);
    }
}
