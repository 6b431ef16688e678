#include "proto/components.h"

#include <stdlib.h>

struct components {
    uint32_t vertex_count;
    uint32_t count;
    uint32_t row; /* of the edge seen last */
    uint32_t parent[];
};

enum status components_create(uint32_t vertex_count, struct components **ret_components)
{
    struct components *components =
        malloc(sizeof *components + (size_t)vertex_count * sizeof components->parent[0]);

    if (components == NULL) {
        return STATUS_NO_MEMORY;
    }
    components->vertex_count = vertex_count;
    components->count = vertex_count;
    components->row = 0;
    for (uint32_t v = 0; v < vertex_count; v++) {
        components->parent[v] = v;
    }
    *ret_components = components;
    return STATUS_OK;
}

void components_destroy(struct components *components)
{
    free(components);
}

static uint32_t find_root(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

/* Most graphs are one component, which the first rows tell. */
bool components_unite(struct components *components, const uint64_t *row_offset,
                      const uint32_t *targets, uint64_t first, uint64_t count)
{
    uint32_t *parent = components->parent;
    uint32_t row = components->row;

    for (uint64_t i = 0; i < count && components->count > 1; i++) {
        while (row_offset[row + 1] <= first + i) {
            row++;
        }
        const uint32_t a = find_root(parent, row);
        const uint32_t b = find_root(parent, targets[i]);

        if (a != b) {
            parent[a > b ? a : b] = a > b ? b : a;
            components->count--;
        }
    }
    components->row = row;
    return components->count > 1;
}

uint32_t components_count(const struct components *components)
{
    return components->count;
}
