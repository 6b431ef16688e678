/* Fixtures for the GPU tests: tuning values that force one variant of the solve, a graph with known
 * distances, and an observer that cancels the solve. */
#pragma once

#include "gpu/gpu.h"
#include "tests/solver/edge_list.h"

/* Tuning value that no graph reaches, so that it disables a variant. */
#define GPU_NEVER UINT32_MAX
/* Maximum number of tile rows (and tile columns) of gpu_trial_plan(). */
#define GPU_TRIAL_TILES 16

struct gpu_variant {
    const char *name;
    struct gpu_tuning tuning;
    enum kind kind;
    bool narrow;    /* only for graphs whose distances fit 16 bits */
    bool symmetric; /* only for undirected graphs */
};

struct gpu_subject {
    const struct graph *graph;
    const struct plan *plan;
    const double *distances; /* NULL: the distances are unknown */
    double longest;          /* upper bound on the finite distances */
    bool integral;
};

bool gpu_trial_applies(const struct gpu_variant *variant, const struct gpu_subject *subject);

/* Returns the relative error that distances of this kind may have (0 for integer weights). */
double gpu_trial_tolerance(enum kind kind, const struct gpu_subject *subject);

/* Solves the graph in the variant's kind. The elements are first filled with a pattern, so that
 * unwritten elements are not correct by chance. */
enum status gpu_trial_solve(struct gpu *gpu, const struct gpu_variant *variant,
                            const struct gpu_subject *subject, const struct observer *observer,
                            struct matrix *matrix, struct solve_account *account);

double gpu_trial_longest(const double *distances, size_t count);

/* Makes a random plan whose tiles may be much narrower than the device's tiles, so that even small
 * graphs have many tiles. Some tiles are never touched, and others are written before they are
 * read. */
struct plan *gpu_trial_plan(const struct graph *graph, uint32_t width, bool symmetric,
                            uint64_t seed);

/* Adds ten random edges per vertex with weights up to `longest`, and a ring with weights up to
 * `longest_of_ring` that connects all vertices. */
void gpu_trial_connect(struct edge_list *list, uint32_t longest_of_ring, uint32_t longest);

/* State of an observer that cancels the solve after `rounds` rounds. */
struct patience {
    uint32_t rounds;
    uint32_t told; /* number of rounds that the last call reported */
};

struct observer patience_observe(struct patience *patience);
