/* NCCL, which sends between the devices of ranks without the hosts: over NVLink, PCIe or a network
 * as it finds them. Nothing of it is needed to build: libnccl.so.2 is loaded when it is there. */
#pragma once

#include "proto/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nccl;
struct CUstream_st; /* cudaStream_t points to one */

/* All ranks call it, each with its device current. NULL on all of them where one has no
 * libnccl.so.2 or their devices cannot be joined: two ranks that share one, above all. */
struct nccl *nccl_open(const struct ranks *ranks);
/* Once nothing is under way. Waits for no other rank. */
void nccl_close(struct nccl *nccl);

/* Queues: the memory of rank `root` on its device becomes that of all ranks on theirs. All call it,
 * in the same order. Where one cannot, the others wait on their devices without end. */
MUST_CHECK enum status nccl_broadcast(const struct nccl *nccl, void *memory, size_t size,
                                      uint32_t root, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
