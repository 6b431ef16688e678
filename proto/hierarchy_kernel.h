/* The inner loops of hierarchy_search.c: one operations table for each kind and instruction set.
 * hierarchy_kernel.c is compiled for each of them. */
#pragma once

#include "proto/hierarchy_search.h"
#include "proto/isa.h"

/* Elements of this many positions wait until they are written into the rows, in the cache. */
#define HIERARCHY_BLOCK 4096

/* One source of rows. */
struct hierarchy_start {
    uint32_t *path; /* its supernode and those above it, to the root */
    uint32_t path_count;
    uint32_t from;  /* the position */
    void *distance; /* by depth, from the root on, of itself and the vertices above it */
};

/* Rows that are being computed. */
struct hierarchy_sweep {
    uint32_t sources[HIERARCHY_LANES];
    uint32_t count;
    bool in_lanes;
    uint32_t climbed; /* sources whose climbs are done */
    uint32_t left;    /* supernodes not yet swept; one by one: of the row in hand */
    void *rows;
};

struct hierarchy_search {
    const struct hierarchy *hierarchy; /* view */
    struct hierarchy view; /* a copy; while the graph is reversed, up and down change places */
    bool is_reversed;
    struct hierarchy_sweep sweep;
    const struct hierarchy_operations *operations;
    size_t element_bytes;
    int32_t above; /* see front_body.h */
    void *local;   /* columns and rows of a supernode */
    struct hierarchy_start starts[HIERARCHY_LANES];
    /* Made when rows are asked for, each as one piece: */
    void *stack; /* by depth, of the vertex that a sweep is at and those above it */
    void *block_lanes;
    void *stack_lanes;
    uint32_t *block_order; /* the vertices of each HIERARCHY_BLOCK positions, ascending */
};

struct hierarchy_operations {
    /* The label of a position. */
    void (*climb)(const struct hierarchy_search *search, const void *weights, uint32_t from,
                  void *ret_label);
    /* The least sum over the common ancestors. */
    void (*meet)(const void *up_label, const void *down_label, uint32_t common, int32_t above,
                 void *ret_element);
    /* From starts[0] to the vertices of supernodes begin to before end, by vertex. */
    void (*sweep)(struct hierarchy_search *search, uint32_t begin, uint32_t end, void *ret_row);
    /* From each of starts, of which the first `count` are wanted, to the vertices of supernodes
     * begin to before end, one row behind the other. The last supernodes come first. */
    void (*sweep_lanes)(struct hierarchy_search *search, uint32_t begin, uint32_t end,
                        uint32_t count, void *ret_rows);
};

/* By instruction set and kind; none for u2. */
extern const struct hierarchy_operations hierarchy_kernel_portable[KIND_COUNT];
extern const struct hierarchy_operations hierarchy_kernel_avx2[KIND_COUNT];
extern const struct hierarchy_operations hierarchy_kernel_avx512[KIND_COUNT];
