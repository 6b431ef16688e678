#include "tests/unit/solve_fixture.h"

#define BATCH_VERTICES 8

/* Passes all on to the CPU solver, and counts what came as a batch. */
static uint32_t batched_count;
static bool batched_narrow;

static void solve_counted(struct solver *solver, struct solve_item *items, uint32_t count)
{
    (void)solver;
    batched_count += count;
    for (uint32_t index = 0; index < count; ++index) {
        batched_narrow |= items[index].options.narrow;
    }
    cpu->class_->solve_batch(cpu, items, count);
}

static enum status solve_passed_on(struct solver *solver, const struct graph *graph,
                                   const struct plan *plan, const struct solve_options *options,
                                   const struct observer *observer, struct matrix *matrix,
                                   struct solve_account *account)
{
    (void)solver;
    return cpu->class_->solve(cpu, graph, plan, options, observer, matrix, account);
}

static bool supports_all_but_f8(enum kind kind)
{
    return kind == KIND_I4 || kind == KIND_F4;
}

static struct narrow_solver make_counting(void)
{
    struct narrow_solver counting = {.class_ = stand_in_class()};
    counting.class_.supports = supports_all_but_f8;
    counting.class_.describe = describe_cpu;
    counting.class_.solve = solve_passed_on;
    counting.class_.solve_batch = solve_counted;
    counting.class_.batch_vertices = BATCH_VERTICES;
    counting.solver.narrow_vertices = 1;
    batched_count = 0;
    batched_narrow = false;
    return counting;
}

static void note_nothing(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    (void)context;
    (void)rounds_done;
    (void)rounds_total;
}

static bool say_cancelled(void *context)
{
    return *(const bool *)context;
}

static const struct edge around[] = {{0, 1, 1}, {1, 2, -5}, {2, 1, 3}, {2, 3, 1}};
static const struct edge loop_below_0[] = {{0, 1, 4}, {1, 1, -3}};
static const struct edge too_long_for_u2[] = {{0, 1, 40000}, {1, 2, 25535}};

enum { FINE, NARROWED, TOO_WIDE, CYCLE, LOOP, CANCELLED, LARGE, OTHER_KIND, TASK_COUNT };

struct mixture {
    struct solve_task tasks[TASK_COUNT];
    double storage[TASK_COUNT][VERTEX_LIMIT * VERTEX_LIMIT];
    struct statistics statistics[TASK_COUNT];
    void *statistics_storage[TASK_COUNT];
    bool cancelled;
    struct observer observer;
};

static void mix(struct mixture *mixture, int place, struct graph *graph, enum kind kind)
{
    mixture->tasks[place] = (struct solve_task){
        .graph = graph,
        .request = {.kind = kind, .verify = true},
        .matrix = {graph->vertex_count, kind, mixture->storage[place]},
        .outcome.account.statistics = &mixture->statistics[place],
    };
    mixture->statistics_storage[place] = malloc(statistics_size(graph->vertex_count));
    assert_non_null(mixture->statistics_storage[place]);
    mixture->statistics[place] =
        statistics_init(mixture->statistics_storage[place], graph->vertex_count, kind);
}

static void make_mixture(struct mixture *mixture)
{
    mix(mixture, FINE, build(3, short_path, 2, true), KIND_I4);
    mix(mixture, NARROWED, build(3, short_path, 2, true), KIND_U2);
    mix(mixture, TOO_WIDE, build(3, too_long_for_u2, 2, true), KIND_U2);
    mix(mixture, CYCLE, build(4, around, 4, true), KIND_I4);
    mix(mixture, LOOP, build(2, loop_below_0, 2, true), KIND_I4);
    mix(mixture, CANCELLED, build(3, short_path, 2, true), KIND_F4);
    mix(mixture, LARGE, build(BATCH_VERTICES + 1, short_path, 2, true), KIND_I4);
    mix(mixture, OTHER_KIND, build(3, short_path, 2, true), KIND_F8);
    mixture->cancelled = true;
    mixture->observer = (struct observer){&mixture->cancelled, note_nothing, say_cancelled};
    mixture->tasks[CANCELLED].observer = &mixture->observer;
}

static void finish_mixture(struct mixture *mixture)
{
    for (int place = 0; place < TASK_COUNT; ++place) {
        graph_destroy((struct graph *)mixture->tasks[place].graph);
        solve_outcome_finish(&mixture->tasks[place].outcome);
        free(mixture->statistics_storage[place]);
    }
}

