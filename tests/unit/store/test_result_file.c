#include "server/store/result_file.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <signal.h>
#include <sys/resource.h>

static const char name[] = "g_test.i4.result";
static uint64_t published_checksum; /* set by publish() */

static enum status seal(struct result_file *file)
{
    const enum status status = result_file_write_matrix(file);
    return status == STATUS_OK ? result_file_seal(file) : status;
}

static struct result_file *create(const struct fixture *fixture, uint32_t vertex_count)
{
    struct result_file *file;
    assert_int_equal(
        result_file_create(fixture->folder, vertex_count, KIND_I4, RESULT_FORM_MATRIX, &file),
        STATUS_OK);
    return file;
}

/* Makes a sealed 3 by 3 matrix of kind i4 with the elements 0..8. */
static struct result_file *make_file(const struct fixture *fixture)
{
    struct result_file *file = create(fixture, 3);
    struct matrix matrix = result_file_matrix(file);
    assert_int_equal(matrix.vertex_count, 3);
    assert_int_equal(matrix.kind, KIND_I4);
    for (int i = 0; i < 9; i++) {
        ((int32_t *)matrix.elements)[i] = i;
    }
    assert_int_equal(seal(file), STATUS_OK);
    return file;
}

static void publish(struct result_file *file)
{
    assert_int_equal(result_file_publish(file, name, &published_checksum), STATUS_OK);
}

static uint64_t checksum_of(struct result_file *file)
{
    uint64_t checksum;
    assert_int_equal(result_file_publish(file, name, &checksum), STATUS_OK);
    return checksum;
}

static enum status open_published(const struct fixture *fixture, uint32_t vertex_count,
                                  enum kind kind, struct result_file **ret_file)
{
    return result_file_open(fixture->folder, name, vertex_count, kind, published_checksum,
                            ret_file);
}

/* Publishes the file, and opens the published one. */
static struct result_file *reopen(const struct fixture *fixture, struct result_file *file,
                                  uint32_t vertex_count)
{
    publish(file);
    result_file_destroy(file);
    assert_int_equal(open_published(fixture, vertex_count, KIND_I4, &file), STATUS_OK);
    return file;
}

static int truncate_published(const struct fixture *fixture, off_t size)
{
    int descriptor = openat(fixture->folder, name, O_WRONLY | O_CLOEXEC);
    int failed = ftruncate(descriptor, size);
    close(descriptor);
    return failed;
}

FIXTURE_TEST(a_file_is_visible_only_after_it_is_published)
{
    struct result_file *file = make_file(fixture);
    assert_int_equal(faccessat(fixture->folder, name, F_OK, 0), -1);
    publish(file);
    assert_int_equal(faccessat(fixture->folder, name, F_OK, 0), 0);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
    result_file_destroy(file);
    file = make_file(fixture);
    result_file_destroy(file);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
}

FIXTURE_TEST(a_published_file_is_a_valid_npy_file)
{
    struct result_file *file = make_file(fixture);
    publish(file);
    uint64_t checksum = checksum_of(file);
    result_file_destroy(file);

    assert_int_equal(open_published(fixture, 3, KIND_I4, &file), STATUS_OK);
    const int32_t *elements = result_file_matrix(file).elements;
    for (int i = 0; i < 9; i++) {
        assert_int_equal(elements[i], i);
    }
    assert_int_equal(checksum_of(file), checksum);
    unsigned char header[NPY_HEADER_SIZE];
    struct npy_header npy;
    size_t offset;
    assert_int_equal(pread(result_file_descriptor(file), header, sizeof header, 0), sizeof header);
    assert_int_equal(npy_header_read(header, sizeof header, &npy, &offset, NULL), STATUS_OK);
    assert_int_equal(npy.type, NPY_I4);
    assert_int_equal(npy.rows, 3);
    assert_int_equal(offset, NPY_HEADER_SIZE);
    result_file_destroy(file);
}

