#include "tests/solver/oracle.h"

#include <math.h>

static void keep_minimum(double *entry, double value)
{
    *entry = value < *entry ? value : *entry;
}

static void fill(const struct edge_list *list, double *d)
{
    const size_t n = list->vertex_count;
    for (size_t i = 0; i < n * n; ++i) {
        d[i] = i % (n + 1) == 0 ? 0 : INFINITY;
    }
    for (size_t e = 0; e < list->count; ++e) {
        const struct edge edge = list->edges[e];
        keep_minimum(&d[edge.source * n + edge.target], edge.weight);
        if (!list->directed) {
            keep_minimum(&d[edge.target * n + edge.source], edge.weight);
        }
    }
}

bool oracle_solve(const struct edge_list *list, double *d)
{
    const size_t n = list->vertex_count;
    fill(list, d);
    for (size_t k = 0; k < n; ++k) {
        if (d[k * n + k] < 0) {
            return false;
        }
        const double *from = d + k * n;
        for (size_t i = 0; i < n; ++i) {
            const double way = d[i * n + k];
            double *restrict row = d + i * n;
            if (i == k || isinf(way)) {
                continue; /* entry (i, k) improves no entry of row i */
            }
            for (size_t j = 0; j < n; ++j) {
                keep_minimum(&row[j], way + from[j]);
            }
        }
    }
    return true;
}
