#include "server/command/bench_document.h"
#include "tests/unit/bench_fixture.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>

static json_t *document_of(const struct bench_report *report)
{
    struct text text = {0};
    assert_int_equal(bench_document_print(report, &text), STATUS_OK);
    assert_int_equal(text.bytes[text.size - 1], '\n');
    json_t *document = json_loads(text.bytes, 0, NULL);
    assert_non_null(document);
    text_finish(&text);
    return document;
}

static double number(json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void assert_members(json_t *object, size_t count)
{
    assert_int_equal(json_object_size(object), count);
}

static void the_head_names_schema_device_and_limits(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    json_t *document = document_of(report);
    assert_members(document, 9);
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "apsp-bench/1");
    assert_string_equal(json_string_value(json_object_get(document, "version")), APSPD_VERSION);
    json_t *device = json_object_get(document, "device");
    assert_members(device, 11);
    assert_true(number(device, "depth") == 128);
    assert_string_equal(json_string_value(json_object_get(device, "name")), "Card <A&B>");
    assert_true(number(device, "cuda_driver") == 13010);
    assert_true(json_is_null(json_object_get(device, "clock_hz")));
    json_t *limits = json_object_get(document, "limits");
    assert_members(limits, 1);
    assert_true(number(json_object_get(limits, "i4"), "relaxations_per_s") == 1e13);
    assert_true(number(json_object_get(document, "memory"), "upload_bytes_per_s") == 5e10);
    json_decref(document);
    bench_fixture_destroy(report);
}

static void every_row_skip_and_product_is_an_object(void **state)
{
    (void)state;
    struct bench_report *report = bench_fixture_create();
    assert_non_null(report);
    report->rows[1].arithmetic = ARITHMETIC_NARROW;
    json_t *document = document_of(report);
    json_t *rows = json_object_get(document, "rows");
    assert_int_equal(json_array_size(rows), report->row_count);
    json_t *first = json_array_get(rows, 0);
    assert_members(first, 15);
    assert_true(number(first, "n") == 1024);
    assert_true(json_is_true(json_object_get(first, "directed")));
    assert_float_equal(number(first, "relaxations_per_s"), 1e12, 1e5);
    assert_float_equal(number(first, "limit_fraction"), 0.1, 1e-7);
    json_t *second = json_array_get(rows, 1);
    assert_string_equal(json_string_value(json_object_get(second, "kind")), "u2");
    assert_string_equal(json_string_value(json_object_get(second, "label")), "i4 (16-bit)");
    assert_true(json_is_null(json_object_get(second, "limit_fraction")));
    json_t *skipped = json_object_get(document, "skipped");
    assert_int_equal(json_array_size(skipped), 1);
    assert_true(number(json_array_get(skipped, 0), "n") == 40000);
    json_t *products = json_object_get(document, "products");
    assert_int_equal(json_array_size(products), BENCH_FIXTURE_PRODUCTS);
    assert_members(json_array_get(products, 0), 10);
    assert_true(number(json_array_get(products, 11), "depth") == 512);
    json_decref(document);
    bench_fixture_destroy(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_names_schema_device_and_limits),
        cmocka_unit_test(every_row_skip_and_product_is_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
