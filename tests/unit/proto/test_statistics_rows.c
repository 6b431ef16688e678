#include "proto/statistics_rows.h"
#include "tests/lib/test.h"

#include <math.h>

#define N 300

/* The row of vertex 7: every third vertex is unreachable, one distance is below 0. */
static void fill(int32_t row[N])
{
    for (int32_t i = 0; i < N; i++) {
        row[i] = i % 3 == 2 ? UNREACHABLE_I4 : i * 10;
    }
    row[9] = -4;
    row[7] = 99999; /* to itself, which counts nowhere */
}

TEST(a_row_is_reduced)
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
    statistics_reduce_row(&statistics, 7, KIND_I4, row, &lowest);
    assert_true(lowest == -4);
    assert_true(statistics.eccentricity[7] == 2980);
    assert_int_equal(statistics.distance_sum[7].integer, sum);
    assert_int_equal(statistics.reachable[7], reached);
    free(storage);
}

TEST(every_distance_has_a_bin)
{
    int32_t row[N];
    void *storage = malloc(statistics_size(N));
    struct statistics statistics = statistics_init(storage, N, KIND_I4);
    uint32_t bins[STATISTICS_BINS + 1] = {0};
    uint32_t counted = 0;
    double lowest = 0;
    fill(row);
    statistics_reduce_row(&statistics, 7, KIND_I4, row, &lowest);
    statistics_summarize(&statistics, lowest);
    row[7] = -99999;
    statistics_count_row(&statistics, 7, KIND_I4, row, bins);
    for (size_t bin = 0; bin < STATISTICS_BINS; bin++) {
        counted += bins[bin];
    }
    assert_int_equal(counted, statistics.reachable[7]);
    /* 47 wide: -4, 0, 10, 30 and 40. */
    assert_true(statistics.summary->bin_width == 47);
    assert_int_equal(bins[0], 5);
    free(storage);
}

/* Sums beyond 32 bits, of distances as long as there are. */
TEST(a_long_row_adds_up)
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
    statistics_reduce_row(&statistics, 5, KIND_I4, row, &lowest);
    assert_int_equal(statistics.distance_sum[5].integer, sum);
    assert_int_equal(statistics.reachable[5], n - 1);
    assert_true(lowest == -99999 && statistics.eccentricity[5] == (1 << 29) - 1);
    statistics_summarize(&statistics, lowest);
    statistics_count_row(&statistics, 5, KIND_I4, row, bins);
    assert_int_equal(bins[0], n / 2 - 1);
    assert_int_equal(bins[STATISTICS_BINS - 1], n / 2);
    free(storage);
    free(row);
}
