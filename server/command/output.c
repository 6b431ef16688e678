#include "server/command/output.h"
#include "proto/npy_header.h"
#include "proto/write/grid.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Approximate size of the pieces in which text is written. */
#define PIECE_SIZE ((size_t)1 << 20)

enum status output_refuse(const char *path, int error, struct problem *reterr)
{
    const enum status status = error == ENOSPC || error == EDQUOT ? STATUS_DISK_FULL
                               : error == ENOMEM                  ? STATUS_NO_MEMORY
                                                                  : STATUS_IO;
    return problem_set(reterr, status, "cannot write to %.200s: %s",
                       strcmp(path, "-") == 0 ? "standard output" : path, strerror(error));
}

enum status output_file_open(struct output_file *output, const char *path, struct problem *reterr)
{
    struct stat about;
    *output = (struct output_file){.file = -1, .path = path};
    if (strcmp(path, "-") == 0) {
        output->file = STDOUT_FILENO;
        return STATUS_OK;
    }
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        output->file = open(path, O_WRONLY | O_CLOEXEC);
        return output->file >= 0 ? STATUS_OK : output_refuse(output->path, errno, reterr);
    }
    if (asprintf(&output->draft_path, "%s.tmp", path) < 0) {
        output->draft_path = NULL;
        return STATUS_NO_MEMORY;
    }
    output->file =
        open(output->draft_path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (output->file < 0) {
        output_refuse(path, errno, reterr);
        free(output->draft_path);
        output->draft_path = NULL;
        return reterr->status;
    }
    return STATUS_OK;
}

