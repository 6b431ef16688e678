/* Ranks with a GPU each, as threads of this program, must give the same matrix and certificate as
 * one GPU, to the last bit. If there are fewer devices than ranks, the ranks share devices, each
 * rank with separate memory, rows and streams. Exit 77 without a device.
 *
 *   test_ranks_gpu            sizes up to 3,000 around multiples of tiles and blocks, in every kind
 *   test_ranks_gpu --few      one size, for a run under compute-sanitizer
 *   test_ranks_gpu --time N    the speed for N vertices on one device and on ranks
 *   test_ranks_gpu --nccl ...  the same for two ranks, each with a device, over NCCL */
#include "server/solver/plan/planner.h"
#include "tests/solver/gpu_trial.h"
#include "tests/solver/shapes.h"
#include "tests/solver/thread_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define RANKS_MOST 3
#define SIZE_OF_FEW 900
#define LARGEST 3000

static const struct gpu_variant variants[] = {
    {"single i4", {0, GPU_NEVER, GPU_NEVER, 0}, KIND_I4, false, false},
    {"single f8", {0, GPU_NEVER, GPU_NEVER, 0}, KIND_F8, false, false},
    {"single u2 in 16 bits", {0, 0, GPU_NEVER, 0}, KIND_U2, true, false},
    {"pair i4", {0, GPU_NEVER, 0, 0}, KIND_I4, false, false},
    {"pair i4 symmetric", {0, GPU_NEVER, 0, 0}, KIND_I4, false, true},
    {"pair u2", {0, GPU_NEVER, 0, 0}, KIND_U2, false, false},
    {"pair f4", {0, GPU_NEVER, 0, 0}, KIND_F4, false, false},
    {"pair f8", {0, GPU_NEVER, 0, 0}, KIND_F8, false, false},
    {"pair i4 in 16 bits", {0, 0, 0, 0}, KIND_I4, true, false},
    {"pair u2 in 16 bits symmetric", {0, 0, 0, 0}, KIND_U2, true, true},
    {"single i4 symmetric", {0, GPU_NEVER, GPU_NEVER, 0}, KIND_I4, false, true},
    {"pair f8 symmetric", {0, GPU_NEVER, 0, 0}, KIND_F8, false, true},
};
#define VARIANT_COUNT (sizeof(variants) / sizeof(variants[0]))

static const struct gpu_variant timed[] = {
    {"i4", {2048, GPU_NEVER, 7168, 0}, KIND_I4, false, false},
    {"i4 symmetric", {2048, GPU_NEVER, 7168, 0}, KIND_I4, false, true},
    {"u2 in 16 bits", {2048, 0, 7168, 0}, KIND_U2, true, false},
    {"f4", {2048, GPU_NEVER, 7168, 0}, KIND_F4, false, false},
};

/* Sizes to test: multiples of a tile and of a block (two tiles), multiples plus 1 and minus 1, and
 * other sizes. */
static const uint32_t sizes[] = {1,   128, 256, 257,  384,  385,  511,  512,
                                 513, 640, 700, 1025, 1153, 1537, 2049, LARGEST};

static struct gpu *devices[RANKS_MOST];
static uint32_t ranks_most = RANKS_MOST;

/* One solve by several ranks. Only the first rank has the matrix. */
struct together {
    const struct gpu_variant *variant;
    const struct graph *graph;
    const struct plan *plan;
    const struct observer *observer; /* observer of the last rank */
    void *elements;
    struct solve_account account; /* account of the first rank */
    enum status status[RANKS_MOST];
};

static void solve_as_rank(const struct ranks *ranks, void *context)
{
    struct together *together = context;
    const struct gpu_variant *variant = together->variant;
    struct gpu *gpu = devices[ranks->rank];
    const bool first = ranks->rank == 0;
    const bool last = ranks->rank + 1 == ranks->count;
    const struct solve_options options = {.narrow = variant->narrow,
                                          .symmetric = variant->symmetric};
    struct matrix matrix = {together->graph->vertex_count, variant->kind,
                            first ? together->elements : NULL};
    struct solve_account others = {0};
    gpu_set_tuning(gpu, &variant->tuning);
    gpu_join(gpu, ranks);
    together->status[ranks->rank] =
        gpu_solve(gpu, together->graph, together->plan, &options, last ? together->observer : NULL,
                  &matrix, first ? &together->account : &others);
    gpu_join(gpu, NULL);
}

static size_t matrix_bytes(const struct together *together)
{
    const size_t n = together->graph->vertex_count;
    return n * n * kind_size(together->variant->kind);
}

