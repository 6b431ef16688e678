#include "server/solver/solve.h"
#include "proto/graph_cycle.h"
#include "proto/number.h"
#include "proto/write/writer.h"

#include "server/solver/certificate.h"
#include "server/solver/cpu/finish.h"
#include "server/solver/distance_range.h"
#include "server/solver/host_memory.h"
#include "server/solver/stopwatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Integers below these limits are exact in the float kinds. */
#define EXACT_F4 16777216.0         /* 2^24 */
#define EXACT_F8 9007199254740992.0 /* 2^53 */

/* Up to this many vertices, starting threads takes longer than the threads save. */
#define ALONE_VERTICES 512

/* Fraction of a solve's time that 16-bit arithmetic saves. Proving that 16 bits suffice may take as
 * much time. */
#define NARROW_GAIN 0.5
/* Limit on the seconds of the 16-bit proof, because the proof does not check for a cancel. */
#define NARROW_PROOF_S_MAX 1.0

/* Seconds that a certificate takes per edge and per vertex of a row. */
#define CHECK_STEP_S 1e-9
/* Expected seconds from the end of a solve to the end of its job, in addition to the proof of
 * PUBLISH_ROWS rows, which the daemon makes by default. */
#define PUBLISH_S 5e-3
#define PUBLISH_ROWS 16

/* Limits on the vertices of a negative cycle in a problem, and on the bytes of each name. */
#define NAMED_VERTICES 8
#define NAMED_BYTES 16
_Static_assert((NAMED_VERTICES + 1) * (NAMED_BYTES + 4) + 4 <= PROBLEM_TEXT_SIZE, "all names fit");

/* The state that the steps of one solve share. */
struct solve {
    struct solver *solver;
    const struct graph *whole;
    struct solve_subject subject;
    const struct graph *graph; /* the graph that is solved: subject.graph */
    double preparing_s; /* time to make the subject and to prove that 16 bits suffice; counts as
                           planning */
    struct plan *plan;  /* owned */
    const struct solve_request *request;
    const struct observer *observer;
    struct matrix *matrix;     /* result matrix of the caller */
    struct statistics numbers; /* statistics of the scaled integers, divided at the end */
    bool narrow;               /* 16 bits are proven to suffice, see solve_options */
    struct solve_outcome *outcome;
    struct problem *reterr;
};

void solve_outcome_finish(struct solve_outcome *outcome)
{
    free(outcome->cycle);
    outcome->cycle = NULL;
    outcome->cycle_length = 0;
}

char *solve_outcome_print_cycle(const struct solve_outcome *outcome,
                                const struct vertex_names *names)
{
    struct text text = {0};
    if (outcome->cycle == NULL || names == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < outcome->cycle_length; i++) {
        text_append_char(&text, i == 0 ? '[' : ',');
        writer_append_vertex(&text, names, outcome->cycle[i]);
    }
    text_append_char(&text, ']');
    return text_take(&text, NULL);
}

enum status solve_subject_init(const struct graph *graph, enum kind kind, bool folds,
                               struct solve_subject *ret_subject)
{
    struct solve_subject *subject = ret_subject;
    *subject = (struct solve_subject){.graph = graph};
    subject->scaling = graph_scaling(&graph->summary, kind);
    STATUS_TRY(graph_scale(graph, subject->scaling.decimals, &subject->scaled));
    subject->graph = subject->scaled != NULL ? subject->scaled : graph;
    /* Folding halves the work if every edge has an equal reverse. */
    if (folds) {
        STATUS_TRY(graph_fold(subject->graph, &subject->folded));
    }
    subject->graph = subject->folded != NULL ? subject->folded : subject->graph;
    return STATUS_OK;
}

void solve_subject_finish(struct solve_subject *subject)
{
    graph_destroy_copy(subject->folded);
    graph_destroy_copy(subject->scaled);
}

/* Returns whether sums of the subject's weights may be rounded in the kind of the solve. */
static bool is_rounded(const struct solve_subject *subject)
{
    const struct graph_summary *summary = &subject->graph->summary;
    const double limit = subject->scaling.kind == KIND_F4 ? EXACT_F4 : EXACT_F8;
    return kind_is_float(subject->scaling.kind) &&
           (summary->decimals != 0 || summary->distance_bound >= limit);
}

