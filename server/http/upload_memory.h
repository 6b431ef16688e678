/* Memory that graphs take while they come in, of all uploads together, so that many at once do not
 * take all there is. Counted by the bytes that came, not measured. Any thread, without a lock. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* An edge takes 12 to 24 bytes, and its text mostly 12 or more; the shortest lines are of 4. */
#define UPLOAD_MEMORY_PER_BYTE 2
/* The first bytes of each upload are free: graphs of some thousand edges come in whatever else
 * does. */
#define UPLOAD_MEMORY_FREE_BYTES (UINT64_C(128) << 10)
/* Told with a refusal: about as long as a large graph takes to come in. */
#define UPLOAD_RETRY_AFTER_S 2u

struct upload_memory {
    uint64_t limit_bytes;
    _Atomic uint64_t taken_bytes;
};

void upload_memory_init(struct upload_memory *memory, uint64_t limit_bytes);

/* For an upload of as many bytes, decoded, that holds *held already: *held grows to what it needs,
 * or stays, with false, when there is no room for that beside the others. One upload alone always
 * has room. */
bool upload_memory_take(struct upload_memory *memory, uint64_t body_bytes, uint64_t *held);
/* Of what was announced no more than what has come: who sends slowly keeps nobody out. */
void upload_memory_settle(struct upload_memory *memory, uint64_t body_bytes, uint64_t *held);
void upload_memory_give_back(struct upload_memory *memory, uint64_t *held);
