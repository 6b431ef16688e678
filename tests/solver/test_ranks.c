/* Ranks that solve one graph together must give the same bytes as one rank alone with the same
 * plan. The tests run one to four ranks as threads of this program that share memory. If there is a
 * GPU, the ranks of the last tests share it. test_ranks_gpu.c has more tests on GPUs. */
#include "server/solver/cpu/kernel.h"
#include "server/solver/plan/planner.h"
#include "server/solver/ranks.h"
#include "tests/lib/test.h"
#include "tests/solver/halved_grid.h"
#include "tests/solver/random_plan.h"
#include "tests/solver/shapes.h"
#include "tests/solver/thread_ranks.h"
#include "tests/solver/trial.h"

/* Races do not depend on the shape of a graph. */
#ifdef __SANITIZE_THREAD__
#define SHAPE_STEP 5
#else
#define SHAPE_STEP (trial_is_quick() ? 3 : 1)
#endif

#define RANKS_MAX THREAD_RANKS_MAX
/* Number of vertices from which several GPUs share a solve; one GPU solves smaller graphs. */
#define GPU_VERTICES 4300

struct member {
    const struct ranks *ranks;
    struct solver *solver;
    const struct solver_config *config;      /* options of a solver that the rank opens; NULL: it
                                              * uses an open solver */
    const struct solver_config *last_config; /* options for the last rank; NULL: the same as for the
                                              * other ranks */
    const struct graph *graph;
    const struct plan *plan; /* NULL: solve_graph chooses the plan */
    enum kind kind;
    struct solve_options options;
    bool cancels; /* the last rank cancels immediately */
    enum status status;
    struct matrix matrix;
    struct solve_outcome outcome;
    struct problem problem;
};

static struct solver *solvers[RANKS_MAX];

static void ignore_progress(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    (void)context;
    (void)rounds_done;
    (void)rounds_total;
}

static bool cancelled(void *context)
{
    const struct member *member = context;
    return member->cancels;
}

/* Runs one rank like apsp-mpi: only the first rank has the graph and the whole matrix. */
static void solve_as_program(struct member *member, const struct observer *observer)
{
    const bool first = member->ranks->rank == 0;
    const struct solve_request request = {
        .kind = member->kind, .verify = true, .observer = observer};
    struct graph *graph = first ? (struct graph *)member->graph : NULL;
    member->status = ranks_share_graph(member->ranks, STATUS_OK, &graph);
    CHECK(member->status == STATUS_OK);
    member->status = solve_graph(member->solver, graph, &request, &member->matrix, &member->outcome,
                                 &member->problem);
    if (!first) {
        graph_destroy(graph);
    }
}

static void run_member(const struct ranks *ranks, void *context)
{
    struct member *member = &((struct member *)context)[ranks->rank];
    const struct observer observer = {
        .context = member, .progress = ignore_progress, .cancelled = cancelled};
    struct solver *opened = NULL;
    member->ranks = ranks;
    if (member->config != NULL) {
        member->status = solver_open(member->config, ranks, &opened, &member->problem);
        member->solver = opened;
    } else {
        member->solver->ranks = ranks;
    }
    if (member->status == STATUS_OK && member->plan == NULL) {
        solve_as_program(member, &observer);
    } else if (member->status == STATUS_OK) {
        struct solve_account account = {0};
        member->status =
            member->solver->class_->solve(member->solver, member->graph, member->plan,
                                          &member->options, &observer, &member->matrix, &account);
    }
    if (opened == NULL && member->solver != NULL) {
        member->solver->ranks = NULL;
    }
    solver_close(opened);
}

