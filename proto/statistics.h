/* Statistics of a distance matrix, of each row and of all pairs, computed once with the matrix.
 * Every number covers the pairs (source, target), source != target, with a finite distance. So the
 * diameter of a graph that is not connected is its largest finite distance, and the radius is the
 * least eccentricity of the vertices that reach another vertex. The statistics of a row cover the
 * distances *from* its vertex, which matters in directed graphs.
 *
 * A struct statistics points into a block of bytes, its storage, which the caller owns: memory, or
 * the mapped end of a result file. The block has a header that describes it. Equal matrices give
 * equal blocks, byte for byte, on every back end. Storage is immutable once it is filled. */
#pragma once

#include "proto/kind.h"
#include "proto/status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of bins of the histogram. */
#define STATISTICS_BINS 64
/* Bytes of storage per vertex, in addition to the header and the summary. */
#define STATISTICS_VERTEX_BYTES 20

/* Sum of distances: exact for integer kinds, a double for float kinds. */
union statistics_sum {
    int64_t integer;
    double real;
};

/* Summary of all pairs; all zero if no vertex reaches another. */
struct statistics_summary {
    uint64_t reachable_pairs;
    double diameter;
    double radius;
    double mean_distance;
    /* Bin b counts the distances from bin_begin + b * bin_width up to the start of bin b + 1; the
     * last bin also counts the diameter. bin_begin is 0, or the least distance if it is negative.
     * For integer kinds the width is the least integer with which 64 bins reach the diameter. */
    double bin_begin;
    double bin_width;
    uint64_t bins[STATISTICS_BINS];
};

struct statistics {
    uint32_t vertex_count;
    enum kind kind;    /* kind of the distances */
    uint32_t decimals; /* distances were multiplied by 10^decimals; 0 after statistics_divide */
    struct statistics_summary *summary;
    /* Three consecutive arrays, indexed by row: */
    double *eccentricity; /* largest distance from the vertex; 0 if it reaches no other */
    union statistics_sum *distance_sum;
    uint32_t *reachable; /* number of other vertices that the vertex reaches */
};

/* Returns the size of the storage in bytes, a multiple of 16. The storage must be aligned to 8. */
size_t statistics_size(uint32_t vertex_count);
/* Initializes storage for a matrix, with all statistics zero, and returns pointers into it. */
struct statistics statistics_init(void *storage, uint32_t vertex_count, enum kind kind);
/* Opens storage that was filled before. STATUS_CORRUPT if it belongs to a different matrix or to a
 * different version of this layout. */
MUST_CHECK enum status statistics_open(void *storage, uint32_t vertex_count, enum kind kind,
                                       struct statistics *ret_statistics);

/* Sets the start and the width of the bins. lowest: as in statistics_summarize. */
void statistics_lay_bins(struct statistics *statistics, double lowest, double diameter);
/* Computes the summary from the rows; the bins stay 0 and are counted later. lowest: the least
 * distance if it is negative, else 0. */
void statistics_summarize(struct statistics *statistics, double lowest);

/* Divides the statistics of scaled integers, of kind i4 or f8, by 10^decimals. Their kind becomes
 * f8. */
void statistics_divide(struct statistics *statistics);

/* Closeness centrality as corrected by Wasserman and Faust (1994, formula 5.22) for graphs that are
 * not connected, NetworkX's default: r / sum * r / (n - 1) for a vertex that reaches r others, with
 * distances from it (NetworkX uses distances to it). The uncorrected value is the result * (n - 1)
 * / r. Returns 0, as in NetworkX, if the vertex reaches no other or the sum is not positive. */
double statistics_closeness(const struct statistics *statistics, uint32_t row);

#ifdef __cplusplus
}
#endif
