/* Bodies of pairs under arbitrary bytes: the first byte picks the form. What is refused says why,
 * and where; names lie in the body, or are what an escape stood for. */
#include "proto/check.h"
#include "server/http/pairs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct tally {
    size_t pairs;
    size_t headers;
    size_t bytes;
};

static enum status count_pair(void *context, const char *source, size_t source_size,
                              const char *target, size_t target_size, struct problem *reterr)
{
    struct tally *tally = context;
    unsigned sum = 0;

    (void)reterr;
    for (size_t i = 0; i < source_size; i++)
        sum += (unsigned char)source[i];
    for (size_t i = 0; i < target_size; i++)
        sum += (unsigned char)target[i];
    tally->pairs++;
    tally->bytes += source_size + target_size + (sum & 0);
    return STATUS_OK;
}

static void count_header(void *context)
{
    struct tally *tally = context;

    CHECK(tally->pairs == 0);
    tally->headers++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tally tallies[2] = {{0}, {0}};
    struct problem problem = {0};
    enum status statuses[2];

    if (size == 0)
        return 0;
    /* Exactly as large as it is, so that a look behind it is seen. */
    char *body = malloc(size);
    CHECK(body != NULL);
    memcpy(body, bytes + 1, size - 1);
    const enum pairs_form form =
        bytes[0] < 0xF0 ? (enum pairs_form)(bytes[0] % PAIRS_BINARY) : pairs_sniff(body, size - 1);
    for (int i = 0; i < 2; i++) {
        const struct pairs_visitor visitor = {&tallies[i], count_pair,
                                              i == 0 ? count_header : NULL};

        statuses[i] = pairs_walk(form, body, size - 1, &visitor, &problem);
    }
    CHECK(statuses[0] == statuses[1] && tallies[0].pairs == tallies[1].pairs);
    CHECK(tallies[0].headers <= 1 && tallies[0].bytes <= 2 * size);
    CHECK(statuses[0] == STATUS_OK || problem.status == statuses[0]);
    CHECK(statuses[0] == STATUS_OK || problem.detail[0] != '\0');
    free(body);
    return 0;
}
