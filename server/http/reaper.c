#include "server/http/reaper.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Connections change places while one looks for a free one: so that it meets one all the same. */
#define PLACES_PER_CONNECTION 4

enum { PLACE_FREE, PLACE_OPEN, PLACE_REAPED };

struct reaper_place {
    atomic_int state;
    atomic_int descriptor;
    _Atomic double since_s; /* below 0: not waiting for headers */
};

struct reaper {
    double header_timeout_s;
    uint32_t count;
    atomic_uint hint; /* where a free place may be */
    struct reaper_place places[];
};

enum status reaper_create(uint32_t connection_limit, double header_timeout_s,
                          struct reaper **ret_reaper)
{
    uint32_t count = PLACES_PER_CONNECTION * connection_limit;
    struct reaper *reaper = calloc(1, sizeof *reaper + (size_t)count * sizeof(struct reaper_place));

    if (reaper == NULL) {
        return STATUS_NO_MEMORY;
    }
    reaper->header_timeout_s = header_timeout_s;
    reaper->count = count;
    *ret_reaper = reaper;
    return STATUS_OK;
}

void reaper_destroy(struct reaper *reaper)
{
    free(reaper);
}

struct reaper_place *reaper_open(struct reaper *reaper, int descriptor, double now_s)
{
    uint32_t first = atomic_fetch_add_explicit(&reaper->hint, 1, memory_order_relaxed);

    for (uint32_t i = 0; i < reaper->count; i++) {
        struct reaper_place *place = &reaper->places[(first + i) % reaper->count];
        int expected = PLACE_FREE;

        if (atomic_load_explicit(&place->state, memory_order_relaxed) != PLACE_FREE) {
            continue;
        }
        /* Held as if reaped until it is filled in. */
        if (!atomic_compare_exchange_strong(&place->state, &expected, PLACE_REAPED)) {
            continue;
        }
        atomic_store(&place->descriptor, descriptor);
        atomic_store(&place->since_s, now_s);
        atomic_store(&place->state, PLACE_OPEN);
        return place;
    }
    return NULL;
}

void reaper_close(struct reaper_place *place)
{
    int expected = PLACE_OPEN;

    if (place == NULL) {
        return;
    }
    while (!atomic_compare_exchange_weak(&place->state, &expected, PLACE_FREE)) {
        expected = PLACE_OPEN;
        sched_yield();
    }
}

void reaper_rest(struct reaper_place *place)
{
    reaper_watch(place, -1);
}

void reaper_watch(struct reaper_place *place, double now_s)
{
    if (place != NULL) {
        atomic_store_explicit(&place->since_s, now_s, memory_order_relaxed);
    }
}

static bool is_late(const struct reaper *reaper, struct reaper_place *place, double now_s)
{
    double since_s = atomic_load_explicit(&place->since_s, memory_order_relaxed);

    return since_s >= 0 && now_s - since_s > reaper->header_timeout_s;
}

void reaper_run(struct reaper *reaper, double now_s)
{
    for (uint32_t i = 0; i < reaper->count; i++) {
        struct reaper_place *place = &reaper->places[i];
        int expected = PLACE_OPEN;

        if (atomic_load_explicit(&place->state, memory_order_relaxed) != PLACE_OPEN ||
            !is_late(reaper, place, now_s) ||
            !atomic_compare_exchange_strong(&place->state, &expected, PLACE_REAPED)) {
            continue;
        }
        if (is_late(reaper, place, now_s)) {
            shutdown(atomic_load(&place->descriptor), SHUT_RDWR);
        }
        atomic_store(&place->state, PLACE_OPEN);
    }
}
