#include "server/http/request/router.h"
#include "tests/lib/test.h"

static enum status find(enum method method, const char *path, struct router_match *ret_match,
                        char allow[ROUTER_ALLOW_SIZE])
{
    struct problem problem;

    return router_find(method, path, ret_match, allow, &problem);
}

TEST(a_route_is_found_by_method_and_path)
{
    static const struct {
        enum method method;
        const char *path;
        const char *pattern;
        unsigned methods;
        const char *capture;
    } cases[] = {
        {METHOD_PUT, "/v1/jobs", "/v1/jobs", METHOD_POST | METHOD_PUT, ""},
        {METHOD_HEAD, "/v1/jobs", "/v1/jobs", METHOD_GET, ""},
        {METHOD_GET, "/v1/jobs/j_1", "/v1/jobs/{id}", METHOD_GET, "j_1"},
        {METHOD_DELETE, "/v1/jobs/a%2Fb", "/v1/jobs/{id}", METHOD_DELETE, "a/b"},
        {METHOD_GET, "/v1/jobs/j_1/events", "/v1/jobs/{id}/events", METHOD_GET, "j_1"},
        {METHOD_GET, "/v1/jobs/{id}/events", "/v1/jobs/{id}/events", METHOD_GET, "{id}"},
        {METHOD_GET, "/v1/jobs/%7B", "/v1/jobs/{id}", METHOD_GET, "{"},
        {METHOD_GET, "/", "/", METHOD_GET, ""},
    };
    struct router_match match;
    char allow[ROUTER_ALLOW_SIZE];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(find(cases[i].method, cases[i].path, &match, allow), STATUS_OK);
        assert_string_equal(match.route->pattern, cases[i].pattern);
        assert_int_equal(match.route->methods, cases[i].methods);
        assert_string_equal(match.capture, cases[i].capture);
        assert_string_equal(allow, "");
    }
}

TEST(unknown_paths_have_no_route)
{
    static const char *const cases[] = {"/v1/job",  "/v1/jobs/", "/v1/jobs/a/b",
                                        "//",       "",          "/v1/jobs/a/",
                                        "/V1/jobs", "/v1//jobs", "/v1/jobs/a/eventsx"};
    struct router_match match;
    char allow[ROUTER_ALLOW_SIZE];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(find(METHOD_GET, cases[i], &match, allow), STATUS_NO_SUCH_ROUTE);
    }
}

TEST(the_error_for_an_unsupported_method_lists_the_allowed_methods)
{
    struct router_match match;
    char allow[ROUTER_ALLOW_SIZE];

    assert_int_equal(find(METHOD_DELETE, "/v1/jobs", &match, allow), STATUS_METHOD_NOT_ALLOWED);
    assert_string_equal(allow, "GET, HEAD, POST, PUT");
    assert_int_equal(find(METHOD_OTHER, "/v1/jobs/x", &match, allow), STATUS_METHOD_NOT_ALLOWED);
    assert_string_equal(allow, "GET, HEAD, DELETE");
}

TEST(names_outside_the_limits_are_refused)
{
    struct router_match match;
    char allow[ROUTER_ALLOW_SIZE];
    char path[1000] = "/v1/jobs/";

    memset(path + 9, 'a', 127);
    assert_int_equal(find(METHOD_GET, path, &match, allow), STATUS_OK);
    assert_int_equal(strlen(match.capture), 127);
    memset(path + 9, 'a', 128);
    assert_int_equal(find(METHOD_GET, path, &match, allow), STATUS_NO_SUCH_ROUTE);
    memset(path + 9, 'a', 900);
    assert_int_equal(find(METHOD_GET, path, &match, allow), STATUS_NO_SUCH_ROUTE);
    assert_int_equal(find(METHOD_GET, "/v1/jobs/%00", &match, allow), STATUS_BAD_REQUEST);
    assert_int_equal(find(METHOD_GET, "/v1/jobs/%4", &match, allow), STATUS_BAD_REQUEST);
}

TEST(the_second_captured_segment_is_not_decoded)
{
    struct router_match match;
    char allow[ROUTER_ALLOW_SIZE];

    assert_int_equal(find(METHOD_GET, "/v1/graphs/a%20b/row/c%2Fd", &match, allow), STATUS_OK);
    assert_string_equal(match.capture, "a b");
    assert_string_equal(match.second, "c%2Fd");
    assert_int_equal(match.second_size, 5);
    assert_int_equal(find(METHOD_GET, "/v1/graphs/a/row/", &match, allow), STATUS_NO_SUCH_ROUTE);
    assert_int_equal(find(METHOD_GET, "/v1/graphs/a/row/b/", &match, allow), STATUS_NO_SUCH_ROUTE);
    assert_int_equal(find(METHOD_GET, "/v1/jobs/x", &match, allow), STATUS_OK);
    assert_null(match.second);
}

TEST(methods_are_found_by_name)
{
    assert_int_equal(router_method("GET"), METHOD_GET);
    assert_int_equal(router_method("DELETE"), METHOD_DELETE);
    assert_int_equal(router_method("PATCH"), METHOD_PATCH);
    assert_int_equal(router_method("LINK"), METHOD_OTHER);
}
