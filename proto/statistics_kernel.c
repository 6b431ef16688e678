/* This file is compiled once for each instruction set. */
#include "proto/decimals.h"
#include "proto/isa.h"
#include "proto/statistics_rows.h"

#include <math.h>
#include <string.h>

/* Number of columns converted and reduced at a time. The count is constant, so that the compiler
 * can use vector instructions. */
#define GROUP (STATISTICS_QUAD * STATISTICS_GROUP_QUADS)

typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef vector unaligned_vector __attribute__((aligned(sizeof(double))));
typedef int64_t mask __attribute__((vector_size(VECTOR_BYTES)));
#define VECTOR_ELEMENTS (VECTOR_BYTES / sizeof(double))
#define VECTORS (GROUP / VECTOR_ELEMENTS)

/* Returns the number of groups of partial sums that a row uses: one for every GROUP vertices, but
 * at most STATISTICS_GROUPS. */
static uint32_t count_groups(uint32_t vertex_count)
{
    const uint32_t count = (uint32_t)(((uint64_t)vertex_count + GROUP - 1) / GROUP);
    return count < STATISTICS_GROUPS ? count : STATISTICS_GROUPS;
}

/* All kinds are reduced as doubles; unreachable is +infinity. A double holds a distance of any kind
 * exactly, and also the sum of a row of integers, which is below 2^24 * 2^29 = 2^53. */
union group {
    double at[GROUP];
    vector vectors[VECTORS];
};

static inline vector choose_elements(mask first, vector a, vector b)
{
    return (vector)(((mask)a & first) | ((mask)b & ~first));
}

/* Loads a group of elements of a row. The diagonal and elements beyond the end become unreachable.
 */
static void load_group(const struct statistics *statistics, enum kind kind, const void *distances,
                       uint32_t row, uint32_t first, union group *ret_group)
{
    const void *from = (const char *)distances + first * kind_size(kind);
    const uint32_t left = statistics->vertex_count - first;
    const uint32_t count = left < GROUP ? left : GROUP;
    if (statistics->decimals > 0) {
        decimals_multiply_all(from, statistics->decimals, count, ret_group->at);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            ret_group->at[i] = kind_element(kind, from, i);
        }
    }
    for (uint32_t i = count; i < GROUP; i++) {
        ret_group->at[i] = INFINITY;
    }
    if (row >= first && row - first < GROUP) {
        ret_group->at[row - first] = INFINITY;
    }
}

/* Adds the partial sums in the order that statistics_rows.h defines. */
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

static void reduce_row(struct statistics *statistics, uint32_t row, enum kind kind,
                       const void *distances, double *lowest)
{
    const vector infinity = (vector){0} + (double)INFINITY;
    const uint32_t n = statistics->vertex_count;
    const uint32_t groups = count_groups(n);
    union group sum[STATISTICS_GROUPS];
    union group values;
    mask reached = {0};
    vector most = -infinity;
    vector least = {0};
    memset(sum, 0, groups * sizeof(sum[0]));
    for (uint32_t first = 0; first < n; first += GROUP) {
        vector *to = sum[first / GROUP % STATISTICS_GROUPS].vectors;
        load_group(statistics, kind, distances, row, first, &values);
        for (uint32_t i = 0; i < VECTORS; i++) {
            const vector value = values.vectors[i];
            const mask is_finite = value < infinity;
            const vector below = choose_elements(is_finite, value, -infinity);
            to[i] += (vector)((mask)value & is_finite);
            reached -= is_finite;
            most = choose_elements(below > most, below, most);
            least = choose_elements(value < least, value, least);
        }
    }
    double largest = -INFINITY;
    double all = 0;
    int64_t count = 0;
    for (uint32_t i = 0; i < VECTOR_ELEMENTS; i++) {
        largest = most[i] > largest ? most[i] : largest;
        *lowest = least[i] < *lowest ? least[i] : *lowest;
        count += reached[i];
    }
    for (uint32_t group = 0; group < groups; group++) {
        all += fold_group(sum[group].at);
    }
    statistics_put_row(statistics, row, all, (uint32_t)count, largest);
}

/* Number of tables of counters. Consecutive columns use different tables, because they often fall
 * into the same bin, and in one table each addition would wait for the previous one. */
#define TABLES 8

static void add_tables(uint32_t tables[TABLES][STATISTICS_BINS + 1],
                       uint32_t bins[STATISTICS_BINS + 1])
{
    for (uint32_t table = 0; table < TABLES; table++) {
        for (uint32_t bin = 0; bin <= STATISTICS_BINS; bin++) {
            bins[bin] += tables[table][bin];
        }
    }
}

