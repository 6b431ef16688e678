/* The device memory of one solve: a single allocation, divided into parts before the solve. */
#pragma once

#include "gpu/device.cuh"
#include "gpu/kernel_statistics.cuh"
#include "gpu/schedule.h"
#include "gpu/semiring.cuh"

#include <string.h>

/* Largest size of an edge during its upload: a 4-byte target and a double as weight. */
#define WORKSPACE_EDGE_BYTES 12
/* Alignment of the parts, sufficient for bulk copies and 16-byte accesses. */
#define WORKSPACE_ALIGNMENT 256
/* Sets of operands: the panels of one round are read while those of the next are computed. */
#define WORKSPACE_PARITIES 2

/* Parameters that determine the size of every part of the workspace. */
struct workspace_shape {
    uint32_t vertex_count;
    uint64_t edge_count;
    uint32_t tile_count;    /* number of tiles along the edge of the matrix */
    struct tile_rows rows;  /* tile rows on this device */
    uint64_t list_bytes;    /* size of the lists of a plan that omits tiles */
    uint32_t element_bytes; /* size of a matrix element */
    uint32_t word_bytes;    /* size of an operand word */
    uint32_t result_bytes;  /* size of a result element */
    uint32_t right_blocks;  /* from operand_right_blocks; 0: left blocks serve as right blocks */
    uint32_t left_slots;    /* number of left tiles in a set of operands */
    uint32_t right_slots;   /* number of right tiles in a set of operands */
    uint32_t parities;      /* number of sets of operands, one per round in flight */
    uint32_t pivots;        /* number of pivot tiles per round; 0: no operands */
};

struct workspace_layout {
    uint64_t stride; /* number of elements per row: tile_count * GPU_TILE */
    uint64_t matrix_bytes;
    uint64_t left_bytes;    /* size of the left panels of one set of operands */
    uint64_t right_bytes;   /* size of the right panels of one set of operands */
    uint64_t closed_bytes;  /* size of a closed diagonal tile; 0 on a single device */
    uint64_t operand_bytes; /* size of all sets of operands and closed tiles */
    uint64_t offset_bytes;  /* size of the graph's row_offset */
    uint64_t list_bytes;
    uint64_t chunk_bytes; /* size of each of the DEVICE_CHUNKS buffers */
    uint64_t statistics_bytes;
    uint64_t total_bytes;
};

static inline uint64_t workspace_align(uint64_t bytes)
{
    return (bytes + WORKSPACE_ALIGNMENT - 1) / WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
}

/* Sets the shape for the dense plan: each round has a panel for every tile row and tile column. */
static inline void workspace_set_dense(struct workspace_shape *shape, uint32_t vertex_count,
                                       uint32_t pivots, uint32_t members, uint32_t member)
{
    shape->vertex_count = vertex_count;
    shape->tile_count = (uint32_t)(((uint64_t)vertex_count + GPU_TILE - 1) / GPU_TILE);
    shape->rows = tile_rows_deal(members, member, shape->tile_count);
    shape->list_bytes = 0;
    shape->left_slots = shape->rows.members * shape->rows.most;
    shape->right_slots = shape->left_slots;
    shape->parities = WORKSPACE_PARITIES;
    shape->pivots = pivots;
}

/* Sets the shape for a plan that omits tiles, with operands for the round with the most panels. */
static inline void workspace_set_planned(struct workspace_shape *shape, const struct plan *plan)
{
    shape->vertex_count = plan->vertex_count;
    shape->tile_count = plan->tile_count;
    shape->rows = tile_rows_deal(1, 0, plan->tile_count);
    shape->list_bytes = schedule_bytes_most(plan, WORKSPACE_ALIGNMENT);
    schedule_slots(plan, &shape->left_slots, &shape->right_slots);
    shape->parities = 1;
    shape->pivots = 1;
}

/* Computes the size of each part. Returns false if a row does not fit in a chunk; the matrix is
 * then larger than the memory of any device. For smaller graphs no size overflows. */
