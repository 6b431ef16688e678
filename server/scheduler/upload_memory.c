#include "server/scheduler/upload_memory.h"

#include "server/scheduler/tenants.h"

#define LEVELS (sizeof((struct upload_share){0}.counters) / sizeof(_Atomic uint64_t *))

void upload_memory_init_share(struct upload_share *share, struct upload_memory *memory,
                              struct tenant *tenant, uint32_t address_counter)
{
    *share = (struct upload_share){.memory = memory};
    if (memory == NULL) {
        return;
    }
    /* Multiplying the tenant's number by this odd constant (2^32 divided by the golden ratio) gives
     * an address a different counter for each tenant. */
    const uint32_t number = tenant == NULL ? 0 : tenant->number * UINT32_C(0x9E3779B1);
    _Atomic uint64_t *address =
        &memory->address_bytes[(address_counter + number) % UPLOAD_ADDRESS_COUNTERS];
    share->counters[0] = &memory->taken_bytes;
    share->counters[1] = tenant == NULL ? address : &tenant->upload_bytes;
    share->counters[2] = tenant == NULL ? NULL : address;
}

static uint64_t share_limit(const struct upload_share *share)
{
    return share->memory == NULL
               ? UINT64_MAX
               : share->memory->limit_bytes >> (share->counters[2] == NULL ? 1 : 2);
}

/* Returns the bytes to charge: memory_bytes in whole steps, but at most the client's limit. */
static uint64_t needed_bytes(const struct upload_share *share, uint64_t memory_bytes)
{
    const uint64_t limit = share_limit(share);
    uint64_t needed;
    if (memory_bytes <= UPLOAD_MEMORY_FREE_BYTES) {
        return 0;
    }
    if (__builtin_add_overflow(memory_bytes, UPLOAD_MEMORY_STEP_BYTES - 1, &needed)) {
        return limit;
    }
    needed -= needed % UPLOAD_MEMORY_STEP_BYTES;
    return needed < limit ? needed : limit;
}

enum status upload_memory_admit(const struct upload_share *share, uint64_t memory_bytes,
                                struct problem *reterr)
{
    const uint64_t limit = share_limit(share);
    if (memory_bytes <= UPLOAD_MEMORY_FREE_BYTES || memory_bytes <= limit) {
        return STATUS_OK;
    }
    problem_refuse_limit(
        reterr, STATUS_BODY_TOO_LARGE, (double)limit, (double)memory_bytes, NULL,
        "The upload needs at least %llu bytes of memory, but one upload may use at most %llu.",
        (unsigned long long)memory_bytes, (unsigned long long)limit);
    problem_hint(reterr,
                 "A single client may use at most %s of http.upload_memory. Upload less at a time, "
                 "or ask the operator for a larger limit.",
                 share->counters[2] == NULL ? "half" : "a quarter");
    return STATUS_BODY_TOO_LARGE;
}

static enum status refuse_for_now(const struct upload_share *share, uint64_t memory_bytes,
                                  struct problem *reterr)
{
    return problem_refuse_limit(reterr, STATUS_UPLOAD_MEMORY, (double)share->memory->limit_bytes,
                                (double)memory_bytes,
                                "Retry after the number of seconds in the Retry-After header.",
                                "Uploads in progress use all the memory that this client, or all "
                                "clients together, may use.");
}

static bool fits_limit(uint64_t taken, uint64_t limit, uint64_t more)
{
    return taken <= limit && more <= limit - taken;
}

enum status upload_memory_find_room(const struct upload_share *share, uint64_t memory_bytes,
                                    struct problem *reterr)
{
    const uint64_t needed = needed_bytes(share, memory_bytes);
    for (size_t i = 0; i < LEVELS && share->counters[i] != NULL && needed > share->bytes; i++) {
        if (!fits_limit(atomic_load(share->counters[i]), share->memory->limit_bytes >> i,
                        needed - share->bytes)) {
            return refuse_for_now(share, memory_bytes, reterr);
        }
    }
    return STATUS_OK;
}

static bool charge_counter(_Atomic uint64_t *counter, uint64_t limit, uint64_t more)
{
    uint64_t taken = atomic_load(counter);
    do {
        if (!fits_limit(taken, limit, more)) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(counter, &taken, taken + more));
    return true;
}

enum status upload_memory_charge(struct upload_share *share, uint64_t memory_bytes,
                                 struct problem *reterr)
{
    const uint64_t needed = needed_bytes(share, memory_bytes);
    STATUS_TRY(upload_memory_admit(share, memory_bytes, reterr));
    if (share->memory == NULL || needed <= share->bytes) {
        return STATUS_OK;
    }
    const uint64_t more = needed - share->bytes;
    /* The narrowest counter is first, so that a client at its limit changes no shared counter. */
    size_t level = LEVELS;
    while (level > 0 && (share->counters[level - 1] == NULL ||
                         charge_counter(share->counters[level - 1],
                                        share->memory->limit_bytes >> (level - 1), more))) {
        level--;
    }
    if (level == 0) {
        share->bytes = needed;
        return STATUS_OK;
    }
    for (; level < LEVELS && share->counters[level] != NULL; level++) {
        atomic_fetch_sub(share->counters[level], more);
    }
    return refuse_for_now(share, memory_bytes, reterr);
}

void upload_memory_release(struct upload_share *share)
{
    for (size_t i = 0; i < LEVELS && share->counters[i] != NULL; i++) {
        atomic_fetch_sub(share->counters[i], share->bytes);
    }
    *share = (struct upload_share){0};
}

struct upload_share upload_memory_move(struct upload_share *share)
{
    const struct upload_share moved = *share;
    *share = (struct upload_share){0};
    return moved;
}
