#include "server/solver/order/pattern.h"

#include <stdlib.h>
#include <string.h>

void pattern_finish(struct pattern *pattern)
{
    free(pattern->offset);
    free(pattern->target);
    free(pattern->weight);
    *pattern = (struct pattern){0};
}

enum status pattern_init(struct pattern *pattern, uint32_t vertex_count, size_t entry_count)
{
    *pattern = (struct pattern){
        .vertex_count = vertex_count,
        .offset = calloc((size_t)vertex_count + 2, sizeof(*pattern->offset)),
        .target = malloc((entry_count + 1) * sizeof(*pattern->target)),
        .weight = malloc(((size_t)vertex_count + 1) * sizeof(*pattern->weight)),
    };
    if (pattern->offset == NULL || pattern->target == NULL || pattern->weight == NULL) {
        pattern_finish(pattern);
        return STATUS_NO_MEMORY;
    }
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        pattern->weight[vertex] = 1;
    }
    return STATUS_OK;
}

/* Removes duplicate entries from each row. */
static void drop_parallel(struct pattern *pattern, uint32_t *mark)
{
    int32_t kept = 0;
    int32_t begin = 0;
    memset(mark, 0xFF, pattern->vertex_count * sizeof(*mark));
    for (uint32_t vertex = 0; vertex < pattern->vertex_count; vertex++) {
        const int32_t end = pattern->offset[vertex + 1];
        for (int32_t entry = begin; entry < end; entry++) {
            const int32_t target = pattern->target[entry];
            if (mark[target] != vertex) {
                mark[target] = vertex;
                pattern->target[kept++] = target;
            }
        }
        begin = end;
        pattern->offset[vertex + 1] = kept;
    }
}

/* Pass 0 counts the entries of each row r in offset[r + 2]. Pass 1 fills the rows, and advances
 * each offset[r + 1] from the start to the end of row r, so that all offsets are final. */
enum status pattern_make(const struct graph *graph, const uint32_t *component, uint32_t *mark,
                         struct pattern *ret_pattern)
{
    const uint32_t n = graph->vertex_count;
    STATUS_TRY(pattern_init(ret_pattern, n, 2 * graph->edge_count));
    int32_t *offset = ret_pattern->offset;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t vertex = 0; vertex < n; vertex++) {
            for (uint64_t e = graph->row_offset[vertex]; e < graph->row_offset[vertex + 1]; e++) {
                const uint32_t target = graph->target[e];
                if (component != NULL && component[vertex] != component[target]) {
                    continue;
                }
                if (pass == 0) {
                    ++offset[vertex + 2];
                    ++offset[target + 2];
                } else {
                    ret_pattern->target[offset[vertex + 1]++] = (int32_t)target;
                    ret_pattern->target[offset[target + 1]++] = (int32_t)vertex;
                }
            }
        }
        for (uint32_t vertex = 2; vertex <= n && pass == 0; vertex++) {
            offset[vertex] += offset[vertex - 1];
        }
    }
    if (graph->directed) {
        drop_parallel(ret_pattern, mark); /* u to v and v to u are one entry of each row */
    }
    return STATUS_OK;
}

enum status pattern_cut(const struct pattern *whole, const uint32_t *vertices, uint32_t count,
                        const uint32_t *local, struct pattern *ret_part)
{
    size_t entries = 0;
    for (uint32_t index = 0; index < count; index++) {
        entries += (size_t)(whole->offset[vertices[index] + 1] - whole->offset[vertices[index]]);
    }
    STATUS_TRY(pattern_init(ret_part, count, entries));
    int32_t kept = 0;
    for (uint32_t index = 0; index < count; index++) {
        const uint32_t vertex = vertices[index];
        for (int32_t e = whole->offset[vertex]; e < whole->offset[vertex + 1]; e++) {
            const uint32_t target = local[whole->target[e]];
            if (target != NO_VERTEX) {
                ret_part->target[kept++] = (int32_t)target;
            }
        }
        ret_part->offset[index + 1] = kept;
        ret_part->weight[index] = whole->weight[vertex];
    }
    return STATUS_OK;
}
