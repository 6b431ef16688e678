/* The time of each device of a group beside the interiors, where a solve is asked for it: within
 * that of its rounds, and the distances are what they are without. Members share devices
 * where there are fewer. Exit 77 without one. */
#include "gpu/gpu.h"
#include "server/solver/plan/planner.h"
#include "tests/solver/edge_list.h"
#include "tests/solver/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define NEVER UINT32_MAX
#define VERTICES 1537
#define MEMBERS_MOST 4

static struct graph *make_graph(bool directed)
{
    struct edge_list list = {.vertex_count = VERTICES, .directed = directed};
    uint64_t seed = VERTICES;
    for (uint32_t edge = 0; edge < 8 * VERTICES; edge++) {
        edge_list_add(&list, edge % VERTICES, (uint32_t)shapes_random(&seed, VERTICES),
                      1 + (double)shapes_random(&seed, 99));
    }
    struct graph *graph = edge_list_build(&list);
    edge_list_finish(&list);
    return graph;
}

/* Events have a resolution of half a microsecond, and there are hundreds. */
static bool are_sound(const struct solve_account *account, bool timed)
{
    bool sound = true;
    for (uint32_t i = 0; i < SOLVE_DEVICES_MAX; i++) {
        const struct round_share *share = &account->rounds[i];
        const double sum_s = share->panels_s + share->copies_s + share->waiting_s;
        if (timed && i < account->device_count) {
            printf("  GPU %u: %.3f ms, panels %.3f, copies %.3f, waiting %.3f\n", i,
                   account->devices[i].compute_s * 1e3, share->panels_s * 1e3,
                   share->copies_s * 1e3, share->waiting_s * 1e3);
            sound = sound && share->panels_s > 0 && share->copies_s > 0 && share->waiting_s > 0 &&
                    sum_s <= 1.05 * account->devices[i].compute_s + 1e-4;
        } else {
            sound = sound && sum_s == 0;
        }
    }
    return sound;
}

/* pair: of pivot tiles in a round. */
static bool try_group(struct gpu *gpu, bool directed, bool pair)
{
    static int32_t distances[2][(size_t)VERTICES * VERTICES];
    const struct gpu_tuning tuning = {0, NEVER, pair ? 0 : NEVER, 0};
    struct graph *graph = make_graph(directed);
    struct plan *plan = NULL;
    bool right = true;
    CHECK(planner_dense(VERTICES, GPU_TILE, &plan) == STATUS_OK);
    gpu_set_tuning(gpu, &tuning);
    for (int timed = 0; timed < 2; timed++) {
        const struct solve_options options = {.symmetric = !directed, .time_rounds = timed != 0};
        struct matrix matrix = {VERTICES, KIND_I4, distances[timed]};
        struct solve_account account = {0};
        right = right &&
                gpu_solve(gpu, graph, plan, &options, NULL, &matrix, &account) == STATUS_OK &&
                account.device_count == gpu_member_count(gpu) && are_sound(&account, timed != 0);
    }
    right = right && memcmp(distances[0], distances[1], sizeof(distances[0])) == 0;
    printf("%u members, %s, %s: %s\n", gpu_member_count(gpu), directed ? "directed" : "undirected",
           pair ? "pairs" : "single tiles", right ? "right" : "WRONG");
    plan_destroy(plan);
    graph_destroy(graph);
    return right;
}

int main(void)
{
    char reason[GPU_REASON_SIZE];
    const uint32_t devices = gpu_count(reason);
    bool right = true;
    if (devices == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    for (uint32_t members = 2; members <= MEMBERS_MOST; members++) {
        struct gpu *gpu = NULL;
        uint32_t indexes[MEMBERS_MOST];
        for (uint32_t i = 0; i < members; i++) {
            indexes[i] = i % devices;
        }
        CHECK(gpu_open(indexes, members, &gpu) == STATUS_OK);
        for (int way = 0; way < 4; way++) {
            right = try_group(gpu, way % 2 == 0, way / 2 == 0) && right;
        }
        gpu_close(gpu);
    }
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
