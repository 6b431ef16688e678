#include "tests/solver/graph_source.h"

#include <stdio.h>
#include <stdlib.h>

struct graph *graph_source_read(enum format format, const struct graph_options *options,
                                const char *bytes, size_t size)
{
    struct problem problem = {0};
    struct reader *reader = NULL;
    struct graph *graph = NULL;
    enum status status = reader_create(format, options, &reader);
    if (status == STATUS_OK) {
        status = reader_feed(reader, bytes, size, &problem);
    }
    if (status == STATUS_OK) {
        status = reader_finish(reader, &graph, &problem);
    }
    reader_destroy(reader);
    if (status != STATUS_OK) {
        fprintf(stderr, "not a graph: %s: %s\n", status_info(status)->code, problem.detail);
    }
    return graph;
}

static char *read_file(const char *path, size_t *ret_size)
{
    FILE *stream = fopen(path, "rbe");
    char *bytes = NULL;
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
        goto done;
    }
    const long size = ftell(stream);
    if (size < 0 || fseek(stream, 0, SEEK_SET) != 0) {
        goto done;
    }
    bytes = malloc((size_t)size + 1);
    if (bytes != NULL && fread(bytes, 1, (size_t)size, stream) == (size_t)size) {
        *ret_size = (size_t)size;
    } else {
        free(bytes);
        bytes = NULL;
    }
done:
    if (stream != NULL) {
        fclose(stream);
    }
    return bytes;
}

struct graph *graph_source_open(const char *path)
{
    const struct graph_options options = {0};
    size_t size = 0;
    char *bytes = read_file(path, &size);
    if (bytes == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return NULL;
    }
    struct graph *graph = graph_source_read(format_from_path(path, false), &options, bytes, size);
    free(bytes);
    return graph;
}
