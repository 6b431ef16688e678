#include "server/solver/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks on GPUs and ranks on CPUs exchange different data, so all ranks use the same back end. */
enum status solver_open(const struct solver_config *config, const struct ranks *ranks,
                        struct solver **ret_solver, struct problem *reterr)
{
    char reason[SOLVER_REASON_SIZE];
    const uint32_t devices = config->choice != SOLVER_CPU ? solver_gpu_count(reason) : 0;
    const bool has = devices > 0;
    const bool some = ranks != NULL ? ranks->highest(ranks->context, has) != 0 : has;
    const bool all = ranks != NULL ? ranks->highest(ranks->context, !has) == 0 : has;
    enum status status;
    if (config->choice == SOLVER_GPU && !all) {
        status = problem_set(reterr, STATUS_NO_DEVICE, "No GPU can be used: %s.",
                             has ? "another rank has none" : reason);
    } else if (all) {
        /* Without ranks there is one job at a time, so one group suffices: its first GPU solves
         * small graphs. */
        const bool is_group = ranks == NULL && config->group == SOLVER_GROUP_ALL;
        const uint32_t first = ranks != NULL ? ranks->rank_on_host % devices : 0;
        status = solver_gpu_open(first, is_group ? devices : 1, ret_solver, reterr);
    } else {
        status = solver_cpu_open(config, ret_solver, reterr);
    }
    const enum status agreed = ranks_agree(ranks, status);
    if (status == STATUS_OK && agreed != STATUS_OK) {
        solver_close(*ret_solver);
        *ret_solver = NULL;
        return problem_set(reterr, agreed, "Another rank cannot open its solver.");
    }
    STATUS_TRY(agreed);
    solver_allow_plans(*ret_solver, config);
    if (ranks != NULL) {
        (*ret_solver)->ranks = ranks;
        (*ret_solver)->class_->join(*ret_solver, ranks);
        if (some && !all && ranks->rank == 0) {
            fputs("not every rank has a GPU: all ranks compute on the CPU\n", stderr);
        }
    }
    return STATUS_OK;
}

void solver_allow_plans(struct solver *solver, const struct solver_config *config)
{
    solver->dense_only = config->plans == SOLVER_PLANS_NONE;
}

void solver_close(struct solver *solver)
{
    if (solver != NULL) {
        solver->class_->close(solver);
    }
}

enum status solver_model_create(const struct solver_figures *figures, struct solver **ret_model)
{
    const struct solver_class *class_ = figures->gpu ? &solver_gpu_class : &solver_cpu_class;
    struct solver *model = class_->size > 0 ? malloc(class_->size) : NULL;
    if (model == NULL) {
        return STATUS_NO_MEMORY;
    }
    memcpy(model, figures->bytes, class_->size);
    model->class_ = class_;
    model->ranks = NULL;
    for (int i = 0; i < RATE_COUNT; i++) {
        model->rates[i] = 1e9;
    }
    solver_set_figures(model, figures);
    *ret_model = model;
    return STATUS_OK;
}

void solver_get_figures(const struct solver *solver, struct solver_figures *ret_figures)
{
    CHECK(solver->class_->size <= SOLVER_FIGURES_SIZE);
    *ret_figures = (struct solver_figures){.gpu = solver->class_ == &solver_gpu_class};
    memcpy(ret_figures->bytes, solver, solver->class_->size);
}

/* Ignores rates of the other back end, because restarted ranks may have changed to it, and rates
 * that no device has: a faulty process may send any value, and a low rate would let it hang for
 * long. */
#define RATE_MIN 1e6
void solver_set_figures(struct solver *model, const struct solver_figures *figures)
{
    const bool is_alike = figures->gpu == (model->class_ == &solver_gpu_class);
    struct solver from;
    memcpy(&from, figures->bytes, sizeof(from));
    for (int i = 0; i < RATE_COUNT && is_alike; i++) {
        if (from.rates[i] >= RATE_MIN && isfinite(from.rates[i])) {
            model->rates[i] = from.rates[i];
        }
    }
}
