#include "server/http/request/auth.h"

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

static bool find_grant(struct request *request, bool *ret_tried)
{
    const size_t prefix = strlen(SCHEME);
    struct credentials credentials = {0};

    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, collect, &credentials);
    *ret_tried = credentials.count > 0;
    if (credentials.count != 1 || credentials.value == NULL || credentials.size <= prefix ||
        strncasecmp(credentials.value, SCHEME, prefix) != 0) {
        return false;
    }
    return keyring_find(request->http_context->keyring, credentials.value + prefix,
                        credentials.size - prefix, &request->grant);
}

/* A client that guesses keys is told to wait, and has to reconnect for each guess. A valid key
 * never waits, because many clients may share one address. */
static enum status refuse(struct request *request, bool tried, struct problem *reterr)
{
    struct http_context *http_context = request->http_context;
    const uint32_t wait_s = tried
                                ? limits_login_failed(http_context->limits,
                                                      request->address_counter, clock_monotonic_s())
                                : 0;

    if (wait_s > 0) {
        const double limit = http_context->config->wrong_key_limit;

        request->closing = true;
        request_set_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "%" PRIu32, wait_s);
        problem_set(reterr, STATUS_WRONG_KEYS, "Too many wrong keys have come from this address.");
        problem_limit(reterr, limit, limit + 1);
        problem_hint(reterr, "A valid key is let in at any time.");
        return STATUS_WRONG_KEYS;
    }
    request_set_header(request, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"apspd\"");
    problem_set(reterr, STATUS_UNAUTHORIZED, "This needs a valid key.");
    problem_hint(reterr, "Send it as \"Authorization: Bearer KEY\".");
    return STATUS_UNAUTHORIZED;
}

enum status auth_check(struct request *request, struct problem *reterr)
{
    const unsigned right = request->match.route->right;
    bool tried;

    if (request->http_context->keyring == NULL || right == RIGHT_OPEN) {
        return STATUS_OK;
    }
    if (!find_grant(request, &tried)) {
        return refuse(request, tried, reterr);
    }
    if ((request->grant.rights & right) == 0) {
        return problem_set(reterr, STATUS_FORBIDDEN, "The role of this key does not include that.");
    }
    return STATUS_OK;
}
