#include "server/http/transport/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A request as "METHOD URL VERSION" with up to four headers as "Name: value". */
struct probe {
    const char *method;
    const char *url;
    const char *version;
    const char *headers[4];
};

static enum status check_body(const struct probe *probe, bool *ret_body, bool *ret_closing)
{
    struct guard_header headers[4];
    struct guard_request request = {
        .method = probe->method, .version = probe->version, .url = probe->url, .headers = headers};
    struct problem problem;

    while (request.header_count < 4 && probe->headers[request.header_count] != NULL) {
        const char *text = probe->headers[request.header_count];
        const char *colon = strstr(text, ": ");

        headers[request.header_count++] =
            (struct guard_header){text, (size_t)(colon - text), colon + 2, strlen(colon + 2)};
    }
    return guard_check(&request, ret_body, ret_closing, &problem);
}

static enum status check(const struct probe *probe)
{
    bool body;
    bool closing;

    return check_body(probe, &body, &closing);
}

static void well_formed_requests_pass(void **state)
{
    static const struct {
        struct probe probe;
        bool body;
        bool closing;
    } cases[] = {
        {{"GET", "/v1/jobs?a=%20", "HTTP/1.1", {"Host: a"}}, false, false},
        {{"HEAD", "/", "HTTP/1.0", {"Host: a", "Accept: */*"}}, false, false},
        {{"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 12"}}, true, false},
        {{"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 0"}}, false, false},
        {{"PUT", "/", "HTTP/1.1", {"Host: a", "Transfer-Encoding: Chunked"}}, true, true},
        {{"DELETE", "/", "HTTP/1.1", {"Host: a"}}, false, false},
        {{"DELETE", "/", "HTTP/1.1", {"Host: a", "Content-Length: 0"}}, false, false},
        {{"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 5", "Expect: 100-continue"}},
         true,
         false},
        {{"GET", "/", "HTTP/1.1", {"Host: a", "X-Note: tab\tand \xC3\xA4"}}, false, false},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        bool body = !cases[i].body;
        bool closing = !cases[i].closing;

        assert_int_equal(check_body(&cases[i].probe, &body, &closing), STATUS_OK);
        assert_int_equal(body, cases[i].body);
        assert_int_equal(closing, cases[i].closing);
    }
}

static void every_byte_of_a_target_is_looked_at(void **state)
{
    char url[40];
    struct probe probe = {"GET", url, "HTTP/1.1", {"Host: a"}};

    (void)state;
    for (size_t size = 2; size < sizeof url; size++) {
        memset(url, '!', sizeof url);
        url[0] = '/';
        url[size] = '\0';
        for (int byte = 1; byte < 256; byte++) {
            const bool fine = byte > 0x20 && byte < 0x7F && byte != '#';

            url[1 + (size_t)byte % (size - 1)] = (char)byte;
            assert_int_equal(check(&probe), fine ? STATUS_OK : STATUS_BAD_REQUEST);
            url[1 + (size_t)byte % (size - 1)] = '~';
        }
    }
}

static void every_byte_of_a_value_is_looked_at(void **state)
{
    char header[40] = "X-Note: ";
    char *value = header + strlen(header);
    const struct probe probe = {"GET", "/", "HTTP/1.1", {"Host: a", header}};

    (void)state;
    for (size_t size = 1; size < 30; size++) {
        memset(value, 'v', size);
        value[size] = '\0';
        for (size_t at = 0; at < size; at++) {
            for (int byte = 1; byte < 256; byte++) {
                const bool fine = (byte >= 0x20 && byte != 0x7F) || byte == '\t';

                value[at] = (char)byte;
                assert_int_equal(check(&probe), fine ? STATUS_OK : STATUS_BAD_REQUEST);
            }
            value[at] = 'v';
        }
    }
}

