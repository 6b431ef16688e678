/* What the tests of the GPU share: a way of solving that the tuning forces, a graph with what is
 * known of it, and an observer that cancels. */
#pragma once

#include "gpu/gpu.h"
#include "tests/solver/edge_list.h"

/* A limit of the tuning that no graph reaches. */
#define GPU_NEVER UINT32_MAX
/* Tiles of gpu_trial_plan() along an edge, at most twice. */
#define GPU_TRIAL_TILES 16

struct gpu_variant {
    const char *name;
    struct gpu_tuning tuning;
    enum kind kind;
    bool narrow;    /* only for graphs whose distances fit */
    bool symmetric; /* only for undirected graphs */
};

struct gpu_subject {
    const struct graph *graph;
    const struct plan *plan;
    const double *distances; /* NULL: not known */
    double longest;          /* finite distance, or more */
    bool integral;
};

bool gpu_trial_applies(const struct gpu_variant *variant, const struct gpu_subject *subject);

/* The relative error that the kind may have: none where weights are integers. */
double gpu_trial_tolerance(enum kind kind, const struct gpu_subject *subject);

/* Solves in the kind of the variant. The elements are first set to what must not look right by
 * chance. */
enum status gpu_trial_solve(struct gpu *gpu, const struct gpu_variant *variant,
                            const struct gpu_subject *subject, const struct observer *observer,
                            struct matrix *matrix, struct solve_account *account);

double gpu_trial_longest(const double *distances, size_t count);

/* A random plan whose tiles may be narrower than the device's, down to a few vertices: so small
 * graphs have many, of which some are never touched and others are written before they are read. */
struct plan *gpu_trial_plan(const struct graph *graph, uint32_t width, bool symmetric,
                            uint64_t seed);

/* Ten random edges from every vertex, of weights to `longest`, and a ring, of weights to
 * `longest_of_ring`, so that all is connected. */
void gpu_trial_connect(struct edge_list *list, uint32_t longest_of_ring, uint32_t longest);

/* Rounds until a cancel. */
struct patience {
    uint32_t rounds;
    uint32_t told; /* rounds done, by the last call; each call has more */
};

struct observer patience_observe(struct patience *patience);
