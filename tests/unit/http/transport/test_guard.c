#include "server/http/transport/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
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

static enum status check(const struct probe *probe, bool *ret_body)
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
    return guard_check(&request, ret_body, &problem);
}

static void well_formed_requests_pass(void **state)
{
    static const struct {
        struct probe probe;
        bool body;
    } cases[] = {
        {{"GET", "/v1/jobs?a=%20", "HTTP/1.1", {"Host: a"}}, false},
        {{"HEAD", "/", "HTTP/1.0", {"Host: a", "Accept: */*"}}, false},
        {{"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 12"}}, true},
        {{"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 0"}}, false},
        {{"PUT", "/", "HTTP/1.1", {"Host: a", "Transfer-Encoding: Chunked"}}, true},
        {{"DELETE", "/", "HTTP/1.1", {"Host: a"}}, false},
        {{"DELETE", "/", "HTTP/1.1", {"Host: a", "Content-Length: 0"}}, false},
        {{"POST", "/", "HTTP/1.1", {"Host: a", "Content-Length: 5", "Expect: 100-continue"}}, true},
        {{"GET", "/", "HTTP/1.1", {"Host: a", "X-Note: tab\tand \xC3\xA4"}}, false},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        bool body = !cases[i].body;

        assert_int_equal(check(&cases[i].probe, &body), STATUS_OK);
        assert_int_equal(body, cases[i].body);
    }
}

static void every_byte_of_a_target_is_looked_at(void **state)
{
    char url[40];
    struct probe probe = {"GET", url, "HTTP/1.1", {"Host: a"}};
    bool body;

    (void)state;
    for (size_t size = 2; size < sizeof url; size++) {
        memset(url, '!', sizeof url);
        url[0] = '/';
        url[size] = '\0';
        for (int byte = 1; byte < 256; byte++) {
            const bool fine = byte > 0x20 && byte < 0x7F && byte != '#';

            url[1 + (size_t)byte % (size - 1)] = (char)byte;
            assert_int_equal(check(&probe, &body), fine ? STATUS_OK : STATUS_BAD_REQUEST);
            url[1 + (size_t)byte % (size - 1)] = '~';
        }
    }
}

static void every_byte_of_a_value_is_looked_at(void **state)
{
    char header[40] = "X-Note: ";
    char *value = header + strlen(header);
    const struct probe probe = {"GET", "/", "HTTP/1.1", {"Host: a", header}};
    bool body;

    (void)state;
    for (size_t size = 1; size < 30; size++) {
        memset(value, 'v', size);
        value[size] = '\0';
        for (size_t at = 0; at < size; at++) {
            for (int byte = 1; byte < 256; byte++) {
                const bool fine = (byte >= 0x20 && byte != 0x7F) || byte == '\t';

                value[at] = (char)byte;
                assert_int_equal(check(&probe, &body), fine ? STATUS_OK : STATUS_BAD_REQUEST);
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
    bool body;

    (void)state;
    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        if (check(&cases[i], &body) != STATUS_BAD_REQUEST) {
            fail_msg("case %zu was not refused", i);
        }
    }
}

static void a_post_without_length_is_told_so(void **state)
{
    struct probe probe = {"POST", "/", "HTTP/1.1", {"Host: a"}};
    bool body;

    (void)state;
    assert_int_equal(check(&probe, &body), STATUS_LENGTH_REQUIRED);
}

static void a_host_is_a_name_or_an_address(void **state)
{
    static const struct probe probe = {"GET", "/", "HTTP/1.1", {"Host: a, b"}};
    bool body;

    (void)state;
    assert_int_equal(check(&probe, &body), STATUS_BAD_REQUEST);
}

static void a_fragment_never_leaves_the_client(void **state)
{
    static const struct probe probe = {"GET", "/livez#x", "HTTP/1.1", {"Host: a"}};
    bool body;

    (void)state;
    assert_int_equal(check(&probe, &body), STATUS_BAD_REQUEST);
}

static void a_head_is_as_large_as_its_strings(void **state)
{
    static const struct guard_header host = {"Host", 4, "a", 1};
    struct guard_request request = {
        .method = "GET", .version = "HTTP/1.1", .url = "/", .headers = &host, .header_count = 1};
    const size_t size = strlen("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    struct problem problem;
    bool closing;

    (void)state;
    assert_int_equal(guard_check(&request, &closing, &problem), STATUS_OK);
    assert_false(closing);
    request.head_size = size;
    assert_int_equal(guard_check(&request, &closing, &problem), STATUS_OK);
    assert_false(closing);
    /* No blank behind a colon, or a bare LF. */
    request.head_size = size - 1;
    assert_int_equal(guard_check(&request, &closing, &problem), STATUS_OK);
    assert_true(closing);
    request.head_size = size + 1;
    assert_int_equal(guard_check(&request, &closing, &problem), STATUS_BAD_REQUEST);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_requests_pass),
        cmocka_unit_test(every_byte_of_a_target_is_looked_at),
        cmocka_unit_test(every_byte_of_a_value_is_looked_at),
        cmocka_unit_test(ambiguous_requests_are_refused),
        cmocka_unit_test(a_post_without_length_is_told_so),
        cmocka_unit_test(a_host_is_a_name_or_an_address),
        cmocka_unit_test(a_fragment_never_leaves_the_client),
        cmocka_unit_test(a_head_is_as_large_as_its_strings),
        cmocka_unit_test(trailers_are_not_about_the_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
