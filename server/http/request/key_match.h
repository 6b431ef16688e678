/* Looks for a digest among those of the keys, in a time that tells nothing about them: no branch
 * and no address depends on a digest, nor on where two of them differ. */
#pragma once

#include <stddef.h>

#define KEY_DIGEST_SIZE 32

/* The index of the one that is equal, or count. first: the digest of the first of count things that
 * have one each, stride bytes apart. */
size_t key_match_find(const unsigned char *first, size_t stride, size_t count,
                      const unsigned char digest[KEY_DIGEST_SIZE]);
