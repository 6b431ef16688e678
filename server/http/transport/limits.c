#include "server/http/transport/limits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COUNTERS 65536u

struct limits {
    struct limits_rules rules;
    uint64_t seed;
    atomic_uint all;
    atomic_uint counters[COUNTERS];
    atomic_ullong failures[COUNTERS]; /* the number of the window; in the low 32 bits, its count */
};

enum status limits_create(const struct limits_rules *rules, struct limits **ret_limits)
{
    struct limits *limits = calloc(1, sizeof(*limits));

    if (limits == NULL ||
        getrandom(&limits->seed, sizeof(limits->seed), 0) != sizeof(limits->seed)) {
        free(limits);
        return STATUS_NO_MEMORY;
    }
    limits->rules = *rules;
    *ret_limits = limits;
    return STATUS_OK;
}

void limits_destroy(struct limits *limits)
{
    free(limits);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* An IPv6 address counts as its /64, which one customer has; an IPv4-mapped one as the IPv4 one. */
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

enum limits_verdict limits_enter(struct limits *limits, const struct sockaddr *address,
                                 uint32_t *ret_counter)
{
    const struct limits_rules *rules = &limits->rules;
    uint64_t bits;
    unsigned of_address = 0;
    const unsigned before = atomic_fetch_add(&limits->all, 1);

    *ret_counter = LIMITS_NO_ADDRESS;
    if (read_address(address, &bits)) {
        *ret_counter = (uint32_t)(mix(mix(bits + limits->seed) ^ limits->seed) % COUNTERS);
        of_address = atomic_fetch_add(&limits->counters[*ret_counter], 1);
    }
    const bool is_address_full = rules->of_address > 0 && of_address >= rules->of_address;
    if (before >= (uint64_t)rules->connections + rules->refused_connections ||
        (is_address_full && of_address / 2 >= rules->of_address)) {
        return LIMITS_OVERFLOW;
    }
    if (is_address_full) {
        return LIMITS_ADDRESS_FULL;
    }
    return before >= rules->connections ? LIMITS_FULL : LIMITS_OK;
}

void limits_leave(struct limits *limits, uint32_t counter)
{
    atomic_fetch_sub(&limits->all, 1);
    if (counter != LIMITS_NO_ADDRESS) {
        atomic_fetch_sub(&limits->counters[counter], 1);
    }
}

uint32_t limits_login_failed(struct limits *limits, uint32_t counter, double now_s)
{
    const uint64_t window = (uint64_t)(now_s / LIMITS_LOGIN_WINDOW_S);
    const double end_s = (double)(window + 1) * LIMITS_LOGIN_WINDOW_S;
    unsigned long long seen;
    unsigned long long next;

    if (counter == LIMITS_NO_ADDRESS || limits->rules.failed_logins == 0) {
        return 0;
    }
    seen = atomic_load(&limits->failures[counter]);
    do {
        next = seen >> 32 == (uint32_t)window ? seen + 1 : window << 32 | 1;
    } while (!atomic_compare_exchange_weak(&limits->failures[counter], &seen, next));
    return (uint32_t)next > limits->rules.failed_logins ? (uint32_t)(end_s - now_s) + 1 : 0;
}
