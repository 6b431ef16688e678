#include "server/http/request_id.h"

#include <string.h>

bool request_id_admit(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t size = strlen(text);

    return size > 0 && size < REQUEST_ID_SIZE && strspn(text, letters) == size;
}

/* The finisher of SplitMix64 (Steele, Lea, Flood 2014): one to one. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

void request_id_print(uint64_t seed, uint64_t number, char ret_id[REQUEST_ID_OWN_SIZE])
{
    uint64_t value = mix(seed + number * UINT64_C(0x9E3779B97F4A7C15));

    for (int i = REQUEST_ID_OWN_SIZE - 2; i >= 0; i--, value >>= 4) {
        ret_id[i] = "0123456789abcdef"[value & 15];
    }
    ret_id[REQUEST_ID_OWN_SIZE - 1] = '\0';
}
