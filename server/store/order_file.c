#include "server/store/order_file.h"

#include "server/store/draft_file.h"
#include "server/store/folder_budget.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Format version. It seeds the checksum, so a file of another version counts as damaged. */
#define VERSION 1

struct header {
    uint64_t count; /* number of words after the header */
    uint64_t checksum;
};

uint64_t order_file_seed(const char *secret, const char *tenant)
{
    return XXH3_64bits_withSeed(tenant, strlen(tenant), XXH3_64bits(secret, strlen(secret)));
}

void order_file_open(int folder, uint64_t budget_bytes, const struct graph *graph, uint64_t seed,
                     struct order_file *ret_file)
{
    struct order_file file = {.folder = folder, .budget_bytes = budget_bytes};
    const uint64_t directed = graph->directed;
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    /* Keyed by the secret seed, so no client can construct two graphs with the same digest. */
    XXH3_128bits_reset_withSeed(&state, seed);
    XXH3_128bits_update(&state, &directed, sizeof(directed));
    XXH3_128bits_update(&state, graph->row_offset,
                        ((size_t)graph->vertex_count + 1) * sizeof(*graph->row_offset));
    XXH3_128bits_update(&state, graph->target, graph->edge_count * sizeof(*graph->target));
    const XXH128_hash_t digest = XXH3_128bits_digest(&state);
    snprintf(file.name, sizeof(file.name), "%016" PRIx64 "%016" PRIx64, digest.high64,
             digest.low64);
    file.descriptor = openat(folder, file.name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file.descriptor > 0) {
        (void)futimens(file.descriptor, NULL);
        file.size = lseek(file.descriptor, 0, SEEK_END);
        *ret_file = file;
    }
}

void order_file_finish(struct order_file *file)
{
    if (file->descriptor <= 0) {
        return;
    }
    const off_t size = lseek(file->descriptor, 0, SEEK_END);
    if (file->folder > 0 && size == 0) {
        unlinkat(file->folder, file->name, 0);
    } else if (file->folder > 0 && size > file->size) {
        order_file_trim(file->folder, file->budget_bytes);
    }
    close(file->descriptor);
    *file = (struct order_file){0};
}

uint32_t *order_file_read(int descriptor, size_t limit, size_t *ret_count)
{
    struct header header;
    if (draft_file_read(descriptor, 0, &header, sizeof(header)) != STATUS_OK ||
        header.count > limit) {
        return NULL;
    }
    const size_t size = header.count * sizeof(uint32_t);
    uint32_t *words = malloc(size + 1);
    if (words != NULL && draft_file_read(descriptor, sizeof(header), words, size) == STATUS_OK &&
        XXH3_64bits_withSeed(words, size, VERSION) == header.checksum) {
        *ret_count = header.count;
        return words;
    }
    free(words);
    return NULL;
}

void order_file_write(int descriptor, const uint32_t *words, size_t count)
{
    const size_t size = count * sizeof(*words);
    const struct header header = {.count = count,
                                  .checksum = XXH3_64bits_withSeed(words, size, VERSION)};
    enum status status = draft_file_write(descriptor, sizeof(header), words, size);
    STATUS_THEN(status, draft_file_write(descriptor, 0, &header, sizeof(header)));
    (void)status;
}

static bool is_order_name(const char *name)
{
    return strlen(name) == 32 && strspn(name, "0123456789abcdef") == 32;
}

void order_file_trim(int folder, uint64_t budget_bytes)
{
    folder_budget_apply(folder, budget_bytes, is_order_name);
}
