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
static const char domain[16] = "apspd graph 3";

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

/* A hash of GnuTLS, which is the caller's under another name. */
void identity_shape_destroy(struct identity_shape *shape)
{
    if (shape != NULL) {
        gnutls_hash_deinit((gnutls_hash_hd_t)shape, NULL);
    }
}

/* Begins the hash with the shape. One that cannot be copied costs time alone. */
static enum status hash_shape(const struct graph *graph, struct identity_shape **shape,
                              gnutls_hash_hd_t *ret_hash)
{
    const size_t offsets_size = ((size_t)graph->vertex_count + 1) * sizeof(*graph->row_offset);
    const bool is_known = shape != NULL && *shape != NULL;
    *ret_hash = is_known ? gnutls_hash_copy((gnutls_hash_hd_t)*shape) : NULL;
    if (*ret_hash != NULL) {
        return STATUS_OK;
    }
    if (gnutls_hash_init(ret_hash, GNUTLS_DIG_SHA256) != 0) {
        return STATUS_NO_MEMORY;
    }
    if (gnutls_hash(*ret_hash, domain, sizeof(domain)) != 0 ||
        gnutls_hash(*ret_hash, graph->row_offset, offsets_size) != 0 ||
        gnutls_hash(*ret_hash, graph->target, graph->edge_count * sizeof(*graph->target)) != 0) {
        gnutls_hash_deinit(*ret_hash, NULL);
        return STATUS_NO_MEMORY;
    }
    if (shape != NULL && *shape == NULL) {
        *shape = (struct identity_shape *)gnutls_hash_copy(*ret_hash);
    }
    return STATUS_OK;
}

/* The canonical form: row offsets, targets, weights, names and counts. From its end, the counts
 * tell where each part begins: a name may hold any bytes, and with nothing fixed before or behind
 * them those could be the edges of another graph. */
static enum status hash_rest(gnutls_hash_hd_t hash, const struct graph *graph)
{
    const struct graph_summary *loop = &graph->summary;
    const size_t names_size = vertex_names_encoded_size(graph->names);
    const uint64_t counts[] = {graph->vertex_count, graph->edge_count, graph->directed,
                               graph->weight_type, names_size};
    const bool integer = graph->weight_type == WEIGHT_INTEGER;
    const void *weights = integer ? (const void *)graph->weight_i4 : (const void *)graph->weight_f8;
    const size_t weight_size = integer ? sizeof(*graph->weight_i4) : sizeof(*graph->weight_f8);

    unsigned char *names = malloc(names_size + 1);
    if (names == NULL) {
        return STATUS_NO_MEMORY;
    }
    vertex_names_encode(graph->names, names);
    bool failed = gnutls_hash(hash, weights, graph->edge_count * weight_size) != 0;
    /* Loops are not among the edges, and a negative one makes it another graph: one without
     * distances. */
    if (loop->negative_loop != NO_VERTEX) {
        failed =
            failed || gnutls_hash(hash, &loop->negative_loop, sizeof(loop->negative_loop)) != 0 ||
            gnutls_hash(hash, &loop->negative_loop_weight, sizeof(loop->negative_loop_weight)) != 0;
    }
    failed = failed || gnutls_hash(hash, names, names_size) != 0 ||
             gnutls_hash(hash, counts, sizeof(counts)) != 0;
    free(names);
    return failed ? STATUS_NO_MEMORY : STATUS_OK;
}

enum status identity_of_graph(const struct graph *graph, const char *tenant, const char *secret,
                              struct identity_shape **shape, char ret_id[GRAPH_ID_SIZE])
{
    gnutls_hash_hd_t hash;
    enum status status = hash_shape(graph, shape, &hash);
    if (status != STATUS_OK) {
        return status;
    }
    status = hash_rest(hash, graph);
    unsigned char digest[32];
    gnutls_hash_deinit(hash, digest);
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
