#include "server/store/store_repair.h"

#include "server/store/draft_file.h"
#include "server/store/result_file.h"
#include "server/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rows as they are at start: changed only after the walk, since SQLite leaves open what a walk
 * sees of changes made during it. */
struct inventory {
    struct graph_row *graphs;
    size_t graph_count;
    size_t graph_capacity;
    struct result_row *results;
    size_t result_count;
    size_t result_capacity;
};

static void inventory_finish(struct inventory *inventory)
{
    free(inventory->graphs);
    free(inventory->results);
}

/* Room for one element more; NULL when out of memory, the array then stays as it is. */
static void *grow(void *array, size_t count, size_t size, size_t *capacity)
{
    if (count < *capacity) {
        return array;
    }
    size_t wanted = *capacity > 0 ? *capacity * 2 : 64;
    void *larger = reallocarray(array, wanted, size);
    if (larger != NULL) {
        *capacity = wanted;
    }
    return larger;
}

static enum status add_graph(void *context, const struct graph_row *row)
{
    struct inventory *inventory = context;
    struct graph_row *rows =
        grow(inventory->graphs, inventory->graph_count, sizeof(*row), &inventory->graph_capacity);
    if (rows == NULL) {
        return STATUS_NO_MEMORY;
    }
    inventory->graphs = rows;
    rows[inventory->graph_count++] = *row;
    return STATUS_OK;
}

static enum status add_result(void *context, const struct result_row *row)
{
    struct inventory *inventory = context;
    struct result_row *rows = grow(inventory->results, inventory->result_count, sizeof(*row),
                                   &inventory->result_capacity);
    if (rows == NULL) {
        return STATUS_NO_MEMORY;
    }
    inventory->results = rows;
    rows[inventory->result_count++] = *row;
    return STATUS_OK;
}

static int compare_graphs(const void *left, const void *right)
{
    const struct graph_row *a = left;
    const struct graph_row *b = right;
    return strcmp(a->id, b->id);
}

static const struct graph_row *find_graph(const struct inventory *inventory, const char *id)
{
    struct graph_row key = {0};
    snprintf(key.id, sizeof(key.id), "%s", id);
    if (inventory->graph_count == 0) {
        return NULL;
    }
    return bsearch(&key, inventory->graphs, inventory->graph_count, sizeof(key), compare_graphs);
}

static enum status check_graph(const struct state_dir *folder, struct catalogue *catalogue,
                               const struct graph_row *row)
{
    if (faccessat(folder->graphs, row->id, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return STATUS_OK;
    }
    if (errno != ENOENT) {
        return draft_file_status(errno);
    }
    return catalogue_delete_graph(catalogue, row->id);
}

/* Whether the file is the one that its row describes: STATUS_CORRUPT and STATUS_IO condemn it. */
static enum status check_result_file(const struct state_dir *folder, const char *name,
                                     const struct graph_row *graph, const struct result_row *row)
{
    struct result_file *file;
    enum status status = result_file_open(folder->results, name, graph->vertex_count, row->kind,
                                          row->checksum, &file);
    if (status == STATUS_OK) {
        result_file_destroy(file);
    }
    return status;
}

/* A result is a cache: without its row its job is solved again. A row may outlive its graph here,
 * when the graph's was just dropped; deleting it twice does no harm. */
static enum status check_result(const struct state_dir *folder, struct catalogue *catalogue,
                                const struct inventory *inventory, const struct result_row *row)
{
    char name[RESULT_NAME_SIZE];
    const struct graph_row *graph = find_graph(inventory, row->graph_id);
    enum status status = STATUS_CORRUPT;
    store_result_name(row->graph_id, row->kind, name);
    if (graph != NULL) {
        status = check_result_file(folder, name, graph, row);
    }
    if (status != STATUS_CORRUPT && status != STATUS_IO) {
        return status;
    }
    if (renameat(folder->results, name, folder->quarantine, name) != 0 && errno != ENOENT) {
        return draft_file_status(errno);
    }
    return catalogue_delete_result(catalogue, row->graph_id, row->kind);
}

static enum status check_rows(const struct state_dir *folder, struct catalogue *catalogue,
                              const struct inventory *inventory)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < inventory->graph_count && status == STATUS_OK; i++) {
        status = check_graph(folder, catalogue, &inventory->graphs[i]);
    }
    for (size_t i = 0; i < inventory->result_count && status == STATUS_OK; i++) {
        status = check_result(folder, catalogue, inventory, &inventory->results[i]);
    }
    return status;
}

