#include "server/command/bench_batch.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct bench_batch_shape shape = {
    .graph_count = 40, .vertex_count = 50, .kind = KIND_F4, .directed = true};

static struct solver *open_solver(uint32_t threads)
{
    const struct solver_config config = {
        .choice = SOLVER_CPU, .cpu_threads = threads, .cpu_isa = "portable"};
    struct solver *solver = NULL;
    assert_int_equal(solver_cpu_open(&config, &solver, NULL), STATUS_OK);
    return solver;
}

/* What the solver was given last; the matrices by their storage. */
static uint32_t item_count;
static uint64_t edge_count;
static const void *first;
static const void *last;

static bool supports_f4(enum kind kind)
{
    return kind == KIND_F4;
}

static void describe_two_threads(const struct solver *solver, struct solver_device *ret_device)
{
    (void)solver;
    *ret_device = (struct solver_device){.solver = "cpu", .units = 2};
}

static void describe_gpu(const struct solver *solver, struct solver_device *ret_device)
{
    (void)solver;
    *ret_device = (struct solver_device){.solver = "gpu", .units = 2};
}

static void solve_in_a_second(struct solver *solver, struct solve_item *items, uint32_t count)
{
    (void)solver;
    item_count = count;
    edge_count = 0;
    for (uint32_t index = 0; index < count; ++index) {
        items[index].account->timings.compute_s = 1;
        items[index].account->timings.d2h_s = 0.5;
        items[index].status = STATUS_OK;
        edge_count += items[index].graph->edge_count;
    }
    first = items[0].matrix->elements;
    last = items[count - 1].matrix->elements;
}

static struct timings time_with(void (*describe)(const struct solver *solver,
                                                 struct solver_device *ret_device))
{
    const struct solver_class class_ = {
        .name = "made up",
        .tile = 64,
        .supports = supports_f4,
        .describe = describe,
        .batch_vertices = 50,
        .solve_batch = solve_in_a_second,
    };
    struct solver solver = {.class_ = &class_};
    struct bench_batch *batch = NULL;
    struct timings timings = {0};
    assert_int_equal(bench_batch_create(&shape, &batch, NULL), STATUS_OK);
    assert_int_equal(bench_batch_solve(batch, &solver, NULL, &timings), STATUS_OK);
    assert_int_equal(item_count, 40);
    assert_int_equal(bench_batch_edges(batch), edge_count / 40);
    assert_ptr_not_equal(first, last);
    bench_batch_destroy(batch);
    return timings;
}

static void the_times_of_a_device_add_up(void **state)
{
    (void)state;
    const struct timings timings = time_with(describe_gpu);
    assert_true(timings.compute_s == 40);
    assert_true(timings.d2h_s == 20);
}

static void threads_share_the_time_of_a_processor(void **state)
{
    (void)state;
    assert_true(time_with(describe_two_threads).compute_s == 20);
}

static void a_batch_can_be_solved_again(void **state)
{
    (void)state;
    struct solver *solver = open_solver(2);
    struct bench_batch *batch = NULL;
    assert_int_equal(bench_batch_create(&shape, &batch, NULL), STATUS_OK);
    for (int i = 0; i < 2; ++i) {
        struct timings timings = {0};
        assert_int_equal(bench_batch_solve(batch, solver, NULL, &timings), STATUS_OK);
        assert_true(timings.compute_s > 0);
    }
    bench_batch_destroy(batch);
    bench_batch_destroy(NULL);
    solver_close(solver);
}

static void note_nothing(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    (void)context;
    (void)rounds_done;
    (void)rounds_total;
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static void a_cancelled_batch_says_so(void **state)
{
    (void)state;
    const struct observer observer = {NULL, note_nothing, always};
    struct solver *solver = open_solver(1);
    struct bench_batch *batch = NULL;
    struct timings timings = {0};
    assert_int_equal(bench_batch_create(&shape, &batch, NULL), STATUS_OK);
    assert_int_equal(bench_batch_solve(batch, solver, &observer, &timings), STATUS_CANCELLED);
    bench_batch_destroy(batch);
    solver_close(solver);
}

static void its_matrices_take_memory(void **state)
{
    (void)state;
    assert_int_equal(bench_batch_bytes(&shape), 40 * 50 * 50 * sizeof(float));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_times_of_a_device_add_up),
        cmocka_unit_test(threads_share_the_time_of_a_processor),
        cmocka_unit_test(a_batch_can_be_solved_again),
        cmocka_unit_test(a_cancelled_batch_says_so),
        cmocka_unit_test(its_matrices_take_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
