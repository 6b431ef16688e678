#include "server/store/identity.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the canonical form is little-endian");

/* 16 bytes in base32 without padding: 26 digits, of which the first holds 3 bits. */
#define ID_BYTES 16
#define ID_DIGITS 26
#define ID_PREFIX_LENGTH 2

/* Changes when the canonical form does: other bytes, other ids. */
static const char domain[16] = "apspd graph 4";

/* Crockford's base32, lower case: no i, l, o, u; sorts as the numbers do. */
static void print_base32(const unsigned char bytes[ID_BYTES], char digits[ID_DIGITS + 1])
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned pending = 0;
    unsigned pending_bits = 2; /* leading zeros, so that 128 bits fill 26 digits */
    for (size_t i = 0; i < ID_BYTES; i++) {
        pending = pending << 8 | bytes[i];
        for (pending_bits += 8; pending_bits >= 5; pending_bits -= 5) {
            *digits++ = alphabet[pending >> (pending_bits - 5) & 31];
        }
    }
    *digits = '\0';
}

/* ---- Blocks ---- */

/* So that a weight which changes costs little, and the digests of all blocks not much more. */
#define BLOCK_SIZE ((size_t)1 << 12)
#define DIGEST_SIZE 32

struct identity_blocks {
    enum weight_type weight_type;
    size_t weights_at; /* the first block of weights */
    size_t count;
    unsigned char digests[][DIGEST_SIZE];
};

void identity_blocks_destroy(struct identity_blocks *blocks)
{
    free(blocks);
}

static size_t count_blocks(size_t size)
{
    return (size + BLOCK_SIZE - 1) / BLOCK_SIZE;
}

static const void *weights_of(const struct graph *graph, size_t *ret_weight_size)
{
    const bool integer = graph->weight_type == WEIGHT_INTEGER;
    *ret_weight_size = integer ? sizeof(*graph->weight_i4) : sizeof(*graph->weight_f8);
    return integer ? (const void *)graph->weight_i4 : (const void *)graph->weight_f8;
}

/* The blocks from one on, to before end, of these bytes. */
static bool hash_blocks(const void *bytes, size_t size, size_t begin, size_t end,
                        unsigned char digests[][DIGEST_SIZE])
{
    bool done = true;
    for (size_t i = begin; i < end && done; i++) {
        const size_t left = size - i * BLOCK_SIZE;
        done = gnutls_hash_fast(GNUTLS_DIG_SHA256, (const char *)bytes + i * BLOCK_SIZE,
                                left < BLOCK_SIZE ? left : BLOCK_SIZE, digests[i]) == 0;
    }
    return done;
}

/* NULL without memory. */
static struct identity_blocks *make_blocks(const struct graph *graph)
{
    size_t weight_size;
    const void *weights = weights_of(graph, &weight_size);
    const size_t sizes[] = {((size_t)graph->vertex_count + 1) * sizeof(*graph->row_offset),
                            graph->edge_count * sizeof(*graph->target),
                            graph->edge_count * weight_size};
    const void *const parts[] = {graph->row_offset, graph->target, weights};
    const size_t count = count_blocks(sizes[0]) + count_blocks(sizes[1]) + count_blocks(sizes[2]);
    struct identity_blocks *blocks = malloc(sizeof(*blocks) + count * sizeof(*blocks->digests));
    bool done = blocks != NULL;
    if (done) {
        *blocks = (struct identity_blocks){.weight_type = graph->weight_type};
    }
    for (int part = 0; part < 3 && done; part++) {
        const size_t part_count = count_blocks(sizes[part]);
        blocks->weights_at = blocks->count;
        done =
            hash_blocks(parts[part], sizes[part], 0, part_count, blocks->digests + blocks->count);
        blocks->count += part_count;
    }
    if (!done) {
        free(blocks);
        return NULL;
    }
    return blocks;
}

void identity_blocks_follow(struct identity_blocks **blocks, const struct graph *graph,
                            const struct edge_changes *changes)
{
    size_t weight_size;
    const void *weights = weights_of(graph, &weight_size);
    const size_t size = graph->edge_count * weight_size;
    struct identity_blocks *known = *blocks;
    bool done = known != NULL && changes->only_weights && known->weight_type == graph->weight_type;
    if (done && changes->weights != NULL) {
        done =
            hash_blocks(weights, size, 0, count_blocks(size), known->digests + known->weights_at);
    }
    size_t end = 0; /* behind the last block that is done, as edges come in order */
    for (size_t i = 0; i < changes->count && done; i++) {
        const size_t block = changes->list[i].place * weight_size / BLOCK_SIZE;
        if (block >= end) {
            end = block + 1;
            done = hash_blocks(weights, size, block, end, known->digests + known->weights_at);
        }
    }
    if (!done) {
        identity_blocks_destroy(known);
        *blocks = NULL;
    }
}

