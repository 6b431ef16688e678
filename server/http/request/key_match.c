#include "server/http/request/key_match.h"

#include <stdint.h>
#include <string.h>

/* All ones where both are equal, else none. */
static uint64_t compare(const unsigned char *first, const unsigned char *second)
{
    uint64_t difference = 0;

    for (size_t at = 0; at < KEY_DIGEST_SIZE; at += sizeof(difference)) {
        uint64_t words[2];

        memcpy(&words[0], first + at, sizeof(words[0]));
        memcpy(&words[1], second + at, sizeof(words[1]));
        difference |= words[0] ^ words[1];
    }
    /* The top bit of one of the two is set unless it is 0. */
    return ((difference | (0 - difference)) >> 63) - 1;
}

size_t key_match_find(const unsigned char *first, size_t stride, size_t count,
                      const unsigned char digest[KEY_DIGEST_SIZE])
{
    uint64_t found = count;

    for (size_t i = 0; i < count; i++) {
        const uint64_t same = compare(first + i * stride, digest);

        found = (found & ~same) | (i & same);
    }
    return (size_t)found;
}
