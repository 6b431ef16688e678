/* The inner loops of hierarchy_search.c: one table of operations for each kind and instruction set.
 * hierarchy_kernel.c is compiled once for each instruction set. A search belongs to one thread. */
#pragma once

#include "proto/hierarchy_search.h"
#include "proto/isa.h"

/* Number of positions buffered in the cache before their distances are written into the rows. */
#define HIERARCHY_BLOCK 4096

/* One source vertex of a search and the distances to its ancestors. */
struct hierarchy_start {
    uint32_t *path; /* supernode of the source and its ancestors, up to the root */
    uint32_t path_count;
    uint32_t from;  /* position of the source vertex */
    void *distance; /* distances to its ancestors and itself, by depth from the root */
};

/* State of a computation of rows, which is done in steps. */
struct hierarchy_sweep {
    uint32_t sources[HIERARCHY_LANES];
    uint32_t count;
    bool in_lanes;
    uint32_t climbed; /* number of sources whose labels have been computed */
    uint32_t left; /* supernodes not yet swept; without lanes, not yet swept for the current row */
    void *rows;    /* NULL = distances are passed to `read` */
    hierarchy_reader *read;
    void *context;
};

struct hierarchy_search {
    const struct hierarchy *hierarchy; /* points to view */
    struct hierarchy view; /* copy of the opened hierarchy; up and down exchanged if reversed */
    struct hierarchy_sweep sweep;
    const struct hierarchy_operations *operations;
    size_t element_bytes;
    int32_t above; /* largest finite distance of kind i4; see front_body.h */
    void *local;   /* scratch for the columns and rows of one supernode */
    struct hierarchy_start starts[HIERARCHY_LANES];
    /* These arrays are allocated when rows are first computed, the last three in one block. */
    void *stack; /* distances of a sweep's current vertex and its ancestors, by depth */
    void *block_lanes;
    void *stack_lanes;
    uint32_t *block_order; /* vertices of each run of HIERARCHY_BLOCK positions, ascending */
};

struct hierarchy_operations {
    /* Computes the label of a position from the arc weights: the distances to its ancestors. */
    void (*climb)(const struct hierarchy_search *search, const void *weights, uint32_t from,
                  void *ret_label);
    /* Computes the distance of a pair: the least sum of the two labels' entries for the same
     * ancestor, among the first `common` ancestors. */
    void (*meet)(const void *up_label, const void *down_label, uint32_t common, int32_t above,
                 void *ret_element);
    /* Computes the distances from starts[0] to the vertices of supernodes [begin, end) and writes
     * them into a row indexed by vertex. */
    void (*sweep)(struct hierarchy_search *search, uint32_t begin, uint32_t end, void *ret_row);
    /* Computes the rows of all starts for supernodes [begin, end), from the last supernode to the
     * first, and writes the first `count` rows, one after the other. If ret_rows is NULL, passes
     * blocks of all lanes to sweep.read instead. */
    void (*sweep_lanes)(struct hierarchy_search *search, uint32_t begin, uint32_t end,
                        uint32_t count, void *ret_rows);
};

/* Tables of operations by instruction set and kind; kind u2 has no operations. */
extern const struct hierarchy_operations hierarchy_kernel_portable[KIND_COUNT];
extern const struct hierarchy_operations hierarchy_kernel_avx2[KIND_COUNT];
extern const struct hierarchy_operations hierarchy_kernel_avx512[KIND_COUNT];