/* Solves with `count` ranks and returns their status. The caller frees together->elements. */
static enum status solve_by_ranks(struct together *together, uint32_t count)
{
    together->elements = malloc(matrix_bytes(together));
    CHECK(together->elements != NULL);
    /* Unwritten elements must not look correct by chance. */
    memset(together->elements, 0x5A, matrix_bytes(together));
    thread_ranks_run(count, solve_as_rank, together);
    for (uint32_t rank = 1; rank < count; rank++) {
        CHECK(together->status[rank] == together->status[0]);
    }
    return together->status[0];
}

static bool same(const struct together *alone, const struct together *other)
{
    return memcmp(alone->elements, other->elements, matrix_bytes(alone)) == 0;
}

static bool applies(const struct gpu_variant *variant, const struct graph *graph)
{
    const struct graph_summary *summary = &graph->summary;
    const bool narrow = !summary->negative && summary->distance_bound <= NARROW_DISTANCE_MAX;
    return (!variant->symmetric || !graph->directed) &&
           (narrow || (!variant->narrow && variant->kind != KIND_U2)) &&
           (summary->decimals == 0 || kind_is_float(variant->kind));
}

/* Compares the results of several ranks with those of one rank. */
static bool try_variant(const struct gpu_variant *variant, const struct graph *graph,
                        const struct plan *plan, enum status expected, uint64_t *solves)
{
    struct together alone = {.variant = variant, .graph = graph, .plan = plan};
    bool right = solve_by_ranks(&alone, 1) == expected;
    for (uint32_t count = 2; count <= ranks_most && right; count++) {
        struct together together = {.variant = variant, .graph = graph, .plan = plan};
        right = solve_by_ranks(&together, count) == expected &&
                (expected != STATUS_OK || same(&alone, &together));
        if (!right) {
            fprintf(stderr, "%s, n=%u, %u ranks: %s\n", variant->name, graph->vertex_count, count,
                    status_info(together.status[0])->code);
        }
        (*solves)++;
        free(together.elements);
    }
    free(alone.elements);
    return right;
}

static bool try_list(const struct edge_list *list, enum status expected, uint64_t *solves)
{
    struct graph *graph = edge_list_build(list);
    struct plan *plan = NULL;
    bool right = true;
    CHECK(planner_dense(graph->vertex_count, GPU_TILE, &plan) == STATUS_OK);
    for (size_t v = 0; v < VARIANT_COUNT && right; v++) {
        if (applies(&variants[v], graph) &&
            (expected == STATUS_OK || graph->summary.negative_loop == NO_VERTEX)) {
            right = try_variant(&variants[v], graph, plan, expected, solves);
        }
    }
    plan_destroy(plan);
    graph_destroy(graph);
    return right;
}

/* Adds ten edges per vertex. Their weights are so small that all distances fit 16 bits. */
static void make_short(struct edge_list *list)
{
    const uint32_t n = list->vertex_count;
    uint64_t seed = n;
    for (uint32_t edge = 0; edge < 10 * n; edge++) {
        edge_list_add(list, edge / 10, (uint32_t)shapes_random(&seed, n),
                      1 + (double)shapes_random(&seed, 9));
    }
}

static bool run_sizes(bool few)
{
    uint64_t solves = 0;
    bool right = true;
    for (size_t i = 0; i < (few ? 1 : sizeof(sizes) / sizeof(sizes[0])) && right; i++) {
        const uint32_t n = few ? SIZE_OF_FEW : sizes[i];
        for (int directed = 0; directed < 2 && right; directed++) {
            struct edge_list list = {.vertex_count = n, .directed = directed != 0};
            make_short(&list);
            right = try_list(&list, STATUS_OK, &solves);
            shapes_add_negative_cycle(&list, n);
            right = right && try_list(&list, STATUS_NEGATIVE_CYCLE, &solves);
            edge_list_finish(&list);
        }
        for (size_t shape = 1; shape < shape_count && right && n > 600 && n < 1100; shape++) {
            struct edge_list list = shapes_make(&shapes[shape], n, 3);
            right = try_list(&list, STATUS_OK, &solves);
            edge_list_finish(&list);
        }
    }
    printf("%llu solves by ranks: %s\n", (unsigned long long)solves,
           right ? "as by one device" : "NOT as by one device");
    return right;
}

/* Cancels the solve on the last rank only. All ranks must end, and must then solve the next graph
 * correctly. */
