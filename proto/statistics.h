/* Statistics of a distance matrix, by row and overall: reduced once, when the matrix is made.
 *
 * Distances of a vertex to itself do not count. What is unreachable counts nowhere: every figure is
 * over the pairs (source, target), source != target, whose distance is finite, so the diameter of a
 * graph that hangs together in parts is the longest of the finite distances, and its radius the
 * least eccentricity of the vertices that reach another. A row counts the distances *from* its
 * vertex, which matters in directed graphs.
 *
 * A struct statistics is a view of one block of bytes, its storage, which the caller owns: memory,
 * or the mapped end of a result file. The block describes itself, and equal matrices make equal
 * blocks, byte by byte, on every back end. Immutable once filled. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bins of the histogram. */
#define STATISTICS_BINS 64
/* Storage of each vertex, beside what all share. */
#define STATISTICS_VERTEX_BYTES 20

/* Sum of distances: exact for integer kinds, a double for float kinds. */
union statistics_sum {
    int64_t integer;
    double real;
};

/* All zero when no vertex reaches another. */
struct statistics_summary {
    uint64_t reachable_pairs;
    double diameter;
    double radius;
    double mean_distance;
    /* Bin b counts the distances from bin_begin + b * bin_width on, up to where b + 1 begins; the
     * last also counts the diameter. bin_begin is 0, or the least distance when that is negative.
     * Integer kinds: the least integral width with which 64 bins reach the diameter. */
    double bin_begin;
    double bin_width;
    uint64_t bins[STATISTICS_BINS];
};

struct statistics {
    uint32_t vertex_count;
    enum kind kind;    /* of the distances */
    uint32_t decimals; /* until statistics_divide: the figures are those of the distances, f8, times
                          10^decimals, which are integers of the kind */
    struct statistics_summary *summary;
    /* Per row, the three arrays one after the other: */
    double *eccentricity; /* the largest distance; 0 when nothing is reached */
    union statistics_sum *distance_sum;
    uint32_t *reachable; /* other vertices that are reached */
};

/* Bytes of the storage, a multiple of 16. It must be aligned to 8. */
size_t statistics_size(uint32_t vertex_count);
/* Makes the storage one of this matrix, all figures zero, and returns its view. */
struct statistics statistics_init(void *storage, uint32_t vertex_count, enum kind kind);
/* Opens storage that was filled before. STATUS_CORRUPT if it belongs to a different matrix or to a
 * different version of this layout. */
MUST_CHECK enum status statistics_open(void *storage, uint32_t vertex_count, enum kind kind,
                                       struct statistics *ret_statistics);

/* Lays down where the bins of the summary begin; lowest: as of statistics_summarize. */
void statistics_lay_bins(struct statistics *statistics, double lowest, double diameter);
/* Makes the summary of the rows; the bins are left at 0, to be counted. lowest: the least distance
 * when one is below 0, else 0. */
void statistics_summarize(struct statistics *statistics, double lowest);

/* Makes statistics of integers, of kind i4 or f8, those of these integers / 10^decimals as f8. */
void statistics_divide(struct statistics *statistics);

/* Closeness centrality as Wasserman and Faust (1994, formula 5.22) correct it for graphs in parts,
 * which is NetworkX's default: r / sum * r / (n - 1) for a vertex that reaches r others over
 * distances from it (NetworkX counts those towards it). The uncorrected one is that * (n - 1) / r.
 * 0 when it reaches none, or when its distances do not sum up to more than 0, as in NetworkX. */
double statistics_closeness(const struct statistics *statistics, uint32_t row);

#ifdef __cplusplus
}
#endif
