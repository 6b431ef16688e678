#include "tests/solver/gpu_trial.h"

#include "tests/solver/random_plan.h"
#include "tests/solver/shapes.h"

#include <math.h>
#include <string.h>

bool gpu_trial_applies(const struct gpu_variant *variant, const struct gpu_subject *subject)
{
    const bool negative = subject->graph->summary.negative;
    if (variant->symmetric && subject->graph->directed) {
        return false;
    }
    if (variant->narrow && (negative || subject->longest > NARROW_DISTANCE_MAX)) {
        return false;
    }
    if (variant->kind == KIND_U2 && (negative || subject->longest >= UNREACHABLE_U2)) {
        return false;
    }
    return subject->integral || kind_is_float(variant->kind);
}

double gpu_trial_tolerance(enum kind kind, const struct gpu_subject *subject)
{
    return subject->integral ? 0 : kind == KIND_F4 ? 1e-5 : 1e-13;
}

enum status gpu_trial_solve(struct gpu *gpu, const struct gpu_variant *variant,
                            const struct gpu_subject *subject, const struct observer *observer,
                            struct matrix *matrix, struct solve_account *account)
{
    const struct solve_options options = {.narrow = variant->narrow,
                                          .symmetric = variant->symmetric};
    matrix->kind = variant->kind;
    memset(matrix->elements, 0x5A,
           (size_t)matrix->vertex_count * matrix->vertex_count * kind_size(matrix->kind));
    gpu_set_tuning(gpu, &variant->tuning);
    return gpu_solve(gpu, subject->graph, subject->plan, &options, observer, matrix, account);
}

double gpu_trial_longest(const double *distances, size_t count)
{
    double longest = 0;
    for (size_t index = 0; index < count; index++) {
        if (distances[index] < INFINITY && distances[index] > longest) {
            longest = distances[index];
        }
    }
    return longest;
}

struct plan *gpu_trial_plan(const struct graph *graph, uint32_t width, bool symmetric,
                            uint64_t seed)
{
    const uint32_t least = graph->vertex_count / GPU_TRIAL_TILES + 1;
    struct plan *plan = random_plan_make(graph, width > least ? width : least, symmetric, seed);
    plan->tile = GPU_TILE;
    return plan;
}

void gpu_trial_connect(struct edge_list *list, uint32_t longest_of_ring, uint32_t longest)
{
    uint64_t seed = list->vertex_count;
    for (uint32_t vertex = 0; vertex < list->vertex_count; vertex++) {
        edge_list_add(list, vertex, (vertex + 1) % list->vertex_count,
                      1 + (double)shapes_random(&seed, longest_of_ring));
        for (int edge = 0; edge < 10; edge++) {
            edge_list_add(list, vertex, (uint32_t)shapes_random(&seed, list->vertex_count),
                          1 + (double)shapes_random(&seed, longest));
        }
    }
}

static void lose_patience(void *context, uint32_t rounds_done, uint32_t rounds_total)
{
    struct patience *patience = context;
    CHECK(rounds_done > patience->told && rounds_done <= rounds_total);
    patience->told = rounds_done;
    patience->rounds -= patience->rounds > 0;
}

static bool is_out_of_patience(void *context)
{
    return ((const struct patience *)context)->rounds == 0;
}

struct observer patience_observe(struct patience *patience)
{
    return (struct observer){
        .context = patience, .progress = lose_patience, .cancelled = is_out_of_patience};
}
