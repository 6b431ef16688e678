/* Checks laws that the distances of every graph obey, so that tests need no known distances. */
#pragma once

#include "server/solver/solver.h"
#include "tests/solver/edge_list.h"

bool laws_diagonal_is_zero(struct solver *solver, const struct edge_list *list);
bool laws_triangle_inequality(struct solver *solver, const struct edge_list *list);
bool laws_relabelling_permutes(struct solver *solver, const struct edge_list *list);
bool laws_reversing_transposes(struct solver *solver, const struct edge_list *list);
bool laws_useless_edge_changes_nothing(struct solver *solver, const struct edge_list *list);
