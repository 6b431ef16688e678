/* Tests separator_metis.c, or separator_absent.c if METIS is not built. */
#include "server/solver/order/separator.h"
#include "tests/lib/test.h"

#include <pthread.h>
#include <signal.h>

#define WIDTH 30
#define CELLS (WIDTH * WIDTH)
#define ROUNDS 20

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
    return (struct pattern){CELLS, grid->offset, grid->target, NULL};
}

/* Finds a separator of the grid. Returns what is wrong with it, or NULL if it is valid. */
static const char *look_for_one(const struct grid *grid, const struct pattern *pattern)
{
    int32_t side[CELLS];
    uint32_t counts[3] = {0};
    if (separator_find(pattern, NULL, side) != STATUS_OK) {
        return "no separator";
    }
    for (int cell = 0; cell < CELLS; ++cell) {
        if (side[cell] < SIDE_FIRST || side[cell] > SIDE_SEPARATOR) {
            return "a vertex without a side";
        }
        ++counts[side[cell]];
        for (int32_t entry = grid->offset[cell]; entry < grid->offset[cell + 1]; ++entry) {
            if (side[cell] + side[grid->target[entry]] == SIDE_FIRST + SIDE_SECOND &&
                side[cell] != SIDE_SEPARATOR) {
                return "an edge from one side to the other";
            }
        }
    }
    if (separator_present() &&
        (counts[SIDE_SEPARATOR] < 1 || counts[SIDE_SEPARATOR] > 2 * WIDTH ||
         counts[SIDE_FIRST] < CELLS / 4 || counts[SIDE_SECOND] < CELLS / 4)) {
        return "a bad separator";
    }
    return NULL;
}

TEST(the_same_pattern_gives_the_same_separator)
{
    static struct grid grid;
    const struct pattern pattern = make_grid(&grid);
    int32_t sides[2][CELLS];
    for (int which = 0; which < 2; ++which) {
        assert_int_equal(separator_find(&pattern, NULL, sides[which]), STATUS_OK);
    }
    assert_memory_equal(sides[0], sides[1], sizeof(sides[0]));
}

static void *look_again_and_again(void *context)
{
    const char *complaint = NULL;
    struct grid *grid = context;
    const struct pattern pattern = make_grid(grid);
    for (int round = 0; round < ROUNDS && complaint == NULL; ++round) {
        complaint = look_for_one(grid, &pattern);
    }
    return (void *)complaint;
}

TEST(each_of_several_threads_finds_a_separator)
{
    static struct grid grids[2];
    pthread_t threads[2];
    for (int thread = 0; thread < 2; ++thread) {
        assert_int_equal(
            pthread_create(&threads[thread], NULL, look_again_and_again, &grids[thread]), 0);
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

TEST(signal_handlers_are_not_changed)
{
    static struct grid grid;
    static const int signals[] = {SIGTERM, SIGABRT, SIGINT};
    const struct pattern pattern = make_grid(&grid);
    const struct sigaction mine = {.sa_handler = on_signal};
    struct sigaction former[3];
    int32_t side[CELLS];
    for (int index = 0; index < 3; ++index) {
        assert_int_equal(sigaction(signals[index], &mine, &former[index]), 0);
    }
    assert_int_equal(separator_find(&pattern, NULL, side), STATUS_OK);
    for (int index = 0; index < 3; ++index) {
        struct sigaction now;
        assert_int_equal(sigaction(signals[index], &former[index], &now), 0);
        assert_ptr_equal(now.sa_handler, on_signal);
    }
}
