/* After a symmetric solve, fills the tiles above the diagonal with the transposed tiles below it.
 * The diagonal tiles are already complete.
 *
 * One launch on each member mirrors the pairs of tiles that are both in its own tile rows. For
 * other pairs, a member transposes its tile rows one by one into the memory of its left operands,
 * which the rounds no longer use. Then it sends each member the tiles of that member's rows. */
#pragma once

#include "gpu/exchange.cuh"
#include "gpu/kernel_mirror.cuh"

/* Sends the transposed tiles of one tile row from its owner to the members that will store them. */
template <typename semiring>
MUST_CHECK static enum status mirror_send_row(const struct exchange *exchange, uint32_t row)
{
    typedef typename semiring::element element;
    const struct tile_rows dealt = exchange->members[0].order->rows;
    const uint32_t owner = tile_rows_owner(dealt, row);
    const uint32_t index = exchange_index(exchange, owner);
    const uint32_t parity = row % WORKSPACE_PARITIES;
    if (exchange_has(exchange, owner)) {
        const struct exchange_member *own = &exchange->members[index];
        STATUS_TRY(exchange_enter(own->gpu));
        STATUS_TRY(mirror_pack_launch(workspace_matrix<semiring>(own->workspace), own->order->rows,
                                      row, (element *)own->workspace->left[parity][0],
                                      own->gpu->stream));
    }
    for (uint32_t member = 0; member < dealt.members; member++) {
        const uint32_t count = tile_rows_count(tile_rows_of(dealt, member), row);
        if (member != owner) {
            STATUS_TRY(
                exchange_send(exchange, owner, exchange_index(exchange, member),
                              {EXCHANGE_LEFT, parity, 0, GPU_TILE * GPU_TILE * sizeof(element),
                               member * dealt.most, count}));
        }
    }
    return STATUS_OK;
}

/* Mirrors one tile row across members. Between devices of one host the sender's stream copies the
 * tiles; ranks receive them in their own stream. A second stream unpacks the tiles, so that members
 * that send at the same time do not wait for each other. A sender waits until the previous row in
 * the same memory has been unpacked. */
template <typename semiring>
MUST_CHECK static enum status mirror_row(const struct exchange *exchange, uint32_t row)
{
    const uint32_t owner =
        exchange_index(exchange, tile_rows_owner(exchange->members[0].order->rows, row));
    const uint32_t sender = exchange->ranks != NULL ? 0 : owner;
    const struct gpu *sending = exchange->members[sender].gpu;
    const uint32_t slot = row % DEVICE_ROUND_EVENTS;
    const uint32_t before = (row - WORKSPACE_PARITIES) % DEVICE_ROUND_EVENTS;
    for (uint32_t i = 0; i < exchange->count && row > WORKSPACE_PARITIES; i++) {
        GPU_TRY(
            cudaStreamWaitEvent(sending->stream, exchange->members[i].gpu->panels_done[before], 0));
    }
    STATUS_TRY(mirror_send_row<semiring>(exchange, row));
    STATUS_TRY(exchange_enter(sending));
    GPU_TRY(cudaEventRecord(sending->sent[slot][0], sending->stream));
    for (uint32_t i = 0; i < exchange->count; i++) {
        const struct exchange_member *own = &exchange->members[i];
        const auto *const received =
            (const typename semiring::element *)own->workspace->left[row % WORKSPACE_PARITIES][0];
        STATUS_TRY(exchange_enter(own->gpu));
        if (i != owner) {
            GPU_TRY(cudaStreamWaitEvent(own->gpu->half[0], sending->sent[slot][0], 0));
            STATUS_TRY(mirror_unpack_launch(workspace_matrix<semiring>(own->workspace),
                                            own->order->rows, row, received, own->gpu->half[0]));
        }
        GPU_TRY(cudaEventRecord(own->gpu->panels_done[slot], own->gpu->half[0]));
    }
    return STATUS_OK;
}

/* Mirrors the whole matrix. On return the last operations are queued in each member's stream. */
template <typename semiring>
MUST_CHECK static enum status mirror_run(const struct exchange *exchange, uint32_t tile_count)
{
    const uint32_t last = tile_count - 1;
    for (uint32_t i = 0; i < exchange->count; i++) {
        const struct exchange_member *own = &exchange->members[i];
        STATUS_TRY(exchange_enter(own->gpu));
        STATUS_TRY(mirror_launch(workspace_matrix<semiring>(own->workspace), *own->order,
                                 own->gpu->stream));
    }
    for (uint32_t row = 1; row <= last && !exchange_is_alone(exchange); row++) {
        STATUS_TRY(mirror_row<semiring>(exchange, row));
    }
    for (uint32_t i = 0; i < exchange->count && !exchange_is_alone(exchange); i++) {
        const struct gpu *gpu = exchange->members[i].gpu;
        GPU_TRY(cudaStreamWaitEvent(gpu->stream, gpu->panels_done[last % DEVICE_ROUND_EVENTS], 0));
    }
    return STATUS_OK;
}
