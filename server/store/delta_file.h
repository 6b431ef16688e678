/* The file of a hierarchy that differs in a few places from an earlier one, its root: for example,
 * a road network with new travel times. The file contains the changed pieces only. The other bytes
 * are those of the root's file, which a hard link keeps after the root's own name is removed. In
 * memory, the hierarchy is a private mapping of the root's file in which the changed pieces have
 * been overwritten. */
#pragma once

#include "proto/hierarchy.h"

/* Size of a piece; a hierarchy consists of whole pieces. */
#define DELTA_PIECE_BYTES HIERARCHY_ALIGNMENT
#define DELTA_MAGIC "APSPDELT" /* the first bytes of the file */

struct delta {
    int root;          /* descriptor of the root's file, owned; -1 = the delta is empty */
    size_t size;       /* size of the hierarchy */
    uint64_t *changed; /* one bit per piece: 1 = the piece may differ from the root's */
    void *packed;      /* pieces that were read and not applied yet; NULL = none */
};

/* Maps a hierarchy of `size` bytes in the file delta->root. Writing to the bytes does not change
 * the file: the caller marks the written pieces in `changed`, and unmaps the bytes. If base is not
 * NULL, copies the pieces that it marks from base_bytes. STATUS_NO_MEMORY, STATUS_IO. */
MUST_CHECK enum status delta_map(struct delta *delta, size_t size, const struct delta *base,
                                 const void *base_bytes, unsigned char **ret_bytes);
/* Frees the memory and closes the root. Accepts an empty delta. */
void delta_finish(struct delta *delta);

/* Returns whether at most a quarter of the pages have changed. */
bool delta_is_small(const struct delta *delta);
/* Writes the changed pieces to an empty file. *ret_checksum identifies its contents.
 * STATUS_DISK_FULL, STATUS_NO_MEMORY, STATUS_IO. */
MUST_CHECK enum status delta_write(const struct delta *delta, const void *bytes,
                                   uint64_t root_checksum, int descriptor, uint64_t *ret_checksum);
/* Reads a file into `packed`. STATUS_CORRUPT if it has another checksum; STATUS_NO_MEMORY,
 * STATUS_IO. */
MUST_CHECK enum status delta_read(int descriptor, uint64_t checksum, struct delta *delta,
                                  uint64_t *ret_root_checksum);
/* Copies the packed pieces, if any, to the bytes from delta_map, and marks them. The bytes of the
 * root must have been verified: a page that is written is not read from the file again. */
void delta_apply(struct delta *delta, void *bytes);
