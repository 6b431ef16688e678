/* Counts connections: all, and those of each address. Any thread, without a lock: addresses share
 * counters by a hash that nobody outside can foretell, so two seldom count as one. */
#pragma once

#include "proto/status.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct turnstile;

enum turnstile_verdict { TURNSTILE_OPEN, TURNSTILE_ADDRESS_FULL, TURNSTILE_FULL };

/* address_limit: 0 = none. */
MUST_CHECK enum status turnstile_create(uint32_t limit, uint32_t address_limit,
                                        struct turnstile **ret_turnstile);
void turnstile_destroy(struct turnstile *turnstile);
/* It counts, whatever the verdict. address: other families than IP have no limit of their own;
 * NULL is none. ret_counter goes to turnstile_leave. */
enum turnstile_verdict turnstile_enter(struct turnstile *turnstile, const struct sockaddr *address,
                                       uint32_t *ret_counter);
void turnstile_leave(struct turnstile *turnstile, uint32_t counter);
