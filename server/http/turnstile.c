#include "server/http/turnstile.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COUNTERS 65536u

struct turnstile {
    struct turnstile_rules rules;
    uint64_t seed;
    atomic_uint all;
    atomic_uint counters[COUNTERS];
    atomic_ullong misses[COUNTERS]; /* the window's number, and in the low 32 bits how many in it */
};

enum status turnstile_create(const struct turnstile_rules *rules, struct turnstile **ret_turnstile)
{
    struct turnstile *turnstile = calloc(1, sizeof *turnstile);

    if (turnstile == NULL ||
        getrandom(&turnstile->seed, sizeof turnstile->seed, 0) != sizeof turnstile->seed) {
        free(turnstile);
        return STATUS_NO_MEMORY;
    }
    turnstile->rules = *rules;
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
    const struct turnstile_rules *rules = &turnstile->rules;
    uint64_t bits;
    unsigned of_address = 0;
    const unsigned before = atomic_fetch_add(&turnstile->all, 1);

    *ret_counter = TURNSTILE_UNCOUNTED;
    if (read_address(address, &bits)) {
        *ret_counter = (uint32_t)(mix(mix(bits + turnstile->seed) ^ turnstile->seed) % COUNTERS);
        of_address = atomic_fetch_add(&turnstile->counters[*ret_counter], 1);
    }
    if (rules->address_limit > 0 && of_address >= rules->address_limit) {
        return TURNSTILE_ADDRESS_FULL;
    }
    return before >= rules->limit ? TURNSTILE_FULL : TURNSTILE_OPEN;
}

void turnstile_leave(struct turnstile *turnstile, uint32_t counter)
{
    atomic_fetch_sub(&turnstile->all, 1);
    if (counter != TURNSTILE_UNCOUNTED) {
        atomic_fetch_sub(&turnstile->counters[counter], 1);
    }
}

uint32_t turnstile_miss(struct turnstile *turnstile, uint32_t counter, double now_s)
{
    const uint64_t window = (uint64_t)(now_s / TURNSTILE_MISS_WINDOW_S);
    const double end_s = (double)(window + 1) * TURNSTILE_MISS_WINDOW_S;
    unsigned long long seen;
    unsigned long long next;

    if (counter == TURNSTILE_UNCOUNTED || turnstile->rules.miss_limit == 0) {
        return 0;
    }
    seen = atomic_load(&turnstile->misses[counter]);
    do {
        next = seen >> 32 == (uint32_t)window ? seen + 1 : window << 32 | 1;
    } while (!atomic_compare_exchange_weak(&turnstile->misses[counter], &seen, next));
    return (uint32_t)next > turnstile->rules.miss_limit ? (uint32_t)(end_s - now_s) + 1 : 0;
}
