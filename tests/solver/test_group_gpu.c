/* A group of GPUs must give the same matrix and statistics as one GPU, to the last bit, with the
 * dense plan and with other plans, which the group's first device executes alone. If the machine
 * has one device, all members share it, each with separate memory, rows and streams; if it has
 * several, groups of different devices are tested too, also with little memory. Exit 77 without a
 * device.
 *
 *   test_group_gpu            sizes up to 3,000 around multiples of tiles and blocks, in every kind
 *   test_group_gpu --few      one size and a few kinds, for a run under compute-sanitizer */
#include "server/solver/plan/planner.h"
#include "tests/solver/gpu_trial.h"
#include "tests/solver/halved_grid.h"
#include "tests/solver/oracle.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define LARGEST_ORACLE 400
#define LARGEST 3000
#define MEMBERS_MOST 4
#define MEMBERS_MANY 8
#define SIZE_OF_FEW 390
#define CANCEL_SIDE 60
#define MEMORY_SIDE 110

/* The declarations from cuda_runtime_api.h that this test uses, so that it compiles without the
 * CUDA headers. */
int cudaSetDevice(int device);
int cudaMemGetInfo(size_t *ret_free, size_t *ret_total);
int cudaMalloc(void **ret_memory, size_t size);
int cudaFree(void *memory);

static const struct gpu_variant variants[] = {
    {"single i4", {0, GPU_NEVER, GPU_NEVER, 0}, KIND_I4, false, false},
    {"single i4 symmetric", {0, GPU_NEVER, GPU_NEVER, 0}, KIND_I4, false, true},
    {"single f8 symmetric", {0, GPU_NEVER, GPU_NEVER, 0}, KIND_F8, false, true},
    {"single u2 in 16 bits", {0, 0, GPU_NEVER, 0}, KIND_U2, true, false},
    {"single u2 in 16 bits symmetric", {0, 0, GPU_NEVER, 0}, KIND_U2, true, true},
    {"pair i4", {0, GPU_NEVER, 0, 0}, KIND_I4, false, false},
    {"pair u2", {0, GPU_NEVER, 0, 0}, KIND_U2, false, false},
    {"pair f4", {0, GPU_NEVER, 0, 0}, KIND_F4, false, false},
    {"pair f8", {0, GPU_NEVER, 0, 0}, KIND_F8, false, false},
    {"pair i4 in 16 bits", {0, 0, 0, 0}, KIND_I4, true, false},
    {"pair i4 symmetric", {0, GPU_NEVER, 0, 0}, KIND_I4, false, true},
    {"pair f4 symmetric", {0, GPU_NEVER, 0, 0}, KIND_F4, false, true},
    {"pair f8 symmetric", {0, GPU_NEVER, 0, 0}, KIND_F8, false, true},
    {"pair i4 in 16 bits symmetric", {0, 0, 0, 0}, KIND_I4, true, true},
    {"pair u2 in 16 bits symmetric", {0, 0, 0, 0}, KIND_U2, true, true},
};
#define VARIANT_COUNT (sizeof(variants) / sizeof(variants[0]))
/* Variants to test under compute-sanitizer, which is slow. They cover one and two pivot tiles per
 * round, both panel layouts, and words with one and with two elements. */
static const bool is_of_few[VARIANT_COUNT] = {
    [0] = true, [1] = true, [5] = true, [13] = true, [14] = true};
/* Variants to test with plans that omit tiles: one per element type, because such plans use neither
 * pairs of pivot tiles nor half matrices. */
static const bool is_planned[VARIANT_COUNT] = {
    [0] = true, [3] = true, [6] = true, [7] = true, [8] = true, [9] = true};

/* Sizes to test: multiples of a tile and of a block (two tiles), multiples plus 1 and minus 1, and
 * other sizes. */
static const uint32_t sizes[] = {1,   128, 256, 257, 300,  383,  384,  385,  400,  511,
                                 512, 513, 640, 700, 1023, 1025, 1153, 1537, 2049, 3000};

struct result {
    struct matrix matrix;
    struct solve_account account;
    struct statistics statistics;
    void *storage;
    size_t storage_size;
};

static void result_create(struct result *result, uint32_t n, enum kind kind)
{
    memset(result, 0, sizeof(*result));
    const size_t bytes = (size_t)n * n * kind_size(kind);
    result->matrix = (struct matrix){n, kind, malloc(bytes)};
    result->storage_size = statistics_size(n);
    result->storage = calloc(1, result->storage_size);
    CHECK(result->matrix.elements != NULL && result->storage != NULL);
    result->statistics = statistics_init(result->storage, n, kind);
    result->account.statistics = &result->statistics;
}

