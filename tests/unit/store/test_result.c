#include "server/store/result.h"
#include "tests/lib/steps_fixture.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <pthread.h>

#define VERTEX_COUNT 3
#define KEY_COUNT 500
#define READER_COUNT 3
#define ROUND_COUNT 2000

/* Makes a result whose element (i, j) is 10 i + j, except that (2, 0) is unreachable. */
static struct result *make_result(const struct fixture *fixture)
{
    struct result *result;
    struct result_file *file;
    struct vertex_names *names;
    assert_int_equal(
        result_file_create(fixture->folder, VERTEX_COUNT, KIND_I4, RESULT_FORM_MATRIX, &file),
        STATUS_OK);
    int32_t *elements = result_file_matrix(file).elements;
    for (int i = 0; i < VERTEX_COUNT * VERTEX_COUNT; i++) {
        elements[i] = i / VERTEX_COUNT * 10 + i % VERTEX_COUNT;
    }
    elements[2 * VERTEX_COUNT] = UNREACHABLE_I4;
    assert_int_equal(result_file_write_matrix(file), STATUS_OK);
    assert_int_equal(result_file_seal(file), STATUS_OK);
    assert_int_equal(vertex_names_create_range(VERTEX_COUNT, 1, &names), STATUS_OK);
    assert_int_equal(result_create("g_0123", "etag-1", &file, &names, &result), STATUS_OK);
    assert_null(file);
    assert_null(names);
    return result;
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

FIXTURE_TEST(distances_are_returned_as_json)
{
    struct result *result = make_result(fixture);
    expect_distance(result, 0, 0, "0");
    expect_distance(result, 1, 2, "12");
    expect_distance(result, 2, 1, "21");
    expect_distance(result, 2, 0, "null");
    result_unref(result);
}

FIXTURE_TEST(rows_are_found_by_name)
{
    struct result *result = make_result(fixture);
    struct problem problem;
    uint32_t row;
    assert_int_equal(vertex_names_require(result_names(result), "2", 1, &row, &problem), STATUS_OK);
    assert_int_equal(row, 1);
    struct result_rows none = {.axis = {NULL, 0, 3}};
    const void *distances;
    assert_int_equal(result_distances(result, row, &none, &distances), STATUS_OK);
    assert_int_equal(((const int32_t *)distances)[2], 12);
    assert_int_equal(vertex_names_require(result_names(result), "4x", 2, &row, &problem),
                     STATUS_NO_SUCH_VERTEX);
    assert_string_equal(problem.detail, "The graph has no vertex \"4x\".");
    result_unref(result);
}

FIXTURE_TEST(the_distances_of_pairs_are_read)
{
    struct result *result = make_result(fixture);
    uint32_t pairs[80];
    int32_t found[40];
    for (uint32_t i = 0; i < 80; i++) {
        pairs[i] = i * 5 % VERTEX_COUNT;
    }
    size_t count;
    assert_int_equal(result_pairs(result, pairs, 40, found, &count), STATUS_OK);
    assert_int_equal(count, 40);
    for (int i = 0; i < 40; i++) {
        const int wanted = (int)(pairs[2 * i] * 10 + pairs[2 * i + 1]);
        assert_int_equal(found[i], wanted == 20 ? UNREACHABLE_I4 : wanted);
    }
    result_unref(result);
}

static struct result *make_empty_result(const struct fixture *fixture, const char *graph_id)
{
    struct result *result;
    struct result_file *file;
    struct vertex_names *names;
    CHECK(result_file_create(fixture->folder, 2, KIND_I4, RESULT_FORM_MATRIX, &file) == STATUS_OK);
    CHECK(vertex_names_create_range(2, 0, &names) == STATUS_OK);
    CHECK(result_create(graph_id, "etag", &file, &names, &result) == STATUS_OK);
    return result;
}

static struct result_table *make_table(void)
{
    struct result_table *table;
    assert_int_equal(result_table_create(&table), STATUS_OK);
    return table;
}

static void expect_found(struct result_table *table, const char *key, const struct result *expected)
{
    struct result *found = result_table_find(table, 0, key);
    assert_ptr_equal(found, expected);
    result_unref(found);
}

FIXTURE_TEST(each_key_finds_its_own_result)
{
    struct result_table *table = make_table();
    struct result *result = make_empty_result(fixture, "g_1");
    assert_null(result_table_find(table, 0, "g_1"));
    assert_int_equal(result_table_put(table, 0, "g_1", result), STATUS_OK);
    assert_int_equal(result_table_put(table, 0, "rome", result), STATUS_OK);
    expect_found(table, "g_1", result);
    expect_found(table, "rome", result);
    expect_found(table, "rom", NULL);
    result_table_remove(table, 0, "rome");
    result_table_remove(table, 0, "rome");
    expect_found(table, "rome", NULL);
    expect_found(table, "g_1", result);
    result_unref(result);
    result_table_destroy(table);
}

FIXTURE_TEST(an_idempotency_key_is_found_only_by_its_owner)
{
    struct result_table *table = make_table();
    struct result *one = make_empty_result(fixture, "g_1");
    struct result *two = make_empty_result(fixture, "g_2");
    assert_int_equal(result_table_put(table, 1, "town", one), STATUS_OK);
    assert_int_equal(result_table_put(table, 2, "town", two), STATUS_OK);
    expect_found(table, "town", NULL);
    result_table_remove(table, 0, "town");
    result_table_remove(table, 2, "town");
    assert_null(result_table_find(table, 2, "town"));
    struct result *found = result_table_find(table, 1, "town");
    assert_ptr_equal(found, one);
    result_unref(found);
    result_unref(one);
    result_unref(two);
    result_table_destroy(table);
}

FIXTURE_TEST(a_put_replaces_and_releases_the_old_result)
{
    struct result_table *table = make_table();
    struct result *old = make_empty_result(fixture, "g_1");
    struct result *new = make_empty_result(fixture, "g_1");
    int descriptor = result_file_descriptor(result_content(old));
    assert_int_equal(result_table_put(table, 0, "g_1", old), STATUS_OK);
    result_unref(old);
    assert_true(fcntl(descriptor, F_GETFD) >= 0);
    assert_int_equal(result_table_put(table, 0, "g_1", new), STATUS_OK);
    assert_int_equal(fcntl(descriptor, F_GETFD), -1);
    expect_found(table, "g_1", new);
    result_unref(new);
    result_table_destroy(table);
}

FIXTURE_TEST(keys_survive_the_growth_of_the_table_and_are_removed_with_their_result)
{
    struct result_table *table = make_table();
    struct result *odd = make_empty_result(fixture, "g_odd");
    struct result *even = make_empty_result(fixture, "g_even");
    char key[RESULT_KEY_SIZE];
    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(key, sizeof key, "j_%d", i);
        assert_int_equal(result_table_put(table, 0, key, i % 2 ? odd : even), STATUS_OK);
    }
    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(key, sizeof key, "j_%d", i);
        expect_found(table, key, i % 2 ? odd : even);
    }
    result_table_remove_result(table, odd);
    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(key, sizeof key, "j_%d", i);
        expect_found(table, key, i % 2 ? NULL : even);
    }
    int descriptor = result_file_descriptor(result_content(odd));
    result_unref(odd);
    assert_int_equal(fcntl(descriptor, F_GETFD), -1);
    result_unref(even);
    result_table_destroy(table);
}

