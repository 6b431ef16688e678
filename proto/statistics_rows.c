#include "proto/statistics_rows.h"

#include "proto/decimals.h"

#include <math.h>
#include <string.h>

/* Columns that are converted, then reduced, at a time: every loop over them has this fixed count
 * and one accumulator per column, which is what lets the compiler use vectors. */
#define GROUP (STATISTICS_QUAD * STATISTICS_GROUP_QUADS)

/* Groups of a row in which sums are made; small graphs use few of them. */
static uint32_t count_groups(uint32_t vertex_count)
{
    const uint32_t count = (uint32_t)(((uint64_t)vertex_count + GROUP - 1) / GROUP);
    return count < STATISTICS_GROUPS ? count : STATISTICS_GROUPS;
}

/* A double holds a distance of every kind, and every sum of a row of integers: n below 2^24 of them
 * below 2^29 each. So all kinds are reduced in doubles, unreachable being +infinity. */
struct lanes {
    double sum[STATISTICS_GROUPS][GROUP];
    double most[GROUP];
    double least[GROUP];
    double count[GROUP];
};

/* The group of columns from `first` on as doubles; the diagonal and what lies beyond the row are
 * made unreachable. */
static void load_group(const struct statistics *statistics, enum kind kind, const void *distances,
                       uint32_t row, uint32_t first, double values[GROUP])
{
    const uint32_t left = statistics->vertex_count - first;
    const uint32_t count = left < GROUP ? left : GROUP;
    if (statistics->decimals > 0) {
        decimals_multiply_all((const double *)distances + first, statistics->decimals, count,
                              values);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            values[i] = kind_element(kind, distances, first + i);
        }
    }
    for (uint32_t i = count; i < GROUP; i++) {
        values[i] = INFINITY;
    }
    if (row >= first && row - first < GROUP) {
        values[row - first] = INFINITY;
    }
}

static void reduce_group(const double *restrict values, double *restrict sum,
                         struct lanes *restrict lanes)
{
    for (uint32_t i = 0; i < GROUP; i++) {
        const double value = values[i];
        const bool finite = value < INFINITY;
        const double most = finite ? value : -INFINITY;
        sum[i] += finite ? value : 0.0;
        lanes->count[i] += finite ? 1.0 : 0.0;
        lanes->most[i] = most > lanes->most[i] ? most : lanes->most[i];
        lanes->least[i] = value < lanes->least[i] ? value : lanes->least[i];
    }
}

/* In the order that statistics.h lays down. */
static double fold_group(const double sum[GROUP])
{
    double quads[STATISTICS_GROUP_QUADS];
    for (uint32_t q = 0; q < STATISTICS_GROUP_QUADS; q++) {
        const double *quad = sum + (size_t)q * STATISTICS_QUAD;
        quads[q] = (quad[0] + quad[1]) + (quad[2] + quad[3]);
    }
    for (uint32_t half = STATISTICS_GROUP_QUADS / 2; half > 0; half /= 2) {
        for (uint32_t q = 0; q < half; q++) {
            quads[q] += quads[q + half];
        }
    }
    return quads[0];
}

static void finish_row(const struct lanes *lanes, struct statistics *statistics, uint32_t row,
                       double *lowest)
{
    double most = -INFINITY;
    double count = 0;
    double sum = 0;
    for (uint32_t i = 0; i < GROUP; i++) {
        most = lanes->most[i] > most ? lanes->most[i] : most;
        *lowest = lanes->least[i] < *lowest ? lanes->least[i] : *lowest;
        count += lanes->count[i];
    }
    for (uint32_t group = 0; group < count_groups(statistics->vertex_count); group++) {
        sum += fold_group(lanes->sum[group]);
    }
    /* A zero has no sign here, whichever of two was found first. */
    statistics->eccentricity[row] = count > 0 ? most + 0.0 : 0.0;
    statistics->reachable[row] = (uint32_t)count;
    if (kind_is_float(statistics->kind)) {
        statistics->distance_sum[row].real = sum;
    } else {
        statistics->distance_sum[row].integer = (int64_t)sum;
    }
}

void statistics_reduce_row(struct statistics *statistics, uint32_t row, enum kind kind,
                           const void *distances, double *lowest)
{
    const uint32_t n = statistics->vertex_count;
    struct lanes lanes;
    double values[GROUP];
    uint32_t group = 0;
    memset(lanes.sum, 0, count_groups(n) * sizeof(lanes.sum[0]));
    for (uint32_t i = 0; i < GROUP; i++) {
        lanes.count[i] = 0;
        lanes.least[i] = 0;
        lanes.most[i] = -INFINITY;
    }
    for (uint32_t first = 0; first < n; first += GROUP) {
        load_group(statistics, kind, distances, row, first, values);
        reduce_group(values, lanes.sum[group], &lanes);
        group = (group + 1) % STATISTICS_GROUPS;
    }
    finish_row(&lanes, statistics, row, lowest);
}

/* The quotients are of numbers that double holds exactly, so an integer never lands in the bin
 * beside its own. bins has one more, for what is unreachable. */
static void count_group(const double values[GROUP], double begin, double width,
                        uint32_t bins[STATISTICS_BINS + 1])
{
    int32_t places[GROUP];
    for (uint32_t i = 0; i < GROUP; i++) {
        double place = (values[i] - begin) / width;
        place = place < STATISTICS_BINS - 1 ? place : STATISTICS_BINS - 1;
        places[i] = (int32_t)(values[i] < INFINITY ? place : STATISTICS_BINS);
    }
    for (uint32_t i = 0; i < GROUP; i++) {
        bins[places[i]]++;
    }
}

void statistics_count_row(const struct statistics *statistics, uint32_t row, enum kind kind,
                          const void *distances, uint32_t bins[STATISTICS_BINS + 1])
{
    const struct statistics_summary *summary = statistics->summary;
    const uint32_t n = statistics->vertex_count;
    double values[GROUP];
    for (uint32_t first = 0; first < n; first += GROUP) {
        load_group(statistics, kind, distances, row, first, values);
        count_group(values, summary->bin_begin, summary->bin_width, bins);
    }
}
