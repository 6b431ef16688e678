#include "server/store/result_file.h"
#include "tests/unit/store_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

static const char name[] = "g_test.i4.npy";

/* A sealed 3 by 3 matrix of i4 whose elements are 0..8. */
static struct result_file *make_file(const struct fixture *fixture)
{
    struct result_file *file;
    assert_int_equal(result_file_create(fixture->folder, 3, KIND_I4, &file), STATUS_OK);
    struct matrix matrix = result_file_matrix(file);
    assert_int_equal(matrix.vertex_count, 3);
    assert_int_equal(matrix.kind, KIND_I4);
    for (int i = 0; i < 9; i++) {
        ((int32_t *)matrix.elements)[i] = i;
    }
    assert_int_equal(result_file_seal(file), STATUS_OK);
    return file;
}

static void publish(const struct fixture *fixture, struct result_file *file)
{
    assert_int_equal(result_file_publish(file, fixture->folder, name), STATUS_OK);
}

static uint64_t checksum_of(const struct result_file *file)
{
    uint64_t checksum;
    assert_int_equal(result_file_checksum(file, &checksum), STATUS_OK);
    return checksum;
}

static void no_file_is_seen_before_it_is_published(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file = make_file(fixture);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
    publish(fixture, file);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
    result_file_destroy(file);
    file = make_file(fixture);
    result_file_destroy(file);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
}

static void published_file_is_npy_and_opens_again(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file = make_file(fixture);
    publish(fixture, file);
    uint64_t checksum = checksum_of(file);
    result_file_destroy(file);

    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_I4, &file), STATUS_OK);
    const int32_t *elements = result_file_matrix(file).elements;
    for (int i = 0; i < 9; i++) {
        assert_int_equal(elements[i], i);
    }
    assert_int_equal(checksum_of(file), checksum);
    unsigned char header[NPY_HEADER_SIZE];
    enum kind kind;
    uint64_t rows;
    uint64_t columns;
    size_t offset;
    assert_int_equal(pread(result_file_descriptor(file), header, sizeof header, 0), sizeof header);
    assert_int_equal(npy_header_read(header, sizeof header, &kind, &rows, &columns, &offset, NULL),
                     STATUS_OK);
    assert_int_equal(kind, KIND_I4);
    assert_int_equal(rows, 3);
    assert_int_equal(offset, NPY_HEADER_SIZE);
    result_file_destroy(file);
}

static void statistics_lie_behind_the_npy_and_open_again(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file;
    size_t size;
    assert_int_equal(result_file_size(3, KIND_I4, &size), STATUS_OK);
    assert_int_equal(result_file_create(fixture->folder, 3, KIND_I4, &file), STATUS_OK);
    assert_int_equal(result_file_bytes(file), size);
    /* 128 + 36 bytes, and on to the next multiple of 16. */
    assert_int_equal(size, 176 + statistics_size(3));
    const struct statistics *written = result_file_statistics(file);
    assert_int_equal(written->vertex_count, 3);
    assert_int_equal(written->kind, KIND_I4);
    assert_int_equal(written->summary->reachable_pairs, 0);
    written->summary->diameter = 8;
    written->distance_sum[2].integer = 13;
    written->reachable[2] = 2;
    assert_int_equal(result_file_seal(file), STATUS_OK);
    publish(fixture, file);
    result_file_destroy(file);

    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_I4, &file), STATUS_OK);
    const struct statistics *read = result_file_statistics(file);
    assert_true(read->summary->diameter == 8);
    assert_int_equal(read->distance_sum[2].integer, 13);
    assert_int_equal(read->reachable[2], 2);
    result_file_destroy(file);
}

static void a_bare_npy_is_to_be_solved_again(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file = make_file(fixture);
    publish(fixture, file);
    assert_int_equal(ftruncate(result_file_descriptor(file), NPY_HEADER_SIZE + 36), 0);
    result_file_destroy(file);
    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_I4, &file), STATUS_NOT_SOLVED);
    fixture_flip(fixture->folder, name, 3);
    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_I4, &file), STATUS_CORRUPT);
}

