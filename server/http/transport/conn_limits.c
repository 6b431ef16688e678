#include "server/http/transport/conn_limits.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Extracts the bits of an address that are counted: the /64 prefix of an IPv6 address, because one
 * customer owns the whole prefix, and the IPv4 address inside an IPv4-mapped address. Returns false
 * if there is no IP address. */
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

enum conn_verdict conn_limits_enter(struct conn_limits *limits, const struct sockaddr *address,
                                    uint32_t *ret_counter)
{
    uint64_t bits;
    unsigned of_address = 0;
    const unsigned before = atomic_fetch_add(&limits->all, 1);
    *ret_counter = CONN_LIMITS_NO_ADDRESS;
    if (read_address(address, &bits)) {
        *ret_counter = (uint32_t)(XXH3_64bits_withSeed(&bits, sizeof(bits), limits->seed) %
                                  CONN_LIMITS_COUNTERS);
        of_address = atomic_fetch_add(&limits->counters[*ret_counter], 1);
    }
    const bool is_address_full = limits->of_address > 0 && of_address >= limits->of_address;
    if (before >= (uint64_t)limits->connections + limits->refused_connections ||
        (is_address_full && of_address / 2 >= limits->of_address)) {
        return CONN_OVERFLOW;
    }
    if (is_address_full) {
        return CONN_ADDRESS_FULL;
    }
    return before >= limits->connections ? CONN_FULL : CONN_OK;
}

void conn_limits_leave(struct conn_limits *limits, uint32_t counter)
{
    atomic_fetch_sub(&limits->all, 1);
    if (counter != CONN_LIMITS_NO_ADDRESS) {
        atomic_fetch_sub(&limits->counters[counter], 1);
    }
}
