#include "tests/solver/edge_list.h"

#include "proto/read/graph_builder.h"

#include <stdlib.h>

void edge_list_add(struct edge_list *list, uint32_t source, uint32_t target, double weight)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        list->edges = realloc(list->edges, list->capacity * sizeof(*list->edges));
        CHECK(list->edges != NULL);
    }
    list->edges[list->count++] = (struct edge){source, target, weight};
}

void edge_list_finish(struct edge_list *list)
{
    free(list->edges);
    *list = (struct edge_list){0};
}

struct graph *edge_list_build(const struct edge_list *list)
{
    const struct graph_options options = {0};
    struct graph_builder builder = graph_builder_init(&options);
    struct vertex_names *names = NULL;
    struct graph *graph = NULL;
    CHECK(vertex_names_create_range(list->vertex_count, 0, &names) == STATUS_OK);
    for (size_t index = 0; index < list->count; ++index) {
        const struct edge edge = list->edges[index];
        CHECK(graph_builder_add(&builder, edge.source, edge.target, edge.weight, NULL) ==
              STATUS_OK);
    }
    CHECK(graph_builder_finish(&builder, &names, NULL, list->directed, &graph, NULL) == STATUS_OK);
    graph_builder_clear(&builder);
    return graph;
}
