/* Runs the reader of FUZZ_FORMAT on arbitrary bytes, once as a whole and once in pieces; both runs
 * must give exactly the same graph or error. The low 4 bits of the first byte are the size of the
 * pieces (0 = varying), and the high bits are the options. */
#include "proto/graph_cycle.h"
#include "proto/read/sniff.h"
#include "tests/lib/graph_fixture.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct graph_options fuzz_options(uint8_t byte)
{
    struct graph_options options = {.vertex_limit = 1000, .edge_limit = 10000};

    options.has_directed = (byte & 0x10) != 0;
    options.directed = (byte & 0x20) != 0;
    options.has_vertex_count = (byte & 0x40) != 0;
    options.vertex_count = 10;
    if ((byte & 0x80) != 0)
        memcpy(options.weight, "w", sizeof "w");
    return options;
}

static void check_graph(const struct graph *graph)
{
    struct negative_cycle cycle;
    enum kind kind;
    enum status status = graph_choose_kind(graph, KIND_AUTO, &kind, NULL);

    CHECK(status == STATUS_OK || status == STATUS_WEIGHT_RANGE);
    CHECK(graph->row_offset[graph->vertex_count] == graph->edge_count);
    CHECK(vertex_names_count(graph->names) == graph->vertex_count);
    CHECK(graph_negative_cycle(graph, NULL, &cycle) == STATUS_OK);
    CHECK((cycle.vertices == NULL) == (cycle.length == 0) && cycle.weight <= 0);
    free(cycle.vertices);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct problem problems[2] = {{0}, {0}};
    struct graph *graphs[2] = {NULL, NULL};
    struct graph_options options;
    enum status statuses[2];

    if (size == 0)
        return 0;
    options = fuzz_options(bytes[0]);
    CHECK((sniff_refuse((const char *)bytes + 1, size - 1, &problems[0]) == STATUS_OK) ==
          (problems[0].status == STATUS_OK));
    problems[0] = (struct problem){0};
    sniff_format((const char *)bytes + 1, size - 1);
    for (int i = 0; i < 2; i++)
        statuses[i] =
            read_graph(FUZZ_FORMAT, &options, (const char *)bytes + 1, size - 1,
                       i == 0 ? size : (size_t)(bytes[0] & 0x0F), &graphs[i], &problems[i]);
    CHECK(statuses[0] == statuses[1]);
    CHECK(statuses[0] == STATUS_OK || problems[0].status == statuses[0]);
    CHECK(problems[0].line == problems[1].line && problems[0].column == problems[1].column);
    CHECK(strcmp(problems[0].detail, problems[1].detail) == 0);
    if (statuses[0] == STATUS_OK) {
        CHECK(same_graph(graphs[0], graphs[1]));
        check_graph(graphs[0]);
    }
    graph_destroy(graphs[0]);
    graph_destroy(graphs[1]);
    return 0;
}
