#include "gpu/staging.h"
#include "tests/lib/test.h"

#include <math.h>

#define LARGEST ((size_t)5 << 20)
#define MARGIN 64
#define SHARE ((size_t)1 << 20)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COPIES 30
#define MISALIGNMENT_STEP 9
#else
#define COPIES 300
#define MISALIGNMENT_STEP 3
#endif

static unsigned char *fill(size_t size)
{
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    }
    return bytes;
}

/* Copies bytes, and checks that the bytes before and after the destination stay unchanged. */
static void check_copy(struct staging *staging, const unsigned char *from, size_t size,
                       size_t misaligned)
{
    unsigned char *const to = malloc(size + 2 * MARGIN);
    unsigned char *const begin = to + MARGIN / 2 + misaligned;
    assert_non_null(to);
    memset(to, 0xEE, size + 2 * MARGIN);
    const struct staging_copy copy = {.to = begin, .from = from, .size = size};
    staging_copy(staging, &copy);
    assert_memory_equal(begin, from, size);
    assert_true(begin[-1] == 0xEE && begin[size] == 0xEE);
    free(to);
}

TEST(exactly_the_requested_bytes_are_copied)
{
    const size_t sizes[] = {0, 1, 15, SHARE, SHARE + 1, 3 * SHARE - 1, 3 * SHARE + 17, LARGEST};
    unsigned char *const from = fill(LARGEST + MARGIN);
    for (uint32_t threads = 1; threads <= STAGING_THREADS_MAX + 1; threads += 3) {
        struct staging *staging = NULL;
        assert_int_equal(staging_create(threads, &staging), STATUS_OK);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
            for (size_t misaligned = 0; misaligned < 20; misaligned += MISALIGNMENT_STEP) {
                check_copy(staging, from + misaligned / 2, sizes[i], misaligned);
            }
        }
        staging_destroy(staging);
    }
    free(from);
}

TEST(scaled_integers_are_divided_during_a_copy)
{
    enum { COUNT = 399800 };
    static int32_t from[COUNT];
    static double to[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        from[i] = i % 7 == 3 ? UNREACHABLE_I4 : (int32_t)i * 1000 - 5;
    }
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        struct staging *staging = NULL;
        assert_int_equal(staging_create(threads, &staging), STATUS_OK);
        const struct staging_copy copy = {
            .to = to, .from = from, .size = sizeof(from), .kind = KIND_I4, .decimals = 2};
        memset(to, 0, sizeof(to));
        staging_copy(staging, &copy);
        for (uint32_t i = 0; i < COUNT; ++i) {
            assert_true(to[i] == (i % 7 == 3 ? (double)INFINITY : from[i] / 100.0));
        }
        staging_destroy(staging);
    }
}

/* When a copy is reported as finished, the test reads the last bytes of each thread's part. */
TEST(many_consecutive_copies_are_complete)
{
    struct staging *staging = NULL;
    unsigned char *const from = fill(LARGEST);
    unsigned char *const to = calloc(LARGEST, 1);
    assert_non_null(to);
    assert_int_equal(staging_create(STAGING_THREADS_MAX, &staging), STATUS_OK);
    const struct staging_copy copy = {.to = to, .from = from, .size = LARGEST};
    for (uint32_t round = 0; round < COPIES; ++round) {
        for (size_t end = SHARE; end <= LARGEST; end += SHARE) {
            from[end - 1] = (unsigned char)round;
        }
        staging_copy(staging, &copy);
        for (size_t end = LARGEST; end > 0; end -= SHARE) {
            assert_int_equal(to[end - 1], (unsigned char)round);
        }
    }
    assert_memory_equal(to, from, LARGEST);
    staging_destroy(staging);
    staging_destroy(NULL);
    free(to);
    free(from);
}
