#include "server/http/turnstile.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COUNTERS 65536u
/* No counter: an address that is not counted. */
#define UNCOUNTED COUNTERS

struct turnstile {
    uint32_t limit;
    uint32_t address_limit;
    uint64_t seed;
    atomic_uint all;
    atomic_uint counters[COUNTERS];
};

enum status turnstile_create(uint32_t limit, uint32_t address_limit,
                             struct turnstile **ret_turnstile)
{
    struct turnstile *turnstile = calloc(1, sizeof *turnstile);

    if (turnstile == NULL ||
        getrandom(&turnstile->seed, sizeof turnstile->seed, 0) != sizeof turnstile->seed) {
        free(turnstile);
        return STATUS_NO_MEMORY;
    }
    turnstile->limit = limit;
    turnstile->address_limit = address_limit;
    *ret_turnstile = turnstile;
    return STATUS_OK;
}

void turnstile_destroy(struct turnstile *turnstile)
{
    free(turnstile);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Whoever has one address of IPv6 has its /64. One of IPv4 written as IPv6 is the one of IPv4. */
static bool read_address(const struct sockaddr *address, uint64_t *ret_bits)
{
    *ret_bits = 0;
    if (address != NULL && address->sa_family == AF_INET) {
        memcpy(ret_bits, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return true;
    }
    if (address != NULL && address->sa_family == AF_INET6) {
        const struct in6_addr *v6 =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        const bool is_mapped = IN6_IS_ADDR_V4MAPPED(v6);

        memcpy(ret_bits, v6->s6_addr + (is_mapped ? 12 : 0), is_mapped ? 4 : 8);
        return true;
    }
    return false;
}

enum turnstile_verdict turnstile_enter(struct turnstile *turnstile, const struct sockaddr *address,
                                       uint32_t *ret_counter)
{
    uint64_t bits;
    unsigned of_address = 0;
    const unsigned before = atomic_fetch_add(&turnstile->all, 1);

    *ret_counter = UNCOUNTED;
    if (turnstile->address_limit > 0 && read_address(address, &bits)) {
        *ret_counter = (uint32_t)(mix(mix(bits + turnstile->seed) ^ turnstile->seed) % COUNTERS);
        of_address = atomic_fetch_add(&turnstile->counters[*ret_counter], 1);
    }
    if (of_address >= turnstile->address_limit && *ret_counter != UNCOUNTED) {
        return TURNSTILE_ADDRESS_FULL;
    }
    return before >= turnstile->limit ? TURNSTILE_FULL : TURNSTILE_OPEN;
}

void turnstile_leave(struct turnstile *turnstile, uint32_t counter)
{
    atomic_fetch_sub(&turnstile->all, 1);
    if (counter != UNCOUNTED) {
        atomic_fetch_sub(&turnstile->counters[counter], 1);
    }
}
