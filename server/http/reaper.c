#include "server/http/reaper.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* Connections change places while one looks for a free one: so that it meets one all the same. */
#define PLACES_PER_CONNECTION 2
/* How many places are looked at to make room, and how long one must have waited to be asked to. */
#define SHED_LOOKS 1024
#define SHED_AGE_S 1.0

enum { PLACE_FREE, PLACE_OPEN, PLACE_REAPED };

/* Of the kernel's clock, the longest that it is built with. */
#define TICK_MS 10
/* Of the time for headers: what the wait to be accepted takes of it at most. */
#define QUEUE_SHARE 0.1

/* A cache line each: their threads write to them with each request. */
#define LINE_BYTES 64
/* Instead of the time since when headers are waited for. */
#define AT_REST (-1.0)
#define IN_BODY (-2.0)

/* What had moved when a stretch of time began; begun_s below 0: none has. And how long the client
 * may still move nothing: what it moves is worth the time that it takes at the floor, up to one
 * stretch. The first ends who is always a little slow, the second who stops, whatever came before.
 */
struct window {
    double begun_s;
    uint64_t bytes;
    float left_s;
    uint32_t seen; /* the low bits of what had moved at the last look */
};

struct reaper_place {
    _Alignas(LINE_BYTES) atomic_schar state;
    atomic_bool is_speaking; /* it has completed a request: what comes unasked would be misread */
    bool is_encrypted;       /* this and the windows: by whoever holds the place */
    atomic_int descriptor;
    _Atomic double since_s; /* or AT_REST, or IN_BODY */
    struct window in;
    struct window out;
};

_Static_assert(sizeof(struct reaper_place) == LINE_BYTES, "a place is a line");

struct reaper {
    struct reaper_rules rules;
    uint32_t count;
    double ran_s;     /* when all were last looked at */
    atomic_uint hint; /* where a free place may be */
    atomic_uint shed; /* where to look for one to make room */
    struct reaper_place places[];
};

enum status reaper_create(const struct reaper_rules *rules, struct reaper **ret_reaper)
{
    uint32_t count = PLACES_PER_CONNECTION * rules->connection_limit;
    const size_t size = sizeof(struct reaper) + (size_t)count * sizeof(struct reaper_place);
    struct reaper *reaper = aligned_alloc(LINE_BYTES, size);

    if (reaper == NULL) {
        return STATUS_NO_MEMORY;
    }
    memset(reaper, 0, size);
    reaper->rules = *rules;
    reaper->count = count;
    *ret_reaper = reaper;
    return STATUS_OK;
}

void reaper_destroy(struct reaper *reaper)
{
    free(reaper);
}

/* ---- What the kernel has counted ---- */

/* One direction of a connection, as the kernel has it. */
struct flow {
    uint64_t bytes; /* that have moved */
    double quiet_s; /* since when none has */
};

/* At least so long: the kernel counts in ticks. */
static double quiet_of(uint32_t ms)
{
    return ms > TICK_MS ? (ms - TICK_MS) * 1e-3 : 0;
}

static bool read_flows(int descriptor, struct flow *ret_in, struct flow *ret_out)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) {
        return false;
    }
    const uint32_t sent_ms = info.tcpi_last_data_sent;
    const uint32_t taken_ms = info.tcpi_last_ack_recv;
    *ret_in = (struct flow){info.tcpi_bytes_received, quiet_of(info.tcpi_last_data_recv)};
    *ret_out =
        (struct flow){info.tcpi_bytes_acked, quiet_of(sent_ms < taken_ms ? sent_ms : taken_ms)};
    return true;
}

/* How long a new connection has waited to be accepted, as far as it counts. */
static double waited_s(const struct reaper *reaper, int descriptor)
{
    const double most_s = reaper->rules.header_timeout_s * QUEUE_SHARE;
    struct flow in = {0};
    struct flow out;

    (void)!read_flows(descriptor, &in, &out);
    return in.quiet_s < most_s ? in.quiet_s : most_s;
}

/* ---- Places ---- */

static bool seize(struct reaper_place *place, signed char from)
{
    return atomic_load_explicit(&place->state, memory_order_relaxed) == from &&
           atomic_compare_exchange_strong(&place->state, &from, PLACE_REAPED);
}

static void release(struct reaper_place *place)
{
    atomic_store(&place->state, PLACE_OPEN);
}