static void empty_graph_has_a_header_only(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file;
    assert_int_equal(result_file_create(fixture->folder, 0, KIND_F8, &file), STATUS_OK);
    assert_int_equal(result_file_bytes(file), NPY_HEADER_SIZE + statistics_size(0));
    assert_int_equal(result_file_seal(file), STATUS_OK);
    publish(fixture, file);
    result_file_destroy(file);
    assert_int_equal(result_file_open(fixture->folder, name, 0, KIND_F8, &file), STATUS_OK);
    result_file_destroy(file);
}

static void second_result_replaces_the_first(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *first = make_file(fixture);
    publish(fixture, first);
    struct result_file *second;
    assert_int_equal(result_file_create(fixture->folder, 3, KIND_I4, &second), STATUS_OK);
    ((int32_t *)result_file_matrix(second).elements)[0] = 77;
    publish(fixture, second);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
    /* Whoever still reads the first one is not disturbed. */
    assert_int_equal(((int32_t *)result_file_matrix(first).elements)[8], 8);
    result_file_destroy(first);
    result_file_destroy(second);
    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_I4, &first), STATUS_OK);
    assert_int_equal(((int32_t *)result_file_matrix(first).elements)[0], 77);
    result_file_destroy(first);
}

static void files_of_another_shape_are_refused(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file = make_file(fixture);
    publish(fixture, file);
    result_file_destroy(file);
    assert_int_equal(result_file_open(fixture->folder, name, 4, KIND_I4, &file), STATUS_CORRUPT);
    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_F4, &file), STATUS_CORRUPT);
    fixture_flip(fixture->folder, name, 3);
    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_I4, &file), STATUS_CORRUPT);
    fixture_flip(fixture->folder, name, 3);
    fixture_flip(fixture->folder, name, 176);
    assert_int_equal(result_file_open(fixture->folder, name, 3, KIND_I4, &file), STATUS_CORRUPT);
    assert_int_equal(result_file_open(fixture->folder, "absent", 3, KIND_I4, &file), STATUS_IO);
}

static void flipped_byte_changes_the_checksum(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file = make_file(fixture);
    publish(fixture, file);
    uint64_t checksum = checksum_of(file);
    fixture_flip(fixture->folder, name, -1); /* of the statistics */
    assert_true(checksum_of(file) != checksum);
    fixture_flip(fixture->folder, name, -1);
    assert_true(checksum_of(file) == checksum);
    fixture_flip(fixture->folder, name, NPY_HEADER_SIZE + 35);
    assert_true(checksum_of(file) != checksum);
    result_file_destroy(file);
}

static void sealed_mapping_cannot_be_written(void **state)
{
    struct result_file *file = make_file(*state);
    /* The kernel refuses to write into memory that this process may not write. */
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(write(pipe_ends[1], "x", 1), 1);
    assert_int_equal(read(pipe_ends[0], result_file_matrix(file).elements, 1), -1);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    result_file_destroy(file);
}

/* A limit on the size of files stands for a full disk: both say no when space is asked for. */
static void missing_space_is_told_before_the_solve(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {.rlim_cur = 100000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum status status = result_file_create(fixture->folder, 1000, KIND_I4, &file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, STATUS_DISK_FULL);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
}

static void sizes_that_overflow_are_refused(void **state)
{
    const struct fixture *fixture = *state;
    struct result_file *file;
    size_t size;
    assert_int_equal(result_file_create(fixture->folder, UINT32_MAX, KIND_F8, &file),
                     STATUS_TOO_LARGE);
    assert_int_equal(result_file_size(UINT32_MAX, KIND_F8, &size), STATUS_TOO_LARGE);
    /* 2^63 bytes and a little. */
    assert_int_equal(result_file_size(UINT32_C(2147483648), KIND_U2, &size), STATUS_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(no_file_is_seen_before_it_is_published),
        FIXTURE_TEST(published_file_is_npy_and_opens_again),
        FIXTURE_TEST(statistics_lie_behind_the_npy_and_open_again),
        FIXTURE_TEST(a_bare_npy_is_to_be_solved_again),
        FIXTURE_TEST(empty_graph_has_a_header_only),
        FIXTURE_TEST(second_result_replaces_the_first),
        FIXTURE_TEST(files_of_another_shape_are_refused),
        FIXTURE_TEST(flipped_byte_changes_the_checksum),
        FIXTURE_TEST(sealed_mapping_cannot_be_written),
        FIXTURE_TEST(missing_space_is_told_before_the_solve),
        FIXTURE_TEST(sizes_that_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
