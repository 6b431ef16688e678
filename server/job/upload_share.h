/* What an upload has taken of the memory for all of them. It goes with the graph: from the request
 * to the desk, and is given back once the graph is stored, or refused. Moved; any thread. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct upload_share {
    _Atomic uint64_t *taken_bytes; /* borrowed; of all. NULL: nothing was taken */
    uint64_t bytes;
};

static inline struct upload_share upload_share_move(struct upload_share *share)
{
    const struct upload_share moved = *share;
    *share = (struct upload_share){0};
    return moved;
}

static inline void upload_share_give_back(struct upload_share *share)
{
    if (share->taken_bytes != NULL) {
        atomic_fetch_sub(share->taken_bytes, share->bytes);
    }
    *share = (struct upload_share){0};
}