static void each_of_many_has_its_own_end(void **state)
{
    (void)state;
    static const enum status expected[TASK_COUNT] = {
        [TOO_WIDE] = STATUS_WEIGHT_RANGE,
        [CYCLE] = STATUS_NEGATIVE_CYCLE,
        [LOOP] = STATUS_NEGATIVE_CYCLE,
        [CANCELLED] = STATUS_CANCELLED,
    };
    struct narrow_solver counting = make_counting();
    struct mixture mixture = {0};
    counting.solver.class_ = &counting.class_;
    make_mixture(&mixture);
    solve_graphs(&counting.solver, cpu, mixture.tasks, TASK_COUNT);
    for (int place = 0; place < TASK_COUNT; ++place) {
        assert_int_equal(mixture.tasks[place].status, expected[place]);
        assert_int_equal(mixture.tasks[place].problem.status, expected[place]);
        assert_int_equal(mixture.tasks[place].outcome.account.verification.done,
                         expected[place] == STATUS_OK);
        assert_string_equal(mixture.tasks[place].outcome.device.solver, "cpu");
        if (expected[place] == STATUS_OK) {
            assert_true(mixture.tasks[place].outcome.account.statistics_filled);
            assert_true(mixture.statistics[place].summary->diameter == 15);
        }
    }
    /* All but the large one, the kind that it lacks, and the loop, which no solver need see. */
    assert_int_equal(batched_count, TASK_COUNT - 3);
    assert_false(batched_narrow); /* a proof would take longer than it saves */
    assert_int_equal(((int32_t *)mixture.storage[FINE])[2], 15);
    assert_int_equal(((uint16_t *)mixture.storage[NARROWED])[2], 15);
    assert_int_equal(((int32_t *)mixture.storage[LARGE])[2], 15);
    assert_true(mixture.storage[OTHER_KIND][2] == 15);
    assert_int_equal(mixture.tasks[CYCLE].outcome.cycle_length, 2);
    assert_int_equal(mixture.tasks[LOOP].outcome.cycle_length, 1);
    finish_mixture(&mixture);
}

/* The cancel comes when all is computed. */
static bool *cancelled_late;

static void solve_then_cancel(struct solver *solver, struct solve_item *items, uint32_t count)
{
    solve_counted(solver, items, count);
    *cancelled_late = true;
}

static void one_cancelled_while_the_others_were_solved_is_cancelled(void **state)
{
    (void)state;
    struct narrow_solver counting = make_counting();
    struct mixture mixture = {0};
    counting.class_.solve_batch = solve_then_cancel;
    counting.solver.class_ = &counting.class_;
    make_mixture(&mixture);
    mixture.cancelled = false;
    mixture.tasks[CANCELLED].request.verify = false; /* the certificate hears of a cancel itself */
    cancelled_late = &mixture.cancelled;
    solve_graphs(&counting.solver, cpu, mixture.tasks, TASK_COUNT);
    assert_int_equal(mixture.tasks[FINE].status, STATUS_OK);
    assert_int_equal(mixture.tasks[CANCELLED].status, STATUS_CANCELLED);
    finish_mixture(&mixture);
}

/* A batch that leaves the statistics to its caller. */
static void solve_batch_without_statistics(struct solver *solver, struct solve_item *items,
                                           uint32_t count)
{
    struct statistics *wanted[TASK_COUNT];
    for (uint32_t index = 0; index < count; ++index) {
        wanted[index] = items[index].account->statistics;
        items[index].account->statistics = NULL;
    }
    solve_counted(solver, items, count);
    for (uint32_t index = 0; index < count; ++index) {
        items[index].account->statistics = wanted[index];
    }
}

static void statistics_that_a_batch_leaves_are_filled_after_it(void **state)
{
    (void)state;
    struct narrow_solver counting = make_counting();
    struct mixture mixture = {0};
    counting.class_.solve_batch = solve_batch_without_statistics;
    counting.solver.class_ = &counting.class_;
    make_mixture(&mixture);
    solve_graphs(&counting.solver, cpu, mixture.tasks, TASK_COUNT);
    assert_true(mixture.tasks[FINE].outcome.account.statistics_filled);
    assert_true(mixture.statistics[FINE].summary->diameter == 15);
    assert_true(mixture.tasks[NARROWED].outcome.account.statistics_filled);
    assert_true(mixture.statistics[NARROWED].summary->diameter == 15);
    assert_false(mixture.tasks[CANCELLED].outcome.account.statistics_filled);
    finish_mixture(&mixture);
}

static void solve_without_memory(struct solver *solver, struct solve_item *items, uint32_t count)
{
    (void)solver;
    for (uint32_t index = 0; index < count; ++index) {
        items[index].status = STATUS_NO_DEVICE_MEMORY;
    }
}

static void what_a_batch_has_no_memory_for_is_solved_alone(void **state)
{
    (void)state;
    struct narrow_solver counting = make_counting();
    struct mixture mixture = {0};
    counting.class_.solve_batch = solve_without_memory;
    counting.solver.class_ = &counting.class_;
    make_mixture(&mixture);
    solve_graphs(&counting.solver, cpu, mixture.tasks, TASK_COUNT);
    assert_int_equal(mixture.tasks[FINE].status, STATUS_OK);
    assert_int_equal(((int32_t *)mixture.storage[FINE])[2], 15);
    assert_int_equal(mixture.tasks[CYCLE].status, STATUS_NEGATIVE_CYCLE);
    assert_int_equal(mixture.tasks[CANCELLED].status, STATUS_CANCELLED);
    finish_mixture(&mixture);
}

static void none_at_once_is_nothing(void **state)
{
    (void)state;
    solve_graphs(cpu, NULL, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_many_has_its_own_end),
        cmocka_unit_test(one_cancelled_while_the_others_were_solved_is_cancelled),
        cmocka_unit_test(statistics_that_a_batch_leaves_are_filled_after_it),
        cmocka_unit_test(what_a_batch_has_no_memory_for_is_solved_alone),
        cmocka_unit_test(none_at_once_is_nothing),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
