#include "proto/statistics_rows.h"

#include "proto/isa.h"
#include "tests/lib/test.h"

#include <math.h>

#define N 300

/* Fills the row of vertex 7: every third vertex is unreachable, and one distance is negative. */
static void fill(int32_t row[N])
{
    for (int32_t i = 0; i < N; i++) {
        row[i] = i % 3 == 2 ? UNREACHABLE_I4 : i * 10;
    }
    row[9] = -4;
    row[7] = 99999; /* the distance to itself, which statistics ignore */
}

TEST(a_row_is_reduced_to_its_extremes_sum_and_count)
{
    int32_t row[N];
    void *storage = malloc(statistics_size(N));
    struct statistics statistics = statistics_init(storage, N, KIND_I4);
    double lowest = 0;
    int64_t sum = 0;
    uint32_t reached = 0;
    fill(row);
    for (int32_t i = 0; i < N; i++) {
        sum += i != 7 && row[i] != UNREACHABLE_I4 ? row[i] : 0;
        reached += i != 7 && row[i] != UNREACHABLE_I4;
    }
    statistics_kernel()->reduce(&statistics, 7, KIND_I4, row, &lowest);
    assert_true(lowest == -4);
    assert_true(statistics.eccentricity[7] == 2980);
    assert_int_equal(statistics.distance_sum[7].integer, sum);
    assert_int_equal(statistics.reachable[7], reached);
    free(storage);
}

TEST(every_distance_in_a_row_is_counted_in_a_bin)
{
    int32_t row[N];
    void *storage = malloc(statistics_size(N));
    struct statistics statistics = statistics_init(storage, N, KIND_I4);
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    uint32_t counted = 0;
    double lowest = 0;
    fill(row);
    statistics_kernel()->reduce(&statistics, 7, KIND_I4, row, &lowest);
    statistics_summarize(&statistics, lowest);
    row[7] = -99999;
    statistics_kernel()->count(&statistics, 7, KIND_I4, row, bins);
    for (size_t bin = 0; bin < STATISTICS_BINS; bin++) {
        counted += bins[bin];
    }
    assert_int_equal(counted, statistics.reachable[7]);
    /* The width of a bin is 47. The first bin contains -4, 0, 10, 30 and 40. */
    assert_true(statistics.summary->bin_width == 47);
    assert_int_equal(bins[0], 5);
    free(storage);
}

/* The distances are the largest possible, so their sum exceeds 32 bits. */
TEST(the_sum_of_a_long_row_may_exceed_32_bits)
{
    const uint32_t n = 100000;
    int32_t *row = malloc(n * sizeof(*row));
    void *storage = malloc(statistics_size(n));
    struct statistics statistics = statistics_init(storage, n, KIND_I4);
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    double lowest = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        row[i] = i % 2 == 0 ? (1 << 29) - 1 - (int32_t)i : -(int32_t)i;
        sum += i != 5 ? row[i] : 0;
    }
    statistics_kernel()->reduce(&statistics, 5, KIND_I4, row, &lowest);
    assert_int_equal(statistics.distance_sum[5].integer, sum);
    assert_int_equal(statistics.reachable[5], n - 1);
    assert_true(lowest == -99999 && statistics.eccentricity[5] == (1 << 29) - 1);
    statistics_summarize(&statistics, lowest);
    statistics_kernel()->count(&statistics, 5, KIND_I4, row, bins);
    assert_int_equal(bins[0], n / 2 - 1);
    assert_int_equal(bins[STATISTICS_BINS - 1], n / 2);
    free(storage);
    free(row);
}

/* Number of columns of a row with four full groups and a few more columns. */
#define LONG 531

static void fill_kind(enum kind kind, unsigned char row[LONG * sizeof(double)])
{
    for (uint32_t i = 0; i < LONG; i++) {
        const int32_t drawn = (int32_t)(i * 7919 % 1000) - 50;
        const bool reached = i % 5 != 3;
        const int32_t i4 = reached ? drawn : UNREACHABLE_I4;
        const uint16_t u2 = reached ? (uint16_t)(drawn + 50) : UNREACHABLE_U2;
        const double f8 = reached ? drawn / 7.0 : (double)INFINITY;
        const float f4 = (float)f8;
        const void *const element[KIND_COUNT] = {
            [KIND_I4] = &i4, [KIND_U2] = &u2, [KIND_F4] = &f4, [KIND_F8] = &f8};
        memcpy(row + i * kind_size(kind), element[kind], kind_size(kind));
    }
}

