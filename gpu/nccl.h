/* NCCL sends data directly between the devices of ranks, over NVLink, PCIe or a network. It is not
 * needed to build apspd: libnccl.so.2 is loaded at run time if it is installed. */
#pragma once

#include "proto/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nccl;
struct CUstream_st; /* cudaStream_t points to one */

/* Connects the ranks' devices. All ranks call nccl_open, each with its device as CUDA's current
 * device. Returns NULL on all ranks if one rank has no libnccl.so.2 or the devices cannot be
 * connected, for example because two ranks share a device. */
struct nccl *nccl_open(const struct ranks *ranks);
/* Closes the connection. No broadcast may be queued. Does not wait for other ranks. */
void nccl_close(struct nccl *nccl);

/* Queues a broadcast of `memory` from the device of rank `root` to the devices of all ranks. All
 * ranks make the same calls in the same order; if one rank does not, the devices of the others wait
 * forever. */
MUST_CHECK enum status nccl_broadcast(const struct nccl *nccl, void *memory, size_t size,
                                      uint32_t root, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
