#include "server/http/transport/limits.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>

/* States of a TCP connection, from the kernel's tcp_states.h: linux/tcp.h does not name them. */
#define STATE_CLOSE 7
#define STATE_CLOSE_WAIT 8
#define STATE_LAST_ACK 9

#define COUNTERS 65536u
/* Between two checks libmicrohttpd reads whatever it has room for. */
#define FULL_CHECKS 4

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

/* ---- Deadlines ---- */

void limits_start_phase(struct deadlines *deadlines, enum conn_phase phase, double now_s)
{
    deadlines->phase = phase;
    deadlines->since_s = now_s;
    deadlines->checked_s = -1;
    deadlines->produced = 0;
    deadlines->full_count = 0;
    if (phase == PHASE_HEADERS) {
        deadlines->whole = 0;
    }
}

/* False for a socket of another kind. */
static bool read_tcp_info(int descriptor, struct tcp_info *ret_info)
{
    socklen_t size = sizeof(*ret_info);

    memset(ret_info, 0, sizeof(*ret_info));
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, ret_info, &size) == 0;
}

bool limits_peer_has_left(int descriptor)
{
    struct tcp_info info;

    return read_tcp_info(descriptor, &info) &&
           (info.tcpi_state == STATE_CLOSE || info.tcpi_state == STATE_CLOSE_WAIT ||
            info.tcpi_state == STATE_LAST_ACK);
}

bool limits_is_sending(int descriptor)
{
    struct tcp_info info;

    return read_tcp_info(descriptor, &info) &&
           (info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0);
}

bool limits_is_stuck(struct deadlines *deadlines, int descriptor)
{
    int unread = 0;
    const bool is_full = deadlines->phase == PHASE_BODY && deadlines->checked_s >= 0 &&
                         deadlines->received == deadlines->counted &&
                         ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0;

    deadlines->full_count = is_full ? deadlines->full_count + 1 : 0;
    return deadlines->full_count == FULL_CHECKS;
}

bool limits_is_late(struct deadlines *deadlines, const struct deadline_rules *rules, int descriptor,
                    double now_s)
{
    const bool in_body = deadlines->phase == PHASE_BODY;
    const double most_s = in_body ? rules->header_s : rules->stall_s;
    uint64_t moved = in_body ? deadlines->received : deadlines->produced;
    bool has_left = false;
    struct tcp_info info;

    if (deadlines->phase == PHASE_HANDLER ||
        (deadlines->phase == PHASE_HEADERS && now_s - deadlines->since_s <= rules->header_s)) {
        return false;
    }
    if (read_tcp_info(descriptor, &info)) {
        const bool is_sending = info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0;

        /* The end of the last answer may still be on its way: it has its own deadline. */
        if (deadlines->phase == PHASE_HEADERS && !is_sending) {
            return true;
        }
        if (deadlines->phase == PHASE_ANSWER && !is_sending) {
            deadlines->checked_s = -1;
            return false;
        }
        moved = in_body ? moved : info.tcpi_bytes_acked;
        /* libmicrohttpd 0.9.75 overlooks the end of a connection that came with the last bytes. */
        has_left = in_body && info.tcpi_state == STATE_CLOSE_WAIT;
    } else if (deadlines->phase == PHASE_HEADERS) {
        return true;
    } else if (deadlines->phase == PHASE_ANSWER && deadlines->produced == 0) {
        deadlines->checked_s = deadlines->checked_s < 0 ? now_s : deadlines->checked_s;
        return deadlines->whole > 0 && rules->rate_floor > 0 &&
               now_s - deadlines->checked_s >
                   rules->stall_s + (double)deadlines->whole / (double)rules->rate_floor;
    }
    if (deadlines->checked_s < 0) {
        deadlines->credit_s = most_s;
    } else {
        const uint64_t bytes = moved - deadlines->counted;

        if (has_left && deadlines->had_left && bytes == 0) {
            return true;
        }
        deadlines->credit_s -= now_s - deadlines->checked_s;
        if (rules->rate_floor > 0) {
            deadlines->credit_s += (double)bytes / (double)rules->rate_floor;
        }
        deadlines->credit_s = deadlines->credit_s < most_s ? deadlines->credit_s : most_s;
    }
    deadlines->checked_s = now_s;
    deadlines->counted = moved;
    deadlines->had_left = has_left;
    return rules->rate_floor > 0 && deadlines->credit_s < 0;
}
