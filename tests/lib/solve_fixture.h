/* Small graphs, a CPU solver with one thread that solves them, and stand-ins for a device that use
 * this solver. */
#pragma once

#include "server/solver/solve.h"
#include "tests/lib/range_fixture.h"

#define VERTEX_LIMIT 32

/* A solver of which a test replaces some functions. The other functions call the CPU solver. */
struct stand_in {
    struct solver solver;
    struct solver_class class_;
};

/* The CPU solver that open_cpu opens. */
extern struct solver *cpu;

int open_cpu(void **state);
int close_cpu(void **state);

struct attempt {
    enum status status;
    union {
        int32_t i4[VERTEX_LIMIT * VERTEX_LIMIT];
        uint16_t u2[VERTEX_LIMIT * VERTEX_LIMIT];
        float f4[VERTEX_LIMIT * VERTEX_LIMIT];
        double f8[VERTEX_LIMIT * VERTEX_LIMIT];
    } entries;
    struct solve_outcome outcome;
    struct problem problem;
};

struct attempt run(struct solver *solver, const struct graph *graph, enum kind kind);
struct attempt run_edges(uint32_t vertex_count, const struct range_edge *edges, size_t count,
                         bool directed, enum kind kind);

static const struct range_edge short_path[] = {{0, 1, 7}, {1, 2, 8}};

/* Initializes a stand-in that executes only the dense plan. */
void stand_in_init(struct stand_in *device);
