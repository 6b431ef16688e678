#include "server/store/identity_sum.h"

#include "server/store/identity_hash.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Blocks that wait for the thread, which may fall behind for a moment. */
#define SLOTS 8
/* Beside that of whoever began: what is computed gives way to answers, as in libuv's pool. */
#define NICENESS 5

/* Changes when the canonical form does: other bytes, other ids. */
static const char domain[16] = "apspd graph 2";

struct block {
    uint32_t target[IDENTITY_BLOCK_EDGES];
    int32_t weight[IDENTITY_BLOCK_EDGES];
};

struct identity_sum {
    gnutls_hash_hd_t hash;
    pthread_t thread;
    sem_t news;                    /* once for each block, and at the end */
    atomic_bool useless;           /* failed, or not wanted any more: the thread ends */
    atomic_uint_fast64_t filled;   /* blocks, by whoever offers */
    atomic_uint_fast64_t digested; /* by the thread */
    struct block blocks[SLOTS];
};

static atomic_bool in_use;

int identity_hash_begin(gnutls_hash_hd_t *ret_hash)
{
    int failed = gnutls_hash_init(ret_hash, GNUTLS_DIG_SHA256);

    if (failed == 0 && (failed = gnutls_hash(*ret_hash, domain, sizeof domain)) != 0) {
        gnutls_hash_deinit(*ret_hash, NULL);
    }
    return failed;
}

int identity_hash_edges(gnutls_hash_hd_t hash, const void *targets, const void *weights,
                        size_t weight_size, size_t count)
{
    const int failed = gnutls_hash(hash, targets, count * sizeof(uint32_t));

    return failed != 0 ? failed : gnutls_hash(hash, weights, count * weight_size);
}

static void digest(struct identity_sum *sum, uint64_t number)
{
    const struct block *block = &sum->blocks[number % SLOTS];

    if (identity_hash_edges(sum->hash, block->target, block->weight, sizeof block->weight[0],
                            IDENTITY_BLOCK_EDGES) != 0) {
        atomic_store(&sum->useless, true);
    }
}

static void *run(void *context)
{
    struct identity_sum *sum = context;
    const id_t thread = (id_t)gettid();
    uint64_t number = 0;

    (void)setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + NICENESS);
    for (;;) {
        while (sem_wait(&sum->news) != 0 && errno == EINTR) {
        }
        if (number == atomic_load(&sum->filled) || atomic_load(&sum->useless)) {
            return NULL;
        }
        digest(sum, number);
        atomic_store(&sum->digested, ++number);
    }
}

static bool start(struct identity_sum *sum)
{
    if (identity_hash_begin(&sum->hash) != 0) {
        return false;
    }
    if (sem_init(&sum->news, 0, 0) == 0) {
        if (pthread_create(&sum->thread, NULL, run, sum) == 0) {
            return true;
        }
        sem_destroy(&sum->news);
    }
    gnutls_hash_deinit(sum->hash, NULL);
    return false;
}

struct identity_sum *identity_sum_begin(void)
{
    if (atomic_exchange(&in_use, true)) {
        return NULL;
    }
    struct identity_sum *sum = malloc(sizeof *sum);
    if (sum != NULL) {
        atomic_init(&sum->useless, false);
        atomic_init(&sum->filled, 0);
        atomic_init(&sum->digested, 0);
        if (start(sum)) {
            return sum;
        }
    }
    free(sum);
    atomic_store(&in_use, false);
    return NULL;
}

void identity_sum_offer(struct identity_sum *sum, const struct settled_edges *edges)
{
    uint64_t number = atomic_load(&sum->filled);

    while (edges->count / IDENTITY_BLOCK_EDGES > number &&
           number - atomic_load(&sum->digested) < SLOTS) {
        struct block *block = &sum->blocks[number % SLOTS];
        const uint64_t first = number * IDENTITY_BLOCK_EDGES;

        memcpy(block->target, edges->target + first, sizeof block->target);
        memcpy(block->weight, edges->weight + first, sizeof block->weight);
        atomic_store(&sum->filled, ++number);
        sem_post(&sum->news);
    }
}

/* The thread ends when it is woken and finds nothing. */
static void stop(struct identity_sum *sum)
{
    sem_post(&sum->news);
    pthread_join(sum->thread, NULL);
    sem_destroy(&sum->news);
}

bool identity_sum_take(struct identity_sum *sum, gnutls_hash_hd_t *ret_hash, uint64_t *ret_edges)
{
    stop(sum);
    const bool done = !atomic_load(&sum->useless);
    if (done) {
        *ret_hash = sum->hash;
        *ret_edges = atomic_load(&sum->digested) * IDENTITY_BLOCK_EDGES;
    } else {
        gnutls_hash_deinit(sum->hash, NULL);
    }
    free(sum);
    atomic_store(&in_use, false);
    return done;
}

void identity_sum_drop(struct identity_sum *sum)
{
    gnutls_hash_hd_t hash;
    uint64_t edges;

    if (sum != NULL) {
        atomic_store(&sum->useless, true);
        (void)!identity_sum_take(sum, &hash, &edges);
    }
}