static struct solve_options options_of(const struct solve_subject *subject, bool narrow)
{
    return (struct solve_options){
        .narrow = narrow, .symmetric = !subject->graph->directed, .scaling = subject->scaling};
}

/* Returns whether 16 bits are proven to suffice. 16 bits change the speed of the solve, but no
 * distance. The result is needed before the plan, because few other plans are faster than a dense
 * solve in 16 bits. The first rank decides for all ranks, because the proof has a time limit. */
static bool prove_narrow(const struct solver *solver, const struct graph *graph, enum kind kind)
{
    const struct ranks *ranks = solver->ranks;
    const struct solve_options options = {.symmetric = !graph->directed};
    struct solver_estimate estimate;
    if (kind_is_float(kind) || solver->narrow_vertices == 0 ||
        graph->vertex_count < solver->narrow_vertices) {
        return false;
    }
    solver->class_->estimate(solver, graph->vertex_count, graph->edge_count, KIND_I4, &options,
                             &estimate);
    const double gain_s = (estimate.seconds - estimate.finish_s) * NARROW_GAIN;
    const bool narrow =
        ranks_is_first(ranks) &&
        distance_range_within(graph, NARROW_DISTANCE_MAX, fmin(gain_s, NARROW_PROOF_S_MAX));
    return ranks != NULL ? ranks->highest(ranks->context, narrow) != 0 : narrow;
}

/* Makes the plan: dense if the configuration requires it or no other plan fits in memory. */
static enum status make_plan(const struct solver *solver, const struct solve_subject *subject,
                             bool narrow, struct order_record *record, struct plan **ret_plan)
{
    const struct solver_class *class_ = solver->class_;
    const struct graph *graph = subject->graph;
    const enum kind kind = subject->scaling.kind;
    const struct solve_options options = options_of(subject, narrow);
    enum status status = STATUS_NO_MEMORY;
    if (!solver->dense_only) {
        struct plan_cost cost;
        class_->plan_cost(solver, graph, kind, &options, &cost);
        status = planner_make(graph, &cost, record, ret_plan);
    }
    if (status == STATUS_OK && (*ret_plan)->summary.kind != PLAN_DENSE &&
        !class_->fits(solver, *ret_plan, graph->edge_count, kind)) {
        plan_destroy(*ret_plan);
        status = STATUS_NO_MEMORY;
    }
    return status == STATUS_NO_MEMORY ? planner_dense(graph->vertex_count, class_->tile, ret_plan)
                                      : status;
}

enum status solve_estimate_planned(const struct solver *solver, const struct graph *graph,
                                   enum kind kind, struct solver_estimate *ret_estimate,
                                   struct plan_summary *ret_plan)
{
    struct plan *plan = NULL;
    struct solve_subject subject;
    enum status status = solve_subject_init(graph, kind, true, &subject);
    const struct graph *solved = subject.graph;
    const enum kind computed = subject.scaling.kind;
    const bool narrow = prove_narrow(solver, solved, computed);
    STATUS_THEN(status, make_plan(solver, &subject, narrow, NULL, &plan));
    if (status == STATUS_OK) {
        const struct solve_options options = options_of(&subject, narrow);
        *ret_estimate = (struct solver_estimate){0};
        solver->class_->estimate(solver, solved->vertex_count, solved->edge_count, computed,
                                 &options, ret_estimate);
    }
    solve_subject_finish(&subject);
    STATUS_TRY(status);
    if (plan->summary.kind != PLAN_DENSE) {
        ret_estimate->seconds =
            plan->expected_s + ret_estimate->finish_s + plan->summary.planning_s;
    }
    *ret_plan = plan->summary;
    plan_destroy(plan);
    return STATUS_OK;
}

/* Appends the name of a vertex and the text `after`. */
static void append_name(const struct graph *graph, uint32_t vertex, const char *after,
                        char text[PROBLEM_TEXT_SIZE], size_t *length)
{
    *length += (size_t)snprintf(text + *length, PROBLEM_TEXT_SIZE - *length, "%s%s",
                                certificate_name(graph, vertex, NAMED_BYTES).text, after);
}

/* Sets the problem of a negative cycle: "a -> b -> c -> a", or its first vertices and "...". An
 * edge from a vertex to itself is a cycle of length 1. */