bool output_write(int file, const char *bytes, size_t size)
{
    while (size > 0 && !command_interrupted()) {
        const ssize_t written = write(file, bytes, size);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    errno = EINTR;
    return size == 0;
}

static enum status write_bytes(struct output_file *output, const char *bytes, size_t size,
                               struct problem *reterr)
{
    return output_write(output->file, bytes, size) ? STATUS_OK
           : errno == EINTR                        ? STATUS_CANCELLED
                                                   : output_refuse(output->path, errno, reterr);
}

enum status output_file_flush(struct output_file *output, struct text *text, size_t least,
                              struct problem *reterr)
{
    STATUS_TRY(text_status(text));
    if (text->size < least) {
        return STATUS_OK;
    }
    const enum status status = write_bytes(output, text->bytes, text->size, reterr);
    text_clear(text);
    return status;
}

enum status output_file_commit(struct output_file *output, struct problem *reterr)
{
    if (output->draft_path == NULL) {
        return STATUS_OK;
    }
    /* Some file systems report a full disk only on close. */
    const int closed = close(output->file);
    output->file = -1;
    if (closed != 0 || rename(output->draft_path, output->path) != 0) {
        return output_refuse(output->path, errno, reterr);
    }
    free(output->draft_path);
    output->draft_path = NULL;
    return STATUS_OK;
}

void output_file_finish(struct output_file *output)
{
    if (output->file > STDERR_FILENO) {
        close(output->file);
    }
    if (output->draft_path != NULL) {
        unlink(output->draft_path);
        free(output->draft_path);
    }
    *output = (struct output_file){.file = -1};
}

/* Maps memory for the solver to write into: for a binary format, the file itself. */
static enum status map_storage(struct output_matrix *output, struct problem *reterr)
{
    const bool in_file = output->file.draft_path != NULL && format_is_binary(output->format);
    if (in_file) {
        /* Blocks are allocated now: a full disk would later raise SIGBUS in the solver. */
        const int error = posix_fallocate(output->file.file, 0, (off_t)output->mapping_size);
        if (error != 0) {
            return output_refuse(output->file.path, error, reterr);
        }
    }
    void *mapping = mmap(NULL, output->mapping_size, PROT_READ | PROT_WRITE,
                         in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                         in_file ? output->file.file : -1, 0);
    if (mapping == MAP_FAILED) {
        return in_file ? output_refuse(output->file.path, errno, reterr)
                       : problem_set(reterr, STATUS_NO_MEMORY,
                                     "not enough memory for a matrix of %zu bytes",
                                     output->mapping_size);
    }
    output->mapping = mapping;
    return STATUS_OK;
}

/* Computes the size of the file, including its header. */
static enum status find_size(const struct matrix *matrix, size_t header, size_t *ret_size,
                             struct problem *reterr)
{
    size_t size;
    if (matrix_size(matrix->vertex_count, matrix->kind, &size) != STATUS_OK ||
        __builtin_add_overflow(size, header, ret_size) || *ret_size > INT64_MAX) {
        return problem_set(reterr, STATUS_TOO_LARGE, "a matrix with %u rows is too large",
                           matrix->vertex_count);
    }
    return STATUS_OK;
}

enum status output_matrix_open(struct output_matrix *output, const char *path, enum format format,
                               enum kind kind, uint32_t vertex_count, struct problem *reterr)
{
    const size_t header = format == FORMAT_NPY ? NPY_HEADER_SIZE : 0;
    output->format = format;
    output->matrix = (struct matrix){.vertex_count = vertex_count, .kind = kind};
    STATUS_TRY(output_file_open(&output->file, path, reterr));
    STATUS_TRY(find_size(&output->matrix, header, &output->mapping_size, reterr));
    if (output->mapping_size == 0) {
        return STATUS_OK;
    }
    STATUS_TRY(map_storage(output, reterr));
    if (header > 0) {
        npy_header_write(kind, vertex_count, vertex_count, (unsigned char *)output->mapping);
    }
    output->matrix.elements = output->mapping + header;
    return STATUS_OK;
}

static enum status find_row(void *context, uint32_t row, const void **ret_elements)
{
    const struct matrix *matrix = context;
    *ret_elements = (const char *)matrix->elements +
                    (size_t)row * matrix->vertex_count * kind_size(matrix->kind);
    return STATUS_OK;
}

/* Returns whether an entry is infinite; the header of a Matrix Market file then says real, not
 * integer. */
static bool has_unreachable(const struct matrix *matrix)
{
    const size_t count = (size_t)matrix->vertex_count * matrix->vertex_count;
    size_t i = 0;
    while (i < count && isfinite(kind_element(matrix->kind, matrix->elements, i))) {
        i++;
    }
    return i < count;
}

/* Rows and columns of a block that is transposed at once; two such blocks fit in the cache. */
#define BLOCK 64

/* Transposes the matrix in place for Matrix Market, which stores columns. */
static void transpose_matrix(const struct matrix *matrix)
{
    const uint32_t n = matrix->vertex_count;
    const size_t size = kind_size(matrix->kind);
    char *elements = matrix->elements;
    char kept[sizeof(double)];
    for (uint64_t block = 0; block < (uint64_t)((n + BLOCK - 1) / BLOCK) * n; block++) {
        const uint32_t j = (uint32_t)(block % n);
        const uint32_t first = (uint32_t)(block / n) * BLOCK;
        for (uint32_t i = first; i < first + BLOCK && i < j; i++) {
            char *one = elements + ((size_t)i * n + j) * size;
            char *other = elements + ((size_t)j * n + i) * size;
            memcpy(kept, one, size);
            memcpy(one, other, size);
            memcpy(other, kept, size);
        }
    }
}

static enum status write_text(struct output_matrix *output, const struct graph *graph,
                              struct problem *reterr)
{
    const enum grid_form form = output->format == FORMAT_JSON     ? GRID_JSON
                                : output->format == FORMAT_CSV    ? GRID_CSV
                                : output->format == FORMAT_NDJSON ? GRID_NDJSON
                                                                  : GRID_MTX;
    const struct axis all = {NULL, 0, graph->vertex_count};
    struct grid_text writer = {
        .grid = {output->matrix.kind, graph->names, all, all, all, find_row, &output->matrix},
        .form = form,
        .has_unreachable = form == GRID_MTX && has_unreachable(&output->matrix),
    };
    if (form == GRID_MTX) {
        transpose_matrix(&output->matrix);
    }
    struct text text = {0};
    enum status status = STATUS_OK;
    bool more = true;
    while (more && status == STATUS_OK) {
        more = grid_text_next(&writer, &text);
        status = output_file_flush(&output->file, &text, more ? PIECE_SIZE : 0, reterr);
    }
    text_finish(&text);
    return status;
}

static void unmap_matrix(struct output_matrix *output)
{
    if (output->mapping != NULL) {
        munmap(output->mapping, output->mapping_size);
    }
    output->mapping = NULL;
    output->matrix.elements = NULL;
}

enum status output_matrix_commit(struct output_matrix *output, const struct graph *graph,
                                 struct problem *reterr)
{
    enum status status = STATUS_OK;
    if (!format_is_binary(output->format)) {
        status = write_text(output, graph, reterr);
    } else if (output->file.draft_path == NULL) {
        status = write_bytes(&output->file, output->mapping, output->mapping_size, reterr);
    }
    unmap_matrix(output);
    return status == STATUS_OK ? output_file_commit(&output->file, reterr) : status;
}

void output_matrix_finish(struct output_matrix *output)
{
    unmap_matrix(output);
    output_file_finish(&output->file);
}
