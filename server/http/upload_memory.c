#include "server/http/upload_memory.h"

/* Of what comes in chunks or compressed: taken ahead of the bytes, so that it is seldom asked for.
 */
#define STEP_BYTES (UINT64_C(8) << 20)

void upload_memory_init(struct upload_memory *memory, uint64_t limit_bytes)
{
    memory->limit_bytes = limit_bytes;
    atomic_init(&memory->taken_bytes, 0);
}

static uint64_t needed_bytes(uint64_t body_bytes)
{
    uint64_t needed;

    if (body_bytes <= UPLOAD_MEMORY_FREE_BYTES) {
        return 0;
    }
    if (__builtin_mul_overflow(body_bytes, UPLOAD_MEMORY_PER_BYTE, &needed) ||
        __builtin_add_overflow(needed, STEP_BYTES - 1, &needed)) {
        return UINT64_MAX;
    }
    return needed / STEP_BYTES * STEP_BYTES;
}

bool upload_memory_take(struct upload_memory *memory, uint64_t body_bytes, uint64_t *held)
{
    const uint64_t needed = needed_bytes(body_bytes);

    if (needed <= *held) {
        return true;
    }
    const uint64_t more = needed - *held;
    uint64_t taken = atomic_load(&memory->taken_bytes);
    do {
        const bool is_alone = taken == *held;
        const bool has_room = taken <= memory->limit_bytes && more <= memory->limit_bytes - taken;
        if (more > UINT64_MAX - taken || (!has_room && !is_alone)) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&memory->taken_bytes, &taken, taken + more));
    *held = needed;
    return true;
}

void upload_memory_settle(struct upload_memory *memory, uint64_t body_bytes, uint64_t *held)
{
    const uint64_t needed = needed_bytes(body_bytes);

    if (*held > needed) {
        atomic_fetch_sub(&memory->taken_bytes, *held - needed);
        *held = needed;
    }
}

void upload_memory_give_back(struct upload_memory *memory, uint64_t *held)
{
    atomic_fetch_sub(&memory->taken_bytes, *held);
    *held = 0;
}
