#include "tests/lib/graph_file_fixture.h"

uint64_t fixture_put_graph(int folder, const char *id, const struct graph *graph)
{
    struct draft_file file;
    uint64_t bytes = 0;
    CHECK(graph_file_write(folder, id, graph, &file, &bytes) == STATUS_OK);
    CHECK(draft_file_publish(&file, id) == STATUS_OK);
    draft_file_finish(&file);
    return bytes;
}
