#include "server/store/scrubber.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Fast, and without rest. */
#define RATE (UINT64_C(1) << 40)
#define PAUSE_S 0.001
/* Some 640,000 bytes. */
#define VERTICES 400

static int told[2]; /* a pipe: the scrubber's thread writes the first letter of the graph's id */

static void tell(void *context, struct result *result)
{
    assert_ptr_equal(context, told);
    assert_int_equal(write(told[1], result_graph_id(result), 1), 1);
}

static struct result *make_result(const struct fixture *fixture, const char *graph_id,
                                  bool published)
{
    struct result_file *file;
    struct vertex_names *names;
    struct result *result;
    uint64_t checksum;
    assert_int_equal(result_file_create(fixture->folder, VERTICES, KIND_I4, &file), STATUS_OK);
    assert_int_equal(vertex_names_create_range(VERTICES, 1, &names), STATUS_OK);
    assert_int_equal(result_create(graph_id, "e", &file, &names, &result), STATUS_OK);
    result_watch(result, tell, told);
    if (published) {
        assert_int_equal(result_file_checksum(result_matrix_file(result), &checksum), STATUS_OK);
        assert_int_equal(result_publish(result, fixture->folder, graph_id), STATUS_OK);
    }
    return result;
}

static void damaged_results_are_told_once_and_sound_ones_are_not(void **state)
{
    const struct fixture *fixture = *state;
    struct result_table *table;
    struct scrubber *scrubber;
    char letters[2];
    assert_int_equal(pipe(told), 0);
    assert_int_equal(result_table_create(&table), STATUS_OK);
    struct result *sound = make_result(fixture, "a", true);
    struct result *first = make_result(fixture, "b", true);
    struct result *last = make_result(fixture, "c", true);
    struct result *fresh = make_result(fixture, "d", false);
    struct result *const all[] = {sound, first, last, fresh};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(result_table_put(table, 0, result_graph_id(all[i]), all[i]), STATUS_OK);
    }
    assert_int_equal(result_table_put(table, 0, "another name of b", first), STATUS_OK);
    fixture_flip(fixture->folder, "b", 3);
    fixture_flip(fixture->folder, "c", NPY_HEADER_SIZE + VERTICES * VERTICES * 4);

    assert_int_equal(scrubber_start(table, RATE, PAUSE_S, &scrubber), STATUS_OK);
    assert_int_equal(read(told[0], letters, 1), 1);
    assert_int_equal(read(told[0], letters + 1, 1), 1);
    scrubber_stop(scrubber);
    assert_true((letters[0] == 'b' && letters[1] == 'c') ||
                (letters[0] == 'c' && letters[1] == 'b'));
    assert_true(result_is_damaged(first) && result_is_damaged(last));
    assert_false(result_is_damaged(sound) || result_is_damaged(fresh));
    close(told[1]);
    assert_int_equal(read(told[0], letters, 1), 0);
    close(told[0]);
    for (int i = 0; i < 4; i++) {
        result_unref(all[i]);
    }
    result_table_destroy(table);
}

static void files_cut_short_are_damaged(void **state)
{
    const struct fixture *fixture = *state;
    struct result_table *table;
    struct scrubber *scrubber;
    char letter;
    assert_int_equal(pipe(told), 0);
    assert_int_equal(result_table_create(&table), STATUS_OK);
    struct result *result = make_result(fixture, "s", true);
    assert_int_equal(result_table_put(table, 0, "s", result), STATUS_OK);
    int file = openat(fixture->folder, "s", O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(file, 300000), 0);
    close(file);
    assert_int_equal(scrubber_start(table, RATE, PAUSE_S, &scrubber), STATUS_OK);
    assert_int_equal(read(told[0], &letter, 1), 1);
    scrubber_stop(scrubber);
    close(told[0]);
    close(told[1]);
    result_unref(result);
    result_table_destroy(table);
}

static void nobody_waits_for_the_pause_to_end(void **state)
{
    (void)state;
    struct result_table *table;
    struct scrubber *scrubber;
    assert_int_equal(result_table_create(&table), STATUS_OK);
    assert_int_equal(scrubber_start(table, 1, 86400, &scrubber), STATUS_OK);
    scrubber_stop(scrubber);
    scrubber_stop(NULL);
    result_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(damaged_results_are_told_once_and_sound_ones_are_not),
        FIXTURE_TEST(files_cut_short_are_damaged),
        cmocka_unit_test(nobody_waits_for_the_pause_to_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
