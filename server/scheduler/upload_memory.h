/* The memory budget of uploads: graphs and lists that come in over HTTP, http.upload_memory in all.
 *
 * An upload is charged for the memory that the part of it that has arrived takes, rounded up to a
 * step, never for the length that it announced: an announcement, or a client that stops sending,
 * takes nothing from others. A tenant may be charged half of the budget, and an address half of its
 * tenant's part; without keys an address may be charged half of the budget. So a single client
 * never keeps all others out, and one upload takes at most the part of its address: an upload that
 * needs more is refused for good (413), one that finds no room beside others for now (429).
 *
 * Any thread, without a lock. */
#pragma once

#include "proto/problem.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct tenant;

/* The first bytes of each upload are free, so that graphs of some thousand edges are accepted
 * whatever else comes in. */
#define UPLOAD_MEMORY_FREE_BYTES (UINT64_C(256) << 10)
/* The counters are changed once for each MiB of memory, which costs nothing beside reading the
 * body; a larger step would let idle connections hold more. */
#define UPLOAD_MEMORY_STEP_BYTES (UINT64_C(1) << 20)
/* Addresses share counters by their hash, so that two seldom count as one. */
#define UPLOAD_ADDRESS_COUNTERS 4096u

struct upload_memory {
    uint64_t limit_bytes;
    _Atomic uint64_t taken_bytes; /* charged to all uploads together */
    _Atomic uint64_t address_bytes[UPLOAD_ADDRESS_COUNTERS];
};

/* The charge of one upload. It moves with the graph from the request to the scheduler, and is given
 * back once the graph is stored or refused. */
struct upload_share {
    struct upload_memory *memory; /* borrowed; NULL: nothing is charged */
    /* The counters that are charged, from the widest to the narrowest: each may hold half of what
     * the one before may. The last is NULL without keys. */
    _Atomic uint64_t *counters[3];
    uint64_t bytes;
};

void upload_memory_init(struct upload_memory *memory, uint64_t limit_bytes);

/* Nothing is charged yet. tenant: NULL without keys. address_counter: a hash of the client's
 * address; all clients without an address, of Unix sockets, have the same one. */
void upload_memory_init_share(struct upload_share *share, struct upload_memory *memory,
                              struct tenant *tenant, uint32_t address_counter);
/* STATUS_BODY_TOO_LARGE with limit and actual when one upload of this client may never take as many
 * bytes of memory. Takes nothing. */
MUST_CHECK enum status upload_memory_admit(const struct upload_share *share, uint64_t memory_bytes,
                                           struct problem *reterr);
/* STATUS_UPLOAD_MEMORY when an upload of about as many bytes of memory finds no room beside those
 * that come in now. Takes nothing. */
MUST_CHECK enum status upload_memory_find_room(const struct upload_share *share,
                                               uint64_t memory_bytes, struct problem *reterr);
/* Charges memory_bytes in all; the charge stays as it was after STATUS_BODY_TOO_LARGE or
 * STATUS_UPLOAD_MEMORY, as above. */
MUST_CHECK enum status upload_memory_charge(struct upload_share *share, uint64_t memory_bytes,
                                            struct problem *reterr);
/* Empties the share. */
void upload_memory_release(struct upload_share *share);
struct upload_share upload_memory_move(struct upload_share *share);
