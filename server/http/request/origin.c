#include "server/http/request/origin.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

static bool is_equal(const char *one, size_t one_size, const char *other, size_t other_size)
{
    return one_size == other_size && strncasecmp(one, other, one_size) == 0;
}

/* Returns whether `listen` (HOST:PORT, unix:PATH or CONFIG_NONE) has this host. */
static bool is_name_of(const char *listen, const char *host, size_t size)
{
    const char *port = strrchr(listen, ':');
    return port != NULL && strncmp(listen, "unix:", 5) != 0 &&
           is_equal(listen, (size_t)(port - listen), host, size);
}

static bool is_configured(const struct config *config, const char *host, size_t size)
{
    const char *list = config->hosts;
    const char *word;
    size_t word_size;
    while ((word = config_list_next(&list, &word_size)) != NULL) {
        if (is_equal(word, word_size, host, size)) {
            return true;
        }
    }
    return is_name_of(config->listen, host, size);
}

bool origin_knows_host(const struct config *config, const char *host)
{
    static const char loopback[] = "localhost";
    const size_t tail = strlen(loopback);
    size_t size = host == NULL ? 0 : strcspn(host, ":");
    char text[INET_ADDRSTRLEN] = "";
    struct in_addr address;
    if (size == 0 || host[0] == '[') {
        return true;
    }
    memcpy(text, host, size < sizeof(text) ? size : 0);
    if (inet_pton(AF_INET, text, &address) == 1) {
        return true;
    }
    if (host[size - 1] == '.') { /* a fully qualified name may end with a dot */
        size--;
    }
    /* RFC 6761 section 6.3: browsers resolve localhost and names below it without DNS. */
    return (size >= tail && is_equal(host + size - tail, tail, loopback, tail) &&
            (size == tail || host[size - tail - 1] == '.')) ||
           is_configured(config, host, size);
}

/* Returns the size of text without the default port of the origin's scheme. */
static size_t size_without_port(const char *origin, const char *text, size_t size)
{
    const char *port = strncasecmp(origin, "https:", 6) == 0 ? ":443" : ":80";
    const size_t port_size = strlen(port);
    return size > port_size && memcmp(text + size - port_size, port, port_size) == 0
               ? size - port_size
               : size;
}

bool origin_is_listed(const struct config *config, const char *origin)
{
    const size_t size = size_without_port(origin, origin, strlen(origin));
    const char *list = config->cors_origins;
    const char *word;
    size_t word_size;
    while ((word = config_list_next(&list, &word_size)) != NULL) {
        if ((size > 0 && is_equal(word, word_size, "*", 1)) ||
            is_equal(word, size_without_port(word, word, word_size), origin, size)) {
            return true;
        }
    }
    return false;
}

bool origin_is_foreign(const struct config *config, const char *host, const char *origin,
                       const char *site)
{
    const bool is_cross_site = site != NULL && strcasecmp(site, "cross-site") == 0;
    const char *authority = origin == NULL ? NULL : strstr(origin, "://");
    bool is_same_host = false;
    if (origin == NULL) {
        return is_cross_site;
    }
    /* The schemes may differ, because a proxy in front may terminate TLS. */
    if (authority != NULL && host != NULL) {
        authority += strlen("://");
        is_same_host = is_equal(authority, size_without_port(origin, authority, strlen(authority)),
                                host, size_without_port(origin, host, strlen(host)));
    }
    return (is_cross_site || !is_same_host) && !origin_is_listed(config, origin);
}
