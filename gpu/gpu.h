/* The GPU solver. Other folders include only this header of the folder, which is valid C17 and
 * C++17 and contains no type of CUDA.
 *
 * A struct gpu is one device, or a group of devices of this host that solve large graphs together.
 * It owns the streams, events and staging buffers that gpu_open acquires. One thread at a time may
 * use it. No function logs. With ranks (gpu_join) the loss of a device ends all ranks; otherwise an
 * error is a status. After STATUS_DEVICE_LOST only a new process can use the device. */
#pragma once

#include "proto/graph.h"
#include "proto/matrix.h"
#include "proto/plan.h"
#include "proto/ranks.h"
#include "proto/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of vertices along the edge of a tile in plans and in all kernels but kernel_small.cuh. */
#define GPU_TILE 128
#define GPU_REASON_SIZE 160
/* Largest number of devices in a group. */
#define GPU_MEMBERS_MAX SOLVE_DEVICES_MAX

struct gpu;

/* Translates an error code of the CUDA runtime: STATUS_OK for 0, STATUS_NO_DEVICE_MEMORY for a
 * failed allocation, STATUS_NO_DEVICE if the driver or device is not available. Any other error may
 * have broken the CUDA context, so it becomes STATUS_DEVICE_LOST. */
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
 * (no driver, no device, ...); otherwise ret_reason is empty. Never fails. */
uint32_t gpu_count(char ret_reason[GPU_REASON_SIZE]);

/* Opens `count` usable devices, at most GPU_MEMBERS_MAX, as one group. The indexes are below
 * gpu_count. A test may list one device several times; members on one device share its memory.
 * STATUS_NO_DEVICE, STATUS_NO_DEVICE_MEMORY, STATUS_NO_MEMORY, STATUS_DEVICE_LOST. */
MUST_CHECK enum status gpu_open(const uint32_t *indexes, uint32_t count, struct gpu **ret_gpu);
void gpu_close(struct gpu *gpu); /* accepts NULL */

/* Describes the first member of a group. Only the memory is that of the whole group: the member
 * count times the memory of the smallest member. */
void gpu_describe(const struct gpu *gpu, struct gpu_device *ret_device);

/* Makes every later solve a joint solve of these ranks, which are borrowed. Each rank has its own
 * device, and all ranks call gpu_solve at the same time with the same graph, plan and options. Only
 * rank 0 receives the rows; its caller computes the statistics. Rank 0 solves alone if the graph is
 * too small to keep all ranks busy or the plan is not dense. All ranks get the same status. If
 * ranks is NULL, later solves are not joint. */
void gpu_join(struct gpu *gpu, const struct ranks *ranks);
/* Connects the devices of the ranks by NCCL, so that panels are not sent through the hosts. All
 * ranks call it at the same time. Returns false if NCCL is missing or cannot connect them. */
bool gpu_connect(struct gpu *gpu);

/* Numbers of vertices at which the solver changes its algorithm. These values are the fastest on an
 * H200. Integer results do not depend on them; float results differ only in rounding. */
#define GPU_SMALL_VERTICES 2048
#define GPU_NARROW_VERTICES 4096
#define GPU_PAIR_VERTICES 7168
/* Estimated vertex count at which a round takes as long as computing and sending its panels. */
#define GPU_GROUP_VERTICES 4096
struct gpu_tuning {
    uint32_t small_vertices;  /* largest size solved in one cooperative launch */
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

/* Returns the bytes of device memory that a solve may use now on the first member; 0 = unknown. */
uint64_t gpu_free_bytes(const struct gpu *gpu);

/* Returns the device memory that the first member needs to solve by a plan that omits tiles.
 * Because of padding, such a plan may need more memory than the dense plan, so the caller uses it
 * only if it fits. */
uint64_t gpu_plan_bytes(const struct plan *plan, uint64_t edge_count, enum kind kind);

/* Computes the matrix (host memory, n x n, unpadded) by blocked Floyd-Warshall, with a plan whose
 * tile is GPU_TILE. If decimals > 0, the device computes scaled integers, and the host divides them
 * as it copies rows. STATUS_NEGATIVE_CYCLE if a diagonal entry fell below 0, STATUS_CANCELLED,
 * STATUS_NO_DEVICE_MEMORY, STATUS_NO_MEMORY, STATUS_DEVICE_LOST, STATUS_WEIGHT_RANGE if a distance
 * does not fit a u2. */
MUST_CHECK enum status gpu_solve(struct gpu *gpu, const struct graph *graph,
                                 const struct plan *plan, const struct solve_options *options,
                                 const struct observer *observer, struct matrix *matrix,
                                 struct solve_account *account);

#ifdef __cplusplus
}
#endif
