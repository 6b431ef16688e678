#include "server/store/result.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define VERTEX_COUNT 3

/* Element (i, j) is 10 i + j; (2, 0) is unreachable. */
static struct result *make_result(const struct fixture *fixture)
{
    struct result *result;
    struct result_file *file;
    struct vertex_names *names;
    assert_int_equal(result_file_create(fixture->folder, VERTEX_COUNT, KIND_I4, &file), STATUS_OK);
    int32_t *elements = result_file_matrix(file).elements;
    for (int i = 0; i < VERTEX_COUNT * VERTEX_COUNT; i++) {
        elements[i] = i / VERTEX_COUNT * 10 + i % VERTEX_COUNT;
    }
    elements[2 * VERTEX_COUNT] = UNREACHABLE_I4;
    assert_int_equal(vertex_names_create_range(VERTEX_COUNT, 1, &names), STATUS_OK);
    assert_int_equal(result_create("g_0123", "etag-1", &file, &names, &result), STATUS_OK);
    assert_null(file);
    assert_null(names);
    return result;
}

static void result_says_what_it_is(void **state)
{
    struct result *result = make_result(*state);
    assert_string_equal(result_graph_id(result), "g_0123");
    assert_string_equal(result_etag(result), "etag-1");
    assert_int_equal(result_kind(result), KIND_I4);
    assert_int_equal(result_vertex_count(result), VERTEX_COUNT);
    assert_int_equal(vertex_names_count(result_names(result)), VERTEX_COUNT);
    assert_int_equal(result_statistics(result)->vertex_count, VERTEX_COUNT);
    assert_int_equal(result_statistics(result)->kind, KIND_I4);
    result_unref(result);
}

static void expect_distance(const struct result *result, uint32_t source, uint32_t target,
                            const char *expected)
{
    struct text text = {0};
    result_append_distance(result, source, target, &text);
    assert_int_equal(text_status(&text), STATUS_OK);
    assert_string_equal(text.bytes, expected);
    text_finish(&text);
}

static void distances_are_answered_as_json(void **state)
{
    struct result *result = make_result(*state);
    expect_distance(result, 0, 0, "0");
    expect_distance(result, 1, 2, "12");
    expect_distance(result, 2, 1, "21");
    expect_distance(result, 2, 0, "null");
    result_unref(result);
}

static void rows_are_found_by_name(void **state)
{
    struct result *result = make_result(*state);
    struct problem problem;
    uint32_t row;
    assert_int_equal(result_find_row(result, "2", 1, &row, &problem), STATUS_OK);
    assert_int_equal(row, 1);
    assert_int_equal(((const int32_t *)result_distances(result, row))[2], 12);
    assert_int_equal(result_find_row(result, "4x", 2, &row, &problem), STATUS_NO_SUCH_VERTEX);
    assert_string_equal(problem.detail, "The graph has no vertex \"4x\".");
    result_unref(result);
}

static void pairs_are_gathered_up_to_one_outside(void **state)
{
    struct result *result = make_result(*state);
    uint32_t pairs[80];
    int32_t found[40];
    for (uint32_t i = 0; i < 80; i++) {
        pairs[i] = i * 5 % VERTEX_COUNT;
    }
    assert_int_equal(result_gather(result, pairs, 40, found), 40);
    for (int i = 0; i < 40; i++) {
        const int wanted = (int)(pairs[2 * i] * 10 + pairs[2 * i + 1]);
        assert_int_equal(found[i], wanted == 20 ? UNREACHABLE_I4 : wanted);
    }
    pairs[61] = VERTEX_COUNT;
    assert_int_equal(result_gather(result, pairs, 40, found), 30);
    pairs[8] = UINT32_MAX;
    assert_int_equal(result_gather(result, pairs, 40, found), 4);
    result_unref(result);
}

/* The descriptor tells whether the file was closed. */
static void last_reference_frees(void **state)
{
    struct result *result = make_result(*state);
    int descriptor = result_file_descriptor(result_matrix_file(result));
    assert_ptr_equal(result_ref(result), result);
    result_unref(result);
    assert_true(fcntl(descriptor, F_GETFD) >= 0);
    result_unref(result);
    assert_int_equal(fcntl(descriptor, F_GETFD), -1);
    result_unref(NULL);
}

static void touch_is_remembered(void **state)
{
    struct result *result = make_result(*state);
    result_touch(result, 12.5);
    assert_true(result_touched_s(result) == 12.5);
    result_unref(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(result_says_what_it_is), FIXTURE_TEST(distances_are_answered_as_json),
        FIXTURE_TEST(rows_are_found_by_name), FIXTURE_TEST(pairs_are_gathered_up_to_one_outside),
        FIXTURE_TEST(last_reference_frees),   FIXTURE_TEST(touch_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
