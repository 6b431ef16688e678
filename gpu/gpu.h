/* The NVIDIA device, as the only C header that leaves this folder: valid C17 and C++17, no CUDA
 * type in it.
 *
 * A struct gpu is one device, or a group of devices of this host that solve large graphs together,
 * with streams, events and pinned staging, acquired in gpu_open. It belongs to the thread that uses
 * it. No function here logs or ends the process; a broken context
 * is STATUS_DEVICE_LOST and the process must then be left. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/ranks.h"
#include "proto/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Vertices per tile edge: the pivot block width of the kernels, what a plan for this device uses.
 */
#define GPU_TILE 128
#define GPU_REASON_SIZE 160
/* Devices of a group. */
#define GPU_MEMBERS_MAX SOLVE_DEVICES_MAX

struct gpu;

/* Kind of the error by which a device was lost. The numbers must stay as they are: a worker process
 * exits with them. */
enum gpu_fault {
    GPU_FAULT_NONE = 0,
    GPU_FAULT_OTHER,
    GPU_FAULT_KERNEL,   /* a kernel did what it must not */
    GPU_FAULT_TIMEOUT,  /* a kernel was stopped by the driver */
    GPU_FAULT_HARDWARE, /* memory or a link failed */
    GPU_FAULT_SETUP     /* driver and device do not work together, or are not there */
};

/* Translates an error code of the CUDA runtime: STATUS_OK for 0, STATUS_NO_DEVICE_MEMORY,
 * STATUS_NO_DEVICE where driver and device are not available, else STATUS_DEVICE_LOST: an error
 * that is not known to be harmless counts as sticky. */
MUST_CHECK enum status gpu_fault_status(int code);
/* The kind of an error code of the CUDA runtime. */
enum gpu_fault gpu_fault_of(int code);
/* Keeps the first sticky error of this process, for gpu_fault_noted. Any thread. */
void gpu_fault_note(int code);
enum gpu_fault gpu_fault_noted(void);

struct gpu_device {
    char name[64];
    uint64_t memory_bytes;
    uint64_t memory_free_bytes;
    uint32_t multiprocessors;
    uint32_t clock_mhz;
    uint32_t capability_major;
    uint32_t capability_minor;
};

/* Devices usable by this build. 0 with the reason in words (no driver, no device, ...) when there
 * is none; never fails. */
uint32_t gpu_count(char ret_reason[GPU_REASON_SIZE]);

/* indexes: `count` of the usable devices, up to GPU_MEMBERS_MAX. One of them may come several
 * times, as tests of groups have it: its members share it and its memory. STATUS_NO_DEVICE,
 * STATUS_NO_DEVICE_MEMORY, STATUS_NO_MEMORY, STATUS_DEVICE_LOST. */
MUST_CHECK enum status gpu_open(const uint32_t *indexes, uint32_t count, struct gpu **ret_gpu);
void gpu_close(struct gpu *gpu); /* NULL is accepted */

/* The first of a group, with the memory of all: as many times that of the one that has least. */
void gpu_describe(const struct gpu *gpu, struct gpu_device *ret_device);
uint32_t gpu_member_count(const struct gpu *gpu);

/* From here on each solve is one of all these ranks, which are borrowed, each with a device of its
 * own: they call gpu_solve at the same time with the same graph, plan and options. Only the first
 * has a matrix, and statistics are left to it. A graph that does not keep them busy, or by another
 * plan than the dense one, the first solves alone. All get the same status. NULL: none. */
void gpu_join(struct gpu *gpu, const struct ranks *ranks);
/* Called by all of these at once: from here on their devices send to each other by NCCL, and no
 * longer by way of their hosts. False where that is not there, or cannot. */
bool gpu_connect(struct gpu *gpu);

/* Which way a graph is solved, by its size. Integers do not depend on it, floats by their rounding
 * alone. gpu_open sets what was measured to be fastest; tests and sweeps set other values. */
struct gpu_tuning {
    uint32_t small_vertices;  /* up to here: the whole solve is one cooperative launch */
    uint32_t narrow_vertices; /* from here on: 16 bits, where options->narrow allows it */
    uint32_t pair_vertices;   /* from here on: two pivot tiles per round */
    uint32_t group_vertices;  /* from here on: by all members of a group */
};

void gpu_get_tuning(const struct gpu *gpu, struct gpu_tuning *ret_tuning);
void gpu_set_tuning(struct gpu *gpu, const struct gpu_tuning *tuning);

/* The most device bytes that a solve of n vertices takes, which one of a directed graph in the
 * numbers of its kind does take: the padded matrix, two rounds' panels, what is in transit, and a
 * reserve for the driver. Half the work of undirected graphs and 16-bit numbers take less. members:
 * of the group that solves it; all of them together, each as much as the one that takes most. */
uint64_t gpu_bytes_needed(uint32_t members, uint32_t vertex_count, uint64_t edge_count,
                          enum kind kind);

/* Cost figures of a planned solve, for the planner: from the rates that dense rounds were measured
 * to reach on an H200, scaled to this device's clock. A multiprocessor is a unit. A tile's edge
 * counts in steps, because a warp skips only padding that all of its threads share; so does a
 * product's depth. */
struct gpu_plan_figures {
    uint32_t units;
    uint32_t depth_step; /* pivots */
    uint32_t edge_step;  /* vertices */
    double round_s;      /* its three launches, whatever is in it */
    double product_s;    /* one tile product of full depth, on one unit */
    double touch_s;      /* one tile read and written, on one unit */
};

/* kind: of the result; narrow: computed in 16 bits. */
void gpu_plan_figures(const struct gpu *gpu, enum kind kind, bool narrow,
                      struct gpu_plan_figures *ret_figures);

/* Device memory that a solve may take now on one member, the one that has least. */
uint64_t gpu_free_bytes(const struct gpu *gpu);

/* The most bytes that one of the members takes of a solve by this plan, more than by the dense one
 * where its tiles are padded: whoever planned asks before, and falls back to the dense plan. */
uint64_t gpu_plan_bytes(uint32_t members, const struct plan *plan, uint64_t edge_count,
                        enum kind kind);

/* Solves by blocked Floyd-Warshall into matrix (host storage, n x n, unpadded), by a plan whose
 * tile is GPU_TILE. STATUS_NEGATIVE_CYCLE when a diagonal entry fell below 0 and options do not
 * clamp it, STATUS_CANCELLED, STATUS_NO_DEVICE_MEMORY, STATUS_NO_MEMORY, STATUS_DEVICE_LOST,
 * STATUS_WEIGHT_RANGE when a distance does not fit a u2. */
MUST_CHECK enum status gpu_solve(struct gpu *gpu, const struct graph *graph,
                                 const struct plan *plan, const struct solve_options *options,
                                 const struct observer *observer, struct matrix *matrix,
                                 struct solve_account *account);

#ifdef __cplusplus
}
#endif
