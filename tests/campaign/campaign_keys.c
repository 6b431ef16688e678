/* The keyring itself, asked by whoever has no key and measures: a million keys that are not quite
 * one of 4,096, what each costs, and whether the time tells anything about the digests.
 *
 *   campaign_keys [SAMPLES]
 *
 * Whether two sorts of comparisons take different times is judged by Welch's t over SAMPLES pairs
 * of measurements, in turns that chance decides, without the longest tenth, which are
 * interruptions. The exit status is 1 when a key was let in, cost more than 50 us on the average,
 * or |t| is 4.5 or more. */
#include "server/http/request/auth.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEYS 4096
#define MUTATIONS 1000000
#define COST_GOAL_US 50.0
#define T_GOAL 4.5
#define KEY_SIZE 32
#define SORTS 2

static uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);
static bool missed;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void report(const char *name, double value, const char *goal, bool good)
{
    missed |= !good;
    printf("%s: %.2f (goal %s)%s\n", name, value, goal, good ? "" : "  MISSED");
}

/* ---- Keys that are none ---- */

static enum status get_tenant(void *context, const char *name, struct tenant **ret_tenant)
{
    return tenant_find(context, name, ret_tenant);
}

static void write_key(unsigned number, char key[KEY_SIZE + 1])
{
    snprintf(key, KEY_SIZE + 1, "key-%028u", number);
}

static struct keyring *make_keyring(struct tenant **tenants)
{
    char path[] = "/tmp/campaign_keys_XXXXXX";
    char key[KEY_SIZE + 2];
    struct keyring *keyring;
    struct problem problem;
    FILE *file = fdopen(mkstemp(path), "w");

    CHECK(file != NULL);
    for (unsigned i = 0; i < KEYS; i++) {
        write_key(i, key);
        unsigned char digest[32];
        CHECK(gnutls_hash_fast(GNUTLS_DIG_SHA256, key, KEY_SIZE, digest) == 0);
        for (size_t k = 0; k < sizeof digest; k++) {
            fprintf(file, "%02x", digest[k]);
        }
        fprintf(file, " t%u reader\n", i % 8);
    }
    fclose(file);
    CHECK(auth_create(get_tenant, tenants, &keyring) == STATUS_OK);
    CHECK(auth_load_keys(keyring, path, &problem) == STATUS_OK);
    unlink(path);
    return keyring;
}

/* Cut off, made longer, a bit flipped, a byte exchanged for any other, a NUL among them. */
static size_t mutate(char key[2 * KEY_SIZE])
{
    char original[KEY_SIZE + 1];
    size_t size = KEY_SIZE;
    const size_t at = draw() % KEY_SIZE;

    write_key((unsigned)(draw() % KEYS), original);
    memcpy(key, original, KEY_SIZE);
    switch (draw() % 5) {
    case 0:
        size = at;
        break;
    case 1:
        size += 1 + draw() % (KEY_SIZE - 1);
        memset(key + KEY_SIZE, (int)(draw() % 256), size - KEY_SIZE);
        break;
    case 2:
        key[at] = (char)(key[at] ^ (1 << draw() % 8));
        break;
    case 3:
        key[at] = (char)(key[at] + 1 + (int)(draw() % 255));
        break;
    default:
        key[at] = '\0';
        break;
    }
    return size;
}

/* Another key may come of it: they count up. */
static bool is_key(const char *key, size_t size)
{
    char copy[KEY_SIZE + 1] = "";
    char known[KEY_SIZE + 1];

    if (size != KEY_SIZE || memchr(key, '\0', size) != NULL) {
        return false;
    }
    memcpy(copy, key, size);
    const unsigned long number = strtoul(copy + 4, NULL, 10);
    write_key((unsigned)number, known);
    return number < KEYS && memcmp(key, known, KEY_SIZE) == 0;
}