static enum status refuse_cycle(const struct graph *graph, const struct solve_outcome *outcome,
                                struct problem *reterr)
{
    const bool loop = outcome->cycle_length == 1;
    const bool whole = outcome->cycle_length <= NAMED_VERTICES;
    char text[PROBLEM_TEXT_SIZE];
    size_t length = 0;
    for (size_t index = 0; index < outcome->cycle_length && index < NAMED_VERTICES; index++) {
        append_name(graph, outcome->cycle[index], loop ? "" : " -> ", text, &length);
    }
    enum status status;
    if (loop) {
        status = problem_set(reterr, STATUS_NEGATIVE_CYCLE,
                             "Vertex %s has an edge to itself with a negative weight.", text);
    } else {
        if (whole) {
            append_name(graph, outcome->cycle[0], "", text, &length);
        }
        status = problem_set(reterr, STATUS_NEGATIVE_CYCLE,
                             "A cycle of %zu edges has length %s: %s%s.", outcome->cycle_length,
                             number_text(outcome->cycle_weight).text, text, whole ? "" : "...");
    }
    problem_hint(reterr, "%s",
                 graph->directed || loop
                     ? "Each pass around the cycle makes a path shorter, so there are no "
                       "shortest distances: correct the weights."
                     : "An undirected edge with a negative weight is a negative cycle by itself: "
                       "correct the weights, or set directed=true.");
    return status;
}

/* Refuses a graph that has a negative cycle. Uses the original weights, not the scaled ones. */
static enum status find_cycle(const struct graph *graph, const struct observer *observer,
                              struct solve_outcome *outcome, struct problem *reterr)
{
    struct negative_cycle cycle;
    const enum status status = graph_negative_cycle(graph, observer, &cycle);
    STATUS_TRY(problem_explain(reterr, status, "The search for a negative cycle failed: %s.",
                               status_info(status)->title));
    outcome->cycle = cycle.vertices;
    outcome->cycle_length = cycle.length;
    outcome->cycle_weight = cycle.weight;
    return cycle.length > 0 ? refuse_cycle(graph, outcome, reterr) : STATUS_OK;
}

enum status solve_refuse_unsolvable(const struct graph *graph, const struct solve_subject *subject,
                                    const struct observer *observer, struct solve_outcome *outcome,
                                    struct problem *reterr)
{
    const bool is_hidden = is_rounded(subject) && graph->summary.negative;
    return is_hidden || graph->summary.negative_loop != NO_VERTEX
               ? find_cycle(graph, observer, outcome, reterr)
               : STATUS_OK;
}

enum status solve_confirm_cycle(const struct graph *graph, const struct observer *observer,
                                struct solve_outcome *outcome, struct problem *reterr)
{
    STATUS_TRY(find_cycle(graph, observer, outcome, reterr));
    return problem_set(reterr, STATUS_NOT_VERIFIED,
                       "The solver reported a negative cycle, but the graph has none.");
}

enum status solve_judge(const struct graph *graph, const struct solve_subject *subject,
                        const struct observer *observer, enum status status,
                        struct solve_outcome *outcome, struct problem *reterr)
{
    const bool is_doubted = status == STATUS_NEGATIVE_CYCLE || status == STATUS_NOT_VERIFIED;
    if (is_doubted && is_rounded(subject) && graph->summary.negative) {
        const enum kind kind = subject->scaling.kind;
        problem_set(reterr, STATUS_WEIGHT_RANGE,
                    "Kind %s rounds the lengths of cycles. A cycle whose length is near 0 may be "
                    "negative, so the distances cannot be proven correct.",
                    kind_name(kind));
        problem_hint(reterr, "Scale the weights to integers%s.",
                     kind == KIND_F4 ? ", or use kind=f8" : "");
        return STATUS_WEIGHT_RANGE;
    }
    return status == STATUS_NEGATIVE_CYCLE ? solve_confirm_cycle(graph, observer, outcome, reterr)
                                           : status;
}

/* Sets the problem for a failure of the solver, and returns the status. */
static enum status tell_failure(const struct solve *solve, enum status status)
{
    if (status == STATUS_WEIGHT_RANGE) {
        return problem_refuse(solve->reterr, status, "Use kind=i4.",
                              "A distance is outside 0..65534, the range of u2.");
    }
    return problem_explain(solve->reterr, status, "The %s solver failed: %s.",
                           solve->solver->class_->name, status_info(status)->title);
}