static void ambiguous_requests_are_refused(void **state)
{
    static const struct probe cases[] = {
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 3", "Transfer-Encoding: chunked"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 3", "Content-Length: 4"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 3", "Content-Length: 3"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length : 3", "Content-Length: 3"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Lengthx: 3", "Content-Length: 3"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: +3"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 3, 3"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 0x3"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: "}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 18446744073709551615"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Transfer-Encoding: xchunked"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Transfer-Encoding: chunked, identity"}},
        {"POST", "/", "HTTP/1.1", {"Host: a", "Transfer-Encoding: gzip"}},
        {"POST",
         "/",
         "HTTP/1.1",
         {"Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"}},
        {"POST", "/", "HTTP/1.0", {"Host: a", "Transfer-Encoding: chunked"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "Content-Length: 3"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "Content-Length: 0"}},
        {"HEAD", "/", "HTTP/1.1", {"Host: a", "Transfer-Encoding: chunked"}},
        {"DELETE", "/", "HTTP/1.1", {"Host: a", "Content-Length: 3"}},
        {"DELETE", "/", "HTTP/1.1", {"Host: a", "Transfer-Encoding: chunked"}},
        {"GET", "/", "HTTP/1.1", {NULL}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "Host: a"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "Hostx: b"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "Authorization : b"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "Connection-: close"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "Expect\t: b"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "A b: c"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", ": c"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "A(: c"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "A: b\rc"}},
        {"GET", "/", "HTTP/1.1", {"Host: a", "A: \x7F"}},
        {"GET", "/", "HTTP/2.0", {"Host: a"}},
        {"GET", "/", "HTTP/1.10", {"Host: a"}},
        {"GET", "/", "http/1.1", {"Host: a"}},
        {"GET", "http://a/", "HTTP/1.1", {"Host: a"}},
        {"GET", "*", "HTTP/1.1", {"Host: a"}},
        {"GET", "", "HTTP/1.1", {"Host: a"}},
        {"GET", "/a b", "HTTP/1.1", {"Host: a"}},
        {"GET", "/\x80", "HTTP/1.1", {"Host: a"}},
        {"GET", "/\x7F", "HTTP/1.1", {"Host: a"}},
        {"GET(", "/", "HTTP/1.1", {"Host: a"}},
        {"", "/", "HTTP/1.1", {"Host: a"}},
        {"GET", "/", "HTTP/1.0", {"Host: a", "Host: a"}},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        if (check(&cases[i]) != STATUS_BAD_REQUEST) {
            fail_msg("case %zu was not refused", i);
        }
    }
}

static void a_post_without_length_is_told_so(void **state)
{
    struct probe probe = {"POST", "/", "HTTP/1.1", {"Host: a"}};

    (void)state;
    assert_int_equal(check(&probe), STATUS_LENGTH_REQUIRED);
}

static enum status check_host(const char *value, size_t size)
{
    const struct guard_header host = {"Host", 4, value, size};
    const struct guard_request request = {
        .method = "GET", .version = "HTTP/1.1", .url = "/", .headers = &host, .header_count = 1};
    struct problem problem;
    bool body;
    bool closing;

    return guard_check(&request, &body, &closing, &problem);
}

static void names_and_addresses_are_hosts(void **state)
{
    static const char *const hosts[] = {
        "",        "a",       "a.example", "a.example.",      "A-b_c~d", "127.0.0.1",
        "a:8080",  "a:",      "[::1]",     "[::1]:8080",      "[::]:",   "[::ffff:1.2.3.4]",
        "%41%2ea", "a!$&'()", "*+;=",      "xn--bcher-kva.a", ":8080",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(hosts); i++) {
        assert_int_equal(check_host(hosts[i], strlen(hosts[i])), STATUS_OK);
    }
}

static void all_else_is_no_host(void **state)
{
    static const char *const others[] = {
        "a b",  "a,b",  "a/b",   "http://a", "u@a",  "a?b",    "a#b",     "a\\b", "a:b", "a:1:2",
        "a:-1", "[::1", "[]",    "[a",       "[x]",  "[::1]a", "[::1]:x", "::1",  "%4",  "%zz",
        "a%",   "\xC3", "a\x7F", "\"a\"",    "<a>",  "{a}",    "a|b",     "a^b",  "`a`", " a",
        "a ",   "\ta",  "[%41]", "[:",       "[1]a", "[]:1",   "a:1 ",
    };

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(others); i++) {
        assert_int_equal(check_host(others[i], strlen(others[i])), STATUS_BAD_REQUEST);
    }
    assert_int_equal(check_host("a\0b", 3), STATUS_BAD_REQUEST);
}

static void a_fragment_never_leaves_the_client(void **state)
{
    static const struct probe probe = {"GET", "/livez#x", "HTTP/1.1", {"Host: a"}};

    (void)state;
    assert_int_equal(check(&probe), STATUS_BAD_REQUEST);
}