struct reaper_place *reaper_open(struct reaper *reaper, int descriptor, bool is_encrypted,
                                 double now_s)
{
    uint32_t first = atomic_fetch_add_explicit(&reaper->hint, 1, memory_order_relaxed);

    for (uint32_t i = 0; i < reaper->count; i++) {
        struct reaper_place *place = &reaper->places[(first + i) % reaper->count];

        /* Held as if reaped until it is filled in. */
        if (!seize(place, PLACE_FREE)) {
            continue;
        }
        atomic_store(&place->descriptor, descriptor);
        const double since_s = now_s - waited_s(reaper, descriptor);
        atomic_store(&place->since_s, since_s > 0 ? since_s : 0); /* below 0 is no time */
        atomic_store(&place->is_speaking, false);
        place->is_encrypted = is_encrypted;
        place->in.begun_s = place->out.begun_s = -1;
        release(place);
        return place;
    }
    return NULL;
}

void reaper_close(struct reaper_place *place)
{
    signed char expected = PLACE_OPEN;

    if (place == NULL) {
        return;
    }
    while (!atomic_compare_exchange_weak(&place->state, &expected, PLACE_FREE)) {
        expected = PLACE_OPEN;
        sched_yield();
    }
}

static void set_since(struct reaper_place *place, double since_s)
{
    if (place != NULL) {
        atomic_store_explicit(&place->since_s, since_s, memory_order_relaxed);
    }
}

void reaper_rest(struct reaper_place *place)
{
    set_since(place, AT_REST);
    if (place != NULL) {
        atomic_store_explicit(&place->is_speaking, true, memory_order_relaxed);
    }
}

void reaper_expect_body(struct reaper_place *place)
{
    set_since(place, IN_BODY);
}

void reaper_watch(struct reaper_place *place, double now_s)
{
    if (place != NULL) {
        atomic_store(&place->since_s, now_s); /* in order with reaper_count_resting */
    }
}

/* ---- Judgement, with the place in hand ---- */

static bool waits_in_kernel(int descriptor, unsigned long question)
{
    int bytes = 0;

    return ioctl(descriptor, question, &bytes) == 0 && bytes > 0;
}

/* A look, so long after the last one. */
struct look {
    double now_s;
    double since_s;
    uint64_t floor;
};

/* The first one: when the last byte moved, but after the last look, which had nothing to judge. */
static void begin(struct window *window, const struct look *look, double length_s,
                  const struct flow *flow)
{
    const double passed_s = flow->quiet_s < look->since_s ? flow->quiet_s : look->since_s;

    *window = (struct window){look->now_s - passed_s, flow->bytes, (float)(length_s - passed_s),
                              (uint32_t)flow->bytes};
}

/* Whether nothing more may be waited for, or less than the floor has moved over a window that is
 * over now; the next one begins. */
static bool was_slow(struct window *window, const struct look *look, double length_s,
                     const struct flow *flow)
{
    const struct window before = *window;
    const uint64_t bytes = flow->bytes;
    const double worth_s = (double)((uint32_t)bytes - before.seen) / (double)look->floor;
    const double left_s = (double)before.left_s - look->since_s + worth_s;

    if (before.begun_s < 0) {
        begin(window, look, length_s, flow);
        return false;
    }
    window->left_s = (float)(left_s < length_s ? left_s : length_s);
    window->seen = (uint32_t)bytes;
    if (left_s < 0 || look->now_s - before.begun_s < length_s) {
        return left_s < 0;
    }
    window->begun_s = look->now_s;
    window->bytes = bytes;
    return (double)(bytes - before.bytes) < (double)look->floor * (look->now_s - before.begun_s);
}

/* What came waits here to be read, so that no more may come: since the last byte did, the time does
 * not pass for the client. */
static void excuse(struct window *window, struct look *look, const struct flow *flow)
{
    const double excused_s = flow->quiet_s < look->since_s ? flow->quiet_s : look->since_s;

    window->begun_s += excused_s;
    look->since_s -= excused_s;
}