TEST(all_instruction_sets_give_the_same_result_for_every_kind)
{
    static const struct statistics_operations *const tables[ISA_COUNT] = {
        [ISA_PORTABLE] = &statistics_kernel_portable,
        [ISA_AVX2] = &statistics_kernel_avx2,
        [ISA_AVX512] = &statistics_kernel_avx512};
    _Alignas(double) unsigned char row[LONG * sizeof(double)];
    for (enum kind kind = KIND_I4; kind < KIND_COUNT; kind++) {
        void *storage[ISA_COUNT];
        uint32_t bins[ISA_COUNT][STATISTICS_BINS + 1] = {0};
        fill_kind(kind, row);
        for (enum isa isa = ISA_PORTABLE; isa <= isa_best(); isa++) {
            const struct statistics_operations *operations = tables[isa];
            storage[isa] = malloc(statistics_size(LONG));
            struct statistics statistics = statistics_init(storage[isa], LONG, kind);
            double lowest = 0;
            operations->reduce(&statistics, 130, kind, row, &lowest);
            statistics_summarize(&statistics, lowest);
            operations->count(&statistics, 130, kind, row, bins[isa]);
            assert_memory_equal(storage[isa], storage[0], statistics_size(LONG));
            assert_memory_equal(bins[isa], bins[0], sizeof(bins[0]));
        }
        for (enum isa isa = ISA_PORTABLE; isa <= isa_best(); isa++) {
            free(storage[isa]);
        }
    }
}

TEST(distances_outside_the_bins_are_counted_in_the_nearest_bin)
{
    int32_t row[N];
    void *storage = malloc(statistics_size(N));
    struct statistics statistics = statistics_init(storage, N, KIND_I4);
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    fill(row);
    statistics_lay_bins(&statistics, 0, 63);
    statistics_kernel()->count(&statistics, 7, KIND_I4, row, bins);
    assert_int_equal(bins[0], 2); /* -4 and 0 are in the first bin */
    assert_int_equal(bins[STATISTICS_BINS - 1], 193);
    free(storage);
}

/* The rows are at positions 40 to 52; three lanes have no row. */
static double lane_distance(uint32_t column, uint32_t lane)
{
    const uint32_t drawn = (column + 40 + lane) * 7919 % 1000;
    return lane > 12 || drawn % 5 == 3 ? (double)INFINITY : (double)drawn - 50;
}

static void check_lanes(enum kind kind, enum isa isa, bool is_symmetric)
{
    static const struct statistics_operations *const tables[ISA_COUNT] = {
        [ISA_PORTABLE] = &statistics_kernel_portable,
        [ISA_AVX2] = &statistics_kernel_avx2,
        [ISA_AVX512] = &statistics_kernel_avx512};
    enum { COLUMNS = 101 };
    _Alignas(double) unsigned char distances[COLUMNS * STATISTICS_ROWS * sizeof(double)];
    const struct statistics_summary summary = {.bin_begin = -50, .bin_width = 16};
    struct statistics_lanes lanes = {.kind = kind, .is_symmetric = is_symmetric, .first = 40};
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    uint32_t wanted_bins[STATISTICS_BINS + 1] = {0};
    for (uint32_t i = 0; i < COLUMNS * STATISTICS_ROWS; i++) {
        kind_put_element(kind, distances, i,
                         lane_distance(i / STATISTICS_ROWS, i % STATISTICS_ROWS));
    }
    for (uint32_t lane = 0; lane < STATISTICS_ROWS; lane++) {
        lanes.most[lane] = -(double)INFINITY;
    }
    for (uint32_t column = 0; column < COLUMNS; column += 37) {
        const uint32_t count = column + 37 < COLUMNS ? 37 : COLUMNS - column;
        tables[isa]->add(&lanes, column, count,
                         distances + column * STATISTICS_ROWS * kind_size(kind), &summary, bins);
    }
    for (uint32_t lane = 0; lane < STATISTICS_ROWS; lane++) {
        double sum = 0;
        double reached = 0;
        double most = -(double)INFINITY;
        double least = 0;
        for (uint32_t column = 0; column < COLUMNS; column++) {
            const double distance = lane_distance(column, lane);
            if (column != 40 + lane && distance < (double)INFINITY) {
                sum += distance;
                reached++;
                most = fmax(most, distance);
                least = fmin(least, distance);
                wanted_bins[(uint32_t)(distance + 50) / 16] += !is_symmetric || column > 40 + lane;
            }
        }
        assert_true(lanes.sum[lane] == sum && lanes.reached[lane] == reached);
        assert_true(lanes.most[lane] == most && lanes.least[lane] == least);
    }
    assert_memory_equal(bins, wanted_bins, STATISTICS_BINS * sizeof(bins[0]));
}

TEST(rows_in_lanes_have_the_statistics_of_their_distances)
{
    for (enum isa isa = ISA_PORTABLE; isa <= isa_best(); isa++) {
        for (int is_symmetric = 0; is_symmetric < 2; is_symmetric++) {
            check_lanes(KIND_I4, isa, is_symmetric);
            check_lanes(KIND_F4, isa, is_symmetric);
            check_lanes(KIND_F8, isa, is_symmetric);
        }
    }
}
