/* Sends pieces of workspaces between the members of a group. A piece has the same offset in the
 * workspace of every member.
 *
 * The members are either devices of this host, all driven by one thread, or ranks: processes with
 * one device each. Between devices of this host, the sender's stream copies a piece. An event tells
 * the receivers that the piece has arrived; other events tell the sender that the receivers no
 * longer read the memory that the piece overwrites. Between ranks a piece is broadcast, in stream
 * order, through NCCL or the hosts. Every rank makes the same call, whether it sends or receives.
 *
 * If a rank fails between two agreements, group.cuh ends all ranks, because the others would
 * otherwise wait forever. */
#pragma once

#include "gpu/workspace.cuh"

#include <stddef.h>

#define EXCHANGE_ALL UINT32_MAX

/* A member's device, its memory, and the order of its matrix with the member's tile rows. */
struct exchange_member {
    struct gpu *gpu;
    const struct workspace *workspace;
    const struct tile_order *order;
};

struct exchange {
    struct exchange_member members[GPU_MEMBERS_MAX];
    uint32_t count;            /* number of members in this process; a rank has 1 */
    const struct ranks *ranks; /* borrowed; NULL: all members are devices of this host */
};

/* Offsets in struct workspace of the arrays that contain pieces. */
#define EXCHANGE_LEFT offsetof(struct workspace, left)
#define EXCHANGE_RIGHT offsetof(struct workspace, right)
#define EXCHANGE_CLOSED offsetof(struct workspace, closed)

/* A piece: slots [first, first + count) of one array. */
struct exchange_piece {
    size_t array;
    uint32_t parity;
    uint32_t pivot;
    uint64_t slot_bytes;
    uint32_t first;
    uint32_t count;
};

static inline bool exchange_is_alone(const struct exchange *exchange)
{
    return exchange->members[0].order->rows.members == 1;
}

/* Returns the member's index in exchange->members; for another rank, exchange->count or more. */
static inline uint32_t exchange_index(const struct exchange *exchange, uint32_t member)
{
    return member - exchange->members[0].order->rows.member;
}

static inline bool exchange_has(const struct exchange *exchange, uint32_t member)
{
    return exchange_index(exchange, member) < exchange->count;
}

MUST_CHECK static inline enum status exchange_enter(const struct gpu *gpu)
{
    return try_translate(cudaSetDevice(gpu->ordinal));
}

/* Makes the stream of the member at `index` wait for event_of(gpu) of another member of this
 * process, or of all other members (EXCHANGE_ALL). */
template <typename event_of_member>
MUST_CHECK static enum status exchange_await(const struct exchange *exchange, uint32_t index,
                                             uint32_t other, event_of_member event_of)
{
    for (uint32_t i = 0; i < exchange->count; i++) {
        if (i != index && (other == EXCHANGE_ALL || i == other)) {
            GPU_TRY(cudaStreamWaitEvent(exchange->members[index].gpu->stream,
                                        event_of(exchange->members[i].gpu), 0));
        }
    }
    return STATUS_OK;
}

static inline char *exchange_memory(const struct exchange_member *member,
                                    const struct exchange_piece &piece)
{
    typedef void *array[OPERAND_PIVOTS];
    const array *parts = (const array *)((const char *)member->workspace + piece.array);
    return (char *)parts[piece.parity][piece.pivot] + piece.first * piece.slot_bytes;
}

/* Broadcasts device memory through staging buffer 0 of each rank's host, one buffer at a time. */
MUST_CHECK static inline enum status exchange_by_hosts(const struct gpu *gpu,
                                                       const struct ranks *ranks, char *memory,
                                                       uint64_t bytes, uint32_t sender)
{
    for (uint64_t done = 0; done < bytes; done += DEVICE_CHUNK_BYTES) {
        const uint64_t left = bytes - done;
        const uint64_t size = left < DEVICE_CHUNK_BYTES ? left : DEVICE_CHUNK_BYTES;
        if (ranks->rank == sender) {
            GPU_TRY(cudaMemcpyAsync(gpu->staging[0], memory + done, size, cudaMemcpyDeviceToHost,
                                    gpu->stream));
        }
        /* Waits until the sender has filled its staging buffer, or a receiver has emptied it. */
        GPU_TRY(cudaStreamSynchronize(gpu->stream));
        ranks_broadcast(ranks, gpu->staging[0], size, sender);
        if (ranks->rank != sender) {
            GPU_TRY(cudaMemcpyAsync(memory + done, gpu->staging[0], size, cudaMemcpyHostToDevice,
                                    gpu->stream));
        }
    }
    return STATUS_OK;
}

/* Sends a piece from one member to another, or to all others (EXCHANGE_ALL). Between ranks every
 * piece goes to all ranks. */
MUST_CHECK static inline enum status exchange_send(const struct exchange *exchange, uint32_t sender,
                                                   uint32_t receiver,
                                                   const struct exchange_piece &piece)
{
    const uint64_t bytes = piece.count * piece.slot_bytes;
    const uint32_t index = exchange_index(exchange, sender);
    if (bytes == 0 || exchange_is_alone(exchange)) {
        return STATUS_OK;
    }
    if (exchange->ranks != NULL) {
        const struct gpu *gpu = exchange->members[0].gpu;
        char *const memory = exchange_memory(&exchange->members[0], piece);
        return gpu->nccl != NULL ? nccl_broadcast(gpu->nccl, memory, bytes, sender, gpu->stream)
                                 : exchange_by_hosts(gpu, exchange->ranks, memory, bytes, sender);
    }
    const struct exchange_member *own = &exchange->members[index];
    STATUS_TRY(exchange_enter(own->gpu));
    for (uint32_t i = 0; i < exchange->count; i++) {
        if (i != index && (receiver == EXCHANGE_ALL || i == receiver)) {
            GPU_TRY(cudaMemcpyAsync(exchange_memory(&exchange->members[i], piece),
                                    exchange_memory(own, piece), bytes, cudaMemcpyDefault,
                                    own->gpu->stream));
        }
    }
    return STATUS_OK;
}
