#include "server/http/request/request_id.h"

#include <endian.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

bool request_id_admit(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t size = strlen(text);

    return size > 0 && size < REQUEST_ID_SIZE && strspn(text, letters) == size;
}

/* Eight hexadecimal digits in the order in which they are read: the bits go apart until each byte
 * has four, and those above 9 get what letters are above digits. */
static uint64_t digits_of(uint32_t value)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t digits = value;

    digits = (digits | digits << 16) & UINT64_C(0x0000FFFF0000FFFF);
    digits = (digits | digits << 8) & UINT64_C(0x00FF00FF00FF00FF);
    digits = (digits | digits << 4) & (0x0F * ones);
    const uint64_t letters = (digits + 6 * ones) >> 4 & ones;
    return htobe64(digits + '0' * ones + letters * ('a' - '0' - 10));
}

void request_id_print(uint64_t seed, uint64_t number, char ret_id[REQUEST_ID_OWN_SIZE])
{
    /* One to one for 8 bytes: each number has an id of its own. */
    const uint64_t value = XXH3_64bits_withSeed(&number, sizeof(number), seed);
    const uint64_t digits[2] = {digits_of((uint32_t)(value >> 32)), digits_of((uint32_t)value)};

    memcpy(ret_id, digits, sizeof(digits));
    ret_id[REQUEST_ID_OWN_SIZE - 1] = '\0';
}
