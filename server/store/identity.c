#include "server/store/identity.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the canonical form is little-endian");

/* An ID is 16 bytes in base32 without padding: 26 digits, the first of which has 3 bits. */
#define ID_BYTES 16
#define ID_DIGITS 26
#define ID_PREFIX_LENGTH 2

/* The hashed data begins with this text, which must change whenever the canonical form changes, so
 * that old and new IDs differ. */
static const char domain[16] = "apspd graph 5";

/* Prints bytes in Crockford's base32: lower case without i, l, o, u. The digits sort like the
 * bytes. */
static void print_base32(const unsigned char bytes[ID_BYTES], char digits[ID_DIGITS + 1])
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned pending = 0;
    unsigned pending_bits = 2; /* two leading zero bits, so that 128 bits fill 26 digits */
    for (size_t i = 0; i < ID_BYTES; i++) {
        pending = pending << 8 | bytes[i];
        for (pending_bits += 8; pending_bits >= 5; pending_bits -= 5) {
            *digits++ = alphabet[pending >> (pending_bits - 5) & 31];
        }
    }
    *digits = '\0';
}

enum status identity_of_parts(const struct identity_part *parts, size_t count,
                              unsigned char ret_digest[IDENTITY_DIGEST_SIZE])
{
    gnutls_hash_hd_t hash;
    bool failed = gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0;
    if (failed) {
        return STATUS_NO_MEMORY;
    }
    for (size_t i = 0; i < count && !failed; i++) {
        const uint64_t size = parts[i].size;
        failed = gnutls_hash(hash, &size, sizeof(size)) != 0 ||
                 (size > 0 && gnutls_hash(hash, parts[i].bytes, parts[i].size) != 0);
    }
    gnutls_hash_deinit(hash, ret_digest);
    return failed ? STATUS_NO_MEMORY : STATUS_OK;
}

/* Hashes the canonical form. Each part follows its size: names may have any bytes, so without the
 * sizes a name could imitate the edges of another graph. */
static enum status hash_graph(const struct graph *graph,
                              unsigned char ret_digest[IDENTITY_DIGEST_SIZE])
{
    const struct graph_summary *loop = &graph->summary;
    const bool is_integer = graph->weight_type == WEIGHT_INTEGER;
    const void *weights =
        is_integer ? (const void *)graph->weight_i4 : (const void *)graph->weight_f8;
    const size_t weight_size = is_integer ? sizeof(*graph->weight_i4) : sizeof(*graph->weight_f8);
    /* A negative loop is not a stored edge, but changes the ID: the graph has no distances. */
    const bool has_loop = loop->negative_loop != NO_VERTEX;
    const uint64_t counts[] = {graph->vertex_count, graph->edge_count, graph->directed,
                               graph->weight_type};
    const size_t names_size = vertex_names_encoded_size(graph->names);
    unsigned char *names = malloc(names_size + 1);
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    vertex_names_encode(graph->names, names);
    const struct identity_part parts[] = {
        {domain, sizeof(domain)},
        {counts, sizeof(counts)},
        {graph->row_offset, ((size_t)graph->vertex_count + 1) * sizeof(*graph->row_offset)},
        {graph->target, graph->edge_count * sizeof(*graph->target)},
        {weights, graph->edge_count * weight_size},
        {&loop->negative_loop, has_loop ? sizeof(loop->negative_loop) : 0},
        {&loop->negative_loop_weight, has_loop ? sizeof(loop->negative_loop_weight) : 0},
        {names, names_size},
    };
    const enum status status =
        identity_of_parts(parts, sizeof(parts) / sizeof(parts[0]), ret_digest);
    free(names);
    return status;
}

enum status identity_of_graph(const struct graph *graph, const char *tenant, const char *secret,
                              char ret_id[GRAPH_ID_SIZE])
{
    unsigned char digest[IDENTITY_DIGEST_SIZE];
    STATUS_TRY(hash_graph(graph, digest));
    if (tenant[0] != '\0') {
        /* HMAC-SHA256, keyed by the secret, of the tenant's name with its NUL and the digest. */
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

enum status identity_of_names(const struct vertex_names *names,
                              unsigned char ret_digest[IDENTITY_DIGEST_SIZE])
{
    struct identity_part part = {.size = vertex_names_encoded_size(names)};
    unsigned char *bytes = malloc(part.size + 1);
    if (bytes == NULL) {
        return STATUS_NO_MEMORY;
    }
    vertex_names_encode(names, bytes);
    part.bytes = bytes;
    const enum status status = identity_of_parts(&part, 1, ret_digest);
    free(bytes);
    return status;
}

/* The ID is a ULID: 48 bits with the time in milliseconds, then 80 random bits. */
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
