#include "server/store/result.h"

#include "proto/check.h"
#include "proto/writer.h"
#include "server/store/catalogue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct result {
    atomic_uint references;
    _Atomic double touched_s;
    char graph_id[GRAPH_ID_SIZE];
    char etag[ETAG_SIZE];
    struct result_file *file;
    struct matrix matrix; /* the file's, to spare every query the call */
    struct vertex_names *names;
};

enum status result_create(const char *graph_id, const char *etag, struct result_file **take_file,
                          struct vertex_names **take_names, struct result **ret_result)
{
    CHECK(strlen(graph_id) < GRAPH_ID_SIZE && strlen(etag) < ETAG_SIZE);
    struct result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return STATUS_NO_MEMORY;
    }
    atomic_init(&result->references, 1);
    memcpy(result->graph_id, graph_id, strlen(graph_id));
    memcpy(result->etag, etag, strlen(etag));
    result->file = *take_file;
    result->matrix = result_file_matrix(result->file);
    result->names = *take_names;
    *take_file = NULL;
    *take_names = NULL;
    *ret_result = result;
    return STATUS_OK;
}

struct result *result_ref(struct result *result)
{
    atomic_fetch_add_explicit(&result->references, 1, memory_order_relaxed);
    return result;
}

/* Whoever drops the last reference must see what all others did before they dropped theirs. */
void result_unref(struct result *result)
{
    if (result == NULL) {
        return;
    }
    unsigned before = atomic_fetch_sub_explicit(&result->references, 1, memory_order_acq_rel);
    CHECK(before > 0);
    if (before > 1) {
        return;
    }
    result_file_destroy(result->file);
    vertex_names_destroy(result->names);
    free(result);
}

const char *result_graph_id(const struct result *result)
{
    return result->graph_id;
}

const char *result_etag(const struct result *result)
{
    return result->etag;
}

enum kind result_kind(const struct result *result)
{
    return result->matrix.kind;
}

uint32_t result_vertex_count(const struct result *result)
{
    return result->matrix.vertex_count;
}

const struct vertex_names *result_names(const struct result *result)
{
    return result->names;
}

void result_touch(struct result *result, double now_s)
{
    atomic_store_explicit(&result->touched_s, now_s, memory_order_relaxed);
}

double result_touched_s(const struct result *result)
{
    return atomic_load_explicit(&result->touched_s, memory_order_relaxed);
}

static const unsigned char *element(const struct result *result, uint32_t row, uint32_t column)
{
    const unsigned char *elements = result->matrix.elements;
    size_t index = (size_t)row * result->matrix.vertex_count + column;
    return elements + index * kind_size(result->matrix.kind);
}

void result_append_distance(const struct result *result, uint32_t source, uint32_t target,
                            struct text *text)
{
    CHECK(source < result->matrix.vertex_count && target < result->matrix.vertex_count);
    writer_append_distance(text, result->matrix.kind, element(result, source, target));
}

const struct statistics *result_statistics(const struct result *result)
{
    return result_file_statistics(result->file);
}

const struct result_file *result_matrix_file(const struct result *result)
{
    return result->file;
}

enum status result_publish(struct result *result, int folder, const char *name)
{
    return result_file_publish(result->file, folder, name);
}