/* ---- Ids ---- */

/* The canonical form: the digests of the blocks of row offsets, of targets and of weights, names
 * and counts. From its end, the counts tell where each part begins: a name may hold any bytes, and
 * with nothing fixed before or behind them those could be the edges of another graph. */
static enum status hash_graph(const struct graph *graph, const struct identity_blocks *blocks,
                              unsigned char ret_digest[DIGEST_SIZE])
{
    const struct graph_summary *loop = &graph->summary;
    const size_t names_size = vertex_names_encoded_size(graph->names);
    const uint64_t counts[] = {graph->vertex_count, graph->edge_count, graph->directed,
                               graph->weight_type, names_size};
    gnutls_hash_hd_t hash;
    unsigned char *names = malloc(names_size + 1);
    if (names == NULL || gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0) {
        free(names);
        return STATUS_NO_MEMORY;
    }
    vertex_names_encode(graph->names, names);
    bool failed = gnutls_hash(hash, domain, sizeof(domain)) != 0 ||
                  gnutls_hash(hash, blocks->digests, blocks->count * DIGEST_SIZE) != 0;
    /* Loops are not among the edges, and a negative one makes it another graph: one without
     * distances. */
    if (loop->negative_loop != NO_VERTEX) {
        failed =
            failed || gnutls_hash(hash, &loop->negative_loop, sizeof(loop->negative_loop)) != 0 ||
            gnutls_hash(hash, &loop->negative_loop_weight, sizeof(loop->negative_loop_weight)) != 0;
    }
    failed = failed || gnutls_hash(hash, names, names_size) != 0 ||
             gnutls_hash(hash, counts, sizeof(counts)) != 0;
    gnutls_hash_deinit(hash, ret_digest);
    free(names);
    return failed ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status identity_of_graph(const struct graph *graph, const char *tenant, const char *secret,
                              struct identity_blocks **blocks, char ret_id[GRAPH_ID_SIZE])
{
    unsigned char digest[DIGEST_SIZE];
    struct identity_blocks *known =
        blocks != NULL && *blocks != NULL ? *blocks : make_blocks(graph);
    const enum status status = known != NULL ? hash_graph(graph, known, digest) : STATUS_NO_MEMORY;
    if (blocks != NULL) {
        *blocks = known;
    } else {
        identity_blocks_destroy(known);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (tenant[0] != '\0') {
        /* HMAC-SHA256 by the secret, of the tenant's name with its NUL and the digest. */
        gnutls_hmac_hd_t hmac;
        if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, secret, strlen(secret)) != 0) {
            return STATUS_NO_MEMORY;
        }
        const bool done = gnutls_hmac(hmac, tenant, strlen(tenant) + 1) == 0 &&
                          gnutls_hmac(hmac, digest, sizeof(digest)) == 0;
        gnutls_hmac_deinit(hmac, digest);
        if (!done) {
            return STATUS_NO_MEMORY;
        }
    }
    memcpy(ret_id, "g_", ID_PREFIX_LENGTH);
    print_base32(digest, ret_id + ID_PREFIX_LENGTH);
    return STATUS_OK;
}

/* A ULID: 48 bits of milliseconds, 80 random bits. */
enum status identity_new(const char *prefix, double wall_s, char ret_id[JOB_ID_SIZE])
{
    CHECK(strlen(prefix) == ID_PREFIX_LENGTH);
    unsigned char bytes[ID_BYTES];
    uint64_t wall_ms = wall_s > 0 ? (uint64_t)(wall_s * 1000) : 0;
    for (size_t i = 6; i-- > 0; wall_ms >>= 8) {
        bytes[i] = (unsigned char)wall_ms;
    }
    if (getrandom(bytes + 6, ID_BYTES - 6, 0) != ID_BYTES - 6) {
        return STATUS_IO;
    }
    memcpy(ret_id, prefix, ID_PREFIX_LENGTH);
    print_base32(bytes, ret_id + ID_PREFIX_LENGTH);
    return STATUS_OK;
}