FIXTURE_TEST(statistics_follow_the_matrix_and_can_be_read_after_reopening)
{
    struct result_file *file = create(fixture, 3);
    size_t size;
    assert_int_equal(result_file_size(3, KIND_I4, &size), STATUS_OK);
    assert_int_equal(result_file_bytes(file), size);
    /* The matrix has 128 + 36 bytes, which are padded to 176, a multiple of 16. */
    assert_int_equal(size, 176 + statistics_size(3) + sizeof(uint64_t));
    const struct statistics *written = result_file_statistics(file);
    assert_int_equal(written->vertex_count, 3);
    assert_int_equal(written->kind, KIND_I4);
    assert_int_equal(written->summary->reachable_pairs, 0);
    written->summary->diameter = 8;
    written->distance_sum[2].integer = 13;
    written->reachable[2] = 2;
    assert_int_equal(seal(file), STATUS_OK);
    file = reopen(fixture, file, 3);
    const struct statistics *read = result_file_statistics(file);
    assert_true(read->summary->diameter == 8);
    assert_int_equal(read->distance_sum[2].integer, 13);
    assert_int_equal(read->reachable[2], 2);
    result_file_destroy(file);
}

FIXTURE_TEST(an_npy_file_without_statistics_counts_as_damaged)
{
    struct result_file *file = make_file(fixture);
    publish(file);
    assert_int_equal(ftruncate(result_file_descriptor(file), NPY_HEADER_SIZE + 36), 0);
    result_file_destroy(file);
    assert_int_equal(open_published(fixture, 3, KIND_I4, &file), STATUS_CORRUPT);
}

FIXTURE_TEST(the_file_of_an_empty_graph_contains_only_a_header)
{
    struct result_file *file;
    assert_int_equal(result_file_create(fixture->folder, 0, KIND_F8, RESULT_FORM_MATRIX, &file),
                     STATUS_OK);
    assert_int_equal(result_file_bytes(file),
                     NPY_HEADER_SIZE + statistics_size(0) + sizeof(uint64_t));
    assert_int_equal(seal(file), STATUS_OK);
    publish(file);
    result_file_destroy(file);
    assert_int_equal(open_published(fixture, 0, KIND_F8, &file), STATUS_OK);
    result_file_destroy(file);
}

FIXTURE_TEST(a_second_result_replaces_the_first)
{
    struct result_file *first = make_file(fixture);
    publish(first);
    struct result_file *second = create(fixture, 3);
    ((int32_t *)result_file_matrix(second).elements)[0] = 77;
    assert_int_equal(seal(second), STATUS_OK);
    publish(second);
    assert_int_equal(fixture_count_files(fixture, "."), 1);
    /* The first file is replaced, but a reader that has it open still sees its elements. */
    assert_int_equal(((int32_t *)result_file_matrix(first).elements)[8], 8);
    result_file_destroy(first);
    result_file_destroy(second);
    assert_int_equal(open_published(fixture, 3, KIND_I4, &first), STATUS_OK);
    assert_int_equal(((int32_t *)result_file_matrix(first).elements)[0], 77);
    result_file_destroy(first);
}

FIXTURE_TEST(files_with_a_wrong_shape_are_refused)
{
    struct result_file *file = make_file(fixture);
    publish(file);
    result_file_destroy(file);
    assert_int_equal(open_published(fixture, 4, KIND_I4, &file), STATUS_CORRUPT);
    assert_int_equal(open_published(fixture, 3, KIND_F4, &file), STATUS_CORRUPT);
    fixture_flip(fixture->folder, name, 3);
    assert_int_equal(open_published(fixture, 3, KIND_I4, &file), STATUS_CORRUPT);
    fixture_flip(fixture->folder, name, 3);
    fixture_flip(fixture->folder, name, 176);
    assert_int_equal(open_published(fixture, 3, KIND_I4, &file), STATUS_CORRUPT);
    assert_int_equal(result_file_open(fixture->folder, "absent", 3, KIND_I4, 0, &file), STATUS_IO);
}

