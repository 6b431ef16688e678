#include "server/http/request/job_request.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static enum status from_query(const char *text, struct job_request *ret_request)
{
    char copy[512];
    struct query query;
    struct problem problem;

    memcpy(copy, text, strlen(text) + 1);
    job_request_init(ret_request);
    assert_int_equal(query_parse(copy, &query, &problem), STATUS_OK);
    return job_request_from_query(&query, 60, ret_request, &problem);
}

static enum status from_document(const char *text, struct job_request *ret_request)
{
    json_t *root = json_loads(text, 0, NULL);
    struct problem problem;

    assert_non_null(root);
    job_request_init(ret_request);
    enum status status = job_request_from_document(root, 60, ret_request, &problem);
    json_decref(root);
    return status;
}

static void nothing_said_is_the_default(void **state)
{
    struct job_request request;

    (void)state;
    assert_int_equal(from_query("", &request), STATUS_OK);
    assert_int_equal(request.format, FORMAT_NONE);
    assert_int_equal(request.parameters.kind, KIND_AUTO);
    assert_false(request.options.has_directed);
    assert_false(request.options.has_vertex_count);
    assert_true(request.wait_s < 0);
    assert_string_equal(request.key, "");
}

static void every_parameter_is_read(void **state)
{
    struct job_request request;

    (void)state;
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

static void bad_values_are_refused(void **state)
{
    static const char *const cases[] = {
        "format=bmp",  "format=raw",   "directed=yes", "weight=",  "kind=i8",      "n=-1",
        "n=x",         "n=4294967295", "name=g_1",     "name=j_",  "name=",        "name=a/b",
        "priority=10", "wait=61",      "wait=x",       "verify=1", "deadline_s=-1"};
    struct job_request request;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(from_query(cases[i], &request), STATUS_BAD_PARAMETER);
    }
}

static void a_document_names_a_stored_graph(void **state)
{
    struct job_request request;

    (void)state;
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

static void bad_members_are_refused(void **state)
{
    static const char *const cases[] = {
        "{\"graph\":1}",        "{\"graph\":\"\"}",    "{\"kind\":4}",
        "{\"priority\":\"3\"}", "{\"priority\":10}",   "{\"priority\":1.5}",
        "{\"wait\":61}",        "{\"deadline_s\":-1}", "{\"verify\":\"true\"}"};
    struct job_request request;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(from_document(cases[i], &request), STATUS_BAD_PARAMETER);
    }
    assert_int_equal(from_document("{\"graph\":\"a\",\"format\":\"json\"}", &request),
                     STATUS_UNKNOWN_PARAMETER);
}

static void idempotency_keys_are_visible_ascii(void **state)
{
    char key[IDEMPOTENCY_KEY_SIZE + 1] = {0};

    (void)state;
    assert_true(job_request_is_idempotency_key("a-1/~"));
    assert_false(job_request_is_idempotency_key(""));
    assert_false(job_request_is_idempotency_key("a b"));
    assert_false(job_request_is_idempotency_key("\xC3\xA4"));
    memset(key, 'k', IDEMPOTENCY_KEY_SIZE - 1);
    assert_true(job_request_is_idempotency_key(key));
    key[IDEMPOTENCY_KEY_SIZE - 1] = 'k';
    assert_false(job_request_is_idempotency_key(key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_the_default),
        cmocka_unit_test(every_parameter_is_read),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(a_document_names_a_stored_graph),
        cmocka_unit_test(bad_members_are_refused),
        cmocka_unit_test(idempotency_keys_are_visible_ascii),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