/* Solves with several ranks. Returns their status and the first rank, which close_first frees. */
static enum status solve_together(uint32_t count, const struct member *like,
                                  struct member *ret_first)
{
    struct member members[RANKS_MAX];
    const size_t n = like->graph->vertex_count;
    void *elements = malloc(n * n * kind_size(like->kind) + 1);
    assert_non_null(elements);
    for (uint32_t rank = 0; rank < count; ++rank) {
        struct member *member = &members[rank];
        const bool last = rank + 1 == count;
        *member = *like;
        member->solver = like->config == NULL ? solvers[rank] : NULL;
        member->config = last && like->last_config != NULL ? like->last_config : like->config;
        member->matrix = (struct matrix){(uint32_t)n, like->kind, rank == 0 ? elements : NULL};
        member->cancels = like->cancels && last;
    }
    thread_ranks_run(count, run_member, members);
    for (uint32_t rank = 1; rank < count; ++rank) {
        assert_int_equal(members[rank].status, members[0].status);
        /* Only the first rank searches for the vertices of a negative cycle. */
        assert_null(members[rank].outcome.cycle);
        solve_outcome_finish(&members[rank].outcome);
    }
    *ret_first = members[0];
    return members[0].status;
}

static void close_first(struct member *first)
{
    free(first->matrix.elements);
    solve_outcome_finish(&first->outcome);
}

static void compare(struct member *like, const char *shape)
{
    const size_t n = like->graph->vertex_count;
    const size_t bytes = n * n * kind_size(like->kind);
    struct matrix alone = {(uint32_t)n, like->kind, malloc(bytes + 1)};
    struct solve_account account = {0};
    assert_non_null(alone.elements);
    const enum status status = solvers[0]->class_->solve(solvers[0], like->graph, like->plan,
                                                         &like->options, NULL, &alone, &account);
    for (uint32_t count = trial_is_quick() ? RANKS_MAX - 1 : 1; count <= RANKS_MAX; count++) {
        struct member first;
        assert_int_equal(solve_together(count, like, &first), status);
        if (status == STATUS_OK && memcmp(first.matrix.elements, alone.elements, bytes) != 0) {
            print_error("%s n=%zu kind %s, %u ranks\n", shape, n, kind_name(like->kind), count);
            fail();
        }
        close_first(&first);
    }
    free(alone.elements);
}

/* Compares ranks with one rank in each element type that can hold the distances. The 16-bit type is
 * tested only if all sums fit. */
static void compare_kinds(const struct graph *graph, const struct plan *plan, const char *shape)
{
    static const enum kind kinds[] = {KIND_I4, KIND_F4, KIND_F8};
    struct member like = {.graph = graph, .plan = plan, .options.symmetric = !graph->directed};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        like.kind = kinds[i];
        if (kinds[i] != KIND_I4 || graph->summary.decimals == 0) {
            compare(&like, shape);
        }
    }
    like.kind = KIND_I4;
    like.options.narrow = graph->summary.decimals == 0 && !graph->summary.negative &&
                          graph->summary.distance_bound <= NARROW_DISTANCE_MAX;
    if (like.options.narrow) {
        compare(&like, shape);
    }
}

TEST(ranks_solve_graphs_of_every_size_with_the_dense_plan)
{
    for (size_t shape = 0; shape < shape_count; shape += SHAPE_STEP) {
        for (uint32_t n = 1; n <= 300; n += n < 4 || (n > 126 && n < 130) ? 1
                                            : trial_is_quick()            ? 123
                                                                          : 62) {
            struct edge_list list = shapes_make(&shapes[shape], n, n);
            struct graph *graph = edge_list_build(&list);
            struct plan *plan = NULL;
            assert_int_equal(planner_dense(n, CPU_TILE, &plan), STATUS_OK);
            compare_kinds(graph, plan, shapes[shape].name);
            plan_destroy(plan);
            graph_destroy(graph);
            edge_list_finish(&list);
        }
    }
}

TEST(any_plan_gives_the_same_distances_on_ranks)
{
    static const uint32_t sizes[] = {1, 17, 130, 200};
    for (size_t shape = 0; shape < shape_count; shape += SHAPE_STEP) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) - (trial_is_quick() ? 2 : 0); ++i) {
            struct edge_list list = shapes_make(&shapes[shape], sizes[i], i);
            struct graph *graph = edge_list_build(&list);
            const uint32_t tile = sizes[i] < 20 ? 3 : 37;
            struct plan *plan = random_plan_make(graph, tile, !graph->directed, shape + i);
            compare_kinds(graph, plan, shapes[shape].name);
            plan_destroy(plan);
            graph_destroy(graph);
            edge_list_finish(&list);
        }
    }
}

