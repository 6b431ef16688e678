/* Each vertex of the leaf has a bit set of its neighbours. Eliminating a vertex joins its bit set
 * to those of its neighbours. */
#include "server/solver/order/leaf.h"

#include <stdlib.h>
#include <string.h>

#define WORD 64
#define GONE UINT32_MAX

struct leaf {
    struct leaf_scratch *scratch;
    const struct pattern *pattern;
    uint32_t count;    /* vertices of the leaf */
    uint32_t known;    /* vertices of the leaf and its boundary */
    uint32_t words;    /* words per row; there are `count` rows */
    uint32_t *degrees; /* degree of each vertex; GONE if eliminated */
};

enum status leaf_scratch_init(struct leaf_scratch *scratch, uint32_t vertex_count)
{
    const size_t n = vertex_count;
    *scratch = (struct leaf_scratch){.local = malloc((n + 1) * sizeof(*scratch->local)),
                                     .member = malloc((n + 1) * sizeof(*scratch->member))};
    if (scratch->local == NULL || scratch->member == NULL) {
        return STATUS_NO_MEMORY;
    }
    for (uint32_t vertex = 0; vertex < vertex_count; vertex++) {
        scratch->local[vertex] = NO_VERTEX;
    }
    return STATUS_OK;
}

void leaf_scratch_finish(struct leaf_scratch *scratch)
{
    free(scratch->local);
    free(scratch->member);
    free(scratch->bits);
    *scratch = (struct leaf_scratch){0};
}

static uint64_t *row_of(const struct leaf *leaf, uint32_t i)
{
    return leaf->scratch->bits + (size_t)i * leaf->words;
}

static uint32_t number_vertex(struct leaf *leaf, uint32_t vertex)
{
    struct leaf_scratch *scratch = leaf->scratch;
    if (scratch->local[vertex] == NO_VERTEX) {
        scratch->local[vertex] = leaf->known;
        scratch->member[leaf->known++] = vertex;
    }
    return scratch->local[vertex];
}

/* Numbers the vertices of the leaf, then its boundary; sets a bit for each edge. */
static enum status set_bits(struct leaf *leaf, const uint32_t *vertices)
{
    struct leaf_scratch *scratch = leaf->scratch;
    const struct pattern *pattern = leaf->pattern;
    for (uint32_t i = 0; i < leaf->count; i++) {
        number_vertex(leaf, vertices[i]);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < leaf->count; i++) {
            const uint32_t vertex = vertices[i];
            for (int32_t e = pattern->offset[vertex]; e < pattern->offset[vertex + 1]; e++) {
                const uint32_t other = number_vertex(leaf, (uint32_t)pattern->target[e]);
                if (pass == 1) {
                    row_of(leaf, i)[other / WORD] |= UINT64_C(1) << other % WORD;
                }
            }
        }
        if (pass == 1) {
            break;
        }
        leaf->words = (leaf->known + WORD - 1) / WORD;
        const size_t size = (size_t)leaf->count * leaf->words;
        if (size > scratch->bits_capacity) {
            free(scratch->bits);
            scratch->bits = malloc(size * sizeof(*scratch->bits));
            scratch->bits_capacity = scratch->bits != NULL ? size : 0;
        }
        if (scratch->bits == NULL) {
            return STATUS_NO_MEMORY;
        }
        memset(scratch->bits, 0, size * sizeof(*scratch->bits));
    }
    return STATUS_OK;
}

static uint32_t count_neighbours(const struct leaf *leaf, uint32_t i)
{
    uint32_t bits = 0;
    for (uint32_t word = 0; word < leaf->words; word++) {
        bits += (uint32_t)__builtin_popcountll(row_of(leaf, i)[word]);
    }
    return bits;
}

/* Joins the neighbours of v. A row has no bits of eliminated vertices. */
static void eliminate(struct leaf *leaf, uint32_t v)
{
    const uint64_t *row = row_of(leaf, v);
    leaf->degrees[v] = GONE;
    for (uint32_t at = 0; at * WORD < leaf->count; at++) {
        for (uint64_t left = row[at]; left != 0; left &= left - 1) {
            const uint32_t i = at * WORD + (uint32_t)__builtin_ctzll(left);
            if (i >= leaf->count) {
                return; /* the boundary, which has no rows */
            }
            uint64_t *to = row_of(leaf, i);
            for (uint32_t word = 0; word < leaf->words; word++) {
                to[word] |= row[word];
            }
            to[v / WORD] &= ~(UINT64_C(1) << v % WORD);
            to[i / WORD] &= ~(UINT64_C(1) << i % WORD);
            leaf->degrees[i] = count_neighbours(leaf, i);
        }
    }
}

enum status leaf_order(struct leaf_scratch *scratch, const struct pattern *pattern,
                       uint32_t *vertices, uint32_t count)
{
    struct leaf leaf = {.scratch = scratch,
                        .pattern = pattern,
                        .count = count,
                        .degrees = malloc(((size_t)count + 1) * sizeof(*leaf.degrees))};
    enum status status = leaf.degrees != NULL ? set_bits(&leaf, vertices) : STATUS_NO_MEMORY;
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        leaf.degrees[i] = count_neighbours(&leaf, i);
    }
    for (uint32_t at = 0; status == STATUS_OK && at < count; at++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < count; i++) {
            best = leaf.degrees[i] < leaf.degrees[best] ? i : best;
        }
        vertices[at] = scratch->member[best];
        eliminate(&leaf, best);
    }
    for (uint32_t i = 0; i < leaf.known; i++) {
        scratch->local[scratch->member[i]] = NO_VERTEX;
    }
    free(leaf.degrees);
    return status;
}
