#include "server/store/identity.h"

#include "proto/check.h"
#include "server/store/identity_hash.h"

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
static const char domain[16] = "apspd graph 2";

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

int identity_hash_begin(gnutls_hash_hd_t *ret_hash)
{
    int failed = gnutls_hash_init(ret_hash, GNUTLS_DIG_SHA256);

    if (failed == 0 && (failed = gnutls_hash(*ret_hash, domain, sizeof domain)) != 0) {
        gnutls_hash_deinit(*ret_hash, NULL);
    }
    if (failed != 0) {
        *ret_hash = NULL;
    }
    return failed;
}

int identity_hash_edges(gnutls_hash_hd_t hash, const void *targets, const void *weights,
                        size_t weight_size, size_t count)
{
    const int failed = gnutls_hash(hash, targets, count * sizeof(uint32_t));

    return failed != 0 ? failed : gnutls_hash(hash, weights, count * weight_size);
}

static enum status hash_names(gnutls_hash_hd_t hash, const struct vertex_names *names)
{
    size_t size = vertex_names_encoded_size(names);
    unsigned char *bytes = malloc(size + 1);
    if (bytes == NULL) {
        return STATUS_NO_MEMORY;
    }
    vertex_names_encode(names, bytes);
    enum status status = gnutls_hash(hash, bytes, size) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
    free(bytes);
    return status;
}

/* Loops are not among the edges, and a negative one makes it another graph: one without distances.
 */
static int hash_negative_loop(gnutls_hash_hd_t hash, const struct graph_summary *summary)
{
    if (summary->negative_loop == NO_VERTEX) {
        return 0;
    }
    int failed = gnutls_hash(hash, &summary->negative_loop, sizeof summary->negative_loop);
    return failed != 0 ? failed
                       : gnutls_hash(hash, &summary->negative_loop_weight,
                                     sizeof summary->negative_loop_weight);
}

static int hash_edges(gnutls_hash_hd_t hash, const struct graph *graph)
{
    const bool integer = graph->weight_type == WEIGHT_INTEGER;
    const char *weights = integer ? (const char *)graph->weight_i4 : (const char *)graph->weight_f8;
    const size_t weight_size = integer ? sizeof *graph->weight_i4 : sizeof *graph->weight_f8;
    uint64_t first = 0;
    int failed = 0;

    while (first < graph->edge_count && failed == 0) {
        const uint64_t left = graph->edge_count - first;
        const size_t count = row_block_edges(left);

        failed = identity_hash_edges(hash, graph->target + first, weights + first * weight_size,
                                     weight_size, count);
        first += count;
    }
    return failed;
}

/* The canonical form: the edges in blocks (row_stream.h), the targets of each before its weights,
 * where their rows begin, names and counts. From its end, the counts tell where each part begins: a
 * name may hold any bytes, and with nothing fixed before or behind them those could be the edges of
 * another graph. */
static enum status hash_graph(gnutls_hash_hd_t hash, const struct graph *graph, bool has_edges)
{
    const uint64_t counts[] = {graph->vertex_count, graph->edge_count, graph->directed,
                               graph->weight_type, vertex_names_encoded_size(graph->names)};
    const size_t offset_bytes = ((size_t)graph->vertex_count + 1) * sizeof *graph->row_offset;
    enum status status;

    if ((!has_edges && hash_edges(hash, graph) != 0) ||
        gnutls_hash(hash, graph->row_offset, offset_bytes) != 0 ||
        hash_negative_loop(hash, &graph->summary) != 0) {
        return STATUS_NO_MEMORY;
    }
    status = hash_names(hash, graph->names);
    if (status == STATUS_OK && gnutls_hash(hash, counts, sizeof counts) != 0) {
        status = STATUS_NO_MEMORY;
    }
    return status;
}

/* HMAC-SHA256 by the secret, of the tenant's name with its NUL and the digest. */
static enum status key_digest(const char *tenant, const char *secret, unsigned char digest[32])
{
    gnutls_hmac_hd_t hmac;
    if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, secret, strlen(secret)) != 0) {
        return STATUS_NO_MEMORY;
    }
    bool done =
        gnutls_hmac(hmac, tenant, strlen(tenant) + 1) == 0 && gnutls_hmac(hmac, digest, 32) == 0;
    gnutls_hmac_deinit(hmac, digest);
    return done ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status identity_of_graph(const struct graph *graph, struct graph_stream *stream,
                              const char *tenant, const char *secret, char ret_id[GRAPH_ID_SIZE])
{
    gnutls_hash_hd_t hash;
    if (stream != NULL) {
        hash = graph_stream_take_hash(stream);
    } else if (identity_hash_begin(&hash) != 0) {
        return STATUS_NO_MEMORY;
    }
    enum status status = hash_graph(hash, graph, stream != NULL);
    unsigned char digest[32];
    gnutls_hash_deinit(hash, digest);
    if (status == STATUS_OK && tenant[0] != '\0') {
        status = key_digest(tenant, secret, digest);
    }
    if (status != STATUS_OK) {
        return status;
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
