/* Of separator_metis.c, or of separator_absent.c where METIS is not built. */
#include "server/solver/plan/dissection.h"

/* cmocka.h wants these before it. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WIDTH 30
#define CELLS (WIDTH * WIDTH)
#define ROUNDS 20

/* A square grid. */
struct grid {
    int32_t offset[CELLS + 1];
    int32_t target[4 * CELLS];
};

static struct pattern make_grid(struct grid *grid)
{
    static const int steps[4][2] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};
    int32_t filled = 0;
    for (int cell = 0; cell < CELLS; ++cell) {
        grid->offset[cell] = filled;
        for (int step = 0; step < 4; ++step) {
            const int row = cell / WIDTH + steps[step][0];
            const int column = cell % WIDTH + steps[step][1];
            if (row >= 0 && row < WIDTH && column >= 0 && column < WIDTH) {
                grid->target[filled++] = row * WIDTH + column;
            }
        }
    }
    grid->offset[CELLS] = filled;
    return (struct pattern){CELLS, grid->offset, grid->target};
}

static void no_edge_leads_from_one_side_to_the_other(void **state)
{
    (void)state;
    static struct grid grid;
    const struct pattern pattern = make_grid(&grid);
    int32_t side[CELLS];
    uint32_t counts[3] = {0};
    assert_int_equal(separator_find(&pattern, side), STATUS_OK);
    for (int cell = 0; cell < CELLS; ++cell) {
        assert_in_range(side[cell], SIDE_FIRST, SIDE_SEPARATOR);
        ++counts[side[cell]];
        for (int32_t entry = grid.offset[cell]; entry < grid.offset[cell + 1]; ++entry) {
            assert_true(side[cell] + side[grid.target[entry]] != SIDE_FIRST + SIDE_SECOND ||
                        side[cell] == SIDE_SEPARATOR);
        }
    }
    if (separator_present()) {
        assert_in_range(counts[SIDE_SEPARATOR], 1, 2 * WIDTH);
        assert_in_range(counts[SIDE_FIRST], CELLS / 4, CELLS);
        assert_in_range(counts[SIDE_SECOND], CELLS / 4, CELLS);
    }
}

static void *find_again(void *context)
{
    static struct grid grids[2];
    static int next;
    struct grid *grid = &grids[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % 2];
    const struct pattern pattern = make_grid(grid);
    const int32_t *first = context;
    int32_t side[CELLS];
    for (int round = 0; round < ROUNDS; ++round) {
        if (separator_find(&pattern, side) != STATUS_OK || memcmp(side, first, sizeof(side)) != 0) {
            return "another separator";
        }
    }
    return NULL;
}

static void the_same_pattern_gives_the_same_separator_in_every_thread(void **state)
{
    (void)state;
    static struct grid grid;
    const struct pattern pattern = make_grid(&grid);
    static int32_t first[CELLS];
    pthread_t threads[2];
    assert_int_equal(separator_find(&pattern, first), STATUS_OK);
    for (int thread = 0; thread < 2; ++thread) {
        assert_int_equal(pthread_create(&threads[thread], NULL, find_again, first), 0);
    }
    for (int thread = 0; thread < 2; ++thread) {
        void *complaint = NULL;
        assert_int_equal(pthread_join(threads[thread], &complaint), 0);
        assert_null(complaint);
    }
}

static void on_signal(int signal)
{
    (void)signal;
}

static void signal_handlers_stay_as_they_are(void **state)
{
    (void)state;
    static struct grid grid;
    static const int signals[] = {SIGTERM, SIGABRT, SIGINT};
    const struct pattern pattern = make_grid(&grid);
    const struct sigaction mine = {.sa_handler = on_signal};
    struct sigaction former[3];
    int32_t side[CELLS];
    for (int index = 0; index < 3; ++index) {
        assert_int_equal(sigaction(signals[index], &mine, &former[index]), 0);
    }
    assert_int_equal(separator_find(&pattern, side), STATUS_OK);
    for (int index = 0; index < 3; ++index) {
        struct sigaction now;
        assert_int_equal(sigaction(signals[index], &former[index], &now), 0);
        assert_ptr_equal(now.sa_handler, on_signal);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_edge_leads_from_one_side_to_the_other),
        cmocka_unit_test(the_same_pattern_gives_the_same_separator_in_every_thread),
        cmocka_unit_test(signal_handlers_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
