/* The GPU solver: the only header of this folder that other folders include. It is valid C17 and
 * C++17 and contains no CUDA type.
 *
 * A struct gpu is one device, or a group of devices of this host that solve large graphs together.
 * It owns the streams, events and staging buffers that gpu_open acquires. One thread at a time may
 * use it. No function logs. With ranks (gpu_join) the loss of a device ends all ranks; otherwise an
 * error is a status. After STATUS_DEVICE_LOST the CUDA context is broken, and only a new process
 * can use the device. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/ranks.h"
#include "proto/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Vertices along the edge of a tile: the pivot block width of all kernels except kernel_small.cuh.
 * Plans for a GPU use it. */
#define GPU_TILE 128
#define GPU_REASON_SIZE 160
/* Largest number of devices in a group. */
#define GPU_MEMBERS_MAX SOLVE_DEVICES_MAX

struct gpu;

/* Translates an error code of the CUDA runtime: STATUS_OK for 0, STATUS_NO_DEVICE_MEMORY for a
 * failed allocation, STATUS_NO_DEVICE if the driver or device is not available, otherwise
 * STATUS_DEVICE_LOST: an error that is not known to be harmless counts as sticky. */
MUST_CHECK enum status gpu_fault_status(int code);

struct gpu_device {
    char name[64];
    uint64_t memory_bytes;
    uint64_t memory_free_bytes;
    uint32_t multiprocessors;
    uint32_t clock_mhz;
    uint32_t capability_major;
    uint32_t capability_minor;
};

/* Returns the number of devices that this build can use. If it is 0, ret_reason gives the reason
 * (no driver, no device, ...), else it is empty. Never fails. */
uint32_t gpu_count(char ret_reason[GPU_REASON_SIZE]);

/* Opens `count` usable devices, at most GPU_MEMBERS_MAX, as one group; indexes are below gpu_count.
 * Tests of groups list one device several times: its members then share its memory.
 * STATUS_NO_DEVICE, STATUS_NO_DEVICE_MEMORY, STATUS_NO_MEMORY, STATUS_DEVICE_LOST. */
MUST_CHECK enum status gpu_open(const uint32_t *indexes, uint32_t count, struct gpu **ret_gpu);
void gpu_close(struct gpu *gpu); /* accepts NULL */

/* Describes the first member of a group. The memory is that of the whole group: the member count
 * times the memory of the smallest member. */
void gpu_describe(const struct gpu *gpu, struct gpu_device *ret_device);

/* Makes every later solve a joint solve of these ranks (borrowed). Each rank has its own device,
 * and all ranks call gpu_solve at the same time with the same graph, plan and options. Rank 0 alone
 * receives the rows, and its caller computes the statistics. Rank 0 solves alone if the graph is
 * too small to keep all ranks busy or the plan is not the dense one. All ranks get the same status.
 * NULL ends joint solves. */
void gpu_join(struct gpu *gpu, const struct ranks *ranks);
/* Called by all ranks at the same time: connects their devices by NCCL, so that panels no longer
 * travel through the hosts. Returns false if NCCL is not installed or cannot connect them. */
bool gpu_connect(struct gpu *gpu);

/* Sizes of a graph at which the solver changes its algorithm; these values are the fastest on an
 * H200. Integer results do not depend on them; float results differ only in rounding. */
#define GPU_SMALL_VERTICES 2048
#define GPU_NARROW_VERTICES 4096
#define GPU_PAIR_VERTICES 7168
/* This value is an estimate: at this size a round takes about as long as its panels and copies. */
#define GPU_GROUP_VERTICES 4096
struct gpu_tuning {
    uint32_t small_vertices;  /* up to this size a solve is one cooperative launch */
    uint32_t narrow_vertices; /* smallest size solved in 16 bits, if options->narrow */
    uint32_t pair_vertices;   /* smallest size with two pivot tiles per round */
    uint32_t group_vertices;  /* smallest size that all members of a group share */
};

/* Replaces the sizes above, so that a test can solve small graphs with any of the algorithms. */
void gpu_set_tuning(struct gpu *gpu, const struct gpu_tuning *tuning);

/* Returns an upper bound on the device memory of a solve: the padded matrix, the panels of two
 * rounds, the transfer buffers, the statistics, and a reserve for the driver. The solve of a
 * directed graph reaches it; undirected graphs and 16-bit arithmetic need less. members: size of
 * the group. The result is the member count times the largest need of a member. */
uint64_t gpu_bytes_needed(uint32_t members, uint32_t vertex_count, uint64_t edge_count,
                          enum kind kind);

/* Returns the device memory that a solve may use now on the first member; 0 = unknown. */
uint64_t gpu_free_bytes(const struct gpu *gpu);

/* Returns the device memory that the first member needs to solve by a plan that leaves tiles out.
 * Padding can raise it above that of the dense plan, so the caller checks that it fits, and uses
 * the dense plan otherwise. */
uint64_t gpu_plan_bytes(const struct plan *plan, uint64_t edge_count, enum kind kind);

/* Solves by blocked Floyd-Warshall into matrix (host memory, n x n, unpadded), by a plan whose tile
 * is GPU_TILE. With decimals the device computes the scaled weights, and the host divides the
 * distances while it copies the rows. STATUS_NEGATIVE_CYCLE if a diagonal entry fell below 0,
 * STATUS_CANCELLED, STATUS_NO_DEVICE_MEMORY, STATUS_NO_MEMORY, STATUS_DEVICE_LOST,
 * STATUS_WEIGHT_RANGE if a distance does not fit a u2. */
MUST_CHECK enum status gpu_solve(struct gpu *gpu, const struct graph *graph,
                                 const struct plan *plan, const struct solve_options *options,
                                 const struct observer *observer, struct matrix *matrix,
                                 struct solve_account *account);

#ifdef __cplusplus
}
#endif