TEST(all_ranks_detect_a_negative_cycle)
{
    for (size_t shape = 0; shape < shape_count; shape += SHAPE_STEP) {
        struct edge_list list = shapes_make(&shapes[shape], 150, 1);
        shapes_add_negative_cycle(&list, 1);
        struct graph *graph = edge_list_build(&list);
        struct plan *plan = random_plan_make(graph, 20, !graph->directed, shape);
        compare_kinds(graph, plan, shapes[shape].name);
        plan_destroy(plan);
        graph_destroy(graph);
        edge_list_finish(&list);
    }
}

TEST(all_ranks_use_the_plan_of_the_first_rank)
{
    for (uint32_t count = 1; count <= RANKS_MAX; ++count) {
        struct halved_grid grid =
            halved_grid_make(trial_is_quick() ? 24 : 64, count % 2 == 0, CPU_TILE);
        struct member like = {.graph = grid.graph, .kind = KIND_I4};
        struct trial alone = trial_run_graph(solvers[0], grid.graph, KIND_I4, false);
        struct member first;
        assert_int_equal(solve_together(count, &like, &first), STATUS_OK);
        /* With several ranks, the planner may choose the dense plan instead. */
        assert_true(count > 1 || first.outcome.plan.kind == alone.outcome.plan.kind);
        assert_true(first.outcome.account.verification.done);
        const size_t n = grid.graph->vertex_count;
        assert_memory_equal(first.matrix.elements, alone.matrix.elements, n * n * sizeof(int32_t));
        close_first(&first);
        trial_finish(&alone);
        halved_grid_finish(&grid);
    }
}

TEST(the_error_for_a_negative_cycle_describes_the_cycle)
{
    struct edge_list list = shapes_make(&shapes[1], 300, 1);
    shapes_add_negative_cycle(&list, 1);
    struct graph *graph = edge_list_build(&list);
    struct member like = {.graph = graph, .kind = KIND_F8};
    struct member first;
    assert_int_equal(solve_together(3, &like, &first), STATUS_NEGATIVE_CYCLE);
    assert_true(first.outcome.cycle_length > 0 && first.problem.detail[0] != '\0');
    close_first(&first);
    graph_destroy(graph);
    edge_list_finish(&list);
}

TEST(a_cancellation_on_one_rank_stops_the_solve_on_all_ranks)
{
    struct edge_list list = shapes_make(&shapes[0], 300, 1);
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    assert_int_equal(planner_dense(300, CPU_TILE, &plan), STATUS_OK);
    for (uint32_t way = 0; way < 2; ++way) {
        struct member like = {
            .graph = graph, .plan = way == 0 ? plan : NULL, .kind = KIND_I4, .cancels = true};
        struct member first;
        assert_int_equal(solve_together(3, &like, &first), STATUS_CANCELLED);
        close_first(&first);
    }
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
}

TEST(a_u2_matrix_from_ranks_equals_the_matrix_of_one_solver)
{
    struct edge_list list = shapes_make(&shapes[0], 200, 1);
    struct graph *graph = edge_list_build(&list);
    struct member like = {.graph = graph, .kind = KIND_U2};
    struct trial alone = trial_run_graph(solvers[0], graph, KIND_U2, false);
    struct member first;
    assert_int_equal(solve_together(2, &like, &first), STATUS_OK);
    assert_memory_equal(first.matrix.elements, alone.matrix.elements, 200 * 200 * sizeof(uint16_t));
    close_first(&first);
    trial_finish(&alone);
    graph_destroy(graph);
    edge_list_finish(&list);
}

static const struct solver_config dense = {.cpu_isa = "auto", .plans = SOLVER_PLANS_NONE};

static bool has_gpu(void)
{
    char reason[SOLVER_REASON_SIZE];
    return solver_gpu_count(reason) > 0;
}

