#include "server/http/request/failed_logins.h"

uint32_t failed_logins_count(struct failed_logins *logins, uint32_t counter, double now_s)
{
    const uint64_t window = (uint64_t)(now_s / FAILED_LOGINS_WINDOW_S);
    const double end_s = (double)(window + 1) * FAILED_LOGINS_WINDOW_S;
    unsigned long long seen;
    unsigned long long next;
    if (counter == CONN_LIMITS_NO_ADDRESS || logins->limit == 0) {
        return 0;
    }
    seen = atomic_load(&logins->counters[counter]);
    do {
        next = seen >> 32 == (uint32_t)window ? seen + 1 : window << 32 | 1;
    } while (!atomic_compare_exchange_weak(&logins->counters[counter], &seen, next));
    return (uint32_t)next > logins->limit ? (uint32_t)(end_s - now_s) + 1 : 0;
}
