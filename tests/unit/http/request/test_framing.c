#include "server/http/request/framing.h"
#include "tests/lib/test.h"

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
    struct framing_header headers[4];
    struct framing_head request = {
        .method = probe->method, .version = probe->version, .url = probe->url, .headers = headers};
    struct problem problem;

    while (request.header_count < 4 && probe->headers[request.header_count] != NULL) {
        const char *text = probe->headers[request.header_count];
        const char *colon = strstr(text, ": ");

        headers[request.header_count++] =
            (struct framing_header){text, (size_t)(colon - text), colon + 2, strlen(colon + 2)};
    }
    return framing_check(&request, ret_body, ret_closing, &problem);
}

static enum status check(const struct probe *probe)
{
    bool body;
    bool closing;

    return check_body(probe, &body, &closing);
}

TEST(well_formed_requests_are_accepted)
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

    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        bool body = !cases[i].body;
        bool closing = !cases[i].closing;

        assert_int_equal(check_body(&cases[i].probe, &body, &closing), STATUS_OK);
        assert_int_equal(body, cases[i].body);
        assert_int_equal(closing, cases[i].closing);
    }
}

TEST(every_byte_of_a_target_is_checked)
{
    char url[40];
    struct probe probe = {"GET", url, "HTTP/1.1", {"Host: a"}};

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

TEST(every_byte_of_a_value_is_checked)
{
    char header[40] = "X-Note: ";
    char *value = header + strlen(header);
    const struct probe probe = {"GET", "/", "HTTP/1.1", {"Host: a", header}};

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

TEST(ambiguous_requests_are_refused)
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

    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        if (check(&cases[i]) != STATUS_BAD_REQUEST) {
            fail_msg("case %zu was not refused", i);
        }
    }
}

TEST(a_post_without_a_length_is_refused_with_411)
{
    struct probe probe = {"POST", "/", "HTTP/1.1", {"Host: a"}};

    assert_int_equal(check(&probe), STATUS_LENGTH_REQUIRED);
}

static enum status check_host(const char *value, size_t size)
{
    const struct framing_header host = {"Host", 4, value, size};
    const struct framing_head request = {
        .method = "GET", .version = "HTTP/1.1", .url = "/", .headers = &host, .header_count = 1};
    struct problem problem;
    bool body;
    bool closing;

    return framing_check(&request, &body, &closing, &problem);
}

TEST(names_and_addresses_are_valid_hosts)
{
    static const char *const hosts[] = {
        "",        "a",       "a.example", "a.example.",      "A-b_c~d", "127.0.0.1",
        "a:8080",  "a:",      "[::1]",     "[::1]:8080",      "[::]:",   "[::ffff:1.2.3.4]",
        "%41%2ea", "a!$&'()", "*+;=",      "xn--bcher-kva.a", ":8080",
    };

    for (size_t i = 0; i < LENGTH_OF(hosts); i++) {
        assert_int_equal(check_host(hosts[i], strlen(hosts[i])), STATUS_OK);
    }
}

TEST(malformed_hosts_are_refused)
{
    static const char *const others[] = {
        "a b",  "a,b",  "a/b",   "http://a", "u@a",  "a?b",    "a#b",     "a\\b", "a:b", "a:1:2",
        "a:-1", "[::1", "[]",    "[a",       "[x]",  "[::1]a", "[::1]:x", "::1",  "%4",  "%zz",
        "a%",   "\xC3", "a\x7F", "\"a\"",    "<a>",  "{a}",    "a|b",     "a^b",  "`a`", " a",
        "a ",   "\ta",  "[%41]", "[:",       "[1]a", "[]:1",   "a:1 ",
    };

    for (size_t i = 0; i < LENGTH_OF(others); i++) {
        assert_int_equal(check_host(others[i], strlen(others[i])), STATUS_BAD_REQUEST);
    }
    assert_int_equal(check_host("a\0b", 3), STATUS_BAD_REQUEST);
}

TEST(a_target_with_a_fragment_is_refused)
{
    static const struct probe probe = {"GET", "/livez#x", "HTTP/1.1", {"Host: a"}};

    assert_int_equal(check(&probe), STATUS_BAD_REQUEST);
}

/* A request head after libmicrohttpd has parsed it: NULs replace the spaces, colons and line breaks
 * after each string. */
struct head {
    char bytes[64];
    struct framing_header header;
    struct framing_head request;
};

/* Appends a string to the head, followed by `gap` bytes that libmicrohttpd overwrote. */
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

TEST(extra_spaces_and_bare_line_feeds_are_detected_from_the_head_size)
{
    static const struct {
        const char *separator;
        const char *line_end;
        enum status status;
        bool closing;
    } cases[] = {
        {": ", "\r\n", STATUS_OK, false}, {":", "\r\n", STATUS_OK, true},
        {": ", "\n", STATUS_OK, true},    {":  ", "\r\n", STATUS_BAD_REQUEST, true},
        {":  ", "\n", STATUS_OK, true}, /* an extra space and a missing CR cancel out */
    };
    struct problem problem;
    struct head head;
    bool body;

    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        bool closing = true;

        fill_head(&head, cases[i].separator, cases[i].line_end);
        assert_int_equal(framing_check(&head.request, &body, &closing, &problem), cases[i].status);
        assert_int_equal(closing, cases[i].closing);
    }
    bool closing = true;
    fill_head(&head, ":  ", "\n");
    head.request.head_size = 0; /* the size of the head is unknown */
    assert_int_equal(framing_check(&head.request, &body, &closing, &problem), STATUS_OK);
    assert_false(closing);
}

TEST(malformed_headers_and_framing_headers_in_trailers_are_refused)
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

    for (size_t i = 0; i < LENGTH_OF(cases); i++) {
        const struct framing_header trailers[] = {
            {"X-First", 7, "a", 1},
            {cases[i].name, strlen(cases[i].name), cases[i].value, strlen(cases[i].value)},
        };

        assert_int_equal(framing_check_trailers(trailers, 2, &problem), cases[i].status);
    }
    assert_int_equal(framing_check_trailers(NULL, 0, &problem), STATUS_OK);
}
