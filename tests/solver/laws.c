#include "tests/solver/laws.h"

#include "tests/solver/trial.h"

#include <stdlib.h>

/* Solves in i4, so that the laws can be checked with exact integers. */
static struct trial solve(struct solver *solver, const struct edge_list *list)
{
    struct trial trial = trial_run(solver, list, KIND_I4, false);
    CHECK(trial.status == STATUS_OK);
    return trial;
}

static int32_t at(const struct trial *trial, size_t row, size_t column)
{
    return ((const int32_t *)trial->matrix.elements)[row * trial->matrix.vertex_count + column];
}

bool laws_diagonal_is_zero(struct solver *solver, const struct edge_list *list)
{
    struct trial trial = solve(solver, list);
    bool holds = true;
    for (size_t vertex = 0; vertex < list->vertex_count; ++vertex) {
        holds = holds && at(&trial, vertex, vertex) == 0;
    }
    trial_finish(&trial);
    return holds;
}

static bool triangles_hold(const struct trial *trial, size_t i, size_t j)
{
    for (size_t k = 0; k < trial->matrix.vertex_count; ++k) {
        const bool reachable =
            at(trial, i, k) != UNREACHABLE_I4 && at(trial, k, j) != UNREACHABLE_I4;
        if (reachable && at(trial, i, j) > at(trial, i, k) + at(trial, k, j)) {
            return false;
        }
    }
    return true;
}

bool laws_triangle_inequality(struct solver *solver, const struct edge_list *list)
{
    struct trial trial = solve(solver, list);
    bool holds = true;
    for (size_t i = 0; i < list->vertex_count; ++i) {
        for (size_t j = 0; j < list->vertex_count; ++j) {
            holds = holds && triangles_hold(&trial, i, j);
        }
    }
    trial_finish(&trial);
    return holds;
}

/* Returns the new number of a vertex. The map is a permutation because 7 does not divide n. */
static uint32_t relabel(uint32_t vertex, uint32_t vertex_count)
{
    CHECK(vertex_count % 7 != 0);
    return (uint32_t)((vertex * (uint64_t)7 + 3) % vertex_count);
}

bool laws_relabelling_permutes(struct solver *solver, const struct edge_list *list)
{
    const uint32_t n = list->vertex_count;
    struct edge_list other = {.vertex_count = n, .directed = list->directed};
    for (size_t index = 0; index < list->count; ++index) {
        const struct edge edge = list->edges[index];
        edge_list_add(&other, relabel(edge.source, n), relabel(edge.target, n), edge.weight);
    }
    struct trial trial = solve(solver, list);
    struct trial moved = solve(solver, &other);
    bool holds = true;
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = 0; j < n; ++j) {
            holds = holds && at(&trial, i, j) == at(&moved, relabel(i, n), relabel(j, n));
        }
    }
    trial_finish(&moved);
    trial_finish(&trial);
    edge_list_finish(&other);
    return holds;
}

bool laws_reversing_transposes(struct solver *solver, const struct edge_list *list)
{
    struct edge_list other = {.vertex_count = list->vertex_count, .directed = list->directed};
    for (size_t index = 0; index < list->count; ++index) {
        const struct edge edge = list->edges[index];
        edge_list_add(&other, edge.target, edge.source, edge.weight);
    }
    struct trial trial = solve(solver, list);
    struct trial reversed = solve(solver, &other);
    bool holds = true;
    for (size_t i = 0; i < list->vertex_count; ++i) {
        for (size_t j = 0; j < list->vertex_count; ++j) {
            holds = holds && at(&trial, i, j) == at(&reversed, j, i);
        }
    }
    trial_finish(&reversed);
    trial_finish(&trial);
    edge_list_finish(&other);
    return holds;
}

/* Adds edges whose weight is the distance between their endpoints. They must change no distance. */
bool laws_useless_edge_changes_nothing(struct solver *solver, const struct edge_list *list)
{
    const uint32_t n = list->vertex_count;
    struct trial trial = solve(solver, list);
    struct edge_list other = {.vertex_count = n, .directed = list->directed};
    for (size_t index = 0; index < list->count; ++index) {
        const struct edge edge = list->edges[index];
        edge_list_add(&other, edge.source, edge.target, edge.weight);
    }
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t j = (i * 13 + 5) % n;
        if (at(&trial, i, j) != UNREACHABLE_I4) {
            edge_list_add(&other, i, j, at(&trial, i, j));
        }
    }
    struct trial longer = solve(solver, &other);
    const bool holds = trial_same(&trial, &longer);
    trial_finish(&longer);
    trial_finish(&trial);
    edge_list_finish(&other);
    return holds;
}
