#include "tests/lib/store_fixture.h"

#include <errno.h>
#include <semaphore.h>

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    CHECK(fixture != NULL);
    CHECK(folder_template("apspd-test-XXXXXX", fixture->path, sizeof fixture->path));
    CHECK(mkdtemp(fixture->path) != NULL);
    fixture->folder = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fixture->folder >= 0);
    *state = fixture;
    return 0;
}

static int fixture_remove(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    close(fixture->folder);
    nftw(fixture->path, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(fixture);
    return 0;
}

struct graph *fixture_path_graph(uint32_t vertex_count, enum weight_type type, int first_weight)
{
    struct graph *graph = calloc(1, sizeof *graph);
    CHECK(graph != NULL);
    graph->vertex_count = vertex_count;
    graph->directed = true;
    graph->weight_type = type;
    graph->edge_count = vertex_count > 0 ? vertex_count - 1 : 0;
    graph->row_offset = calloc((size_t)vertex_count + 1, sizeof *graph->row_offset);
    graph->target = calloc((size_t)graph->edge_count + 1, sizeof *graph->target);
    if (type == WEIGHT_INTEGER)
        graph->weight_i4 = calloc((size_t)graph->edge_count + 1, sizeof *graph->weight_i4);
    else
        graph->weight_f8 = calloc((size_t)graph->edge_count + 1, sizeof *graph->weight_f8);
    CHECK(graph->row_offset != NULL && graph->target != NULL);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        graph->row_offset[i + 1] = i + 1;
        graph->target[i] = i + 1;
        if (type == WEIGHT_INTEGER)
            graph->weight_i4[i] = first_weight + (int)i;
        else
            graph->weight_f8[i] = first_weight + 0.5 * i;
    }
    graph->row_offset[vertex_count] = graph->edge_count;
    graph->summary = (struct graph_summary){.edges_read = graph->edge_count + 3,
                                            .loops_dropped = 1,
                                            .parallel_merged = 2,
                                            .min_weight = first_weight,
                                            .max_weight = first_weight + 10.25,
                                            .distance_bound = 1234.5,
                                            .components = 1,
                                            .negative_loop = NO_VERTEX,
                                            .negative = first_weight < 0,
                                            .decimals = type == WEIGHT_INTEGER ? 0 : NO_DECIMALS};
    CHECK(vertex_names_create_range(vertex_count, 1, &graph->names) == STATUS_OK);
    return graph;
}

size_t fixture_count_files(const struct fixture *fixture, const char *name)
{
    size_t count = 0;
    struct dirent **entries;
    int found = scandirat(fixture->folder, name, &entries, NULL, NULL);
    CHECK(found >= 0);
    for (int i = 0; i < found; i++) {
        count += strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0;
        free(entries[i]);
    }
    free(entries);
    return count;
}

struct store *fixture_open_store(const struct fixture *fixture)
{
    char path[640];
    struct store *store;
    struct problem problem = {0};
    snprintf(path, sizeof path, "%s/state", fixture->path);
    const enum status status = store_open(path, 1 << 20, &store, &problem);
    assert_string_equal(problem.detail, "");
    assert_int_equal(status, STATUS_OK);
    return store;
}

void fixture_post(struct store_change *change)
{
    sem_post(change->context);
}

enum status fixture_apply(struct store *store, struct store_change *change)
{
    sem_t finished;
    sem_init(&finished, 0, 0);
    change->done = fixture_post;
    change->context = &finished;
    if (store_find_op(change, STORE_PUT_GRAPH) != NULL) {
        store_write_graph(store, change);
    }
    store_apply(store, change);
    while (sem_wait(&finished) != 0) {
        CHECK(errno == EINTR);
    }
    sem_destroy(&finished);
    return change->status;
}

struct result *fixture_make_result(struct store *store, const char *graph_id, const char *etag,
                                   uint32_t vertex_count)
{
    struct result *result;
    struct result_file *file;
    struct vertex_names *names;
    CHECK(result_file_create(store_folder(store, STORE_RESULTS), vertex_count, KIND_I4,
                             RESULT_FORM_MATRIX, &file) == STATUS_OK);
    CHECK(result_file_write_matrix(file) == STATUS_OK && result_file_seal(file) == STATUS_OK);
    CHECK(vertex_names_create_range(vertex_count, 1, &names) == STATUS_OK);
    CHECK(result_create(graph_id, etag, &file, &names, &result) == STATUS_OK);
    return result;
}

void fixture_flip(int folder, const char *name, off_t offset)
{
    unsigned char byte;
    int descriptor = openat(folder, name, O_RDWR | O_CLOEXEC);
    CHECK(descriptor >= 0);
    off_t at = lseek(descriptor, offset, offset < 0 ? SEEK_END : SEEK_SET);
    CHECK(pread(descriptor, &byte, 1, at) == 1);
    byte ^= 0x40;
    CHECK(pwrite(descriptor, &byte, 1, at) == 1);
    close(descriptor);
}
