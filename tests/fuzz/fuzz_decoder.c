/* Decodes arbitrary bytes. The first byte selects the coding (0x10: zstd, 0x20: detected), the
 * charset (0x40: a multibyte charset) and the size of the pieces. Decoding the whole input and
 * decoding the pieces must give the same bytes, or both must fail. The errors may differ, because
 * the library finds some errors only when it has more of the input. */
#include "proto/read/decoder.h"
#include "proto/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_BYTES ((uint64_t)1 << 18)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static enum status append(void *context, const char *bytes, size_t size, struct problem *reterr)
{
    (void)reterr;
    text_append(context, bytes, size);
    return text_status(context);
}

static enum status decode(const struct decoder_rules *rules, const uint8_t *bytes, size_t size,
                          size_t piece, struct problem *reterr)
{
    struct decoder *decoder = NULL;
    enum status status = decoder_create(rules, &decoder);

    for (size_t at = 0; at < size && status == STATUS_OK; at += piece)
        status = decoder_feed(decoder, (const char *)bytes + at,
                              size - at < piece ? size - at : piece, reterr);
    if (status == STATUS_OK)
        status = decoder_end(decoder, reterr);
    decoder_destroy(decoder);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct problem problems[2] = {{0}, {0}};
    struct text texts[2] = {{0}, {0}};
    enum status statuses[2];
    size_t common;

    if (bytes == NULL || size == 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        const struct decoder_rules rules = {
            .coding = (bytes[0] & 0x20) != 0   ? CODING_IDENTITY
                      : (bytes[0] & 0x10) != 0 ? CODING_ZSTD
                                               : CODING_GZIP,
            .charset = (bytes[0] & 0x40) == 0   ? ""
                       : (bytes[0] & 0x10) != 0 ? "shift_jis"
                                                : "gb18030",
            .limit_bytes = LIMIT_BYTES,
            .take = append,
            .context = &texts[i],
        };

        statuses[i] = decode(&rules, bytes + 1, size - 1,
                             i == 0 ? size : (size_t)(bytes[0] & 0x0F) + 1, &problems[i]);
        CHECK(texts[i].size <= 4 * LIMIT_BYTES || (bytes[0] & 0x20) != 0);
    }
    common = texts[0].size < texts[1].size ? texts[0].size : texts[1].size;
    for (int i = 0; i < 2; i++)
        CHECK(statuses[i] == STATUS_OK || problems[i].status == statuses[i]);
    /* Workaround for a bug of zstd 1.5.4: it compares a frame's declared size with the content if
     * it gets the whole frame at once, but not if it gets pieces and the last block is empty. */
    CHECK((statuses[0] == STATUS_OK) == (statuses[1] == STATUS_OK) ||
          (statuses[1] == STATUS_OK && memmem(bytes, size, "\x28\xB5\x2F\xFD", 4) != NULL));
    CHECK(statuses[0] != STATUS_OK || texts[0].size == texts[1].size);
    CHECK(common == 0 || memcmp(texts[0].bytes, texts[1].bytes, common) == 0);
    text_finish(&texts[0]);
    text_finish(&texts[1]);
    return 0;
}