static inline bool workspace_plan(const struct workspace_shape *shape,
                                  struct workspace_layout *ret_layout)
{
    struct workspace_layout layout;
    const uint64_t n = shape->vertex_count;
    layout.stride = (uint64_t)shape->tile_count * GPU_TILE;
    if (layout.stride * sizeof(double) > DEVICE_CHUNK_BYTES) {
        return false;
    }
    layout.matrix_bytes =
        workspace_align((uint64_t)tile_rows_count(shape->rows, shape->tile_count) * GPU_TILE *
                        layout.stride * shape->element_bytes);
    layout.left_bytes =
        operand_words(shape->left_slots, GPU_TILE / OPERAND_WORDS) * shape->word_bytes;
    layout.right_bytes = operand_words(shape->right_slots, shape->right_blocks) * shape->word_bytes;
    layout.closed_bytes =
        shape->rows.members > 1 ? (uint64_t)GPU_TILE * GPU_TILE * shape->element_bytes : 0;
    layout.offset_bytes = workspace_align((n + 1) * sizeof(uint64_t));
    layout.list_bytes = workspace_align(shape->list_bytes);
    /* Size of a chunk: enough for all edges and all result rows, but at most a staging buffer. */
    const uint64_t result_bytes = n * n * shape->result_bytes;
    const uint64_t edge_bytes = shape->edge_count < DEVICE_CHUNK_BYTES / WORKSPACE_EDGE_BYTES
                                    ? shape->edge_count * WORKSPACE_EDGE_BYTES
                                    : DEVICE_CHUNK_BYTES;
    const uint64_t most = edge_bytes > result_bytes ? edge_bytes : result_bytes;
    layout.chunk_bytes = workspace_align(most < DEVICE_CHUNK_BYTES ? most : DEVICE_CHUNK_BYTES);
    layout.statistics_bytes = workspace_align(statistics_workspace_bytes(shape->vertex_count));
    layout.operand_bytes = (uint64_t)shape->parities * shape->pivots *
                           (layout.left_bytes + layout.right_bytes + layout.closed_bytes);
    layout.total_bytes = layout.matrix_bytes + layout.operand_bytes + layout.offset_bytes +
                         layout.list_bytes + DEVICE_CHUNKS * layout.chunk_bytes +
                         layout.statistics_bytes;
    *ret_layout = layout;
    return true;
}

/* Addresses of the parts in device memory. A zeroed struct is empty. */
struct workspace {
    struct workspace_layout layout;
    void *matrix;
    void *left[WORKSPACE_PARITIES][OPERAND_PIVOTS];
    void *right[WORKSPACE_PARITIES][OPERAND_PIVOTS];
    void *closed[WORKSPACE_PARITIES][OPERAND_PIVOTS]; /* closed diagonal tile, in a group */
    uint64_t *row_offset;
    void *lists;
    void *chunk[DEVICE_CHUNKS];
    void *statistics;
};

template <typename semiring>
static tile_matrix<typename semiring::element> workspace_matrix(const struct workspace *workspace)
{
    return {(typename semiring::element *)workspace->matrix, workspace->layout.stride};
}

/* Returns the operands that are made from one pivot tile of a round. */
template <typename semiring>
static operand<typename semiring::word> workspace_operand(const struct workspace *workspace,
                                                          uint32_t round, uint32_t pivot)
{
    const uint32_t parity = round % WORKSPACE_PARITIES;
    return {(typename semiring::word *)workspace->left[parity][pivot],
            (typename semiring::word *)workspace->right[parity][pivot]};
}

static inline void *workspace_cut(char **rest, uint64_t bytes)
{
    void *const part = *rest;
    *rest += bytes;
    return part;
}

/* Divides the device's arena, which grows if necessary, into the parts of the workspace. */
MUST_CHECK static inline enum status
workspace_acquire(struct gpu *gpu, const struct workspace_shape *shape, struct workspace *workspace)
{
    const struct workspace_layout *layout = &workspace->layout;
    if (gpu->arena_bytes < layout->total_bytes) {
        (void)cudaFree(gpu->arena);
        gpu->arena = NULL;
        gpu->arena_bytes = 0;
        GPU_TRY(cudaMalloc(&gpu->arena, layout->total_bytes));
        gpu->arena_bytes = layout->total_bytes;
    }
    char *rest = (char *)gpu->arena;
    workspace->matrix = workspace_cut(&rest, layout->matrix_bytes);
    for (uint32_t parity = 0; parity < shape->parities; parity++) {
        for (uint32_t pivot = 0; pivot < shape->pivots; pivot++) {
            void *const left = workspace_cut(&rest, layout->left_bytes);
            workspace->left[parity][pivot] = left;
            workspace->right[parity][pivot] =
                shape->right_blocks > 0 ? workspace_cut(&rest, layout->right_bytes) : left;
            workspace->closed[parity][pivot] = workspace_cut(&rest, layout->closed_bytes);
        }
    }
    workspace->row_offset = (uint64_t *)workspace_cut(&rest, layout->offset_bytes);
    workspace->lists = workspace_cut(&rest, layout->list_bytes);
    for (uint32_t i = 0; i < DEVICE_CHUNKS; i++) {
        workspace->chunk[i] = workspace_cut(&rest, layout->chunk_bytes);
    }
    workspace->statistics = workspace_cut(&rest, layout->statistics_bytes);
    return STATUS_OK;
}

/* Frees the arena if it is larger than DEVICE_KEPT_BYTES. No kernel may be running. Errors are
 * ignored, because the device may be lost. */
static inline void workspace_release(struct gpu *gpu)
{
    if (gpu->arena_bytes > DEVICE_KEPT_BYTES) {
        (void)cudaFree(gpu->arena);
        gpu->arena = NULL;
        gpu->arena_bytes = 0;
    }
}