struct removal {
    struct result_table *table;
    const struct result *result;
};

static void remove_result(void *context)
{
    const struct removal *removal = context;
    result_table_remove_result(removal->table, removal->result);
}

/* Counts the steps to remove two keys of one result from a table in which another result has
 * `count` keys. */
static long steps_to_remove_beside(const struct fixture *fixture, int count)
{
    struct result_table *table = make_table();
    struct result *one = make_empty_result(fixture, "g_1");
    struct result *other = make_empty_result(fixture, "g_2");
    char key[RESULT_KEY_SIZE];
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "j_%d", i);
        assert_int_equal(result_table_put(table, 0, key, other), STATUS_OK);
    }
    assert_int_equal(result_table_put(table, 0, "g_1", one), STATUS_OK);
    assert_int_equal(result_table_put(table, 0, "town", one), STATUS_OK);
    const long steps = count_steps(remove_result, &(struct removal){table, one});
    result_unref(one);
    result_unref(other);
    result_table_destroy(table);
    return steps;
}

FIXTURE_TEST(removing_a_result_takes_few_steps_in_a_large_table)
{
    const long few = steps_to_remove_beside(fixture, 10);
    if (few == 0) {
        skip();
    }
    assert_in_range(steps_to_remove_beside(fixture, 10000), few / 2, few * 8);
}

/* Shared state of threads: readers look up keys while a writer adds, replaces and removes them. */
struct stress {
    struct result_table *table;
    struct result *results[2];
    unsigned long answers;
};

static void *read_keys(void *context)
{
    struct stress *stress = context;
    char key[RESULT_KEY_SIZE];
    unsigned long answers = 0;
    for (int round = 0; round < ROUND_COUNT * 4; round++) {
        snprintf(key, sizeof key, "k%d", round % 100);
        struct result *result = result_table_find(stress->table, 0, key);
        if (result == NULL) {
            continue;
        }
        struct text text = {0};
        result_append_distance(result, 0, 0, &text);
        result_touch(result, round);
        answers += strcmp(text.bytes, "7") == 0;
        text_finish(&text);
        result_unref(result);
    }
    __atomic_fetch_add(&stress->answers, answers, __ATOMIC_RELAXED);
    return NULL;
}

static void *write_keys(void *context)
{
    struct stress *stress = context;
    char key[RESULT_KEY_SIZE];
    for (int round = 0; round < ROUND_COUNT; round++) {
        snprintf(key, sizeof key, "k%d", round % 100);
        CHECK(result_table_put(stress->table, 0, key, stress->results[round % 3 == 0]) ==
              STATUS_OK);
        if (round % 7 == 0) {
            result_table_remove(stress->table, 0, key);
        }
        if (round % 500 == 499) {
            result_table_remove_result(stress->table, stress->results[0]);
        }
    }
    return NULL;
}

FIXTURE_TEST(threads_may_query_while_results_are_added_and_removed)
{
    struct stress stress = {.table = make_table()};
    pthread_t threads[READER_COUNT + 1];
    for (size_t i = 0; i < 2; i++) {
        stress.results[i] = make_empty_result(fixture, "g_1");
        ((int32_t *)result_file_matrix(result_content(stress.results[i])).elements)[0] = 7;
    }
    assert_int_equal(result_table_put(stress.table, 0, "k1", stress.results[1]), STATUS_OK);
    for (size_t i = 0; i < READER_COUNT; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_keys, &stress), 0);
    }
    assert_int_equal(pthread_create(&threads[READER_COUNT], NULL, write_keys, &stress), 0);
    for (size_t i = 0; i <= READER_COUNT; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(stress.answers > 0);
    result_unref(stress.results[0]);
    result_unref(stress.results[1]);
    result_table_destroy(stress.table);
}
