/* Memory budget for graphs that come in over HTTP, shared by all uploads under way.
 *
 * An upload is charged for the bytes that arrived, rounded up to a step, never for the length that
 * it announced: an announcement, or a client that stops sending, takes nothing from others. A
 * tenant may be charged half of the budget, and an address half of its tenant's part; without keys
 * an address may be charged half of the budget. One upload at a time may go beyond these limits, so
 * that a graph of any size can come in; what it takes beyond them is charged to nobody, because it
 * could keep others out otherwise. Any thread, without a lock. */
#pragma once

#include "server/job/tenant.h"

/* An edge takes 12 to 24 bytes, and its text mostly 12 or more; the shortest lines are of 4. */
#define UPLOAD_MEMORY_PER_BYTE 2
/* The first bytes of each upload are free: graphs of some thousand edges come in whatever else
 * does. */
#define UPLOAD_MEMORY_FREE_BYTES (UINT64_C(128) << 10)
/* The counters are changed once for each half MiB of a body, which costs nothing beside reading it;
 * a larger step would let idle connections hold more. */
#define UPLOAD_MEMORY_STEP_BYTES (UINT64_C(1) << 20)
/* Told with a refusal: about as long as a large graph takes to come in. */
#define UPLOAD_RETRY_AFTER_S 2u
/* Addresses share counters by their hash, so that two seldom count as one. */
#define UPLOAD_ADDRESS_COUNTERS 4096u

struct upload_memory {
    uint64_t limit_bytes;
    _Atomic uint64_t taken_bytes; /* charged to all uploads together */
    _Atomic uint64_t address_bytes[UPLOAD_ADDRESS_COUNTERS];
    atomic_bool has_excess; /* an upload is beyond the limits */
};

/* The charge of one upload. It moves with the graph from the request to the scheduler, and is given
 * back once the graph is stored or refused. */
struct upload_share {
    struct upload_memory *memory; /* borrowed; NULL: nothing is charged */
    /* Where the bytes are charged, from the widest to the narrowest: each may hold half of what the
     * one before may. The last is NULL without keys. */
    _Atomic uint64_t *counters[3];
    uint64_t bytes;
    bool is_excess; /* the upload that may go beyond; it is charged no more */
};

void upload_memory_init(struct upload_memory *memory, uint64_t limit_bytes);

/* Nothing is charged yet. tenant: NULL without keys. address_counter: a hash of the client's
 * address; all clients without an address, of Unix sockets, have the same one. */
void upload_share_init(struct upload_share *share, struct upload_memory *memory,
                       struct tenant *tenant, uint32_t address_counter);
/* Whether a body of so many bytes, decoded, could be taken now. Takes nothing. */
bool upload_share_has_room(const struct upload_share *share, uint64_t body_bytes);
/* Charges what a body of so many bytes, decoded, needs; false: there is no room, and the charge
 * stays as it was. */
bool upload_share_take(struct upload_share *share, uint64_t body_bytes);
/* Empties the share. */
void upload_share_give_back(struct upload_share *share);
struct upload_share upload_share_move(struct upload_share *share);