static void result_finish(struct result *result)
{
    free(result->matrix.elements);
    free(result->storage);
}

static size_t matrix_bytes(const struct matrix *matrix)
{
    return (size_t)matrix->vertex_count * matrix->vertex_count * kind_size(matrix->kind);
}

static bool same(const struct result *one, const struct result *other)
{
    if (memcmp(one->matrix.elements, other->matrix.elements, matrix_bytes(&one->matrix)) != 0) {
        fprintf(stderr, "the matrices differ\n");
        return false;
    }
    if (!one->account.statistics_filled || !other->account.statistics_filled ||
        memcmp(one->storage, other->storage, one->storage_size) != 0) {
        fprintf(stderr, "the statistics differ\n");
        return false;
    }
    return true;
}

static enum status solve(struct gpu *gpu, const struct gpu_variant *variant,
                         const struct gpu_subject *subject, const struct observer *observer,
                         struct result *result)
{
    return gpu_trial_solve(gpu, variant, subject, observer, &result->matrix, &result->account);
}

struct groups {
    struct gpu *alone;
    struct gpu *list[2 * MEMBERS_MOST];
    uint32_t members[2 * MEMBERS_MOST];
    uint32_t count;
};

static void open_group(struct groups *groups, const uint32_t *indexes, uint32_t members)
{
    CHECK(gpu_open(indexes, members, &groups->list[groups->count]) == STATUS_OK);
    groups->members[groups->count++] = members;
}

static void groups_open(struct groups *groups, uint32_t devices, uint32_t most)
{
    uint32_t indexes[MEMBERS_MANY] = {0};
    CHECK(gpu_open(indexes, 1, &groups->alone) == STATUS_OK);
    for (uint32_t members = 2; members <= most; members++) {
        open_group(groups, indexes, members);
    }
    if (most == MEMBERS_MOST) {
        open_group(groups, indexes, MEMBERS_MANY);
    }
    for (uint32_t members = 2; members <= most && members <= devices; members++) {
        for (uint32_t i = 0; i < members; i++) {
            indexes[i] = i;
        }
        open_group(groups, indexes, members);
    }
}

static void groups_close(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        gpu_close(groups->list[i]);
    }
    gpu_close(groups->alone);
}

/* Returns how many members solve a graph together, or 0 if one device solves it alone. Each member
 * needs at least one block (two tiles). A plan that omits tiles is executed by one device. */
static uint32_t members_at_work(uint32_t members, const struct plan *plan)
{
    const uint32_t blocks = (plan->tile_count + 1) / 2;
    return blocks <= 1 || plan->summary.kind != PLAN_DENSE ? 0
           : members < blocks                              ? members
                                                           : blocks;
}

static bool try_groups(const struct groups *groups, const struct gpu_variant *variant,
                       const struct gpu_subject *subject, uint64_t *solves)
{
    struct result expected;
    const uint32_t n = subject->graph->vertex_count;
    result_create(&expected, n, variant->kind);
    bool right = solve(groups->alone, variant, subject, NULL, &expected) == STATUS_OK &&
                 (subject->distances == NULL ||
                  trial_matrix_equals(&expected.matrix, subject->distances,
                                      gpu_trial_tolerance(variant->kind, subject)));
    for (uint32_t i = 0; i < groups->count && right; i++) {
        struct result result;
        result_create(&result, n, variant->kind);
        const enum status status = solve(groups->list[i], variant, subject, NULL, &result);
        right = status == STATUS_OK && same(&expected, &result) &&
                result.account.device_count == members_at_work(groups->members[i], subject->plan);
        if (!right) {
            fprintf(stderr, "%s, n=%u, %s of %u tiles, group %u of %u members (%u at work): %s\n",
                    variant->name, n, plan_kind_name(subject->plan->summary.kind),
                    subject->plan->tile_count, i, groups->members[i], result.account.device_count,
                    status_info(status)->code);
        }
        (*solves)++;
        result_finish(&result);
    }
    result_finish(&expected);
    return right;
}

/* Tests the variants marked in `which`, or all variants if it is NULL. */
static bool try_variants(const struct groups *groups, const bool *which,
                         const struct gpu_subject *subject, uint64_t *solves)
{
    bool right = true;
    for (size_t v = 0; v < VARIANT_COUNT && right; v++) {
        if (gpu_trial_applies(&variants[v], subject) && (which == NULL || which[v])) {
            right = try_groups(groups, &variants[v], subject, solves);
        }
    }
    return right;
}

