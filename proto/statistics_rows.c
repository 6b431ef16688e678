#include "proto/statistics.h"

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

/* ---- Integers of 32 bits, which add up in any order ---- */

struct integers {
    int64_t sum;
    uint32_t count;
    int32_t most;
    int32_t least;
};

/* As many sum up in two halves of 16 bits, each within 32, so that all lanes are of that width. */
#define SLICE 32768

static void reduce_slice(const int32_t *distances, uint32_t count, struct integers *integers)
{
    uint32_t low = 0;
    int32_t high = 0;
    int32_t reached = 0;
    int32_t most = integers->most;
    int32_t least = integers->least;
    for (uint32_t i = 0; i < count; i++) {
        const int32_t value = distances[i];
        const int32_t mask = -(int32_t)(value != UNREACHABLE_I4);
        const int32_t finite = value & mask;
        const int32_t largest = finite | (INT32_MIN & ~mask);
        low += (uint32_t)finite & 0xFFFF;
        high += finite >> 16;
        reached -= mask;
        most = largest > most ? largest : most;
        least = value < least ? value : least;
    }
    integers->sum += (int64_t)high * 65536 + low;
    integers->count += (uint32_t)reached;
    integers->most = most;
    integers->least = least;
}

static void reduce_integers(const int32_t *distances, uint32_t count, struct integers *integers)
{
    for (uint32_t first = 0; first < count; first += SLICE) {
        const uint32_t left = count - first;
        reduce_slice(distances + first, left < SLICE ? left : SLICE, integers);
    }
}

/* Without the diagonal. */
static void reduce_integer_row(struct statistics *statistics, uint32_t row,
                               const int32_t *distances, double *lowest)
{
    const uint32_t n = statistics->vertex_count;
    struct integers integers = {.most = INT32_MIN};
    reduce_integers(distances, row, &integers);
    reduce_integers(distances + row + 1, n - row - 1, &integers);
    *lowest = integers.least < *lowest ? integers.least : *lowest;
    statistics->eccentricity[row] = integers.count > 0 ? integers.most : 0;
    statistics->reachable[row] = integers.count;
    statistics->distance_sum[row].integer = integers.sum;
}

/* ---- All kinds, as doubles ---- */

/* The group of columns from `first` on as doubles; the diagonal and what lies beyond the row are
 * made unreachable. */
static void load_group(enum kind kind, const void *distances, uint32_t n, uint32_t row,
                       uint32_t first, double values[GROUP])
{
    const uint32_t left = n - first;
    const uint32_t count = left < GROUP ? left : GROUP;
    if (kind == KIND_I4) {
        const int32_t *from = (const int32_t *)distances + first;
        for (uint32_t i = 0; i < count; i++) {
            values[i] = from[i] == UNREACHABLE_I4 ? INFINITY : (double)from[i];
        }
    } else if (kind == KIND_U2) {
        const uint16_t *from = (const uint16_t *)distances + first;
        for (uint32_t i = 0; i < count; i++) {
            values[i] = from[i] == UNREACHABLE_U2 ? INFINITY : (double)from[i];
        }
    } else if (kind == KIND_F4) {
        const float *from = (const float *)distances + first;
        for (uint32_t i = 0; i < count; i++) {
            values[i] = (double)from[i];
        }
    } else {
        memcpy(values, (const double *)distances + first, count * sizeof(*values));
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
    if (kind == KIND_I4) {
        reduce_integer_row(statistics, row, distances, lowest);
        return;
    }
    memset(lanes.sum, 0, count_groups(n) * sizeof(lanes.sum[0]));
    for (uint32_t i = 0; i < GROUP; i++) {
        lanes.count[i] = 0;
        lanes.least[i] = 0;
        lanes.most[i] = -INFINITY;
    }
    for (uint32_t first = 0; first < n; first += GROUP) {
        load_group(kind, distances, n, row, first, values);
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

/* Equal distances follow each other often: each table waits for its own last addition alone. */
#define TABLES 4

/* Half a unit more keeps a product with the inverse, which is rounded, in the bin of the quotient:
 * that is at least half a unit away from the next one. */
static inline int32_t place_of(int32_t distance, double begin, double inverse)
{
    const double place = (distance - begin + 0.5) * inverse;
    const int32_t bin = (int32_t)(place < STATISTICS_BINS - 1 ? place : STATISTICS_BINS - 1);
    return distance != UNREACHABLE_I4 ? bin : STATISTICS_BINS;
}

static void count_integer_row(const struct statistics_summary *summary, uint32_t n, uint32_t row,
                              const int32_t *distances, uint32_t bins[STATISTICS_BINS + 1])
{
    const double begin = summary->bin_begin;
    const double inverse = 1 / summary->bin_width;
    uint32_t tables[TABLES][STATISTICS_BINS + 1] = {0};
    int32_t places[GROUP];
    for (uint32_t first = 0; first < n; first += GROUP) {
        const uint32_t count = n - first < GROUP ? n - first : GROUP;
        for (uint32_t i = 0; i < count; i++) {
            places[i] = place_of(distances[first + i], begin, inverse);
        }
        for (uint32_t i = count; i < GROUP; i++) {
            places[i] = STATISTICS_BINS;
        }
        if (row >= first && row - first < GROUP) {
            places[row - first] = STATISTICS_BINS; /* the diagonal may be any number */
        }
        for (uint32_t i = 0; i < GROUP; i += TABLES) {
            for (uint32_t table = 0; table < TABLES; table++) {
                tables[table][places[i + table]]++;
            }
        }
    }
    for (uint32_t bin = 0; bin <= STATISTICS_BINS; bin++) {
        for (uint32_t table = 0; table < TABLES; table++) {
            bins[bin] += tables[table][bin];
        }
    }
}

void statistics_count_row(const struct statistics *statistics, uint32_t row, enum kind kind,
                          const void *distances, uint32_t bins[STATISTICS_BINS + 1])
{
    const struct statistics_summary *summary = statistics->summary;
    const uint32_t n = statistics->vertex_count;
    double values[GROUP];
    if (kind == KIND_I4) {
        count_integer_row(summary, n, row, distances, bins);
        return;
    }
    for (uint32_t first = 0; first < n; first += GROUP) {
        load_group(kind, distances, n, row, first, values);
        count_group(values, summary->bin_begin, summary->bin_width, bins);
    }
}