static bool run_cancels(void)
{
    struct edge_list list = {.vertex_count = LARGEST, .directed = true};
    make_short(&list);
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    uint64_t solves = 0;
    bool right = true;
    CHECK(planner_dense(LARGEST, GPU_TILE, &plan) == STATUS_OK);
    for (uint32_t rounds = 0; rounds < plan->tile_count / 2 && right; rounds++) {
        const struct gpu_variant *variant = &variants[rounds % 4];
        struct patience patience = {.rounds = rounds};
        const struct observer observer = patience_observe(&patience);
        struct together together = {
            .variant = variant, .graph = graph, .plan = plan, .observer = &observer};
        right = solve_by_ranks(&together, ranks_most) == STATUS_CANCELLED;
        free(together.elements);
        right = right && try_variant(variant, graph, plan, STATUS_OK, &solves);
    }
    printf("cancels by one rank: %s\n", right ? "heard by all" : "NOT HEARD");
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

/* Solves a path whose longest distances exceed the range of u2. Only the last rank's rows contain
 * them, but all ranks must report the error. */
static bool run_too_long(void)
{
    struct edge_list list = {.vertex_count = SIZE_OF_FEW, .directed = true};
    uint64_t solves = 0;
    for (uint32_t vertex = 0; vertex + 1 < SIZE_OF_FEW; vertex++) {
        edge_list_add(&list, vertex + 1, vertex, 73);
    }
    struct graph *graph = edge_list_build(&list);
    struct plan *plan = NULL;
    CHECK(planner_dense(SIZE_OF_FEW, GPU_TILE, &plan) == STATUS_OK);
    const bool right = try_variant(&variants[5], graph, plan, STATUS_WEIGHT_RANGE, &solves);
    printf("a distance beyond u2: %s\n", right ? "refused by all" : "NOT REFUSED");
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool time_variant(const struct gpu_variant *variant, uint32_t n)
{
    struct edge_list list = {.vertex_count = n, .directed = !variant->symmetric};
    struct together turns[RANKS_MOST] = {0};
    struct plan *plan = NULL;
    bool right = true;
    make_short(&list);
    struct graph *graph = edge_list_build(&list);
    CHECK(planner_dense(n, GPU_TILE, &plan) == STATUS_OK);
    for (uint32_t count = 1; count <= ranks_most && right; count++) {
        struct together *turn = &turns[count - 1];
        *turn = (struct together){.variant = variant, .graph = graph, .plan = plan};
        right = solve_by_ranks(turn, count) == STATUS_OK && same(&turns[0], turn);
        const struct timings *timings = &turn->account.timings;
        printf("n=%u %s, %u ranks: compute %.3f ms, fill %.3f, in %.3f, out %.3f ms%s\n", n,
               variant->name, count, timings->compute_s * 1e3, timings->fill_s * 1e3,
               timings->h2d_s * 1e3, timings->d2h_s * 1e3, right ? "" : ": WRONG");
        if (count > 1) {
            free(turn->elements);
        }
    }
    free(turns[0].elements);
    plan_destroy(plan);
    graph_destroy(graph);
    edge_list_finish(&list);
    return right;
}

static bool run_times(uint32_t n)
{
    bool right = true;
    for (size_t v = 0; v < sizeof(timed) / sizeof(timed[0]) && right; v++) {
        right = time_variant(&timed[v], n);
    }
    return right;
}

static void connect_rank(const struct ranks *ranks, void *context)
{
    bool *connected = context;
    gpu_join(devices[ranks->rank], ranks);
    connected[ranks->rank] = gpu_connect(devices[ranks->rank]);
    gpu_join(devices[ranks->rank], NULL);
}

static bool connect_ranks(void)
{
    bool connected[RANKS_MOST] = {false};
    ranks_most = 2;
    thread_ranks_run(ranks_most, connect_rank, connected);
    return connected[0] && connected[1];
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_SIZE];
    const bool nccl = argc > 1 && strcmp(argv[1], "--nccl") == 0;
    argc -= nccl;
    argv += nccl;
    const uint32_t device_count = gpu_count(reason);
    if (device_count == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    const bool few = argc == 2 && strcmp(argv[1], "--few") == 0;
    const bool times = argc == 3 && strcmp(argv[1], "--time") == 0;
    for (uint32_t rank = 0; rank < RANKS_MOST; rank++) {
        const uint32_t index = rank % device_count;
        CHECK(gpu_open(&index, 1, &devices[rank]) == STATUS_OK);
    }
    if (nccl && !connect_ranks()) {
        puts("skipped: no two devices with NCCL");
        return EXIT_SKIPPED;
    }
    const bool right = times ? run_times((uint32_t)strtoul(argv[2], NULL, 10))
                             : run_sizes(few) && (few || (run_cancels() && run_too_long()));
    for (uint32_t rank = 0; rank < RANKS_MOST; rank++) {
        gpu_close(devices[rank]);
    }
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
