/* Replaces separator_metis.c in builds without METIS, where plans only use components. */
#include "server/solver/order/separator.h"

bool separator_present(void)
{
    return false;
}

enum status separator_find(const struct pattern *pattern, int32_t *weights, int32_t *ret_side)
{
    (void)weights;
    for (uint32_t vertex = 0; vertex < pattern->vertex_count; vertex++) {
        ret_side[vertex] = SIDE_SEPARATOR;
    }
    return STATUS_OK;
}