/* A head as libmicrohttpd leaves it: its strings end in NULs where blanks, colons and lines were.
 */
struct head {
    char bytes[64];
    struct guard_header header;
    struct guard_request request;
};

/* Puts a string at the end of the head, and behind it room for what libmicrohttpd overwrote. */
static const char *put(char **at, const char *string, size_t gap)
{
    const size_t size = strlen(string);
    char *first = *at;

    memcpy(first, string, size + 1);
    *at += size + gap;
    return first;
}

static void fill_head(struct head *head, const char *separator, const char *line_end)
{
    char *at = head->bytes;

    *head = (struct head){.request = {.header_count = 1}};
    head->request.headers = &head->header;
    head->request.method = put(&at, "GET", 1);
    head->request.url = head->request.url_place = put(&at, "/", 1);
    head->request.version = put(&at, "HTTP/1.1", 2);
    head->header.name = put(&at, "Host", strlen(separator));
    head->header.value = put(&at, "a", strlen(line_end) + 2);
    head->header.name_size = 4;
    head->header.value_size = 1;
    head->request.head_size = (size_t)(at - head->bytes);
}

static void a_head_is_written_as_plainly_as_its_strings(void **state)
{
    static const struct {
        const char *separator;
        const char *line_end;
        enum status status;
        bool closing;
    } cases[] = {
        {": ", "\r\n", STATUS_OK, false}, {":", "\r\n", STATUS_OK, true},
        {": ", "\n", STATUS_OK, true},    {":  ", "\r\n", STATUS_BAD_REQUEST, true},
        {":  ", "\n", STATUS_OK, true}, /* one makes up for the other */
    };
    struct problem problem;
    struct head head;
    bool body;

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        bool closing = true;

        fill_head(&head, cases[i].separator, cases[i].line_end);
        assert_int_equal(guard_check(&head.request, &body, &closing, &problem), cases[i].status);
        assert_int_equal(closing, cases[i].closing);
    }
    bool closing = true;
    fill_head(&head, ":  ", "\n");
    head.request.head_size = 0; /* not known */
    assert_int_equal(guard_check(&head.request, &body, &closing, &problem), STATUS_OK);
    assert_false(closing);
}

static void trailers_are_not_about_the_message(void **state)
{
    static const struct {
        const char *name;
        const char *value;
        enum status status;
    } cases[] = {
        {"X-Digest", "abc", STATUS_OK},
        {"X ", "a", STATUS_BAD_REQUEST},
        {"", "a", STATUS_BAD_REQUEST},
        {"X", "a\x01", STATUS_BAD_REQUEST},
        {"content-length", "5", STATUS_BAD_REQUEST},
        {"Transfer-Encoding", "chunked", STATUS_BAD_REQUEST},
        {"HOST", "b", STATUS_BAD_REQUEST},
        {"Authorization", "Bearer x", STATUS_BAD_REQUEST},
        {"Authorization-X", "Bearer x", STATUS_BAD_REQUEST},
    };
    struct problem problem;

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        const struct guard_header trailers[] = {
            {"X-First", 7, "a", 1},
            {cases[i].name, strlen(cases[i].name), cases[i].value, strlen(cases[i].value)},
        };

        assert_int_equal(guard_check_trailers(trailers, 2, &problem), cases[i].status);
    }
    assert_int_equal(guard_check_trailers(NULL, 0, &problem), STATUS_OK);
}

static struct config config_of(const char *hosts, const char *origins)
{
    struct config config = {0};

    snprintf(config.listen, sizeof(config.listen), "Node7:8080");
    snprintf(config.admin_listen, sizeof(config.admin_listen), "unix:8080");
    snprintf(config.hosts, sizeof(config.hosts), "%s", hosts);
    snprintf(config.cors_origins, sizeof(config.cors_origins), "%s", origins);
    return config;
}

static void own_names_and_addresses_are_known(void **state)
{
    static const char *const hosts[] = {
        "",          ":80",        "localhost",  "LOCALHOST:8080", "localhost.",     "a.localhost",
        "127.0.0.1", "10.1.2.3:1", "[::1]:8080", "[fe80::1]",      "node7",          "node7:9090",
        "a.example", "A.Example.", "b",          "b:8080",         "b.a.localhost:",
    };
    const struct config config = config_of("a.example, b", CONFIG_NONE);

    (void)state;
    assert_true(guard_knows_host(&config, NULL));
    for (size_t i = 0; i < LENGTH_OF(hosts); i++) {
        assert_true(guard_knows_host(&config, hosts[i]));
    }
}

