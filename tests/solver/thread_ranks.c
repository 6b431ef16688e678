#include "tests/solver/thread_ranks.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct delivery {
    void *data;
    sem_t sent;
    sem_t taken;
};

struct piece {
    void *data;
    size_t size;
    uint32_t root;
};

struct meeting {
    pthread_barrier_t barrier;
    void *data; /* data of the rank that is broadcasting */
    uint32_t values[THREAD_RANKS_MAX];
    struct delivery deliveries[THREAD_RANKS_MAX];
    void (*work)(const struct ranks *ranks, void *context);
    void *context;
};

struct member {
    struct meeting *meeting;
    struct ranks ranks;
    struct piece *pieces; /* broadcasts that were started but are not complete */
    size_t piece_count;
};

static void broadcast(void *context, void *data, size_t size, uint32_t root)
{
    struct member *member = context;
    struct meeting *meeting = member->meeting;
    if (member->ranks.rank == root) {
        meeting->data = data;
    }
    pthread_barrier_wait(&meeting->barrier);
    if (member->ranks.rank != root) {
        memcpy(data, meeting->data, size);
    }
    pthread_barrier_wait(&meeting->barrier);
}

/* Only records the broadcast. complete_broadcasts sends the data, so a test fails if a rank uses
 * the data before waiting for it. */
static void start_broadcast(void *context, void *data, size_t size, uint32_t root)
{
    struct member *member = context;
    const size_t count = member->piece_count++;
    member->pieces = realloc(member->pieces, member->piece_count * sizeof(*member->pieces));
    CHECK(member->pieces != NULL);
    member->pieces[count] = (struct piece){data, size, root};
}

static void complete_broadcasts(void *context)
{
    struct member *member = context;
    for (size_t i = 0; i < member->piece_count; ++i) {
        broadcast(context, member->pieces[i].data, member->pieces[i].size, member->pieces[i].root);
    }
    free(member->pieces);
    member->pieces = NULL;
    member->piece_count = 0;
}

/* Sends data from the rank `from` to the first rank. Other ranks do not call this function. */
static void gather(void *context, void *data, size_t size, uint32_t from)
{
    struct member *member = context;
    struct delivery *delivery = &member->meeting->deliveries[from];
    if (member->ranks.rank == from) {
        delivery->data = data;
        CHECK(sem_post(&delivery->sent) == 0 && sem_wait(&delivery->taken) == 0);
    } else {
        CHECK(member->ranks.rank == 0 && sem_wait(&delivery->sent) == 0);
        memcpy(data, delivery->data, size);
        CHECK(sem_post(&delivery->taken) == 0);
    }
}

static uint32_t highest(void *context, uint32_t value)
{
    struct member *member = context;
    struct meeting *meeting = member->meeting;
    uint32_t most = 0;
    meeting->values[member->ranks.rank] = value;
    pthread_barrier_wait(&meeting->barrier);
    for (uint32_t rank = 0; rank < member->ranks.count; ++rank) {
        most = meeting->values[rank] > most ? meeting->values[rank] : most;
    }
    pthread_barrier_wait(&meeting->barrier);
    return most;
}

static void end(void *context)
{
    const struct member *member = context;
    fprintf(stderr, "rank %u ends all\n", member->ranks.rank);
    abort();
}

static void *run_member(void *context)
{
    const struct member *member = context;
    member->meeting->work(&member->ranks, member->meeting->context);
    return NULL;
}

void thread_ranks_run(uint32_t count, void (*work)(const struct ranks *ranks, void *context),
                      void *context)
{
    struct meeting meeting = {.work = work, .context = context};
    struct member members[THREAD_RANKS_MAX];
    pthread_t threads[THREAD_RANKS_MAX];
    CHECK(count <= THREAD_RANKS_MAX);
    CHECK(pthread_barrier_init(&meeting.barrier, NULL, count) == 0);
    for (uint32_t rank = 0; rank < count; ++rank) {
        members[rank] = (struct member){.meeting = &meeting,
                                        .ranks = {.rank = rank,
                                                  .count = count,
                                                  .on_host = count,
                                                  .rank_on_host = rank,
                                                  .threads = 1,
                                                  .context = &members[rank],
                                                  .start_broadcast = start_broadcast,
                                                  .complete_broadcasts = complete_broadcasts,
                                                  .highest = highest,
                                                  .gather = gather,
                                                  .end = end}};
        CHECK(sem_init(&meeting.deliveries[rank].sent, 0, 0) == 0);
        CHECK(sem_init(&meeting.deliveries[rank].taken, 0, 0) == 0);
        CHECK(pthread_create(&threads[rank], NULL, run_member, &members[rank]) == 0);
    }
    for (uint32_t rank = 0; rank < count; ++rank) {
        CHECK(pthread_join(threads[rank], NULL) == 0);
    }
    pthread_barrier_destroy(&meeting.barrier);
}
