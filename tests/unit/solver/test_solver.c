#include "server/solver/solver.h"
#include "tests/lib/test.h"

static enum status open_choice(enum solver_choice choice, struct solver **ret_solver,
                               struct problem *reterr)
{
    const struct solver_config config = {.choice = choice, .cpu_threads = 1, .cpu_isa = "portable"};
    return solver_open(&config, NULL, ret_solver, reterr);
}

TEST(the_cpu_solver_is_always_available)
{
    struct solver *solver = NULL;
    struct problem problem;
    struct solver_device device;
    assert_int_equal(open_choice(SOLVER_CPU, &solver, &problem), STATUS_OK);
    solver->class_->describe(solver, &device);
    assert_string_equal(device.solver, "cpu");
    solver_close(solver);
    solver_close(NULL);
}

TEST(auto_selects_a_gpu_if_there_is_one)
{
    struct solver *solver = NULL;
    struct problem problem;
    struct solver_device device;
    char reason[SOLVER_REASON_SIZE] = "";
    const bool gpu = solver_gpu_count(reason) > 0;
    assert_int_equal(open_choice(SOLVER_AUTO, &solver, &problem), STATUS_OK);
    solver->class_->describe(solver, &device);
    assert_string_equal(device.solver, gpu ? "gpu" : "cpu");
    solver_close(solver);
}

TEST(a_missing_gpu_is_refused_with_the_reason)
{
    struct solver *solver = NULL;
    struct problem problem;
    char reason[SOLVER_REASON_SIZE] = "";
    if (solver_gpu_count(reason) > 0) {
        skip();
    }
    assert_true(strlen(reason) > 0);
    assert_int_equal(open_choice(SOLVER_GPU, &solver, &problem), STATUS_NO_DEVICE);
    assert_non_null(strstr(problem.detail, reason));
    assert_null(solver);
}

TEST(the_configuration_enables_or_disables_plans)
{
    const struct solver_config any = {.plans = SOLVER_PLANS_AUTO};
    const struct solver_config none = {.plans = SOLVER_PLANS_NONE};
    struct solver solver = {.class_ = NULL};
    solver_allow_plans(&solver, &none);
    assert_true(solver.dense_only);
    solver_allow_plans(&solver, &any);
    assert_false(solver.dense_only);
}
