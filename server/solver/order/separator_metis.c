/* Calls METIS_ComputeVertexSeparator of METIS 5, which prints nothing and, unlike METIS_NodeND,
 * does not change the signal handlers of the process. METIS uses rand(), whose state the whole
 * process shares, so rand is seeded before each call. METIS ends the process when memory runs out,
 * so the free memory is checked first. */
#include "server/solver/order/separator.h"

#include <metis.h>
#include <stdlib.h>

#define SEED 1

/* Estimated memory of METIS: its coarser graphs add about the size of the graph itself. */
#define BYTES_PER_VERTEX 160
#define BYTES_PER_ENTRY 40

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "a pattern is what METIS reads");

bool separator_present(void)
{
    return true;
}

enum status separator_find(const struct pattern *pattern, int32_t *weights, int32_t *ret_side)
{
    idx_t vertex_count = (idx_t)pattern->vertex_count;
    idx_t size = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = SEED;
    const size_t entries = (size_t)pattern->offset[pattern->vertex_count];
    void *enough =
        malloc((size_t)pattern->vertex_count * BYTES_PER_VERTEX + entries * BYTES_PER_ENTRY + 1);
    free(enough);
    int answer = METIS_ERROR_MEMORY;
    if (enough != NULL) {
        answer = METIS_ComputeVertexSeparator(&vertex_count, pattern->offset, pattern->target,
                                              weights, options, &size, ret_side);
    }
    return answer == METIS_OK ? STATUS_OK : STATUS_NO_MEMORY;
}
