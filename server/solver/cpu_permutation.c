/* A permutation is cycles; along a cycle each row takes the place of the next, so two rows in hand
 * are enough. A long cycle is cut into pieces, a task each: the first row of every piece is put
 * aside before any moves, as the piece before will end by writing over it. */
#include "server/solver/cpu_permutation.h"

#include "proto/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of the longest cycle possible, for each thread. */
#define PIECES_PER_THREAD 4
/* Rows in hand of a thread. */
#define ROWS_IN_HAND 2
#define NO_SLOT UINT32_MAX

struct piece {
    uint32_t begin; /* in walk */
    uint32_t length;
    uint32_t last; /* the row that takes what was in the last one of the piece */
    uint32_t slot; /* where its first row was put aside; NO_SLOT: a whole cycle */
};

struct permutation {
    const uint32_t *to;
    uint32_t n;
    uint32_t element_bytes;
    unsigned char *elements;
    uint32_t *walk; /* the rows, cycle by cycle, each before the one whose place it takes */
    struct piece *pieces;
    uint32_t piece_count;
    uint32_t piece_length; /* of those that a long cycle is cut into */
    uint32_t slot_count;
    unsigned char *rows; /* in hand, then aside */
};

static size_t row_bytes(const struct permutation *permutation)
{
    return (size_t)permutation->n * permutation->element_bytes;
}

static unsigned char *row_at(const struct permutation *permutation, uint32_t row)
{
    return permutation->elements + row * row_bytes(permutation);
}

/* The columns of a row in their new places. */
static void lift_row(const struct permutation *permutation, uint32_t row, void *ret_lifted)
{
    const void *from = row_at(permutation, row);
    const uint32_t *to = permutation->to;
    const uint32_t n = permutation->n;
    if (permutation->element_bytes == sizeof(uint16_t)) {
        for (uint32_t column = 0; column < n; ++column) {
            ((uint16_t *)ret_lifted)[to[column]] = ((const uint16_t *)from)[column];
        }
    } else if (permutation->element_bytes == sizeof(uint32_t)) {
        for (uint32_t column = 0; column < n; ++column) {
            ((uint32_t *)ret_lifted)[to[column]] = ((const uint32_t *)from)[column];
        }
    } else {
        for (uint32_t column = 0; column < n; ++column) {
            ((uint64_t *)ret_lifted)[to[column]] = ((const uint64_t *)from)[column];
        }
    }
}

static uint32_t most_slots(uint32_t threads)
{
    /* Every cycle that is cut has a piece more than it has full ones. */
    return 2 * PIECES_PER_THREAD * threads;
}

uint64_t cpu_permutation_bytes(uint32_t threads, uint32_t n, uint32_t element_bytes)
{
    const uint64_t rows = (uint64_t)threads * ROWS_IN_HAND + most_slots(threads);
    return rows * n * element_bytes + (uint64_t)n * (sizeof(uint32_t) + sizeof(struct piece) + 1);
}

static void add_cycle(struct permutation *permutation, uint32_t begin, uint32_t length)
{
    const bool whole = length <= permutation->piece_length;
    const uint32_t most = whole ? length : permutation->piece_length;
    for (uint32_t done = 0; done < length; done += most) {
        const uint32_t rest = length - done;
        const uint32_t next = rest > most ? begin + done + most : begin;
        permutation->pieces[permutation->piece_count++] =
            (struct piece){.begin = begin + done,
                           .length = rest < most ? rest : most,
                           .last = permutation->walk[next],
                           .slot = whole ? NO_SLOT : permutation->slot_count++};
    }
}

/* seen: n zeros. */
static void walk_cycles(struct permutation *permutation, bool *seen)
{
    uint32_t end = 0;
    for (uint32_t row = 0; row < permutation->n; ++row) {
        const uint32_t begin = end;
        for (uint32_t next = row; !seen[next]; next = permutation->to[next]) {
            seen[next] = true;
            permutation->walk[end++] = next;
        }
        if (end > begin) {
            add_cycle(permutation, begin, end - begin);
        }
    }
}

static unsigned char *slot_at(const struct permutation *permutation, uint32_t threads,
                              uint32_t slot)
{
    return permutation->rows + ((size_t)threads * ROWS_IN_HAND + slot) * row_bytes(permutation);
}

struct moving {
    struct permutation *permutation;
    uint32_t threads;
};

static void put_aside(void *context, uint32_t thread, uint64_t task)
{
    (void)thread;
    const struct moving *moving = context;
    const struct permutation *permutation = moving->permutation;
    const struct piece *piece = &permutation->pieces[task];
    if (piece->slot != NO_SLOT) {
        lift_row(permutation, permutation->walk[piece->begin],
                 slot_at(permutation, moving->threads, piece->slot));
    }
}

static void move_piece(void *context, uint32_t thread, uint64_t task)
{
    const struct moving *moving = context;
    const struct permutation *permutation = moving->permutation;
    const struct piece *piece = &permutation->pieces[task];
    const uint32_t *rows = permutation->walk + piece->begin;
    const size_t bytes = row_bytes(permutation);
    unsigned char *taken = permutation->rows + (size_t)thread * ROWS_IN_HAND * bytes;
    unsigned char *carried = taken + bytes;
    if (piece->slot == NO_SLOT) {
        lift_row(permutation, rows[0], carried);
    } else {
        memcpy(carried, slot_at(permutation, moving->threads, piece->slot), bytes);
    }
    for (uint32_t index = 1; index < piece->length; ++index) {
        unsigned char *swapped = carried;
        lift_row(permutation, rows[index], taken);
        memcpy(row_at(permutation, rows[index]), carried, bytes);
        carried = taken;
        taken = swapped;
    }
    memcpy(row_at(permutation, piece->last), carried, bytes);
}

static enum status allocate(struct permutation *permutation, uint32_t threads, bool **ret_seen)
{
    const size_t rows = (size_t)threads * ROWS_IN_HAND + most_slots(threads);
    permutation->walk = malloc(permutation->n * sizeof(*permutation->walk));
    permutation->pieces = malloc(permutation->n * sizeof(*permutation->pieces));
    permutation->rows = malloc(rows * row_bytes(permutation));
    bool *seen = calloc(permutation->n, sizeof(*seen));
    if (permutation->walk == NULL || permutation->pieces == NULL || permutation->rows == NULL ||
        seen == NULL) {
        free(seen);
        return STATUS_NO_MEMORY;
    }
    *ret_seen = seen;
    return STATUS_OK;
}

enum status cpu_permutation_apply(struct cpu_pool *pool, const uint32_t *to, uint32_t n,
                                  uint32_t element_bytes, void *elements)
{
    CHECK(element_bytes == 2 || element_bytes == 4 || element_bytes == 8);
    const uint32_t threads = cpu_pool_threads(pool);
    struct permutation permutation = {.to = to,
                                      .n = n,
                                      .element_bytes = element_bytes,
                                      .elements = elements,
                                      .piece_length = n / (PIECES_PER_THREAD * threads) + 1};
    if (n == 0) {
        return STATUS_OK;
    }
    bool *seen = NULL;
    const enum status status = allocate(&permutation, threads, &seen);
    if (status == STATUS_OK) {
        struct moving moving = {&permutation, threads};
        walk_cycles(&permutation, seen);
        CHECK(permutation.slot_count <= most_slots(threads));
        cpu_pool_run(pool, permutation.piece_count, put_aside, &moving);
        cpu_pool_run(pool, permutation.piece_count, move_piece, &moving);
    }
    free(seen);
    free(permutation.rows);
    free(permutation.pieces);
    free(permutation.walk);
    return status;
}
