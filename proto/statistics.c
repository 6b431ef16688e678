#include "proto/statistics.h"

#include "proto/decimals.h"

#include <math.h>
#include <string.h>

#define VERSION 1

struct block_header {
    char magic[8];
    uint32_t version;
    uint32_t vertex_count;
    uint32_t kind;
    uint32_t bin_count;
    uint64_t reserved; /* always 0 */
};

struct block {
    struct block_header header;
    struct statistics_summary summary;
};

_Static_assert(sizeof(struct block_header) == 32 && sizeof(struct block) % 16 == 0,
               "no padding, and the arrays are aligned");
_Static_assert(sizeof(double) + sizeof(union statistics_sum) + sizeof(uint32_t) ==
                   STATISTICS_VERTEX_BYTES,
               "the size of the statistics of a vertex");

size_t statistics_size(uint32_t vertex_count)
{
    const size_t rows_bytes = (size_t)vertex_count * STATISTICS_VERTEX_BYTES;
    return sizeof(struct block) + (rows_bytes + 15) / 16 * 16;
}

static struct statistics view_block(void *storage, uint32_t vertex_count, enum kind kind)
{
    struct block *block = storage;
    double *eccentricity = (double *)(block + 1);
    union statistics_sum *sum = (union statistics_sum *)(eccentricity + vertex_count);
    return (struct statistics){.vertex_count = vertex_count,
                               .kind = kind,
                               .summary = &block->summary,
                               .eccentricity = eccentricity,
                               .distance_sum = sum,
                               .reachable = (uint32_t *)(sum + vertex_count)};
}

static struct block_header make_header(uint32_t vertex_count, enum kind kind)
{
    return (struct block_header){.magic = "apspstat",
                                 .version = VERSION,
                                 .vertex_count = vertex_count,
                                 .kind = (uint32_t)kind,
                                 .bin_count = STATISTICS_BINS};
}

struct statistics statistics_init(void *storage, uint32_t vertex_count, enum kind kind)
{
    memset(storage, 0, statistics_size(vertex_count));
    ((struct block *)storage)->header = make_header(vertex_count, kind);
    return view_block(storage, vertex_count, kind);
}

enum status statistics_open(void *storage, uint32_t vertex_count, enum kind kind,
                            struct statistics *ret_statistics)
{
    const struct block_header expected = make_header(vertex_count, kind);
    if (memcmp(storage, &expected, sizeof(expected)) != 0) {
        return STATUS_CORRUPT;
    }
    *ret_statistics = view_block(storage, vertex_count, kind);
    return STATUS_OK;
}

void statistics_lay_bins(struct statistics *statistics, double lowest, double diameter)
{
    struct statistics_summary *summary = statistics->summary;
    summary->bin_begin = lowest;
    if (!kind_is_float(statistics->kind)) {
        summary->bin_width = floor((diameter - lowest) / STATISTICS_BINS) + 1;
        return;
    }
    /* Each bound is divided separately, because the bounds' difference may overflow a double. */
    summary->bin_width = diameter / STATISTICS_BINS - lowest / STATISTICS_BINS;
    if (!(summary->bin_width > 0)) {
        summary->bin_width = 1;
    }
}

/* The distance sum of one row fits an int64, but the sum of all rows may not. */
__extension__ typedef __int128 wide;

static double sum_rows(const struct statistics *statistics)
{
    wide integer = 0;
    double real = 0;
    for (uint32_t row = 0; row < statistics->vertex_count; row++) {
        if (kind_is_float(statistics->kind)) {
            real += statistics->distance_sum[row].real;
        } else {
            integer += statistics->distance_sum[row].integer;
        }
    }
    return kind_is_float(statistics->kind) ? real : (double)integer;
}

void statistics_summarize(struct statistics *statistics, double lowest)
{
    struct statistics_summary summary = {.diameter = -INFINITY, .radius = INFINITY};
    for (uint32_t row = 0; row < statistics->vertex_count; row++) {
        if (statistics->reachable[row] > 0) {
            summary.reachable_pairs += statistics->reachable[row];
            summary.diameter = fmax(summary.diameter, statistics->eccentricity[row]);
            summary.radius = fmin(summary.radius, statistics->eccentricity[row]);
        }
    }
    if (summary.reachable_pairs == 0) {
        *statistics->summary = (struct statistics_summary){0};
        return;
    }
    summary.mean_distance = sum_rows(statistics) / (double)summary.reachable_pairs;
    *statistics->summary = summary;
    statistics_lay_bins(statistics, lowest, summary.diameter);
}

void statistics_divide(struct statistics *statistics)
{
    const uint32_t decimals = statistics->decimals;
    struct statistics_summary *summary = statistics->summary;
    double *const figures[] = {&summary->diameter, &summary->radius, &summary->mean_distance,
                               &summary->bin_begin, &summary->bin_width};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        *figures[i] = decimals_divide(*figures[i], decimals);
    }
    for (uint32_t row = 0; row < statistics->vertex_count; row++) {
        union statistics_sum *sum = &statistics->distance_sum[row];
        const double total = kind_is_float(statistics->kind) ? sum->real : (double)sum->integer;
        sum->real = decimals_divide(total, decimals);
        statistics->eccentricity[row] = decimals_divide(statistics->eccentricity[row], decimals);
    }
    statistics->kind = KIND_F8;
    statistics->decimals = 0;
}

double statistics_closeness(const struct statistics *statistics, uint32_t row)
{
    CHECK(row < statistics->vertex_count);
    const double reached = statistics->reachable[row];
    const union statistics_sum sum = statistics->distance_sum[row];
    const double length = kind_is_float(statistics->kind) ? sum.real : (double)sum.integer;
    return length > 0 ? reached / length * (reached / ((double)statistics->vertex_count - 1)) : 0;
}
