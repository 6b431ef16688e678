#include "gpu/nccl.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The declarations of nccl.h that this file uses, which are the same in every version 2.x. */
#define NCCL_SUCCESS 0
#define NCCL_INT8 0

struct nccl_id {
    char bytes[128];
};

/* Limit on the thread blocks of a broadcast. Blocks that wait for the root occupy multiprocessors
 * that the interior phase could use, and four blocks are fast enough. */
#define BLOCKS_MOST "4"

struct nccl {
    void *library;
    void *comm;
    int (*get_unique_id)(struct nccl_id *id);
    int (*comm_init_rank)(void **comm, int count, struct nccl_id id, int rank);
    int (*broadcast)(const void *from, void *to, size_t count, int type, int root, void *comm,
                     struct CUstream_st *stream);
    int (*comm_abort)(void *comm);
};

static struct nccl *load_nccl(void)
{
    struct nccl *nccl = calloc(1, sizeof(*nccl));
    if (nccl == NULL) {
        return NULL;
    }
    nccl->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (nccl->library != NULL) {
        *(void **)&nccl->get_unique_id = dlsym(nccl->library, "ncclGetUniqueId");
        *(void **)&nccl->comm_init_rank = dlsym(nccl->library, "ncclCommInitRank");
        *(void **)&nccl->broadcast = dlsym(nccl->library, "ncclBroadcast");
        *(void **)&nccl->comm_abort = dlsym(nccl->library, "ncclCommAbort");
    }
    if (nccl->get_unique_id == NULL || nccl->comm_init_rank == NULL || nccl->broadcast == NULL ||
        nccl->comm_abort == NULL) {
        nccl_close(nccl);
        return NULL;
    }
    return nccl;
}

struct nccl *nccl_open(const struct ranks *ranks)
{
    struct nccl_id id = {{0}};
    (void)setenv("NCCL_MAX_CTAS", BLOCKS_MOST, 0);
    struct nccl *nccl = load_nccl();
    bool opened = nccl != NULL;
    if (opened && ranks->rank == 0) {
        opened = nccl->get_unique_id(&id) == NCCL_SUCCESS;
    }
    opened = ranks->highest(ranks->context, !opened) == 0;
    if (opened) {
        ranks_broadcast(ranks, &id, sizeof(id), 0);
        opened = nccl->comm_init_rank(&nccl->comm, (int)ranks->count, id, (int)ranks->rank) ==
                 NCCL_SUCCESS;
        opened = ranks->highest(ranks->context, !opened) == 0;
    }
    if (!opened) {
        nccl_close(nccl);
        return NULL;
    }
    return nccl;
}

void nccl_close(struct nccl *nccl)
{
    if (nccl == NULL) {
        return;
    }
    if (nccl->comm != NULL) {
        (void)nccl->comm_abort(nccl->comm);
    }
    /* The library stays loaded, because its threads may still run. */
    free(nccl);
}

enum status nccl_broadcast(const struct nccl *nccl, void *memory, size_t size, uint32_t root,
                           struct CUstream_st *stream)
{
    const int result =
        nccl->broadcast(memory, memory, size, NCCL_INT8, (int)root, nccl->comm, stream);
    return result == NCCL_SUCCESS ? STATUS_OK : STATUS_DEVICE_LOST;
}