static bool is_slow(const struct reaper *reaper, struct reaper_place *place, bool in_body,
                    double now_s)
{
    const struct reaper_rules *rules = &reaper->rules;
    const struct look look = {now_s, now_s - reaper->ran_s, rules->rate_floor};
    struct look of_body = look;
    const int descriptor = atomic_load(&place->descriptor);
    const bool has_output = waits_in_kernel(descriptor, SIOCOUTQ);
    struct flow in;
    struct flow out;
    bool slow = false;

    place->in.begun_s = in_body ? place->in.begun_s : -1;
    place->out.begun_s = has_output ? place->out.begun_s : -1;
    const bool waits_for_us = in_body && waits_in_kernel(descriptor, SIOCINQ);
    in_body = in_body && (!waits_for_us || place->in.begun_s >= 0);
    if ((!in_body && !has_output) || !read_flows(descriptor, &in, &out)) {
        return false;
    }
    if (waits_for_us && in_body) {
        excuse(&place->in, &of_body, &in);
    }
    if (in_body) {
        slow = was_slow(&place->in, &of_body, rules->header_timeout_s, &in);
    }
    if (has_output) {
        slow |= was_slow(&place->out, &look, rules->stall_timeout_s, &out);
    }
    return slow;
}

uint32_t reaper_count_resting(struct reaper *reaper)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < reaper->count; i++) {
        struct reaper_place *place = &reaper->places[i];

        count += atomic_load(&place->state) != PLACE_FREE && atomic_load(&place->since_s) < 0;
    }
    return count;
}

static bool is_late(const struct reaper *reaper, struct reaper_place *place, double now_s)
{
    const double since_s = atomic_load_explicit(&place->since_s, memory_order_relaxed);

    if (since_s >= 0) {
        place->in.begun_s = place->out.begun_s = -1;
        return now_s - since_s > reaper->rules.header_timeout_s;
    }
    return reaper->rules.rate_floor > 0 && is_slow(reaper, place, since_s == IN_BODY, now_s);
}

/* A client that has sent nothing, or has an answer already, would take it for something else. */
static bool may_be_told(const struct reaper_place *place)
{
    const double since_s = atomic_load(&place->since_s);
    struct flow in;
    struct flow out;

    if (place->is_encrypted) {
        return false;
    }
    return since_s == IN_BODY ||
           (since_s >= 0 && !atomic_load(&place->is_speaking) &&
            read_flows(atomic_load(&place->descriptor), &in, &out) && in.bytes > 0);
}

static void shut(const struct reaper *reaper, struct reaper_place *place)
{
    const struct reaper_rules *rules = &reaper->rules;
    const int descriptor = atomic_load(&place->descriptor);
    char bytes[REAPER_FAREWELL_SIZE];

    if (waits_in_kernel(descriptor, SIOCOUTQ)) {
        /* What nobody takes is thrown away with the connection, and not kept for minutes. */
        const struct linger none = {.l_onoff = 1};

        (void)!setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    if (rules->farewell != NULL && may_be_told(place)) {
        const size_t size = rules->farewell(rules->context, bytes);

        (void)!send(descriptor, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    shutdown(descriptor, SHUT_RDWR);
}

void reaper_run(struct reaper *reaper, double now_s)
{
    for (uint32_t i = 0; i < reaper->count; i++) {
        struct reaper_place *place = &reaper->places[i];

        if (!seize(place, PLACE_OPEN)) {
            continue;
        }
        if (is_late(reaper, place, now_s)) {
            shut(reaper, place);
        }
        release(place);
    }
    reaper->ran_s = now_s;
}

static double age_of(const struct reaper_place *place, double now_s)
{
    const double since_s = atomic_load_explicit(&place->since_s, memory_order_relaxed);

    return atomic_load_explicit(&place->state, memory_order_relaxed) == PLACE_OPEN && since_s >= 0
               ? now_s - since_s
               : -1;
}

bool reaper_shed(struct reaper *reaper, double now_s)
{
    const uint32_t first = atomic_fetch_add(&reaper->shed, SHED_LOOKS);
    struct reaper_place *oldest = NULL;
    double age_s = SHED_AGE_S;
    bool done = false;

    for (uint32_t i = 0; i < SHED_LOOKS && i < reaper->count; i++) {
        struct reaper_place *place = &reaper->places[(first + i) % reaper->count];

        if (age_of(place, now_s) >= age_s) {
            oldest = place;
            age_s = age_of(place, now_s);
        }
    }
    if (oldest == NULL || !seize(oldest, PLACE_OPEN)) {
        return false;
    }
    if (atomic_load(&oldest->since_s) >= 0) {
        shut(reaper, oldest);
        set_since(oldest, AT_REST); /* not to be chosen again until it is closed */
        done = true;
    }
    release(oldest);
    return done;
}
