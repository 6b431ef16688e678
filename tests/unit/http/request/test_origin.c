#include "server/http/request/origin.h"
#include "tests/lib/test.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct config config_of(const char *hosts, const char *origins)
{
    struct config config = {0};

    snprintf(config.listen, sizeof(config.listen), "Node7:8080");
    snprintf(config.hosts, sizeof(config.hosts), "%s", hosts);
    snprintf(config.cors_origins, sizeof(config.cors_origins), "%s", origins);
    return config;
}

TEST(ip_addresses_and_configured_names_are_known_hosts)
{
    static const char *const hosts[] = {
        "",          ":80",        "localhost",  "LOCALHOST:8080", "localhost.",     "a.localhost",
        "127.0.0.1", "10.1.2.3:1", "[::1]:8080", "[fe80::1]",      "node7",          "node7:9090",
        "a.example", "A.Example.", "b",          "b:8080",         "b.a.localhost:",
    };
    const struct config config = config_of("a.example, b", CONFIG_NONE);

    assert_true(origin_knows_host(&config, NULL));
    for (size_t i = 0; i < LENGTH_OF(hosts); i++) {
        assert_true(origin_knows_host(&config, hosts[i]));
    }
}

TEST(unknown_hosts_are_refused)
{
    static const char *const hosts[] = {
        "evil.example",
        "localhost.evil.example",
        "notlocalhost",
        "127.0.0.1.evil.example",
        "none",
        "unix",
        "unix:8080",
        "node7.example",
        "node",
        "node77",
        ".",
        "127.0.0.256",
        "localhost..",
        "127.0.0.1.",
        "a.example",
    };
    const struct config config = config_of(CONFIG_NONE, CONFIG_NONE);

    for (size_t i = 0; i < LENGTH_OF(hosts); i++) {
        assert_false(origin_knows_host(&config, hosts[i]));
    }
}

TEST(an_origin_is_listed_only_if_the_configuration_contains_it)
{
    const struct config none = config_of(CONFIG_NONE, CONFIG_NONE);
    const struct config some = config_of(CONFIG_NONE, "https://a.example:443, http://b:8000");
    const struct config all = config_of(CONFIG_NONE, "*");

    assert_false(origin_is_listed(&none, "https://a.example"));
    assert_false(origin_is_listed(&none, CONFIG_NONE));
    assert_true(origin_is_listed(&some, "https://a.example"));
    assert_true(origin_is_listed(&some, "https://A.example:443"));
    assert_true(origin_is_listed(&some, "http://b:8000"));
    assert_false(origin_is_listed(&some, "http://a.example"));
    assert_false(origin_is_listed(&some, "http://b"));
    assert_false(origin_is_listed(&some, "http://b:80001"));
    assert_false(origin_is_listed(&some, "https://a.example.evil.example"));
    assert_false(origin_is_listed(&some, "null"));
    assert_true(origin_is_listed(&all, "null"));
    assert_true(origin_is_listed(&all, "https://evil.example"));
    assert_false(origin_is_listed(&all, ""));
}

TEST(an_origin_is_foreign_unless_it_matches_the_host_or_is_listed)
{
    static const struct {
        const char *host;
        const char *origin;
        const char *site;
        bool is_foreign;
    } cases[] = {
        {"localhost:8080", NULL, NULL, false},
        {"localhost:8080", NULL, "none", false},
        {"localhost:8080", NULL, "cross-site", true},
        {"localhost:8080", "http://localhost:8080", "same-origin", false},
        {"localhost:8080", "http://LOCALHOST:8080", NULL, false},
        {"localhost:8080", "http://localhost:8081", "same-site", true},
        {"localhost:8080", "http://localhost", NULL, true},
        {"localhost:8080", "http://127.0.0.1:8080", NULL, true},
        {"localhost:8080", "http://localhost:8080", "cross-site", true},
        {"localhost:8080", "http://evil.example", NULL, true},
        {"localhost:8080", "null", NULL, true},
        {"localhost:8080", "", NULL, true},
        {"a.example", "https://a.example", NULL, false}, /* a proxy in front terminates TLS */
        {"a.example:443", "https://a.example", NULL, false},
        {"a.example:80", "http://a.example", NULL, false},
        {"a.example:80", "https://a.example", NULL, true},
        {"[::1]:8080", "http://[::1]:8080", NULL, false},
        {NULL, "http://localhost:8080", NULL, true},
        {"localhost:8080", "https://listed.example", "cross-site", false},
        {"localhost:8080", "https://listed.example", NULL, false},
    };
    const struct config config = config_of(CONFIG_NONE, "https://listed.example");

    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        assert_int_equal(origin_is_foreign(&config, cases[i].host, cases[i].origin, cases[i].site),
                         cases[i].is_foreign);
    }
}