static void try_mutations(struct keyring *keyring)
{
    char key[2 * KEY_SIZE];
    struct grant grant;
    uint64_t let_in = 0;
    uint64_t spent_ns = 0;

    for (int i = 0; i < MUTATIONS;) {
        const size_t size = mutate(key);

        if (!is_key(key, size)) {
            const uint64_t began_ns = now_ns();
            let_in += auth_find_key(keyring, key, size, &grant);
            spent_ns += now_ns() - began_ns;
            i++;
        }
    }
    report("keys let in, of 1,000,000 mutations", (double)let_in, "0", let_in == 0);
    const double cost_us = (double)spent_ns / 1e3 / MUTATIONS;
    report("cost of one beside 4,096 keys, us", cost_us, "50", cost_us <= COST_GOAL_US);
    write_key(17, key);
    CHECK(auth_find_key(keyring, key, KEY_SIZE, &grant));
}

/* ---- Time ---- */

static int compare_times(const void *first, const void *second)
{
    const uint64_t a = *(const uint64_t *)first;
    const uint64_t b = *(const uint64_t *)second;

    return (a > b) - (a < b);
}

/* The mean and the variance over the number of those below a limit. */
static double mean_below(const uint64_t *times, size_t count, uint64_t limit, double *ret_error)
{
    double sum = 0;
    double squares = 0;
    double kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (times[i] < limit) {
            const double time = (double)times[i];
            sum += time;
            squares += time * time;
            kept++;
        }
    }
    *ret_error = (squares - sum * sum / kept) / (kept - 1) / kept;
    return sum / kept;
}

/* The limit is of both sorts together. */
static double welch_t(uint64_t *times[SORTS], size_t count)
{
    uint64_t *all = malloc(SORTS * count * sizeof *all);
    double errors[SORTS];
    double means[SORTS];

    CHECK(all != NULL);
    for (size_t sort = 0; sort < SORTS; sort++) {
        memcpy(all + sort * count, times[sort], count * sizeof *all);
    }
    qsort(all, SORTS * count, sizeof *all, compare_times);
    const uint64_t limit = all[SORTS * count / 10 * 9] + 1;
    free(all);
    for (size_t sort = 0; sort < SORTS; sort++) {
        means[sort] = mean_below(times[sort], count, limit, &errors[sort]);
    }
    return (means[0] - means[1]) / sqrt(errors[0] + errors[1]);
}

typedef void action(void *context, size_t sort);

static void judge(const char *name, size_t count, action *act, void *context)
{
    uint64_t *times[SORTS];
    size_t done[SORTS] = {0, 0};

    for (size_t sort = 0; sort < SORTS; sort++) {
        times[sort] = calloc(count, sizeof *times[sort]);
        CHECK(times[sort] != NULL);
    }
    while (done[0] < count || done[1] < count) {
        const size_t chosen = draw() % SORTS;
        const size_t sort = done[chosen] < count ? chosen : SORTS - 1 - chosen;
        const uint64_t began_ns = now_ns();

        act(context, sort);
        times[sort][done[sort]++] = now_ns() - began_ns;
    }
    const double t = welch_t(times, count);
    report(name, t, "|t| < 4.5", fabs(t) < T_GOAL);
    for (size_t sort = 0; sort < SORTS; sort++) {
        free(times[sort]);
    }
}

struct asked {
    struct keyring *keyring;
    char keys[SORTS][KEY_SIZE];
};

static void call(void *context, size_t sort)
{
    const struct asked *asked = context;
    struct grant grant;

    (void)auth_find_key(asked->keyring, asked->keys[sort], KEY_SIZE, &grant);
}

int main(int argc, char **argv)
{
    const size_t samples = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    struct tenant *tenants = NULL;

    if (samples < 100) {
        fprintf(stderr, "usage: campaign_keys [SAMPLES]\n");
        return 2;
    }
    struct tenant *nobody;
    CHECK(tenant_find(&tenants, "", &nobody) == STATUS_OK);
    struct asked asked = {.keyring = make_keyring(&tenants)};
    try_mutations(asked.keyring);
    memcpy(asked.keys[0], "key-00000000000000000000000000xx", KEY_SIZE);
    memcpy(asked.keys[1], "yy-entirely-another-one-00000000", KEY_SIZE);
    judge("two wrong keys, one much like those that are valid", samples / 10, call, &asked);
    auth_destroy(asked.keyring);
    tenant_free_all(tenants);
    return missed ? 1 : 0;
}
