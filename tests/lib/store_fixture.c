#include "tests/lib/store_fixture.h"

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
