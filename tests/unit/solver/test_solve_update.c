#include "tests/unit/solve_fixture.h"

#include "server/solver/cpu/pool.h"
#include "server/solver/steps.h"

#include <math.h>

#define N 31

/* ---- A base in memory ---- */

static void *copy_storage; /* of the statistics after */
static int copies;

struct base {
    struct matrix matrix;
    void *storage; /* of its statistics */
};

static const void *row_of(void *context, uint32_t row)
{
    const struct matrix *matrix = &((const struct base *)context)->matrix;
    return (const char *)matrix->elements + (size_t)row * N * kind_size(matrix->kind);
}

/* In the storage of another matrix. */
static bool copy(void *context, struct matrix *matrix, struct statistics *statistics)
{
    struct base *base = context;
    (void)statistics;
    memcpy(copy_storage, base->storage, statistics_size(N));
    memcpy(matrix->elements, base->matrix.elements, N * N * kind_size(matrix->kind));
    copies++;
    return true;
}

static const void *no_row(void *context, uint32_t row)
{
    (void)context;
    return row == 20 ? NULL : row_of(context, row);
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % below);
}

/* Of a solved matrix, in two passes; the storage is the caller's to free. */
static struct statistics count_statistics(struct attempt *solved, enum kind kind,
                                          void **ret_storage)
{
    const struct matrix matrix = {N, kind, &solved->entries};
    struct cpu_pool *pool = NULL;
    *ret_storage = malloc(statistics_size(N));
    struct statistics statistics = statistics_init(*ret_storage, N, kind);
    assert_int_equal(cpu_pool_create(1, &pool), STATUS_OK);
    cpu_finish_statistics(pool, &matrix, NULL, &statistics);
    cpu_pool_destroy(pool);
    return statistics;
}

/* Updates a solved matrix and returns what came of it. */
static enum status update(struct attempt *before, enum kind kind, const struct solve_arc *arcs,
                          size_t count, const void *(*row)(void *, uint32_t), struct attempt *after,
                          struct statistics *statistics)
{
    struct base base = {{N, kind, &before->entries}, NULL};
    struct matrix matrix = {N, kind, &after->entries};
    const struct statistics known = count_statistics(before, kind, &base.storage);
    const struct solve_base from = {
        row, copy_storage != NULL ? copy : NULL, &base, arcs, count, known.summary};
    after->outcome.account.statistics = statistics;
    const enum status status = solve_update(&from, 2, NULL, &matrix, &after->outcome);
    free(base.storage);
    return status;
}

/* Some edges new, some lower, some below 0 where no cycle is; against a solve of the new graph. */
static void an_update_is_the_solve_of_the_changed_graph(void **state)
{
    (void)state;
    static const enum kind kinds[] = {KIND_I4, KIND_F4, KIND_F8};
    uint64_t seed = 11;
    int guessed = 0;
    for (int round = 0; round < 90; round++) {
        const enum kind kind = kinds[round % 3];
        const bool forwards = round % 2 == 0; /* without a cycle */
        struct edge edges[60];
        struct solve_arc arcs[6];
        const size_t count = 5 + draw(&seed, 50);
        const size_t changed = 1 + draw(&seed, 6);
        for (size_t i = 0; i < 60; i++) {
            edges[i] = (struct edge){draw(&seed, N), draw(&seed, N), 20 + draw(&seed, 60)};
            if (forwards && edges[i].source > edges[i].target) {
                const uint32_t source = edges[i].source;
                edges[i].source = edges[i].target;
                edges[i].target = source;
            }
        }
        struct attempt before = run_edges(N, edges, count, true, kind);
        assert_int_equal(before.status, STATUS_OK);
        for (size_t i = 0; i < changed && i + count < 60; i++) {
            struct edge *edge = &edges[draw(&seed, (uint32_t)count)];
            edge = i % 2 == 0 ? edge : &edges[count + i];
            edge->weight = 1 + draw(&seed, 19);
            /* Far below where the bins of the matrix before begin. */
            edge->weight = edge->source < edge->target && forwards ? -1000 : edge->weight;
            arcs[i] = (struct solve_arc){edge->source, edge->target, edge->weight};
        }
        const size_t arc_count = changed < 60 - count ? changed : 60 - count;
        struct edge all[66];
        memcpy(all, edges, count * sizeof(*edges));
        for (size_t i = 0; i < arc_count; i++) {
            all[count + i] = (struct edge){arcs[i].source, arcs[i].target, arcs[i].weight};
        }
        struct attempt wanted = run_edges(N, all, count + arc_count, true, kind);
        struct attempt found = {0};
        void *storage = malloc(statistics_size(N));
        struct statistics statistics = statistics_init(storage, N, kind);
        copy_storage = round % 5 > 1 ? storage : NULL; /* where few rows change */
        assert_int_equal(update(&before, kind, arcs, arc_count, row_of, &found, &statistics),
                         STATUS_OK);
        assert_memory_equal(&found.entries, &wanted.entries, N * N * kind_size(kind));
        assert_true(found.outcome.account.statistics_filled);
        void *wanted_storage;
        const struct statistics counted = count_statistics(&wanted, kind, &wanted_storage);
        assert_memory_equal(storage, wanted_storage, statistics_size(N));
        void *before_storage;
        const struct statistics known = count_statistics(&before, kind, &before_storage);
        guessed += known.summary->bin_width == counted.summary->bin_width;
        free(wanted_storage);
        free(before_storage);
        assert_true(found.outcome.plan.work_fraction == (double)arc_count / N);
        free(storage);
        solve_outcome_finish(&before.outcome);
        solve_outcome_finish(&wanted.outcome);
    }
    assert_in_range(guessed, 5, 85);
    assert_in_range(copies, 5, 54);
    copy_storage = NULL;
}

static void what_cannot_be_updated_is_left_to_a_solve(void **state)
{
    (void)state;
    const struct edge edges[] = {{0, 1, 5}, {1, 2, 5}, {2, 0, 5}};
    const struct solve_arc negative[] = {{0, 1, 4}, {1, 2, -10}};
    struct attempt before = run_edges(N, edges, 3, true, KIND_I4);
    struct attempt found = {0};
    void *storage = malloc(statistics_size(N));
    struct statistics statistics = statistics_init(storage, N, KIND_I4);
    assert_int_equal(update(&before, KIND_I4, negative, 2, row_of, &found, &statistics),
                     STATUS_NOT_VERIFIED);
    assert_int_equal(update(&before, KIND_I4, negative, 1, no_row, &found, &statistics),
                     STATUS_NOT_VERIFIED);
    assert_int_equal(update(&before, KIND_I4, negative, 1, row_of, &found, &statistics), STATUS_OK);
    assert_int_equal(found.entries.i4[2], 9);
    /* A way that is longer than any distance is none, and does not wrap. */
    const struct solve_arc far[] = {{5, 6, 2e9}};
    assert_int_equal(update(&before, KIND_I4, far, 1, row_of, &found, &statistics), STATUS_OK);
    assert_memory_equal(&found.entries, &before.entries, N * N * sizeof(int32_t));
    free(storage);
    solve_outcome_finish(&before.outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_is_the_solve_of_the_changed_graph),
        cmocka_unit_test(what_cannot_be_updated_is_left_to_a_solve),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
