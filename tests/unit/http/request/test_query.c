#include "server/http/request/query.h"
#include "tests/lib/test.h"

#include <jansson.h>

static enum status parse(const char *text, char *copy, struct query *ret_query)
{
    struct problem problem;

    memcpy(copy, text, strlen(text) + 1);
    return query_parse(copy, ret_query, &problem);
}

TEST(escapes_are_decoded_once)
{
    char text[] = "a%2Fb%252e%C3%a4+c";

    assert_true(query_decode(text));
    assert_string_equal(text, "a/b%2e\xC3\xA4+c");
}

TEST(malformed_escapes_and_nul_bytes_are_refused)
{
    static const char *const cases[] = {"%", "%1", "a%zz", "%00", "%0g", "%%41", "abc%"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[16];

        memcpy(text, cases[i], strlen(cases[i]) + 1);
        assert_false(query_decode(text));
    }
}

TEST(parameters_are_split_and_decoded)
{
    char text[64];
    struct query query;

    assert_int_equal(parse("source=a+b%2B&target=%3D%26&&verbose", text, &query), STATUS_OK);
    assert_int_equal(query.count, 3);
    assert_string_equal(query_value(&query, "source"), "a b+");
    assert_string_equal(query_value(&query, "target"), "=&");
    assert_string_equal(query_value(&query, "verbose"), "");
    assert_null(query_value(&query, "sourc"));
}

TEST(a_repeated_parameter_is_refused)
{
    char text[64];
    struct query query;

    assert_int_equal(parse("a=1&b=2&%61=1", text, &query), STATUS_BAD_PARAMETER);
    assert_int_equal(parse("a=%0", text, &query), STATUS_BAD_REQUEST);
    assert_int_equal(parse("a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q", text, &query), STATUS_BAD_REQUEST);
}

TEST(the_error_for_an_unknown_parameter_lists_the_known_parameters)
{
    static const char *const known[] = {"wait", "limit", NULL};
    char text[64];
    struct query query;
    struct problem problem;

    assert_int_equal(parse("limit=1&wiat=2", text, &query), STATUS_OK);
    assert_int_equal(query_check(&query, known, 60, &problem), STATUS_UNKNOWN_PARAMETER);
    assert_non_null(strstr(problem.detail, "wiat"));
    assert_non_null(strstr(problem.hint, "wait, limit"));
    assert_int_equal(parse("limit=1&wait=2", text, &query), STATUS_OK);
    assert_int_equal(query_check(&query, known, 60, &problem), STATUS_OK);
}

static enum status check(const char *text, struct query *ret_query, struct problem *reterr)
{
    static const char *const known[] = {"header", "limit", "wait", "deadline_s", "lon", "x", NULL};
    static char copy[128];

    assert_int_equal(parse(text, copy, ret_query), STATUS_OK);
    return query_check(ret_query, known, 60, reterr);
}

TEST(the_type_and_range_of_a_value_are_checked)
{
    static const char *const good[] = {"header=true", "limit=1",  "limit=1000",         "wait=60",
                                       "wait=1.5",    "lon=-1e3", "deadline_s=31536000"};
    static const char *const bad[] = {"header=1",
                                      "header=",
                                      "limit=0",
                                      "limit=1001",
                                      "limit=1.5",
                                      "limit=",
                                      "wait=61",
                                      "wait=-1",
                                      "wait=x",
                                      "lon=east",
                                      "lon=",
                                      "x=1,5",
                                      "deadline_s=31536001"};
    struct query query;
    struct problem problem;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(check(good[i], &query, &problem), STATUS_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(check(bad[i], &query, &problem), STATUS_BAD_PARAMETER);
    }
    assert_non_null(strstr(problem.detail, "from 0 to 31536000."));
}

TEST(an_absent_parameter_has_its_default_value)
{
    struct query query;

    assert_int_equal(check("header=true&limit=9&wait=1.5", &query, NULL), STATUS_OK);
    assert_true(query_flag(&query, "header", false));
    assert_true(query_flag(&query, "absent", true));
    assert_int_equal(query_integer(&query, "limit", 7), 9);
    assert_int_equal(query_integer(&query, "absent", 7), 7);
    assert_true(query_real(&query, "wait", -1) == 1.5);
    assert_true(query_real(&query, "absent", -1) == -1);
}

static enum status from_query(const char *text, struct job_request *ret_request)
{
    static const char *const known[] = {"name",     QUERY_OF_UPLOAD, "kind",   "wait",
                                        "priority", "deadline_s",    "verify", NULL};
    char copy[512];
    struct query query;
    struct problem problem;

    memcpy(copy, text, strlen(text) + 1);
    *ret_request = (struct job_request){.wait_s = -1};
    assert_int_equal(query_parse(copy, &query, &problem), STATUS_OK);
    const enum status status = query_check(&query, known, 60, &problem);
    return status == STATUS_OK ? query_read_job(&query, ret_request, &problem) : status;
}

