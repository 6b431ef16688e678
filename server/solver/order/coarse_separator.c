#include "server/solver/order/coarse_separator.h"

#include "server/solver/order/vertex_cut.h"

#include <math.h>
#include <string.h>

#define CLUSTER_VERTICES_MAX 16

/* The band of a cut: the vertices within this many edges of the clusters of the separator. */
#define BAND_EDGES 5

/* METIS separates smaller parts as fast. */
#define PART_VERTICES_MIN 1024

/* Parts whose minimum cut has more than sqrt(n / CUT_SHARE) vertices are separated without
 * clusters. A regular grid has many minimum cuts, and those that leave compact sides are better.
 * Graphs with large cuts gain nothing from clusters. */
#define CUT_SHARE 3

/* A cut is rejected if a side has less than this fraction of the vertices: a band may contain
 * almost all of a side whose vertices are close together. */
#define SIDE_FRACTION_MIN 0.25

/* Scratch memory: one entry per vertex in each array. */
struct clusters {
    uint32_t *member; /* the vertices, cluster by cluster */
    uint32_t *of;     /* vertex -> cluster, NO_VERTEX if not yet known */
    uint32_t *mark;
};

/* Groups the vertices into clusters, each by a breadth-first search. Returns their number. */
static uint32_t make_clusters(const struct pattern *pattern, const struct clusters *clusters)
{
    uint32_t count = 0;
    uint32_t end = 0;
    memset(clusters->of, 0xFF, pattern->vertex_count * sizeof(*clusters->of));
    for (uint32_t seed = 0; seed < pattern->vertex_count; seed++) {
        if (clusters->of[seed] != NO_VERTEX) {
            continue;
        }
        const uint32_t most = end + CLUSTER_VERTICES_MAX;
        uint32_t at = end;
        clusters->member[end++] = seed;
        clusters->of[seed] = count;
        for (; at < end; at++) {
            const int32_t *offset = &pattern->offset[clusters->member[at]];
            for (int32_t e = offset[0]; e < offset[1] && end < most; e++) {
                const uint32_t target = (uint32_t)pattern->target[e];
                if (clusters->of[target] == NO_VERTEX) {
                    clusters->of[target] = count;
                    clusters->member[end++] = target;
                }
            }
        }
        count++;
    }
    return count;
}

/* Makes the pattern of the clusters. The weight of a cluster is its number of vertices. */
static enum status contract(const struct pattern *pattern, const struct clusters *clusters,
                            struct pattern *ret_coarse)
{
    const uint32_t n = pattern->vertex_count;
    const uint32_t count = make_clusters(pattern, clusters);
    int32_t kept = 0;
    STATUS_TRY(pattern_init(ret_coarse, count, (size_t)pattern->offset[n]));
    memset(ret_coarse->weight, 0, count * sizeof(*ret_coarse->weight));
    memset(clusters->mark, 0xFF, count * sizeof(*clusters->mark));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t vertex = clusters->member[i];
        const uint32_t cluster = clusters->of[vertex];
        for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1]; e++) {
            const uint32_t target = clusters->of[pattern->target[e]];
            if (target != cluster && clusters->mark[target] != cluster) {
                clusters->mark[target] = cluster;
                ret_coarse->target[kept++] = (int32_t)target;
            }
        }
        ret_coarse->offset[cluster + 1] = kept;
        ret_coarse->weight[cluster]++;
    }
    return STATUS_OK;
}

static enum status separate_clusters(const struct pattern *pattern, const struct clusters *clusters,
                                     int32_t *ret_side)
{
    struct pattern coarse = {0};
    enum status status = contract(pattern, clusters, &coarse);
    STATUS_THEN(status, separator_find(&coarse, coarse.weight, ret_side));
    for (uint32_t i = 0; status == STATUS_OK && i < coarse.vertex_count; i++) {
        clusters->mark[i] = (uint32_t)ret_side[i];
    }
    for (uint32_t i = 0; status == STATUS_OK && i < pattern->vertex_count; i++) {
        ret_side[i] = (int32_t)clusters->mark[clusters->of[i]];
    }
    pattern_finish(&coarse);
    return status;
}

/* Replaces the separator by the minimum cut in a band around it. Overwrites the clusters.
 * *ret_found is false, and side undefined, if the cut is large or uneven. */
static enum status cut_near(const struct pattern *pattern, const struct clusters *clusters,
                            int32_t *side, bool *ret_found)
{
    const uint32_t n = pattern->vertex_count;
    uint32_t *vertices = clusters->member;
    uint32_t count = 0;
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        if (side[vertex] == SIDE_SEPARATOR) {
            vertices[count++] = vertex;
        }
    }
    uint32_t at = 0;
    for (int edges = 0; edges < BAND_EDGES; edges++) {
        for (const uint32_t end = count; at < end; at++) {
            const int32_t *offset = &pattern->offset[vertices[at]];
            for (int32_t e = offset[0]; e < offset[1]; e++) {
                const int32_t target = pattern->target[e];
                if (side[target] != SIDE_SEPARATOR) {
                    side[target] = SIDE_SEPARATOR;
                    vertices[count++] = (uint32_t)target;
                }
            }
        }
    }
    const struct band band = {pattern, vertices, count, clusters->mark};
    uint32_t counts[3] = {0};
    STATUS_TRY(vertex_cut_find(&band, (uint32_t)sqrt(n / CUT_SHARE), side, ret_found));
    for (uint32_t vertex = 0; vertex < n; vertex++) {
        counts[side[vertex]]++;
    }
    const uint32_t smaller = counts[counts[SIDE_SECOND] < counts[SIDE_FIRST]];
    *ret_found &= smaller >= SIDE_FRACTION_MIN * n;
    return STATUS_OK;
}

enum status coarse_separator_find(const struct pattern *pattern, uint32_t *scratch,
                                  int32_t *ret_side)
{
    const size_t n = pattern->vertex_count;
    bool found = false;
    if (n >= PART_VERTICES_MIN) {
        const struct clusters clusters = {scratch, scratch + n, scratch + 2 * n};
        STATUS_TRY(separate_clusters(pattern, &clusters, ret_side));
        STATUS_TRY(cut_near(pattern, &clusters, ret_side, &found));
    }
    return found ? STATUS_OK : separator_find(pattern, NULL, ret_side);
}
