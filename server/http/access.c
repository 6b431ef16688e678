#include "server/http/access.h"

#include "server/clock.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define SCHEME "Bearer "

/* The credentials of a request; of more than one nobody knows which a proxy has looked at. */
struct credentials {
    const char *value;
    size_t size;
    unsigned count;
};

static enum MHD_Result collect(void *context, enum MHD_ValueKind kind, const char *name,
                               size_t name_size, const char *value, size_t value_size)
{
    static const char wanted[] = MHD_HTTP_HEADER_AUTHORIZATION;
    struct credentials *credentials = context;

    (void)kind;
    if (name_size == strlen(wanted) && strncasecmp(name, wanted, name_size) == 0) {
        credentials->value = value;
        credentials->size = value_size;
        credentials->count++;
    }
    return MHD_YES;
}

static bool find_grant(struct exchange *exchange, bool *ret_tried)
{
    const size_t prefix = strlen(SCHEME);
    struct credentials credentials = {0};

    MHD_get_connection_values_n(exchange->connection, MHD_HEADER_KIND, collect, &credentials);
    *ret_tried = credentials.count > 0;
    if (credentials.count != 1 || credentials.value == NULL || credentials.size <= prefix ||
        strncasecmp(credentials.value, SCHEME, prefix) != 0) {
        return false;
    }
    return keyring_find(exchange->house->keyring, credentials.value + prefix,
                        credentials.size - prefix, &exchange->grant);
}

/* Whoever tries key after key is told to wait, and has to connect anew for each. A right key is
 * never asked to: behind one address there may be many. */
static enum status refuse(struct exchange *exchange, bool tried, struct problem *reterr)
{
    struct exchange_house *house = exchange->house;
    const uint32_t wait_s =
        tried ? turnstile_miss(house->turnstile, exchange->address_counter, clock_monotonic_s())
              : 0;

    if (wait_s > 0) {
        const double limit = house->config->wrong_key_limit;

        exchange->closing = true;
        exchange_set_header(exchange, MHD_HTTP_HEADER_RETRY_AFTER, "%" PRIu32, wait_s);
        problem_set(reterr, STATUS_WRONG_KEYS, "Too many wrong keys have come from this address.");
        problem_limit(reterr, limit, limit + 1);
        problem_hint(reterr, "A valid key is let in at any time.");
        return STATUS_WRONG_KEYS;
    }
    exchange_set_header(exchange, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"apspd\"");
    problem_set(reterr, STATUS_UNAUTHORIZED, "This needs a valid key.");
    problem_hint(reterr, "Send it as \"Authorization: Bearer KEY\".");
    return STATUS_UNAUTHORIZED;
}

enum status access_check(struct exchange *exchange, struct problem *reterr)
{
    const unsigned right = exchange->match.route->right;
    bool tried;

    if (exchange->house->keyring == NULL || right == RIGHT_OPEN) {
        return STATUS_OK;
    }
    if (!find_grant(exchange, &tried)) {
        return refuse(exchange, tried, reterr);
    }
    if ((exchange->grant.rights & right) == 0) {
        return problem_set(reterr, STATUS_FORBIDDEN, "The role of this key does not include that.");
    }
    return STATUS_OK;
}