/* Solves with random plans and, if the graph is undirected, also with symmetric plans. */
static bool try_plans(const struct groups *groups, struct gpu_subject subject, uint64_t seed,
                      uint64_t *solves)
{
    static const uint32_t widths[] = {40, GPU_TILE, 7};
    bool right = true;
    for (int half = 0; half < (subject.graph->directed ? 1 : 2) && right; half++) {
        struct plan *plan = gpu_trial_plan(subject.graph, widths[seed % 3], half != 0, seed);
        subject.plan = plan;
        right = try_variants(groups, is_planned, &subject, solves);
        plan_destroy(plan);
    }
    return right;
}

/* Adds a negative cycle, which every variant for negative weights must report on all members. */
static bool try_negative_cycle(const struct groups *groups, struct edge_list *list, uint64_t seed,
                               const struct plan *dense, bool integral)
{
    shapes_add_negative_cycle(list, seed);
    struct graph *graph = edge_list_build(list);
    struct plan *plan = gpu_trial_plan(graph, 40, !graph->directed, seed);
    struct gpu_subject subject = {graph, dense, NULL, INFINITY, integral};
    bool right = true;
    for (size_t v = 0; v < VARIANT_COUNT && graph->summary.negative_loop == NO_VERTEX; v++) {
        for (uint32_t i = 0;
             i < 2 * groups->count && right && gpu_trial_applies(&variants[v], &subject); i++) {
            subject.plan = i % 2 == 0 ? dense : plan;
            struct result result;
            result_create(&result, graph->vertex_count, variants[v].kind);
            const enum status status =
                solve(groups->list[i / 2], &variants[v], &subject, NULL, &result);
            right = status == STATUS_NEGATIVE_CYCLE;
            if (!right) {
                fprintf(stderr, "%s, a negative cycle: %s\n", variants[v].name,
                        status_info(status)->code);
            }
            result_finish(&result);
        }
    }
    plan_destroy(plan);
    graph_destroy(graph);
    return right;
}

