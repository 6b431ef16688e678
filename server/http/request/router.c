#include "server/http/request/router.h"

#include "server/http/request/query.h"

#include <stdio.h>
#include <string.h>

static const struct {
    enum method method;
    const char *name;
} methods[] = {
    {METHOD_GET, "GET"}, {METHOD_HEAD, "HEAD"},     {METHOD_POST, "POST"},
    {METHOD_PUT, "PUT"}, {METHOD_DELETE, "DELETE"}, {METHOD_OPTIONS, "OPTIONS"},
};

#define METHOD_COUNT (sizeof(methods) / sizeof(methods[0]))

enum method router_method(const char *name)
{
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (strcmp(methods[i].name, name) == 0) {
            return methods[i].method;
        }
    }
    return METHOD_OTHER;
}

const char *router_method_name(enum method method)
{
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if (methods[i].method == method) {
            return methods[i].name;
        }
    }
    return "other";
}

static unsigned methods_of(const struct route *route)
{
    return route->methods & METHOD_GET ? route->methods | METHOD_HEAD : route->methods;
}

#define HOLES 2

/* Segments in the places of the braces, as far as the path is like the pattern. */
struct holes {
    const char *first[HOLES];
    size_t size[HOLES];
    size_t count;
};

/* Whether the path has the shape of the pattern. */
static bool has_shape(const char *pattern, const char *path, struct holes *holes)
{
    holes->count = 0;
    for (;;) {
        for (; *pattern == *path && *pattern != '{' && *pattern != '\0'; pattern++) {
            path++;
        }
        if (*pattern != '{') {
            break;
        }
        const size_t size = (size_t)(strchrnul(path, '/') - path);

        if (size == 0) {
            return false;
        }
        holes->first[holes->count] = path;
        holes->size[holes->count++] = size;
        path += size;
        pattern = strchr(pattern, '}') + 1;
    }
    return *pattern == *path; /* the end of both */
}

static enum status capture(const char *first, size_t size, char to[ROUTER_CAPTURE_SIZE],
                           struct problem *reterr)
{
    char segment[3 * ROUTER_CAPTURE_SIZE];

    /* Nearly always there is nothing to decode. */
    if (size < ROUTER_CAPTURE_SIZE && memchr(first, '%', size) == NULL) {
        memcpy(to, first, size);
        to[size] = '\0';
        return STATUS_OK;
    }
    if (size >= sizeof(segment)) {
        return problem_set(reterr, STATUS_NO_SUCH_ROUTE, "No name here is that long.");
    }
    memcpy(segment, first, size);
    segment[size] = '\0';
    if (!query_decode(segment)) {
        return problem_set(reterr, STATUS_BAD_REQUEST,
                           "The path has a broken percent escape, or %%00.");
    }
    const size_t decoded = strlen(segment) + 1;

    if (decoded > ROUTER_CAPTURE_SIZE) {
        return problem_set(reterr, STATUS_NO_SUCH_ROUTE, "No name here is that long.");
    }
    memcpy(to, segment, decoded);
    return STATUS_OK;
}

static void print_allow(unsigned allowed, char ret_allow[ROUTER_ALLOW_SIZE])
{
    size_t size = 0;

    for (size_t i = 0; i < METHOD_COUNT; i++) {
        if ((allowed & methods[i].method) == 0) {
            continue;
        }
        size += (size_t)snprintf(ret_allow + size, ROUTER_ALLOW_SIZE - size, "%s%s",
                                 size == 0 ? "" : ", ", methods[i].name);
    }
}

bool router_answers_at(const struct route *route, unsigned doors)
{
    return (route->doors & doors) != 0;
}

enum status router_find(const struct route *table, size_t count, unsigned doors, enum method method,
                        const char *path, struct router_match *ret_match,
                        char ret_allow[ROUTER_ALLOW_SIZE], struct problem *reterr)
{
    unsigned allowed = 0;
    struct holes holes;

    ret_allow[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (!has_shape(table[i].pattern, path, &holes) || !router_answers_at(&table[i], doors)) {
            continue;
        }
        allowed |= methods_of(&table[i]);
        if ((methods_of(&table[i]) & method) == 0) {
            continue;
        }
        ret_match->route = &table[i];
        ret_match->second = holes.count > 1 ? holes.first[1] : NULL;
        ret_match->second_size = holes.count > 1 ? holes.size[1] : 0;
        ret_match->capture[0] = '\0';
        return holes.count == 0
                   ? STATUS_OK
                   : capture(holes.first[0], holes.size[0], ret_match->capture, reterr);
    }
    if (allowed == 0) {
        problem_set(reterr, STATUS_NO_SUCH_ROUTE, "There is nothing at this address.");
        problem_hint(reterr, "/docs shows the addresses, /openapi.json lists them.");
        return STATUS_NO_SUCH_ROUTE;
    }
    print_allow(allowed, ret_allow);
    problem_set(reterr, STATUS_METHOD_NOT_ALLOWED, "This address does not answer that method.");
    problem_hint(reterr, "It answers %s.", ret_allow);
    return STATUS_METHOD_NOT_ALLOWED;
}
