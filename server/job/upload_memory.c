#include "server/job/upload_memory.h"

#include <string.h>

#define LEVELS (sizeof((struct upload_share){0}.counters) / sizeof(_Atomic uint64_t *))

void upload_memory_init(struct upload_memory *memory, uint64_t limit_bytes)
{
    memset(memory, 0, sizeof(*memory));
    memory->limit_bytes = limit_bytes;
}

void upload_share_init(struct upload_share *share, struct upload_memory *memory,
                       struct tenant *tenant, uint32_t address_counter)
{
    *share = (struct upload_share){.memory = memory};
    if (memory == NULL) {
        return;
    }
    /* The factor spreads an address over the counters, another one for each tenant. */
    const uint32_t number = tenant == NULL ? 0 : tenant->number * UINT32_C(0x9E3779B1);
    _Atomic uint64_t *address =
        &memory->address_bytes[(address_counter + number) % UPLOAD_ADDRESS_COUNTERS];
    share->counters[0] = &memory->taken_bytes;
    share->counters[1] = tenant == NULL ? address : &tenant->upload_bytes;
    share->counters[2] = tenant == NULL ? NULL : address;
}

static uint64_t needed_bytes(uint64_t body_bytes)
{
    uint64_t needed;

    if (body_bytes <= UPLOAD_MEMORY_FREE_BYTES) {
        return 0;
    }
    if (__builtin_mul_overflow(body_bytes, UPLOAD_MEMORY_PER_BYTE, &needed) ||
        __builtin_add_overflow(needed, UPLOAD_MEMORY_STEP_BYTES - 1, &needed)) {
        return UINT64_MAX;
    }
    return needed / UPLOAD_MEMORY_STEP_BYTES * UPLOAD_MEMORY_STEP_BYTES;
}

static bool fits(uint64_t taken, uint64_t limit, uint64_t more)
{
    return taken <= limit && more <= limit - taken;
}

bool upload_share_has_room(const struct upload_share *share, uint64_t body_bytes)
{
    const struct upload_memory *memory = share->memory;
    const uint64_t needed = needed_bytes(body_bytes);

    if (memory == NULL || share->is_excess || needed <= share->bytes ||
        !atomic_load(&memory->has_excess)) {
        return true;
    }
    for (size_t i = 0; i < LEVELS && share->counters[i] != NULL; i++) {
        if (!fits(atomic_load(share->counters[i]), memory->limit_bytes >> i,
                  needed - share->bytes)) {
            return false;
        }
    }
    return true;
}

static bool charge(_Atomic uint64_t *counter, uint64_t limit, uint64_t more)
{
    uint64_t taken = atomic_load(counter);

    do {
        if (!fits(taken, limit, more)) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(counter, &taken, taken + more));
    return true;
}

bool upload_share_take(struct upload_share *share, uint64_t body_bytes)
{
    struct upload_memory *memory = share->memory;
    const uint64_t needed = needed_bytes(body_bytes);

    if (memory == NULL || share->is_excess || needed <= share->bytes) {
        return true;
    }
    const uint64_t more = needed - share->bytes;
    /* The narrowest first: a client at its limit does not touch what others are charged. */
    size_t level = LEVELS;
    while (level > 0 &&
           (share->counters[level - 1] == NULL ||
            charge(share->counters[level - 1], memory->limit_bytes >> (level - 1), more))) {
        level--;
    }
    if (level == 0) {
        share->bytes = needed;
        return true;
    }
    for (; level < LEVELS && share->counters[level] != NULL; level++) {
        atomic_fetch_sub(share->counters[level], more);
    }
    share->is_excess = !atomic_exchange(&memory->has_excess, true);
    return share->is_excess;
}

void upload_share_give_back(struct upload_share *share)
{
    if (share->memory == NULL) {
        return;
    }
    for (size_t i = 0; i < LEVELS && share->counters[i] != NULL; i++) {
        atomic_fetch_sub(share->counters[i], share->bytes);
    }
    if (share->is_excess) {
        atomic_store(&share->memory->has_excess, false);
    }
    *share = (struct upload_share){0};
}

struct upload_share upload_share_move(struct upload_share *share)
{
    const struct upload_share moved = *share;

    *share = (struct upload_share){0};
    return moved;
}
