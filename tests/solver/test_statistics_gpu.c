/* The GPU's statistics must equal the CPU's byte by byte: in every kind, aligned and unaligned, in
 * one launch and in chunks.
 *
 *   test_statistics_gpu            the cases; exit 77 without a device
 *   test_statistics_gpu --time N   seconds and bytes per second of both passes, every kind */
#include "server/solver/cpu/finish.h"
#include "tests/solver/shapes.h"
#include "tests/solver/statistics_probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77

static const enum kind kinds[] = {KIND_I4, KIND_U2, KIND_F4, KIND_F8};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t seed = 1;

static void put(void *elements, enum kind kind, size_t index, double distance)
{
    if (kind == KIND_I4) {
        ((int32_t *)elements)[index] = isinf(distance) ? UNREACHABLE_I4 : (int32_t)distance;
    } else if (kind == KIND_U2) {
        ((uint16_t *)elements)[index] = isinf(distance) ? UNREACHABLE_U2 : (uint16_t)distance;
    } else if (kind == KIND_F4) {
        ((float *)elements)[index] = (float)distance;
    } else {
        ((double *)elements)[index] = distance;
    }
}

/* Distribution of random elements. One element in `far` is unreachable (0 = none). The others are
 * random integers below `limit`; `below` is subtracted from them unless the kind is u2, and float
 * kinds divide the result by 10. */
struct shape_of_numbers {
    uint32_t far;
    uint32_t limit;
    double below;
};

static double draw(const struct shape_of_numbers *shape, enum kind kind)
{
    if (shape->far > 0 && shapes_random(&seed, shape->far) == 0) {
        return INFINITY;
    }
    const double number = (double)shapes_random(&seed, shape->limit);
    if (kind == KIND_U2) {
        return number > 65534 ? 65534 : number;
    }
    return (number - shape->below) * (kind_is_float(kind) ? 0.1 : 1);
}

static struct matrix make_matrix(uint32_t n, enum kind kind, const struct shape_of_numbers *shape)
{
    const struct matrix matrix = {n, kind, malloc((size_t)n * n * kind_size(kind))};
    CHECK(matrix.elements != NULL);
    for (size_t i = 0; i < (size_t)n * n; ++i) {
        put(matrix.elements, kind, i, draw(shape, kind));
    }
    return matrix;
}

static bool same(const struct matrix *matrix, uint32_t rows_at_once, uint32_t bins_at_once,
                 const void *expected)
{
    const size_t size = statistics_size(matrix->vertex_count);
    void *storage = malloc(size);
    double seconds[2];
    CHECK(storage != NULL);
    struct statistics statistics = statistics_init(storage, matrix->vertex_count, matrix->kind);
    const enum status status =
        statistics_probe_run(matrix, rows_at_once, bins_at_once, &statistics, seconds);
    const bool equal = status == STATUS_OK && memcmp(storage, expected, size) == 0;
    if (!equal) {
        fprintf(stderr, "n=%u kind %s, %u and %u rows at once: %s\n", matrix->vertex_count,
                kind_name(matrix->kind), rows_at_once, bins_at_once,
                status == STATUS_OK ? "other figures" : status_info(status)->code);
    }
    free(storage);
    return equal;
}

static bool run_case(struct cpu_pool *pool, uint32_t n, enum kind kind,
                     const struct shape_of_numbers *shape)
{
    struct matrix matrix = make_matrix(n, kind, shape);
    void *storage = malloc(statistics_size(n));
    CHECK(storage != NULL);
    struct statistics statistics = statistics_init(storage, n, kind);
    cpu_finish_statistics(pool, &matrix, NULL, &statistics);
    const bool right = same(&matrix, n, n, storage) &&
                       same(&matrix, 1 + n / 3, 1 + n / 5, storage) && same(&matrix, n, 7, storage);
    free(storage);
    free(matrix.elements);
    return right;
}

static bool run_cases(struct cpu_pool *pool)
{
    static const uint32_t sizes[] = {1,   2,   3,    4,    5,    31,   32,   33,   127,  128,
                                     129, 513, 1000, 1023, 1024, 1025, 1026, 2051, 4099, 5000};
    static const struct shape_of_numbers shapes_of_numbers[] = {
        {0, 100, 0}, {3, 60000, 0}, {5, 1000000, 400000}, {2, 1, 0}, {1, 1, 0}, {4, 7, 9}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        for (size_t k = 0; k < KINDS; ++k) {
            for (size_t s = 0; s < sizeof(shapes_of_numbers) / sizeof(shapes_of_numbers[0]); ++s) {
                if (!run_case(pool, sizes[i], kinds[k], &shapes_of_numbers[s])) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool time_kind(uint32_t n, enum kind kind)
{
    static const struct shape_of_numbers shape = {10, 60000, 0};
    struct matrix matrix = make_matrix(n, kind, &shape);
    void *storage = malloc(statistics_size(n));
    CHECK(storage != NULL);
    const double bytes = (double)n * n * (double)kind_size(kind);
    bool right = true;
    for (int run = 0; run < 2 && right; ++run) {
        double seconds[2] = {0};
        struct statistics statistics = statistics_init(storage, n, kind);
        right = statistics_probe_run(&matrix, n, n, &statistics, seconds) == STATUS_OK;
        if (run > 0) {
            printf("%s n=%u: rows %.6f s %.0f GB/s, histogram %.6f s %.0f GB/s\n", kind_name(kind),
                   n, seconds[0], bytes / seconds[0] * 1e-9, seconds[1], bytes / seconds[1] * 1e-9);
        }
    }
    free(storage);
    free(matrix.elements);
    return right;
}

static bool run(int argc, char **argv)
{
    struct cpu_pool *pool = NULL;
    if (argc == 3 && strcmp(argv[1], "--time") == 0) {
        const unsigned long n = strtoul(argv[2], NULL, 10);
        CHECK(n > 0 && n <= UINT32_MAX);
        bool right = true;
        for (size_t k = 0; k < KINDS && right; ++k) {
            right = time_kind((uint32_t)n, kinds[k]);
        }
        return right;
    }
    CHECK(cpu_pool_create(cpu_pool_cores(), &pool) == STATUS_OK);
    const bool right = run_cases(pool);
    cpu_pool_destroy(pool);
    return right;
}

int main(int argc, char **argv)
{
    if (!statistics_probe_usable()) {
        printf("skipped: no device\n");
        return EXIT_SKIPPED;
    }
    const bool right = run(argc, argv);
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
