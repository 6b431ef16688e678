/* This file is compiled once for each instruction set. */
#include "proto/hierarchy_kernel.h"

#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static bool is_on_path(const struct hierarchy_start *start, uint32_t s)
{
    return start->path_count > 0 && start->path[start->path_count - 1] == s;
}

/* Removes supernode s from the paths of all sources. Returns the next supernode, from the root
 * down, that is on a path, or NO_SUPERNODE at the end of all paths. */
static uint32_t next_met(struct hierarchy_search *search, uint32_t count, uint32_t s)
{
    uint32_t next = NO_SUPERNODE;
    for (uint32_t i = 0; i < count; i++) {
        struct hierarchy_start *start = &search->starts[i];
        start->path_count -= is_on_path(start, s);
        if (start->path_count > 0) {
            const uint32_t met = start->path[start->path_count - 1];
            next = next == NO_SUPERNODE || met > next ? met : next;
        }
    }
    return next;
}

#define ELEMENT int32_t
#define UNREACHABLE UNREACHABLE_I4
#define NAME(verb) verb##_i4
#define CANONICAL(x, above) ((x) > (above) ? UNREACHABLE_I4 : (x))
#define CANONICAL_VECTOR(x, above) (((x) & ((x) <= (above))) | (UNREACHABLE_I4 & ((x) > (above))))
#include "proto/hierarchy_kernel_body.h"

#define ELEMENT float
#define UNREACHABLE __builtin_inff()
#define NAME(verb) verb##_f4
#define CANONICAL(x, above) (x)
#define CANONICAL_VECTOR(x, above) (x)
#include "proto/hierarchy_kernel_body.h"

#define ELEMENT double
#define UNREACHABLE __builtin_inf()
#define NAME(verb) verb##_f8
#define CANONICAL(x, above) (x)
#define CANONICAL_VECTOR(x, above) (x)
#include "proto/hierarchy_kernel_body.h"

/* Meson defines TABLE as the name of the table for this instruction set. */
const struct hierarchy_operations TABLE[KIND_COUNT] = {
    [KIND_I4] = {climb_i4, meet_i4, sweep_i4, sweep_lanes_i4},
    [KIND_F4] = {climb_f4, meet_f4, sweep_f4, sweep_lanes_f4},
    [KIND_F8] = {climb_f8, meet_f8, sweep_f8, sweep_lanes_f8},
};