/* The ranks use GPUs if there is one. */
TEST(ranks_and_a_single_solver_give_equal_matrices_of_all_kinds)
{
    static const enum kind kinds[] = {KIND_I4, KIND_U2, KIND_F4, KIND_F8};
    const uint32_t n = has_gpu() ? GPU_VERTICES : 300;
    for (size_t i = 0; i < 3; ++i) {
        struct edge_list list = shapes_make(&shapes[(size_t[]){1, 2, 4}[i]], n, 1);
        struct graph *graph = edge_list_build(&list);
        struct solver *one = NULL;
        assert_int_equal(solver_open(&dense, NULL, &one, NULL), STATUS_OK);
        for (size_t k = 0; k < 4; ++k) {
            /* Ranks on GPUs compute both halves of a symmetric matrix, so their rounding differs
             * from that of a single solver, which computes one half. */
            if (!graph->directed && kind_is_float(kinds[k])) {
                continue;
            }
            struct member like = {.graph = graph, .kind = kinds[k], .config = &dense};
            struct trial alone = trial_run_graph(one, graph, kinds[k], false);
            for (uint32_t count = 1; count < RANKS_MAX; ++count) {
                struct member first;
                assert_int_equal(solve_together(count, &like, &first), STATUS_OK);
                assert_true(first.outcome.account.verification.done);
                assert_string_equal(first.outcome.device.solver, has_gpu() ? "gpu" : "cpu");
                assert_memory_equal(first.matrix.elements, alone.matrix.elements,
                                    (size_t)n * n * kind_size(kinds[k]));
                close_first(&first);
            }
            trial_finish(&alone);
        }
        solver_close(one);
        graph_destroy(graph);
        edge_list_finish(&list);
    }
}

TEST(one_rank_without_a_gpu_makes_all_ranks_use_the_cpu)
{
    static const struct solver_config cpu = {.choice = SOLVER_CPU, .cpu_isa = "auto"};
    static const struct solver_config gpu = {.choice = SOLVER_GPU, .cpu_isa = "auto"};
    struct edge_list list = shapes_make(&shapes[1], 200, 1);
    struct graph *graph = edge_list_build(&list);
    struct member like = {.graph = graph, .kind = KIND_I4, .config = &dense, .last_config = &cpu};
    struct member first;
    assert_int_equal(solve_together(3, &like, &first), STATUS_OK);
    assert_string_equal(first.outcome.device.solver, "cpu");
    close_first(&first);
    like.config = &gpu;
    assert_int_equal(solve_together(2, &like, &first), STATUS_NO_DEVICE);
    assert_non_null(strstr(first.problem.detail, "No GPU can be used"));
    close_first(&first);
    graph_destroy(graph);
    edge_list_finish(&list);
}

TEST(a_negative_cycle_or_a_cancellation_stops_the_solve_on_all_ranks)
{
    struct edge_list list = shapes_make(&shapes[1], has_gpu() ? GPU_VERTICES : 300, 1);
    struct graph *graph = edge_list_build(&list);
    struct member like = {.graph = graph, .kind = KIND_I4, .config = &dense, .cancels = true};
    struct member first;
    struct plan *plan = NULL;
    /* The plan also suits the GPU solver, whose tiles have the same size. */
    assert_int_equal(planner_dense(graph->vertex_count, CPU_TILE, &plan), STATUS_OK);
    like.plan = plan;
    assert_int_equal(solve_together(3, &like, &first), STATUS_CANCELLED);
    close_first(&first);
    graph_destroy(graph);
    shapes_add_negative_cycle(&list, 1);
    graph = edge_list_build(&list);
    like = (struct member){.graph = graph, .kind = KIND_F4, .config = &dense};
    assert_int_equal(solve_together(3, &like, &first), STATUS_NEGATIVE_CYCLE);
    assert_true(first.outcome.cycle_length > 0 && first.problem.detail[0] != '\0');
    close_first(&first);
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
}

static int open_solvers(void **state)
{
    for (uint32_t rank = 0; rank < RANKS_MAX; ++rank) {
        solvers[rank] = trial_open_cpu("auto", 1 + rank % 2);
    }
    return 0;
}

static int close_solvers(void **state)
{
    for (uint32_t rank = 0; rank < RANKS_MAX; ++rank) {
        solver_close(solvers[rank]);
    }
    return 0;
}

TEST_GROUP(open_solvers, close_solvers)
