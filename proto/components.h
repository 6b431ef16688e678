/* Connected components of a graph whose edges are seen a part at a time; direction is ignored. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

struct components;

/* 4 bytes a vertex. STATUS_NO_MEMORY. */
MUST_CHECK enum status components_create(uint32_t vertex_count, struct components **ret_components);
void components_destroy(struct components *components);
/* The edges [first, first + count) of a graph with such rows; parts come in order. False when all
 * is one component, and no further edge says anything. */
bool components_unite(struct components *components, const uint64_t *row_offset,
                      const uint32_t *targets, uint64_t first, uint64_t count);
uint32_t components_count(const struct components *components);