static enum status repair_rows(const struct state_dir *folder, struct catalogue *catalogue)
{
    struct inventory inventory = {0};
    const struct catalogue_visitor visitor = {
        .context = &inventory, .graph = add_graph, .result = add_result};
    enum status status = catalogue_visit(catalogue, &visitor);
    if (status == STATUS_OK) {
        status = catalogue_begin(catalogue);
    }
    if (status == STATUS_OK) {
        if (inventory.graph_count > 0) {
            qsort(inventory.graphs, inventory.graph_count, sizeof(*inventory.graphs),
                  compare_graphs);
        }
        status = check_rows(folder, catalogue, &inventory);
        if (status == STATUS_OK) {
            status = catalogue_commit(catalogue);
        }
        catalogue_rollback(catalogue);
    }
    inventory_finish(&inventory);
    return status;
}

static enum status graph_is_named(struct catalogue *catalogue, const char *name, bool *ret_named)
{
    return catalogue_has_graph(catalogue, name, ret_named);
}

/* The inverse of store_result_name. */
static enum status result_is_named(struct catalogue *catalogue, const char *name, bool *ret_named)
{
    char graph_id[GRAPH_ID_SIZE];
    char kind_text[8];
    char expected[RESULT_NAME_SIZE];
    enum kind kind;
    *ret_named = false;
    if (sscanf(name, "%28[^.].%7[^.].npy", graph_id, kind_text) != 2 ||
        !kind_from_name(kind_text, &kind)) {
        return STATUS_OK;
    }
    store_result_name(graph_id, kind, expected);
    if (strcmp(expected, name) != 0) {
        return STATUS_OK;
    }
    return catalogue_has_result(catalogue, graph_id, kind, ret_named);
}

static enum status remove_unless_named(int folder, struct catalogue *catalogue, const char *name,
                                       enum status (*is_named)(struct catalogue *, const char *,
                                                               bool *))
{
    bool named = false;
    enum status status = STATUS_OK;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return STATUS_OK;
    }
    if (strncmp(name, DRAFT_PREFIX, strlen(DRAFT_PREFIX)) != 0) {
        status = is_named(catalogue, name, &named);
    }
    if (status == STATUS_OK && !named && unlinkat(folder, name, 0) != 0 && errno != EISDIR) {
        status = draft_file_status(errno);
    }
    return status;
}

static enum status remove_orphans(int folder, struct catalogue *catalogue,
                                  enum status (*is_named)(struct catalogue *, const char *, bool *))
{
    int descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (stream == NULL) {
        enum status status = draft_file_status(errno);
        if (descriptor >= 0) {
            close(descriptor);
        }
        return status;
    }
    enum status status = STATUS_OK;
    const struct dirent *entry;
    while (status == STATUS_OK && (entry = readdir(stream)) != NULL) {
        status = remove_unless_named(folder, catalogue, entry->d_name, is_named);
    }
    closedir(stream);
    return status;
}

enum status store_repair(const struct state_dir *folder, struct catalogue *catalogue,
                         struct problem *reterr)
{
    enum status status = repair_rows(folder, catalogue);
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "cannot check the rows of %s", folder->catalogue_path);
    }
    status = remove_orphans(folder->graphs, catalogue, graph_is_named);
    if (status == STATUS_OK) {
        status = remove_orphans(folder->results, catalogue, result_is_named);
    }
    if (status != STATUS_OK) {
        return problem_set(reterr, status, "cannot remove files that %s does not name",
                           folder->catalogue_path);
    }
    return STATUS_OK;
}