/* Tells the observer the expected seconds of each phase. Called before and after planning. */
static void tell_expected(const struct solve *solve)
{
    const struct observer *observer = solve->observer;
    const struct graph *graph = solve->graph;
    const struct solve_options options = options_of(&solve->subject, solve->narrow);
    const double n = graph->vertex_count;
    const double row_steps = n + (double)graph->edge_count;
    const double rows = solve->request->verify ? fmin(n, SOLVE_VERIFY_ROWS) : 0;
    struct solver_estimate estimate = {0};
    if (observer == NULL || observer->expect == NULL) {
        return;
    }
    solve->solver->class_->estimate(solve->solver, graph->vertex_count, graph->edge_count,
                                    solve->subject.scaling.kind, &options, &estimate);
    const double seconds[PHASE_COUNT] = {
        [PHASE_FILLING] = estimate.fill_s,
        [PHASE_SOLVING] = solve->plan != NULL && solve->plan->expected_s > 0
                              ? solve->plan->expected_s
                              : estimate.seconds - estimate.finish_s,
        [PHASE_WRITING] = estimate.finish_s + estimate.write_s,
        [PHASE_CHECKING] = estimate.check_s + rows * row_steps * CHECK_STEP_S,
        [PHASE_PUBLISHING] = PUBLISH_S + fmin(n, PUBLISH_ROWS) * row_steps * CHECK_STEP_S,
    };
    observer->expect(observer->context, seconds);
}

static enum status run_solver(struct solve *solve)
{
    const struct solve_options options = options_of(&solve->subject, solve->narrow);
    solve->outcome->account.verification = (struct verification){0};
    observer_tell(solve->observer, PHASE_SOLVING, 0);
    return solve->solver->class_->solve(solve->solver, solve->graph, solve->plan, &options,
                                        solve->observer, solve->matrix, &solve->outcome->account);
}

static enum status compute_matrix(struct solve *solve)
{
    struct solve_outcome *outcome = solve->outcome;
    const struct ranks *ranks = solve->solver->ranks;
    const enum status status = run_solver(solve);
    if (status != STATUS_NEGATIVE_CYCLE) {
        return tell_failure(solve, status);
    }
    const double begin_s = stopwatch_now_s();
    enum status judged = STATUS_OK;
    if (ranks_is_first(ranks)) {
        judged = solve_judge(solve->whole, &solve->subject, solve->observer, status, outcome,
                             solve->reterr);
    }
    outcome->account.timings.compute_s += stopwatch_now_s() - begin_s;
    return ranks_agree(ranks, judged);
}

/* Proves the matrix if verify is set. Only the first rank calls this. */
static enum status verify_matrix(const struct solve *solve, struct cpu_pool *pool)
{
    if (!solve->request->verify) {
        return STATUS_OK;
    }
    const struct certificate_request request = {.graph = solve->graph,
                                                .matrix = solve->matrix,
                                                .decimals = solve->subject.scaling.decimals,
                                                .row_count = SOLVE_VERIFY_ROWS,
                                                .pool = pool,
                                                .observer = solve->observer};
    const enum status status =
        certificate_check(&request, &solve->outcome->account.verification, solve->reterr);
    return solve_judge(solve->whole, &solve->subject, solve->observer, status, solve->outcome,
                       solve->reterr);
}

/* Computes the statistics, unless the solver has filled them. */
static void fill_statistics(const struct solve *solve, struct cpu_pool *pool)
{
    struct solve_account *account = &solve->outcome->account;
    const double begin_s = stopwatch_now_s();
    if (account->statistics != NULL && !account->statistics_filled) {
        cpu_finish_statistics(pool, solve->matrix, solve->observer, account->statistics);
        account->statistics_filled = true;
    }
    account->timings.compute_s += stopwatch_now_s() - begin_s;
}

/* Verifies the matrix and computes its statistics. Called on the first rank only. */
static enum status finish_solve(struct solve *solve)
{
    const struct solve_account *account = &solve->outcome->account;
    struct cpu_pool *pool = NULL;
    if (solve->request->verify || (account->statistics != NULL && !account->statistics_filled)) {
        /* A small matrix needs only one thread. */
        const bool alone = solve->matrix->vertex_count <= ALONE_VERTICES;
        STATUS_TRY(problem_explain(solve->reterr,
                                   cpu_pool_create(alone ? 1 : cpu_pool_cores(), &pool),
                                   "The threads that compute the distances cannot be started."));
    }
    const enum status status = verify_matrix(solve, pool);
    if (status == STATUS_OK) {
        fill_statistics(solve, pool);
    }
    cpu_pool_destroy(pool);
    STATUS_TRY(status);
    if (account->statistics == &solve->numbers) {
        statistics_divide(&solve->numbers);
    }
    return STATUS_OK;
}