FIXTURE_TEST(a_file_with_a_wrong_checksum_is_refused)
{
    struct result_file *file = make_file(fixture);
    publish(file);
    assert_int_equal(checksum_of(file), published_checksum);
    result_file_destroy(file);
    published_checksum++;
    assert_int_equal(open_published(fixture, 3, KIND_I4, &file), STATUS_CORRUPT);
    published_checksum--;
    fixture_flip(fixture->folder, name, -1); /* a byte within the checksums */
    assert_int_equal(open_published(fixture, 3, KIND_I4, &file), STATUS_CORRUPT);
    fixture_flip(fixture->folder, name, -1);
    assert_int_equal(open_published(fixture, 3, KIND_I4, &file), STATUS_OK);
    result_file_destroy(file);
}

#define LARGE 400
#define LARGE_BYTES (LARGE * LARGE * 4)

#define BLOCK (1 << 18)

FIXTURE_TEST(only_blocks_that_were_read_count_as_verified)
{
    struct result_file *file = create(fixture, LARGE);
    file = reopen(fixture, file, LARGE);
    assert_true(result_file_is_sound(file, 5, 0));
    assert_int_equal(result_file_verify(file, BLOCK - 1, 1), STATUS_OK);
    assert_true(result_file_is_sound(file, 0, BLOCK));
    assert_false(result_file_is_sound(file, 0, BLOCK + 1));
    assert_int_equal(result_file_verify(file, BLOCK - 1, 2), STATUS_OK);
    assert_true(result_file_is_sound(file, 0, NPY_HEADER_SIZE + LARGE_BYTES));
    result_file_destroy(file);
}

/* The first block of a file of about 640,000 bytes is damaged while the file is mapped. */
FIXTURE_TEST(damage_after_opening_is_detected_on_access)
{
    struct result_file *file = create(fixture, LARGE);
    assert_true(result_file_is_sound(file, 0, NPY_HEADER_SIZE + LARGE_BYTES));
    file = reopen(fixture, file, LARGE);
    assert_false(result_file_is_sound(file, 0, 1));
    fixture_flip(fixture->folder, name, 1000);
    assert_int_equal(result_file_verify(file, 300000, 4), STATUS_OK);
    assert_true(result_file_is_sound(file, 300000, 4));
    assert_int_equal(result_file_verify(file, 200000, 100000), STATUS_CORRUPT);
    assert_false(result_file_is_sound(file, 200000, 100000));
    assert_int_equal(truncate_published(fixture, 300000), 0);
    assert_int_equal(result_file_verify(file, LARGE_BYTES, 4), STATUS_OK); /* verified when the file
                                                                            * was opened */
    result_file_destroy(file);
}

FIXTURE_TEST(truncating_a_mapped_file_is_detected_as_damage)
{
    struct result_file *file = create(fixture, LARGE);
    file = reopen(fixture, file, LARGE);
    assert_int_equal(truncate_published(fixture, 100), 0);
    assert_int_equal(result_file_verify(file, 0, 4), STATUS_CORRUPT);
    result_file_destroy(file);
}

FIXTURE_TEST(a_sealed_mapping_cannot_be_written)
{
    struct result_file *file = make_file(fixture);
    /* The kernel must refuse to write into the mapping, because this process may only read it. */
    int pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    assert_int_equal(write(pipe_ends[1], "x", 1), 1);
    assert_int_equal(read(pipe_ends[0], result_file_matrix(file).elements, 1), -1);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    result_file_destroy(file);
}

/* Makes a result file while file sizes are limited. The limit makes the kernel refuse to allocate
 * space, as on a full disk. */