/* Counts a group into bins; the additional last bin counts unreachable columns. Instead of dividing
 * integers by the width, multiplies them by its rounded inverse. Half a unit is added first: every
 * quotient is then at least half a unit from a border, so the product is in the same bin. */
static inline void count_group(const struct statistics_summary *summary, bool is_float,
                               const union group *values,
                               uint32_t tables[TABLES][STATISTICS_BINS + 1])
{
    const double begin = summary->bin_begin - (is_float ? 0 : 0.5);
    const double width = summary->bin_width;
    const double inverse = 1 / width;
    int32_t places[GROUP];
    for (uint32_t i = 0; i < GROUP; i++) {
        const double offset = values->at[i] - begin;
        double place = is_float ? offset / width : offset * inverse;
        place = place > 0 ? place : 0;
        place = place < STATISTICS_BINS - 1 ? place : STATISTICS_BINS - 1;
        places[i] = (int32_t)(values->at[i] < INFINITY ? place : STATISTICS_BINS);
    }
    for (uint32_t i = 0; i < GROUP; i += TABLES) {
        for (uint32_t table = 0; table < TABLES; table++) {
            tables[table][places[i + table]]++;
        }
    }
}

static void count_row(const struct statistics *statistics, uint32_t row, enum kind kind,
                      const void *distances, uint32_t bins[STATISTICS_BINS + 1])
{
    const bool is_float = kind == KIND_F4 || kind == KIND_F8;
    const uint32_t n = statistics->vertex_count;
    uint32_t tables[TABLES][STATISTICS_BINS + 1] = {0};
    union group values;
    for (uint32_t first = 0; first < n; first += GROUP) {
        load_group(statistics, kind, distances, row, first, &values);
        count_group(statistics->summary, is_float, &values, tables);
    }
    add_tables(tables, bins);
}

#define LANE_VECTORS (STATISTICS_ROWS / VECTOR_ELEMENTS)
#define COLUMNS (GROUP / STATISTICS_ROWS)

/* Adds a group, which has the distances to COLUMNS columns, to the rows in the lanes. */
static inline void add_group(const union group *restrict values,
                             struct statistics_lanes *restrict lanes)
{
    const vector infinity = (vector){0} + (double)INFINITY;
    for (uint32_t v = 0; v < LANE_VECTORS; v++) {
        unaligned_vector *sum = (unaligned_vector *)lanes->sum + v;
        unaligned_vector *reached = (unaligned_vector *)lanes->reached + v;
        unaligned_vector *most = (unaligned_vector *)lanes->most + v;
        unaligned_vector *least = (unaligned_vector *)lanes->least + v;
        for (uint32_t i = v; i < VECTORS; i += LANE_VECTORS) {
            const vector value = values->vectors[i];
            const mask is_finite = value < infinity;
            const vector below = choose_elements(is_finite, value, -infinity);
            *sum += (vector)((mask)value & is_finite);
            *reached += (vector)((mask)((vector){0} + 1) & is_finite);
            *most = choose_elements(below > *most, below, *most);
            *least = choose_elements(value < *least, value, *least);
        }
    }
}

static void add_lanes(struct statistics_lanes *lanes, uint32_t column, uint32_t count,
                      const void *distances, const struct statistics_summary *summary,
                      uint32_t bins[STATISTICS_BINS + 1])
{
    const struct statistics shape = {.vertex_count = count * STATISTICS_ROWS};
    uint32_t tables[TABLES][STATISTICS_BINS + 1] = {0};
    union group values;
    for (uint32_t at = 0; at < count; at += COLUMNS) {
        const int32_t ahead = (int32_t)(column + at - lanes->first); /* of the first row */
        load_group(&shape, lanes->kind, distances, UINT32_MAX, at * STATISTICS_ROWS, &values);
        for (int32_t i = 0; i < COLUMNS; i++) { /* the distance of each vertex to itself */
            if (ahead + i >= 0 && ahead + i < STATISTICS_ROWS) {
                values.at[i * STATISTICS_ROWS + ahead + i] = INFINITY;
            }
        }
        add_group(&values, lanes);
        if (lanes->is_symmetric && ahead + COLUMNS <= 0) {
            continue; /* every column precedes every row */
        }
        for (int32_t i = 0; i < GROUP && lanes->is_symmetric && ahead < STATISTICS_ROWS; i++) {
            const bool is_after = ahead + i / STATISTICS_ROWS > i % STATISTICS_ROWS;
            values.at[i] = is_after ? values.at[i] : INFINITY;
        }
        count_group(summary, lanes->kind != KIND_I4, &values, tables);
    }
    add_tables(tables, bins);
}

/* Meson defines TABLE as the name of the table for this instruction set. */
const struct statistics_operations TABLE = {reduce_row, count_row, add_lanes};
