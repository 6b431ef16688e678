#include "server/solver/plan/planner.h"
#include "server/solver/solver.h"
#include "tests/lib/range_fixture.h"

#include <pthread.h>

/* Number of vertices that gives several tiles, so that a solve has several rounds with work for
 * several threads. */
#define RING_VERTICES 700

static enum status open_solver(const char *isa, uint32_t threads, struct solver **ret_solver)
{
    struct solver_config config = {.choice = SOLVER_CPU, .cpu_threads = threads};
    snprintf(config.cpu_isa, sizeof(config.cpu_isa), "%s", isa);
    struct problem problem;
    return solver_open(&config, NULL, ret_solver, &problem);
}

static struct graph *build_ring(uint32_t vertex_count)
{
    struct range_edge edges[RING_VERTICES];
    for (uint32_t v = 0; v < vertex_count; ++v) {
        edges[v] = (struct range_edge){v, (v + 1) % vertex_count, 1};
    }
    return range_build(vertex_count, edges, vertex_count, true);
}

struct watch {
    uint32_t calls;
    uint32_t rounds_done;
    uint32_t rounds_total;
    uint32_t questions;
    uint32_t cancel_at; /* number of the call that cancels the solve; 0 = never */
    pthread_t thread;
};

static void note_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct watch *watch = context;
    assert_true(pthread_equal(watch->thread, pthread_self()));
    assert_int_equal(rounds_done, ++watch->calls);
    watch->rounds_done = rounds_done;
    watch->rounds_total = rounds_total;
}

static bool call_cancelled(void *context)
{
    struct watch *watch = context;
    assert_true(pthread_equal(watch->thread, pthread_self()));
    ++watch->questions;
    return watch->cancel_at != 0 && watch->questions >= watch->cancel_at;
}

static enum status solve_ring(struct solver *solver, uint32_t vertex_count, struct watch *watch,
                              int32_t *entries, struct solve_account *account)
{
    const struct observer observer = {
        .context = watch, .progress = note_progress, .cancelled = call_cancelled};
    struct graph *graph = build_ring(vertex_count);
    struct plan *plan = NULL;
    const struct solve_options options = {0};
    struct matrix matrix = {vertex_count, KIND_I4, entries};
    watch->thread = pthread_self();
    assert_int_equal(planner_dense(vertex_count, solver->class_->tile, &plan), STATUS_OK);
    const enum status status =
        solver->class_->solve(solver, graph, plan, &options, &observer, &matrix, account);
    plan_destroy(plan);
    graph_destroy(graph);
    return status;
}

TEST(progress_is_reported_on_the_calling_thread_after_each_round)
{
    struct solver *solver = NULL;
    struct watch watch = {0};
    struct solve_account account = {0};
    int32_t *entries = calloc((size_t)RING_VERTICES * RING_VERTICES, sizeof(*entries));
    assert_int_equal(open_solver("auto", 2, &solver), STATUS_OK);
    assert_int_equal(solve_ring(solver, RING_VERTICES, &watch, entries, &account), STATUS_OK);
    assert_int_equal(watch.rounds_done, 6);
    assert_int_equal(watch.rounds_total, 6);
    assert_int_equal(entries[5 * RING_VERTICES + 4], RING_VERTICES - 1);
    assert_true(account.timings.fill_s > 0 && account.timings.compute_s > 0);
    assert_true(account.timings.h2d_s == 0 && account.timings.d2h_s == 0);
    free(entries);
    solver_close(solver);
}

TEST(a_cancellation_is_noticed_within_a_round)
{
    struct solver *solver = NULL;
    struct watch watch = {.cancel_at = 5};
    struct solve_account account = {0};
    int32_t *entries = calloc((size_t)RING_VERTICES * RING_VERTICES, sizeof(*entries));
    assert_int_equal(open_solver("auto", 1, &solver), STATUS_OK);
    assert_int_equal(solve_ring(solver, RING_VERTICES, &watch, entries, &account),
                     STATUS_CANCELLED);
    assert_int_equal(watch.calls, 0);
    assert_int_equal(watch.questions, 5);

    /* After a cancellation, the solver must still be usable. */
    watch = (struct watch){0};
    assert_int_equal(solve_ring(solver, RING_VERTICES, &watch, entries, &account), STATUS_OK);
    free(entries);
    solver_close(solver);
}

TEST(an_unavailable_instruction_set_is_refused)
{
    struct solver *solver = NULL;
    assert_int_equal(open_solver("mmx", 1, &solver), STATUS_CONFIG);
    assert_int_equal(open_solver("", 1, &solver), STATUS_CONFIG);
    assert_null(solver);
    assert_int_equal(open_solver("portable", 1, &solver), STATUS_OK);
    solver_close(solver);
}

TEST(a_solver_describes_its_device)
{
    struct solver *solver = NULL;
    struct solver_device device;
    assert_int_equal(open_solver("portable", 3, &solver), STATUS_OK);
    solver->class_->describe(solver, &device);
    assert_string_equal(device.solver, "cpu");
    assert_string_equal(device.detail, "portable");
    assert_int_equal(device.units, 3);
    assert_true(strlen(device.name) > 0 && strchr(device.name, '\n') == NULL);
    assert_true(device.memory_bytes >= device.memory_free_bytes && device.memory_bytes > 0);
    solver_close(solver);
}

