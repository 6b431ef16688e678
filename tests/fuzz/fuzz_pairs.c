/* Parses arbitrary bytes as a body of pairs; the first byte selects the form of the body. A refusal
 * must have a reason and a position. A name must be a part of the body, or text decoded from an
 * escape in the body. */
#include "server/http/api/pairs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct tally {
    uint64_t pairs;
    size_t bytes;
    bool has_header;
};

static enum status read_all(enum pairs_form form, const char *body, size_t size,
                            struct tally *ret_tally, struct problem *reterr)
{
    struct pairs_reader reader;
    unsigned sum = 0;
    enum status status;

    pairs_open(&reader, form, body, size);
    while ((status = pairs_next(&reader, reterr)) == STATUS_OK && !reader.ended) {
        for (int i = 0; i < 2; i++) {
            const struct scanned_name *name = &reader.pair[i];

            for (size_t k = 0; k < name->size; k++)
                sum += (unsigned char)name->bytes[k];
            ret_tally->bytes += name->size + (sum & 0);
        }
        CHECK(ret_tally->pairs == 0 || reader.has_header == ret_tally->has_header);
        ret_tally->has_header = reader.has_header;
        CHECK(++ret_tally->pairs == reader.count);
    }
    pairs_close(&reader);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tally tallies[2] = {{0}, {0}};
    struct problem problem = {0};
    enum status statuses[2];

    if (size == 0)
        return 0;
    /* The body is allocated with exactly its size, so that a sanitizer detects reads beyond it. */
    char *body = malloc(size);
    CHECK(body != NULL);
    memcpy(body, bytes + 1, size - 1);
    const enum pairs_form form =
        bytes[0] < 0xF0 ? (enum pairs_form)(bytes[0] % PAIRS_BINARY)
                        : pairs_find_form(NULL, (const char *const[]){NULL}, body, size - 1);
    /* The body is read twice, as in a request: once to check it, and once to write the response. */
    for (int i = 0; i < 2; i++)
        statuses[i] = read_all(form, body, size - 1, &tallies[i], &problem);
    CHECK(statuses[0] == statuses[1] && tallies[0].pairs == tallies[1].pairs);
    CHECK(tallies[0].bytes == tallies[1].bytes && tallies[0].bytes <= 2 * size);
    CHECK(statuses[0] == STATUS_OK || problem.status == statuses[0]);
    CHECK(statuses[0] == STATUS_OK || problem.detail[0] != '\0');
    free(body);
    return 0;
}
