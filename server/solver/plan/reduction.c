/* A vertex of degree 2 is replaced by an edge between its neighbours, so a list of neighbours gets
 * no longer: all of it happens in the lists of one copy of the pattern. */
#include "server/solver/plan/dissection.h"

#include <stdlib.h>
#include <string.h>

#define SEARCHED_NEIGHBOURS_MAX 64

static bool reduction_init(struct reduction *reduction, const struct pattern *pattern)
{
    const size_t n = pattern->vertex_count;
    const size_t entries = (size_t)pattern->offset[n];
    *reduction = (struct reduction){
        .pattern = pattern,
        .neighbour = malloc((entries + 1) * sizeof(*reduction->neighbour)),
        .degree = malloc((n + 1) * sizeof(*reduction->degree)),
        .order = malloc((n + 1) * sizeof(*reduction->order)),
        .local = malloc((n + 1) * sizeof(*reduction->local)),
    };
    if (reduction->neighbour == NULL || reduction->degree == NULL || reduction->order == NULL ||
        reduction->local == NULL) {
        return false;
    }
    memcpy(reduction->neighbour, pattern->target, entries * sizeof(*reduction->neighbour));
    for (size_t vertex = 0; vertex < n; vertex++) {
        reduction->degree[vertex] = pattern->offset[vertex + 1] - pattern->offset[vertex];
    }
    return true;
}

static int32_t *find_neighbour(const struct reduction *reduction, int32_t of, int32_t vertex)
{
    int32_t *list = reduction->neighbour + reduction->pattern->offset[of];
    for (int32_t i = 0; i < reduction->degree[of]; i++) {
        if (list[i] == vertex) {
            return &list[i];
        }
    }
    return NULL;
}

/* A vertex that comes down to two neighbours is eliminated in its turn. */
static void drop_neighbour(struct reduction *reduction, int32_t of, int32_t vertex, uint32_t *end)
{
    const int32_t *list = reduction->neighbour + reduction->pattern->offset[of];
    int32_t *place = find_neighbour(reduction, of, vertex);
    *place = list[--reduction->degree[of]];
    if (reduction->degree[of] == 2) {
        reduction->order[(*end)++] = of;
    }
}

static void eliminate(struct reduction *reduction, int32_t vertex, uint32_t *end)
{
    const int32_t *list = reduction->neighbour + reduction->pattern->offset[vertex];
    const int32_t degree = reduction->degree[vertex];
    reduction->degree[vertex] = ~degree;
    if (degree == 1) {
        drop_neighbour(reduction, list[0], vertex, end);
    } else if (degree == 2 && find_neighbour(reduction, list[0], list[1]) != NULL) {
        drop_neighbour(reduction, list[0], vertex, end);
        drop_neighbour(reduction, list[1], vertex, end);
    } else if (degree == 2) {
        *find_neighbour(reduction, list[0], vertex) = list[1];
        *find_neighbour(reduction, list[1], vertex) = list[0];
    }
}

static enum status make_core(struct reduction *reduction)
{
    const uint32_t n = reduction->pattern->vertex_count;
    size_t entries = 0;
    uint32_t count = 0;
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        if (reduction->degree[vertex] >= 0) {
            reduction->order[reduction->eliminated + count] = (int32_t)vertex;
            reduction->local[vertex] = (int32_t)count++;
            entries += (size_t)reduction->degree[vertex];
        }
    }
    struct pattern *core = &reduction->core;
    const enum status status = pattern_init(core, count, entries);
    int32_t kept = 0;
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        const int32_t vertex = reduction->order[reduction->eliminated + i];
        const int32_t *list = reduction->neighbour + reduction->pattern->offset[vertex];
        for (int32_t j = 0; j < reduction->degree[vertex]; j++) {
            core->target[kept++] = reduction->local[list[j]];
        }
        core->offset[i + 1] = kept;
    }
    return status;
}

/* Lists of neighbours are searched: not those of hubs. */
static bool is_cheap(const struct reduction *reduction, int32_t vertex)
{
    const int32_t *list = reduction->neighbour + reduction->pattern->offset[vertex];
    for (int32_t i = 0; i < reduction->degree[vertex]; i++) {
        if (reduction->degree[list[i]] > SEARCHED_NEIGHBOURS_MAX) {
            return false;
        }
    }
    return true;
}

enum status reduction_make(const struct pattern *pattern, struct reduction *ret_reduction)
{
    if (!reduction_init(ret_reduction, pattern)) {
        return STATUS_NO_MEMORY;
    }
    uint32_t end = 0;
    for (uint32_t vertex = 0; vertex < pattern->vertex_count; vertex++) {
        if (ret_reduction->degree[vertex] <= 2) {
            ret_reduction->order[end++] = (int32_t)vertex;
        }
    }
    for (uint32_t at = 0; at < end; at++) {
        const int32_t vertex = ret_reduction->order[at];
        if (is_cheap(ret_reduction, vertex)) {
            eliminate(ret_reduction, vertex, &end);
            ret_reduction->order[ret_reduction->eliminated++] = vertex;
        }
    }
    return make_core(ret_reduction);
}

/* An eliminated vertex still has the list of its neighbours of that moment, which are neighbours of
 * each other by then: never on different sides. */
void reduction_expand(const struct reduction *reduction, const int32_t *core_side,
                      int32_t *ret_side)
{
    const struct pattern *pattern = reduction->pattern;
    uint32_t counts[3] = {0};
    for (uint32_t i = 0; i < reduction->core.vertex_count; i++) {
        ret_side[reduction->order[reduction->eliminated + i]] = core_side[i];
        counts[core_side[i]]++;
    }
    for (uint32_t at = reduction->eliminated; at-- > 0;) {
        const int32_t vertex = reduction->order[at];
        const int32_t *list = reduction->neighbour + pattern->offset[vertex];
        int32_t side = counts[SIDE_FIRST] <= counts[SIDE_SECOND] ? SIDE_FIRST : SIDE_SECOND;
        for (int32_t i = ~reduction->degree[vertex]; i-- > 0;) {
            side = ret_side[list[i]] != SIDE_SEPARATOR ? ret_side[list[i]] : side;
        }
        ret_side[vertex] = side;
        counts[side]++;
    }
}

void reduction_finish(struct reduction *reduction)
{
    free(reduction->neighbour);
    free(reduction->degree);
    free(reduction->order);
    free(reduction->local);
    pattern_finish(&reduction->core);
}
