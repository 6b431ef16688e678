/* The memory budget of uploads (http.upload_memory), for graphs and lists of changes that are being
 * received.
 *
 * An upload is charged for the memory of the part that has arrived, rounded up to a step, never for
 * its declared length, so a client that declares a large body or stops sending takes nothing from
 * others. A tenant may be charged half of the budget, and an address half of its tenant's limit;
 * without keys an address may be charged half of the budget. So no single client can lock out the
 * others. An upload that needs more than the limit of its address is refused permanently (413); an
 * upload that does not fit next to the current uploads is refused temporarily (429).
 *
 * The HTTP server owns the budget. Any thread, without a lock. */
#pragma once

#include "proto/problem.h"

#include <stdatomic.h>
#include <stdint.h>

struct tenant;

/* Uncharged bytes of each upload, so that graphs of several thousand edges are always accepted. */
#define UPLOAD_MEMORY_FREE_BYTES (UINT64_C(256) << 10)
/* Granularity of charging: one update of the counters per MiB costs nothing compared to reading the
 * body, and a larger step would let idle connections reserve more. */
#define UPLOAD_MEMORY_STEP_BYTES (UINT64_C(1) << 20)
/* Number of counters for addresses, chosen by hash; few addresses share a counter. */
#define UPLOAD_ADDRESS_COUNTERS 4096u

struct upload_memory {
    uint64_t limit_bytes;
    _Atomic uint64_t taken_bytes; /* total charged to all uploads */
    _Atomic uint64_t address_bytes[UPLOAD_ADDRESS_COUNTERS];
};

/* The charge of one upload. It moves with the graph from the request to the scheduler, and is
 * released once the graph is stored or refused. */
struct upload_share {
    struct upload_memory *memory; /* borrowed; NULL = nothing is charged */
    /* The charged counters, widest first; the limit of each is half of the previous limit. The last
     * counter is NULL without keys. */
    _Atomic uint64_t *counters[3];
    uint64_t bytes;
};

/* Initialises an empty share. tenant: NULL without keys. address_counter: a hash of the client's
 * address; clients of Unix sockets share one. */
void upload_memory_init_share(struct upload_share *share, struct upload_memory *memory,
                              struct tenant *tenant, uint32_t address_counter);
/* Returns STATUS_BODY_TOO_LARGE, and sets the problem's limit and actual, if memory_bytes is more
 * than a single upload of this client is allowed to use. Charges nothing. */
MUST_CHECK enum status upload_memory_admit(const struct upload_share *share, uint64_t memory_bytes,
                                           struct problem *reterr);
/* Returns STATUS_UPLOAD_MEMORY if an upload of about this size does not fit next to the current
 * uploads. Charges nothing. */
MUST_CHECK enum status upload_memory_find_room(const struct upload_share *share,
                                               uint64_t memory_bytes, struct problem *reterr);
/* Raises the charge to memory_bytes in total. After STATUS_BODY_TOO_LARGE or STATUS_UPLOAD_MEMORY
 * the charge is unchanged. */
MUST_CHECK enum status upload_memory_charge(struct upload_share *share, uint64_t memory_bytes,
                                            struct problem *reterr);
/* Releases the whole charge. */
void upload_memory_release(struct upload_share *share);
struct upload_share upload_memory_move(struct upload_share *share);