static enum status from_document(const char *text, struct job_request *ret_request)
{
    static const char *const known[] = {"graph",      "kind", "name",   "result", "priority",
                                        "deadline_s", "wait", "verify", NULL};
    json_t *root = json_loads(text, 0, NULL);
    struct query_document members;
    struct problem problem;

    assert_non_null(root);
    *ret_request = (struct job_request){.wait_s = -1};
    enum status status = query_from_document(root, known, 60, &members, &problem);
    if (status == STATUS_OK) {
        status = query_read_job(&members.query, ret_request, &problem);
    }
    json_decref(root);
    return status;
}

TEST(an_empty_query_gives_the_defaults)
{
    struct job_request request;

    assert_int_equal(from_query("", &request), STATUS_OK);
    assert_int_equal(request.format, FORMAT_NONE);
    assert_int_equal(request.parameters.kind, KIND_AUTO);
    assert_false(request.options.has_directed);
    assert_false(request.options.has_vertex_count);
    assert_true(request.wait_s < 0);
    assert_string_equal(request.key, "");
}

TEST(every_parameter_is_read)
{
    struct job_request request;

    assert_int_equal(from_query("format=edges&directed=false&weight=km&kind=f8&n=7&name=my.graph-1&"
                                "wait=2.5&priority=9&deadline_s=30&verify=true",
                                &request),
                     STATUS_OK);
    assert_int_equal(request.format, FORMAT_EDGES);
    assert_true(request.options.has_directed);
    assert_false(request.options.directed);
    assert_string_equal(request.options.weight, "km");
    assert_true(request.options.has_vertex_count);
    assert_int_equal(request.options.vertex_count, 7);
    assert_int_equal(request.parameters.kind, KIND_F8);
    assert_string_equal(request.parameters.name, "my.graph-1");
    assert_int_equal(request.parameters.priority, 9);
    assert_true(request.parameters.deadline_s == 30);
    assert_true(request.parameters.verify);
    assert_true(request.wait_s == 2.5);
}

TEST(invalid_values_are_refused)
{
    static const char *const cases[] = {
        "format=bmp",  "format=raw",   "directed=yes", "weight=",  "kind=i8",      "n=-1",
        "n=x",         "n=4294967295", "name=g_1",     "name=j_",  "name=",        "name=a/b",
        "priority=10", "wait=61",      "wait=x",       "verify=1", "deadline_s=-1"};
    struct job_request request;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(from_query(cases[i], &request), STATUS_BAD_PARAMETER);
    }
}

TEST(a_document_may_name_a_stored_graph)
{
    struct job_request request;

    assert_int_equal(from_document("{\"graph\":\"rome\",\"kind\":\"i4\",\"name\":\"r\","
                                   "\"priority\":3,\"deadline_s\":1.5,\"wait\":0,\"verify\":true}",
                                   &request),
                     STATUS_OK);
    assert_string_equal(request.key, "rome");
    assert_int_equal(request.parameters.kind, KIND_I4);
    assert_string_equal(request.parameters.name, "r");
    assert_int_equal(request.parameters.priority, 3);
    assert_true(request.parameters.deadline_s == 1.5);
    assert_true(request.wait_s == 0);
    assert_true(request.parameters.verify);
}

TEST(invalid_members_are_refused)
{
    static const char *const cases[] = {
        "{\"graph\":1}",        "{\"graph\":\"\"}",    "{\"kind\":4}",
        "{\"priority\":\"3\"}", "{\"priority\":10}",   "{\"priority\":1.5}",
        "{\"wait\":61}",        "{\"deadline_s\":-1}", "{\"verify\":\"true\"}"};
    struct job_request request;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(from_document(cases[i], &request), STATUS_BAD_PARAMETER);
    }
    assert_int_equal(from_document("{\"graph\":\"a\",\"format\":\"json\"}", &request),
                     STATUS_UNKNOWN_PARAMETER);
}

TEST(idempotency_keys_are_visible_ascii)
{
    char key[IDEMPOTENCY_KEY_SIZE + 1] = {0};
    struct problem problem;

    assert_int_equal(query_check_idempotency_key(NULL, &problem), STATUS_OK);
    assert_int_equal(query_check_idempotency_key("a-1/~", &problem), STATUS_OK);
    assert_int_equal(query_check_idempotency_key("", &problem), STATUS_BAD_REQUEST);
    assert_int_equal(query_check_idempotency_key("a b", &problem), STATUS_BAD_REQUEST);
    assert_int_equal(query_check_idempotency_key("\xC3\xA4", &problem), STATUS_BAD_REQUEST);
    memset(key, 'k', IDEMPOTENCY_KEY_SIZE - 1);
    assert_int_equal(query_check_idempotency_key(key, &problem), STATUS_OK);
    key[IDEMPOTENCY_KEY_SIZE - 1] = 'k';
    assert_int_equal(query_check_idempotency_key(key, &problem), STATUS_BAD_REQUEST);
}