static enum status make_on_full_disk(const struct fixture *fixture, uint32_t vertex_count)
{
    struct result_file *file = NULL;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {.rlim_cur = 100000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum status status =
        result_file_create(fixture->folder, vertex_count, KIND_I4, RESULT_FORM_MATRIX, &file);
    if (status == STATUS_OK) {
        status = seal(file);
        result_file_destroy(file);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    return status;
}

FIXTURE_TEST(lack_of_space_is_reported_before_the_solve)
{
    assert_int_equal(make_on_full_disk(fixture, 1000), STATUS_DISK_FULL);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
}

FIXTURE_TEST(lack_of_space_for_a_small_matrix_is_reported_on_writing)
{
    assert_int_equal(make_on_full_disk(fixture, 200), STATUS_DISK_FULL);
    assert_int_equal(make_on_full_disk(fixture, 100), STATUS_OK);
    assert_int_equal(fixture_count_files(fixture, "."), 0);
}

FIXTURE_TEST(sizes_that_overflow_are_refused)
{
    struct result_file *file;
    size_t size;
    assert_int_equal(
        result_file_create(fixture->folder, UINT32_MAX, KIND_F8, RESULT_FORM_MATRIX, &file),
        STATUS_TOO_LARGE);
    assert_int_equal(result_file_size(UINT32_MAX, KIND_F8, &size), STATUS_TOO_LARGE);
    /* The matrix would take slightly more than 2^63 bytes. */
    assert_int_equal(result_file_size(UINT32_C(2147483648), KIND_U2, &size), STATUS_TOO_LARGE);
}

/* Checks that a process can adopt a result file given only its descriptor, and write the result for
 * the process that created the file. */
static void check_adopted(const struct fixture *fixture, uint32_t vertex_count)
{
    struct result_file *file = create(fixture, vertex_count);
    struct result_file *adopted = NULL;
    ((int32_t *)result_file_matrix(file).elements)[7] = 41; /* must not reach the file */
    const int descriptor = dup(result_file_descriptor(file));
    assert_int_equal(
        result_file_adopt(descriptor, vertex_count, KIND_I4, RESULT_FORM_MATRIX, &adopted),
        STATUS_OK);
    ((int32_t *)result_file_matrix(adopted).elements)[7] = 42;
    result_file_statistics(adopted)->summary->diameter = 9;
    assert_int_equal(result_file_write_matrix(adopted), STATUS_OK);
    result_file_destroy(adopted);
    assert_int_equal(result_file_seal(file), STATUS_OK);
    assert_int_equal(((int32_t *)result_file_matrix(file).elements)[7], 42);
    assert_true(result_file_statistics(file)->summary->diameter == 9);
    result_file_destroy(file);
}

FIXTURE_TEST(data_written_to_an_adopted_file_is_visible_to_its_creator)
{
    struct result_file *adopted = NULL;
    check_adopted(fixture, 5);
    check_adopted(fixture, LARGE);
    struct result_file *file = create(fixture, LARGE);
    const int descriptor = result_file_descriptor(file);
    assert_int_not_equal(
        result_file_adopt(descriptor, LARGE + 1, KIND_I4, RESULT_FORM_MATRIX, &adopted), STATUS_OK);
    assert_int_not_equal(
        result_file_adopt(descriptor, LARGE, KIND_F4, RESULT_FORM_MATRIX, &adopted), STATUS_OK);
    result_file_destroy(file);
}

/* Simulates a worker that died before it wrote the elements. */
FIXTURE_TEST(a_file_without_its_elements_is_not_sealed)
{
    struct result_file *file = create(fixture, 5);
    assert_int_equal(result_file_seal(file), STATUS_CORRUPT);
    result_file_destroy(file);
}

FIXTURE_TEST(a_file_whose_header_was_changed_is_not_sealed)
{
    struct result_file *file = create(fixture, 5);
    ((unsigned char *)result_file_matrix(file).elements)[-1] ^= 1;
    assert_int_equal(seal(file), STATUS_CORRUPT);
    ((unsigned char *)result_file_matrix(file).elements)[-1] ^= 1;
    memset((unsigned char *)result_file_statistics(file)->summary - 32, 0, 8);
    assert_int_equal(seal(file), STATUS_CORRUPT);
    result_file_destroy(file);
}

/* If a truncated file were sealed, SIGBUS would kill the first reader of its mapping. */
FIXTURE_TEST(a_truncated_file_is_not_sealed)
{
    struct result_file *file = create(fixture, LARGE);
    assert_int_equal(ftruncate(result_file_descriptor(file), 0), 0);
    assert_int_equal(seal(file), STATUS_CORRUPT);
    result_file_destroy(file);
}