static bool try_shape(const struct groups *groups, const struct shape *shape, uint32_t n, bool few,
                      uint64_t *solves)
{
    struct edge_list list = shapes_make(shape, n, 3);
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    double *distances = NULL;
    CHECK(planner_dense(n, GPU_TILE, &plan) == STATUS_OK);
    struct gpu_subject subject = {graph, plan, NULL, INFINITY, shape->integral};
    if (n <= LARGEST_ORACLE) {
        distances = malloc((size_t)n * n * sizeof(*distances));
        CHECK(distances != NULL && oracle_solve(&list, distances));
        subject.distances = distances;
        subject.longest = gpu_trial_longest(distances, (size_t)n * n);
    }
    const bool right = try_variants(groups, few ? is_of_few : NULL, &subject, solves) &&
                       try_plans(groups, subject, n, solves) &&
                       (few || try_negative_cycle(groups, &list, n, plan, shape->integral));
    if (!right) {
        fprintf(stderr, "  shape %s, n=%u\n", shape->name, n);
    }
    free(distances);
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool try_connected(const struct groups *groups, uint32_t n, bool directed, uint64_t *solves)
{
    struct edge_list list = {.vertex_count = n, .directed = directed};
    gpu_trial_connect(&list, 9, 99);
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    CHECK(planner_dense(n, GPU_TILE, &plan) == STATUS_OK);
    const struct gpu_subject subject = {graph, plan, NULL, 10.0 * n, true};
    const bool right = try_variants(groups, NULL, &subject, solves);
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool run_sizes(const struct groups *groups, bool few)
{
    uint64_t solves = 0;
    bool right = true;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && right && !few; i++) {
        const uint32_t n = sizes[i];
        for (size_t shape = 0; shape < shape_count && right && n <= LARGEST_ORACLE; shape++) {
            right = try_shape(groups, &shapes[shape], n, false, &solves);
        }
        right = right && try_connected(groups, n, true, &solves) &&
                try_connected(groups, n, false, &solves);
    }
    for (size_t shape = 0; shape < 3 && few && right; shape++) {
        right = try_shape(groups, &shapes[shape], SIZE_OF_FEW, true, &solves);
    }
    printf("%llu solves by groups %s those of one device\n", (unsigned long long)solves,
           right ? "equal" : "DIFFER from");
    return right;
}

/* Cancels solves. All members must end, and the group must then solve the next graph correctly. */
static bool try_cancels(const struct groups *groups, const struct graph *graph,
                        const struct plan *plan)
{
    const struct gpu_subject subject = {graph, plan, NULL, NARROW_DISTANCE_MAX, true};
    uint64_t solves = 0;
    bool right = true;
    for (uint32_t i = 0; i < groups->count && right; i++) {
        for (uint32_t rounds = 1; rounds < plan->round_count / 2 && right; rounds += 2) {
            for (size_t v = 0; v < VARIANT_COUNT && right; v++) {
                if (plan->summary.kind != PLAN_DENSE && !is_planned[v]) {
                    continue;
                }
                struct patience patience = {.rounds = rounds};
                const struct observer observer = patience_observe(&patience);
                struct result result;
                result_create(&result, graph->vertex_count, variants[v].kind);
                right = solve(groups->list[i], &variants[v], &subject, &observer, &result) ==
                        STATUS_CANCELLED;
                solves++;
                result_finish(&result);
            }
        }
    }
    printf("%llu solves: %s\n", (unsigned long long)solves, right ? "cancelled" : "NOT CANCELLED");
    return right && try_groups(groups, &variants[0], &subject, &solves);
}

static bool run_cancels(const struct groups *groups)
{
    struct edge_list list = {.vertex_count = LARGEST, .directed = false};
    gpu_trial_connect(&list, 9, 99);
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    CHECK(planner_dense(LARGEST, GPU_TILE, &plan) == STATUS_OK);
    struct halved_grid grid = halved_grid_make(CANCEL_SIDE, false, GPU_TILE);
    const bool right = grid.plan->round_count > 3 && try_cancels(groups, graph, plan) &&
                       try_cancels(groups, grid.graph, grid.plan);
    halved_grid_finish(&grid);
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

/* Allocates all free memory of a device except `left` bytes. */
static void *take_memory(int device, uint64_t left)
{
    size_t free_bytes = 0;
    size_t bytes = 0;
    void *taken = NULL;
    CHECK(cudaSetDevice(device) == 0 && cudaMemGetInfo(&free_bytes, &bytes) == 0 &&
          free_bytes > left && cudaMalloc(&taken, free_bytes - left) == 0);
    return taken;
}

/* Checks that two devices solve a grid with the dense plan if the grid's own plan does not fit on
 * the first device. The memory of the second device must not matter. */
static bool run_little_memory(void)
{
    struct halved_grid grid = halved_grid_make(MEMORY_SIDE, false, GPU_TILE);
    const struct graph *graph = grid.graph;
    struct solver *solver = NULL;
    struct problem problem;
    bool right = true;
    CHECK(solver_gpu_open(0, 2, &solver, &problem) == STATUS_OK);
    solver_assume_rates(solver, 1e9); /* makes the dense plan look slow to the planner */
    /* The free memory is set to more than each device needs for its half of the dense plan, and
     * less than one device needs alone. */
    const uint64_t alone = gpu_bytes_needed(1, graph->vertex_count, graph->edge_count, KIND_I4);
    const uint64_t both = gpu_bytes_needed(2, graph->vertex_count, graph->edge_count, KIND_I4);
    for (int device = 1; device >= 0 && right; device--) {
        void *taken = take_memory(device, (alone + both / 2) / 2);
        struct trial trial = trial_run_graph(solver, graph, KIND_I4, true);
        right = trial.status == STATUS_OK && trial.statistics_same &&
                (trial.outcome.plan.kind == PLAN_DENSE) == (device == 0) &&
                trial.outcome.account.device_count == (device == 0 ? 2 : 0);
        printf("little memory on device %d: %s plan: %s\n", device,
               plan_kind_name(trial.outcome.plan.kind), right ? "right" : "WRONG");
        trial_finish(&trial);
        CHECK(cudaFree(taken) == 0);
    }
    solver_close(solver);
    halved_grid_finish(&grid);
    return right;
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_SIZE];
    const uint32_t devices = gpu_count(reason);
    if (devices == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    const bool few = argc == 2 && strcmp(argv[1], "--few") == 0;
    struct groups groups = {0};
    groups_open(&groups, devices, few ? 3 : MEMBERS_MOST);
    bool right = run_sizes(&groups, few) && (few || run_cancels(&groups));
    groups_close(&groups);
    right = right && (few || devices == 1 || run_little_memory());
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