/* Refuses an unsolvable graph, and makes the plan. */
static enum status begin_solve(struct solve *solve)
{
    const struct graph *graph = solve->graph;
    struct solve_outcome *outcome = solve->outcome;
    const struct ranks *ranks = solve->solver->ranks;
    enum status solvable = STATUS_OK;
    enum status planned = STATUS_OK;
    if (ranks_is_first(ranks)) {
        solvable = solve_refuse_unsolvable(solve->whole, &solve->subject, solve->observer, outcome,
                                           solve->reterr);
    }
    STATUS_TRY(ranks_agree(ranks, solvable));
    if (ranks_is_first(ranks)) {
        planned = make_plan(solve->solver, &solve->subject, solve->narrow, solve->request->record,
                            &solve->plan);
    }
    if (ranks != NULL) {
        planned =
            ranks_share_plan(ranks, graph, solve->solver->class_->tile, planned, &solve->plan);
    }
    STATUS_TRY(problem_explain(solve->reterr, planned, "The solve cannot be planned: %s.",
                               status_info(planned)->title));
    outcome->plan = solve->plan->summary;
    outcome->plan.planning_s += solve->preparing_s;
    return STATUS_OK;
}

enum status solve_graph(struct solver *solver, const struct graph *graph,
                        const struct solve_request *request, struct matrix *matrix,
                        struct solve_outcome *outcome, struct problem *reterr)
{
    struct solve solve = {.solver = solver,
                          .whole = graph,
                          .request = request,
                          .observer = request->observer,
                          .matrix = matrix,
                          .outcome = outcome,
                          .reterr = reterr};
    struct statistics *statistics = outcome->account.statistics;
    CHECK(request->kind == matrix->kind && graph->vertex_count == matrix->vertex_count);
    solve.solver->class_->describe(solve.solver, &outcome->device);
    const struct scaling scaling = graph_scaling(&graph->summary, request->kind);
    if (statistics != NULL && scaling.decimals > 0) {
        solve.numbers = *statistics;
        solve.numbers.kind = scaling.kind;
        solve.numbers.decimals = scaling.decimals;
        outcome->account.statistics = &solve.numbers;
    }
    const size_t elements = (size_t)matrix->vertex_count * matrix->vertex_count;
    const struct ranks *ranks = solve.solver->ranks;
    struct host_memory_warmer *warmer =
        matrix->elements != NULL
            ? host_memory_warm(matrix->elements, elements * kind_size(matrix->kind),
                               solve.solver->warm_threads)
            : NULL;
    const double begin_s = stopwatch_now_s();
    enum status status =
        ranks_agree(ranks, solve_subject_init(graph, request->kind, true, &solve.subject));
    solve.graph = solve.subject.graph;
    if (status == STATUS_OK) {
        solve.narrow = prove_narrow(solve.solver, solve.graph, scaling.kind);
        solve.preparing_s = stopwatch_now_s() - begin_s;
        tell_expected(&solve);
        status = ranks_agree(ranks, begin_solve(&solve));
        tell_expected(&solve);
    } else {
        problem_set(reterr, status, "There is not enough memory for the weights.");
    }
    if (status == STATUS_OK) {
        const bool stop = observer_is_cancelled(solve.observer);
        status = ranks_agree(ranks, stop ? STATUS_CANCELLED : STATUS_OK);
        status = status == STATUS_CANCELLED ? tell_failure(&solve, status) : status;
    }
    STATUS_THEN(status, compute_matrix(&solve));
    host_memory_stop_warming(warmer);
    if (status == STATUS_OK && ranks_is_first(ranks)) {
        status = finish_solve(&solve);
    }
    observer_tell(solve.observer, PHASE_PUBLISHING, 0);
    outcome->account.statistics = statistics;
    plan_destroy(solve.plan);
    solve_subject_finish(&solve.subject);
    return status;
}
