#include "tests/solver/table.h"

#include "tests/solver/oracle.h"
#include "tests/solver/shapes.h"
#include "tests/solver/trial.h"

#include <stdio.h>
#include <stdlib.h>

/* Maximum number of vertices for which a certificate also checks every result. */
#define CERTIFIED_VERTICES 48

/* A kind, and the relative tolerance for decimal weights in this kind. */
struct kind_case {
    enum kind kind;
    double relative;
};

static const struct kind_case kind_cases[] = {
    {KIND_I4, 0},
    {KIND_F4, 1e-5},
    {KIND_F8, 1e-13},
};

static bool complain(const char *shape, const struct solver *solver, uint32_t vertex_count)
{
    struct solver_device device;
    solver->class_->describe(solver, &device);
    fprintf(stderr, "  shape %s, n=%u, solver %s %s, %u units\n", shape, vertex_count,
            device.solver, device.detail, device.units);
    return false;
}

static bool run_kinds(struct solver *solver, const struct shape *shape,
                      const struct edge_list *list, const double *distances)
{
    const bool verify = list->vertex_count <= CERTIFIED_VERTICES;
    for (size_t index = 0; index < sizeof(kind_cases) / sizeof(kind_cases[0]); ++index) {
        const struct kind_case kind = kind_cases[index];
        if (!shape->integral && kind.kind == KIND_I4) {
            continue;
        }
        struct trial trial = trial_run(solver, list, kind.kind, verify);
        const bool right = trial_equals(&trial, distances, shape->integral ? 0 : kind.relative);
        trial_finish(&trial);
        if (!right) {
            return complain(shape->name, solver, list->vertex_count);
        }
    }
    return true;
}

static bool run_shape(struct solver *const *solvers, size_t solver_count, const struct shape *shape,
                      const struct edge_list *list, double *distances)
{
    CHECK(oracle_solve(list, distances));
    for (size_t index = 0; index < solver_count; ++index) {
        if (!run_kinds(solvers[index], shape, list, distances)) {
            return false;
        }
    }
    return true;
}

static bool run_negative_cycle(struct solver *const *solvers, size_t solver_count,
                               const struct shape *shape, struct edge_list *list)
{
    if (list->vertex_count == 0) {
        return true;
    }
    shapes_add_negative_cycle(list, list->vertex_count);
    for (size_t index = 0; index < solver_count; ++index) {
        const enum kind kind = shape->integral ? KIND_I4 : KIND_F4;
        struct trial trial = trial_run(solvers[index], list, kind, false);
        const bool right = trial_names_negative_cycle(&trial, list);
        trial_finish(&trial);
        if (!right) {
            return complain(shape->name, solvers[index], list->vertex_count);
        }
    }
    return true;
}

/* Returns whether to test this shape at this size. Most sizes are skipped if `seldom` is set. */
static bool is_tried(const struct shape *shape, uint32_t vertex_count)
{
    return !shape->seldom || vertex_count % 8 == 0 || (vertex_count + 1) % 64 <= 2;
}

bool table_run(struct solver *const *solvers, size_t solver_count, uint32_t vertex_count)
{
    const size_t entries = (size_t)vertex_count * vertex_count;
    double *distances = calloc(entries > 0 ? entries : 1, sizeof(*distances));
    CHECK(distances != NULL);
    bool right = true;
    for (size_t index = 0; index < shape_count && right; ++index) {
        if (!is_tried(&shapes[index], vertex_count)) {
            continue;
        }
        struct edge_list list = shapes_make(&shapes[index], vertex_count, 7 * index);
        right = run_shape(solvers, solver_count, &shapes[index], &list, distances) &&
                run_negative_cycle(solvers, solver_count, &shapes[index], &list);
        edge_list_finish(&list);
    }
    free(distances);
    return right;
}