static void other_names_are_not(void **state)
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

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(hosts); i++) {
        assert_false(guard_knows_host(&config, hosts[i]));
    }
}

static void listed_origins_are_those_of_the_list(void **state)
{
    const struct config none = config_of(CONFIG_NONE, CONFIG_NONE);
    const struct config some = config_of(CONFIG_NONE, "https://a.example:443, http://b:8000");
    const struct config all = config_of(CONFIG_NONE, "*");

    (void)state;
    assert_false(guard_lists_origin(&none, "https://a.example"));
    assert_false(guard_lists_origin(&none, CONFIG_NONE));
    assert_true(guard_lists_origin(&some, "https://a.example"));
    assert_true(guard_lists_origin(&some, "https://A.example:443"));
    assert_true(guard_lists_origin(&some, "http://b:8000"));
    assert_false(guard_lists_origin(&some, "http://a.example"));
    assert_false(guard_lists_origin(&some, "http://b"));
    assert_false(guard_lists_origin(&some, "http://b:80001"));
    assert_false(guard_lists_origin(&some, "https://a.example.evil.example"));
    assert_false(guard_lists_origin(&some, "null"));
    assert_true(guard_lists_origin(&all, "null"));
    assert_true(guard_lists_origin(&all, "https://evil.example"));
    assert_false(guard_lists_origin(&all, ""));
}

static void foreign_is_what_is_neither_own_nor_listed(void **state)
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
        {"a.example", "https://a.example", NULL, false}, /* TLS ends at a proxy */
        {"a.example:443", "https://a.example", NULL, false},
        {"a.example:80", "http://a.example", NULL, false},
        {"a.example:80", "https://a.example", NULL, true},
        {"[::1]:8080", "http://[::1]:8080", NULL, false},
        {NULL, "http://localhost:8080", NULL, true},
        {"localhost:8080", "https://listed.example", "cross-site", false},
        {"localhost:8080", "https://listed.example", NULL, false},
    };
    const struct config config = config_of(CONFIG_NONE, "https://listed.example");

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        assert_int_equal(
            guard_is_cross_origin(&config, cases[i].host, cases[i].origin, cases[i].site),
            cases[i].is_foreign);
    }
}

static void headers_let_only_listed_origins_read(void **state)
{
    const struct config none = config_of(CONFIG_NONE, CONFIG_NONE);
    const struct config some = config_of(CONFIG_NONE, "https://a.example");
    struct guard_cors_header headers[GUARD_CORS_HEADER_LIMIT];

    (void)state;
    assert_int_equal(guard_cors_headers(&none, "https://a.example", headers), 0);
    assert_int_equal(guard_cors_headers(&some, NULL, headers), 1);
    assert_string_equal(headers[0].name, "Vary");
    assert_int_equal(guard_cors_headers(&some, "https://b.example", headers), 1);
    assert_int_equal(guard_cors_headers(&some, "https://a.example", headers), 3);
    assert_string_equal(headers[1].name, "Access-Control-Allow-Origin");
    assert_string_equal(headers[1].value, "https://a.example");
    assert_string_equal(headers[2].name, "Access-Control-Expose-Headers");
    assert_non_null(strstr(headers[2].value, "Location"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_requests_pass),
        cmocka_unit_test(every_byte_of_a_target_is_looked_at),
        cmocka_unit_test(every_byte_of_a_value_is_looked_at),
        cmocka_unit_test(ambiguous_requests_are_refused),
        cmocka_unit_test(a_post_without_length_is_told_so),
        cmocka_unit_test(names_and_addresses_are_hosts),
        cmocka_unit_test(all_else_is_no_host),
        cmocka_unit_test(a_fragment_never_leaves_the_client),
        cmocka_unit_test(a_head_is_written_as_plainly_as_its_strings),
        cmocka_unit_test(trailers_are_not_about_the_message),
        cmocka_unit_test(own_names_and_addresses_are_known),
        cmocka_unit_test(other_names_are_not),
        cmocka_unit_test(listed_origins_are_those_of_the_list),
        cmocka_unit_test(foreign_is_what_is_neither_own_nor_listed),
        cmocka_unit_test(headers_let_only_listed_origins_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
