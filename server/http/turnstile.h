/* Counts connections: all, and those of each address; and the wrong keys of each address in a
 * minute. Any thread, without a lock: addresses share counters by a hash that nobody outside can
 * foretell, so two seldom count as one, and the memory is the same however many there are. */
#pragma once

#include "proto/status.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct turnstile;

/* The counter of what has no address, of which nothing is counted. */
#define TURNSTILE_UNCOUNTED UINT32_MAX
/* Over which wrong keys are counted. */
#define TURNSTILE_MISS_WINDOW_S 60

enum turnstile_verdict { TURNSTILE_OPEN, TURNSTILE_ADDRESS_FULL, TURNSTILE_FULL };

struct turnstile_rules {
    uint32_t limit;         /* of connections */
    uint32_t address_limit; /* of those of one address; 0 = none */
    uint32_t miss_limit;    /* of wrong keys from one in a window; 0 = none */
};

MUST_CHECK enum status turnstile_create(const struct turnstile_rules *rules,
                                        struct turnstile **ret_turnstile);
void turnstile_destroy(struct turnstile *turnstile);
/* It counts, whatever the verdict. address: other families than IP have no limit of their own;
 * NULL is none. ret_counter goes to turnstile_leave. */
enum turnstile_verdict turnstile_enter(struct turnstile *turnstile, const struct sockaddr *address,
                                       uint32_t *ret_counter);
void turnstile_leave(struct turnstile *turnstile, uint32_t counter);
/* A wrong key has come from the address of this counter. How many seconds its wrong ones are not
 * worth an answer any more; 0: this one is. */
uint32_t turnstile_miss(struct turnstile *turnstile, uint32_t counter, double now_s);