TEST(the_estimate_follows_the_measured_rate)
{
    struct solver *solver = NULL;
    struct watch watch = {0};
    struct solve_account account = {0};
    struct solver_estimate estimate;
    const struct solve_options options = {0};
    int32_t *entries = calloc((size_t)RING_VERTICES * RING_VERTICES, sizeof(*entries));
    assert_int_equal(open_solver("portable", 1, &solver), STATUS_OK);
    assert_int_equal(solve_ring(solver, RING_VERTICES, &watch, entries, &account), STATUS_OK);
    solver->class_->estimate(solver, 2 * RING_VERTICES, 0, KIND_I4, &options, &estimate);
    assert_true(estimate.seconds > 7.9 * account.timings.compute_s);
    assert_true(estimate.seconds < 8.1 * account.timings.compute_s);
    assert_int_equal(estimate.device_bytes, 0);
    const size_t target_bytes =
        sizeof(struct plan_target) + sizeof(struct plan_product) + sizeof(uint32_t);
    assert_int_equal(estimate.host_bytes,
                     2 * (1 + 1 + 11) * 128 * 128 * 4 + (11 * 11 * target_bytes + 63) / 64 * 64);
    free(entries);
    solver_close(solver);
}

/* The daemon uses a model to estimate the times of the solver in a worker process. */
TEST(a_model_gives_the_same_estimates_as_the_solver)
{
    struct solver *solver = NULL;
    struct solver *model = NULL;
    struct watch watch = {0};
    struct solve_account account = {0};
    struct solver_figures figures;
    struct solver_estimate of_solver;
    struct solver_estimate of_model;
    const struct solve_options options = {0};
    int32_t *entries = calloc((size_t)RING_VERTICES * RING_VERTICES, sizeof(*entries));
    assert_int_equal(open_solver("portable", 2, &solver), STATUS_OK);
    solver_get_figures(solver, &figures);
    assert_int_equal(solver_model_create(&figures, &model), STATUS_OK);
    for (int learned = 0; learned < 2; learned++) {
        watch = (struct watch){0};
        solver->class_->estimate(solver, 4000, 9000, KIND_F4, &options, &of_solver);
        model->class_->estimate(model, 4000, 9000, KIND_F4, &options, &of_model);
        assert_memory_equal(&of_solver, &of_model, sizeof(of_model));
        solver->class_->estimate(solver, 4000, 9000, KIND_I4, &options, &of_solver);
        model->class_->estimate(model, 4000, 9000, KIND_I4, &options, &of_model);
        assert_memory_equal(&of_solver, &of_model, sizeof(of_model));
        assert_int_equal(solve_ring(solver, RING_VERTICES, &watch, entries, &account), STATUS_OK);
        solver_get_figures(solver, &figures);
        solver_set_figures(model, &figures);
    }
    /* A broken worker process may send invalid values, which the model ignores. */
    memset(figures.bytes, 0xff, sizeof(figures.bytes));
    solver_set_figures(model, &figures);
    struct solver slow = {0};
    for (int i = 0; i < RATE_COUNT; i++) {
        slow.rates[i] = 1e-300;
    }
    memcpy(figures.bytes, &slow, sizeof(slow));
    solver_set_figures(model, &figures);
    solver->class_->estimate(solver, 4000, 9000, KIND_I4, &options, &of_solver);
    model->class_->estimate(model, 4000, 9000, KIND_I4, &options, &of_model);
    assert_memory_equal(&of_solver, &of_model, sizeof(of_model));
    free(entries);
    free(model);
    solver_close(solver);
}

/* Ranks need memory for their tiles in addition to the matrix. Only the ranks on this host use the
 * memory of this host. */
TEST(the_estimate_for_ranks_divides_the_time_and_adds_memory_for_tiles)
{
    static const struct ranks ranks = {.count = 4, .on_host = 2};
    const struct solve_options options = {0};
    const uint32_t n = 10000;
    struct solver *solver = NULL;
    struct solver *model = NULL;
    struct solver_estimate alone;
    struct solver_estimate joined;
    struct solver_estimate modelled;
    struct solver_figures figures;
    struct solver_device device;
    assert_int_equal(open_solver("portable", 3, &solver), STATUS_OK);
    solver->class_->estimate(solver, n, n, KIND_I4, &options, &alone);
    solver->class_->join(solver, &ranks);
    solver->class_->estimate(solver, n, n, KIND_I4, &options, &joined);
    assert_true(joined.seconds > alone.seconds / 4.1 && joined.seconds < alone.seconds / 3.9);
    assert_int_equal(joined.host_bytes - alone.host_bytes, (uint64_t)n * n * 4 / 2);
    solver->class_->describe(solver, &device);
    assert_int_equal(device.units, 12);
    assert_string_equal(device.detail, "portable, 4 ranks");
    solver_get_figures(solver, &figures);
    assert_int_equal(solver_model_create(&figures, &model), STATUS_OK);
    model->class_->estimate(model, n, n, KIND_I4, &options, &modelled);
    assert_int_equal(modelled.host_bytes, joined.host_bytes);
    free(model);
    solver_close(solver);
}
