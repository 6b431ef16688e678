#include "proto/statistics.h"
#include "tests/lib/test.h"

#include <math.h>

/* Returns statistics in an allocation of exactly the right size, so that a sanitizer detects
 * accesses beyond it. */
static struct statistics make(uint32_t vertex_count, enum kind kind, void **ret_storage)
{
    *ret_storage = malloc(statistics_size(vertex_count));
    assert_non_null(*ret_storage);
    memset(*ret_storage, 0xA5, statistics_size(vertex_count));
    return statistics_init(*ret_storage, vertex_count, kind);
}

static void set_row(struct statistics *statistics, uint32_t row, double eccentricity, double sum,
                    uint32_t reachable)
{
    statistics->eccentricity[row] = eccentricity;
    statistics->reachable[row] = reachable;
    if (kind_is_float(statistics->kind)) {
        statistics->distance_sum[row].real = sum;
    } else {
        statistics->distance_sum[row].integer = (int64_t)sum;
    }
}

TEST(the_arrays_lie_within_the_storage)
{
    for (uint32_t n = 0; n < 40; ++n) {
        void *storage;
        struct statistics statistics = make(n, KIND_F4, &storage);
        const char *end = (const char *)storage + statistics_size(n);
        assert_int_equal(statistics_size(n) % 16, 0);
        assert_true((const char *)(statistics.reachable + n) <= end);
        assert_true(end - (const char *)(statistics.reachable + n) < 16);
        assert_ptr_equal(statistics.distance_sum, statistics.eccentricity + n);
        assert_ptr_equal(statistics.reachable, statistics.distance_sum + n);
        for (uint32_t row = 0; row < n; ++row) {
            set_row(&statistics, row, row, row, row);
        }
        free(storage);
    }
    assert_true(statistics_size(UINT32_MAX) > (size_t)UINT32_MAX * STATISTICS_VERTEX_BYTES);
}

TEST(storage_with_a_different_size_or_kind_is_refused)
{
    void *storage;
    struct statistics found;
    struct statistics made = make(5, KIND_U2, &storage);
    set_row(&made, 4, 7, 9, 2);
    assert_int_equal(statistics_open(storage, 5, KIND_U2, &found), STATUS_OK);
    assert_true(found.eccentricity[4] == 7);
    assert_int_equal(found.distance_sum[4].integer, 9);
    assert_int_equal(found.reachable[4], 2);
    assert_int_equal(statistics_open(storage, 4, KIND_U2, &found), STATUS_CORRUPT);
    assert_int_equal(statistics_open(storage, 5, KIND_I4, &found), STATUS_CORRUPT);
    for (size_t byte = 0; byte < 32; ++byte) {
        ((unsigned char *)storage)[byte] ^= 1;
        assert_int_equal(statistics_open(storage, 5, KIND_U2, &found), STATUS_CORRUPT);
        ((unsigned char *)storage)[byte] ^= 1;
    }
    assert_int_equal(statistics_open(storage, 5, KIND_U2, &found), STATUS_OK);
    free(storage);
}

TEST(rows_without_reachable_vertices_are_ignored)
{
    void *storage;
    struct statistics statistics = make(4, KIND_I4, &storage);
    set_row(&statistics, 1, 9, 12, 2);
    set_row(&statistics, 3, 5, 5, 1);
    statistics_summarize(&statistics, 0);
    assert_int_equal(statistics.summary->reachable_pairs, 3);
    assert_true(statistics.summary->diameter == 9);
    assert_true(statistics.summary->radius == 5);
    assert_true(statistics.summary->mean_distance == 17.0 / 3);
    free(storage);
}

TEST(statistics_of_isolated_vertices_are_zero)
{
    for (uint32_t n = 0; n < 3; ++n) {
        void *storage;
        struct statistics statistics = make(n, KIND_F8, &storage);
        const struct statistics_summary zero = {0};
        statistics.summary->diameter = 1;
        statistics_summarize(&statistics, 0);
        assert_memory_equal(statistics.summary, &zero, sizeof(zero));
        free(storage);
    }
}

static void expect_bins(enum kind kind, double lowest, double diameter, double begin, double width)
{
    void *storage;
    struct statistics statistics = make(2, kind, &storage);
    set_row(&statistics, 0, diameter, diameter, 1);
    statistics_summarize(&statistics, lowest);
    assert_true(statistics.summary->bin_begin == begin);
    assert_true(statistics.summary->bin_width == width);
    free(storage);
}

TEST(integer_bins_have_the_smallest_integral_width)
{
    expect_bins(KIND_I4, 0, 0, 0, 1);
    expect_bins(KIND_I4, 0, 63, 0, 1);
    expect_bins(KIND_I4, 0, 64, 0, 2);
    expect_bins(KIND_U2, 0, 127, 0, 2);
    expect_bins(KIND_U2, 0, 128, 0, 3);
    expect_bins(KIND_I4, -1, 62, -1, 1);
    expect_bins(KIND_I4, -1, 63, -1, 2);
    expect_bins(KIND_I4, -9, -9, -9, 1);
    expect_bins(KIND_I4, -536870911, 536870911, -536870911, 16777216);
}

TEST(float_bins_end_at_the_diameter)
{
    expect_bins(KIND_F4, 0, 16, 0, 0.25);
    expect_bins(KIND_F8, -16, 16, -16, 0.5);
    expect_bins(KIND_F8, -3, -3, -3, 1);
    expect_bins(KIND_F4, 0, 0, 0, 1);
    expect_bins(KIND_F8, -1.5e308, 1.5e308, -1.5e308, 1.5e308 / 32);
}

/* The row sums of a large graph can exceed 64 bits in total. Here the sums of four rows do. */
TEST(the_sum_of_all_rows_may_exceed_64_bits)
{
    void *storage;
    struct statistics statistics = make(4, KIND_I4, &storage);
    for (uint32_t row = 0; row < 4; ++row) {
        set_row(&statistics, row, 1, 0, 1);
        statistics.distance_sum[row].integer = INT64_MAX;
    }
    statistics_summarize(&statistics, 0);
    assert_true(statistics.summary->mean_distance == (double)INT64_MAX);
    free(storage);
}

/* The expected values are those of networkx.closeness_centrality for a path 1 - 2 - 3 and an
 * isolated vertex. */
TEST(closeness_is_corrected_for_disconnected_graphs)
{
    void *storage;
    struct statistics statistics = make(4, KIND_F4, &storage);
    set_row(&statistics, 0, 2, 3, 2);
    set_row(&statistics, 1, 1, 2, 2);
    assert_true(fabs(statistics_closeness(&statistics, 0) - 4.0 / 9) < 1e-15);
    assert_true(fabs(statistics_closeness(&statistics, 1) - 2.0 / 3) < 1e-15);
    assert_true(statistics_closeness(&statistics, 2) == 0);
    set_row(&statistics, 2, 0, 0, 3);
    assert_true(statistics_closeness(&statistics, 2) == 0);
    set_row(&statistics, 2, 1, -4, 3);
    assert_true(statistics_closeness(&statistics, 2) == 0);
    free(storage);
}
