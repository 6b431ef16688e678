#include "server/store/delta_file.h"

#include "server/store/result_file.h"
#include "tests/lib/hierarchy_fixture.h"
#include "tests/lib/store_fixture.h"

#include <signal.h>
#include <sys/resource.h>

#define WIDTH 50
#define VERTICES (WIDTH * WIDTH)
#define MOST_BYTES (1 << 19)

/* A hierarchy that was published as "h", and a copy of it that is to be published as "copy". */
struct trial {
    struct result_file *base;
    struct result_file *copy;
    uint64_t size;
    unsigned char *bytes;             /* of the copy */
    uint64_t *changed;                /* of the copy */
    unsigned char wanted[MOST_BYTES]; /* bytes that the copy must have */
};

static struct result_file *publish_grid(const struct fixture *fixture)
{
    struct graph *graph = range_grid(WIDTH);
    struct result_file *file = NULL;
    uint64_t size;
    uint64_t checksum;
    void *bytes = make_bytes(graph, KIND_I4, 1, &size);
    assert_true(size <= MOST_BYTES);
    assert_int_equal(
        result_file_create(fixture->folder, VERTICES, KIND_I4, RESULT_FORM_HIERARCHY, &file),
        STATUS_OK);
    assert_int_equal(result_file_write_hierarchy(file, bytes, size), STATUS_OK);
    assert_int_equal(result_file_seal(file), STATUS_OK);
    assert_int_equal(result_file_publish(file, "h", &checksum), STATUS_OK);
    free(bytes);
    graph_destroy(graph);
    return file;
}

static void make_copy(const struct fixture *fixture, struct trial *trial)
{
    void *bytes = NULL;
    assert_int_equal(
        result_file_create(fixture->folder, VERTICES, KIND_I4, RESULT_FORM_HIERARCHY, &trial->copy),
        STATUS_OK);
    assert_int_equal(result_file_copy(trial->copy, trial->base, &bytes, &trial->changed),
                     STATUS_OK);
    trial->bytes = bytes;
    const void *before = result_file_hierarchy(trial->base, &trial->size);
    memcpy(trial->wanted, before, trial->size);
    assert_memory_equal(bytes, trial->wanted, trial->size);
}

static void change_byte(struct trial *trial, uint64_t at)
{
    trial->bytes[at] ^= 1;
    trial->wanted[at] ^= 1;
    trial->changed[at / DELTA_PIECE_BYTES / 64] |= UINT64_C(1) << at / DELTA_PIECE_BYTES % 64;
}

static void begin(const struct fixture *fixture, struct trial *trial)
{
    trial->base = publish_grid(fixture);
    make_copy(fixture, trial);
    change_byte(trial, trial->size / 2);
    change_byte(trial, trial->size - 1);
}

/* Publishes the sealed copy and closes it. Returns the checksum. */
static uint64_t publish_sealed(struct trial *trial, const char *name)
{
    uint64_t checksum;
    assert_int_equal(result_file_publish(trial->copy, name, &checksum), STATUS_OK);
    assert_memory_equal(result_file_hierarchy(trial->copy, &trial->size), trial->wanted,
                        trial->size);
    result_file_destroy(trial->copy);
    return checksum;
}

static uint64_t publish(struct trial *trial, const char *name)
{
    assert_int_equal(result_file_seal(trial->copy), STATUS_OK);
    return publish_sealed(trial, name);
}

static enum status reopen(const struct fixture *fixture, const char *name, uint64_t checksum,
                          struct result_file **ret_file)
{
    return result_file_open(fixture->folder, name, VERTICES, KIND_I4, checksum, ret_file);
}

static void check_file(const struct fixture *fixture, const struct trial *trial, const char *name,
                       uint64_t checksum)
{
    struct result_file *opened = NULL;
    uint64_t size;
    assert_int_equal(reopen(fixture, name, checksum, &opened), STATUS_OK);
    assert_int_equal(result_file_complete(opened), STATUS_OK);
    assert_memory_equal(result_file_hierarchy(opened, &size), trial->wanted, trial->size);
    assert_int_equal(size, trial->size);
    result_file_destroy(opened);
}

static off_t size_of(const struct fixture *fixture, const char *name)
{
    struct stat about;
    return fstatat(fixture->folder, name, &about, 0) == 0 ? about.st_size : -1;
}

static void remove_file(const struct fixture *fixture, const char *name)
{
    assert_int_equal(unlinkat(fixture->folder, name, 0), 0);
}

/* A copy of a copy has the same root, and is independent of the first copy. */
FIXTURE_TEST(the_file_has_only_the_changed_pieces)
{
    struct trial trial;
    begin(fixture, &trial);
    uint64_t checksum = publish(&trial, "copy");
    result_file_destroy(trial.base);
    assert_int_equal(size_of(fixture, "copy"),
                     16 + (trial.size / DELTA_PIECE_BYTES / 64 + 1) * sizeof(uint64_t) +
                         2 * DELTA_PIECE_BYTES);
    assert_int_equal(size_of(fixture, "copy.root"), size_of(fixture, "h"));
    remove_file(fixture, "h");
    check_file(fixture, &trial, "copy", checksum);

    assert_int_equal(reopen(fixture, "copy", checksum, &trial.base), STATUS_OK);
    assert_int_equal(result_file_complete(trial.base), STATUS_OK);
    assert_int_equal(result_file_descriptor(trial.base), -1); /* only the root is open */
    assert_int_equal(result_file_bytes(trial.base), size_of(fixture, "copy.root"));
    const off_t first_size = size_of(fixture, "copy");
    make_copy(fixture, &trial);
    change_byte(&trial, 0);
    checksum = publish(&trial, "second");
    result_file_destroy(trial.base);
    assert_int_equal(size_of(fixture, "second"), first_size + DELTA_PIECE_BYTES);
    remove_file(fixture, "copy");
    remove_file(fixture, "copy.root");
    check_file(fixture, &trial, "second", checksum);
}

/* The root of an unpublished file is complete once that file is published. */
FIXTURE_TEST(a_copy_of_an_unpublished_copy_has_its_changes)
{
    struct trial trial;
    begin(fixture, &trial);
    assert_int_equal(result_file_seal(trial.copy), STATUS_OK);
    struct result_file *first = trial.base;
    trial.base = trial.copy;
    make_copy(fixture, &trial);
    change_byte(&trial, 0);
    result_file_destroy(trial.base);
    const uint64_t checksum = publish(&trial, "copy");
    result_file_destroy(first);
    assert_true(size_of(fixture, "copy") < (off_t)trial.size / 4);
    check_file(fixture, &trial, "copy", checksum);
}

FIXTURE_TEST(damage_is_found)
{
    struct trial trial;
    struct result_file *opened = NULL;
    begin(fixture, &trial);
    const uint64_t checksum = publish(&trial, "copy");
    result_file_destroy(trial.base);
    const off_t size = size_of(fixture, "copy");
    for (off_t at = 0; at < size; at += 41) {
        fixture_flip(fixture->folder, "copy", at);
        assert_int_equal(reopen(fixture, "copy", checksum, &opened), STATUS_CORRUPT);
        fixture_flip(fixture->folder, "copy", at);
    }
    /* A byte in the same page as a changed piece: the page is not read before it is verified. */
    const off_t damaged = (off_t)trial.size / 2 + DELTA_PIECE_BYTES;
    fixture_flip(fixture->folder, "h", damaged);
    assert_int_equal(reopen(fixture, "copy", checksum, &opened), STATUS_OK);
    assert_int_equal(result_file_complete(opened), STATUS_CORRUPT);
    fixture_flip(fixture->folder, "h", damaged);
    assert_int_equal(result_file_complete(opened), STATUS_OK);
    assert_memory_equal(result_file_hierarchy(opened, &trial.size), trial.wanted, trial.size);
    result_file_destroy(opened);
    check_file(fixture, &trial, "copy", checksum);
    fixture_flip(fixture->folder, "h", -1); /* the table of checksums */
    assert_int_equal(reopen(fixture, "copy", checksum, &opened), STATUS_CORRUPT);
    /* A root of another size, of which the first could be the size of a hierarchy. */
    const int root = openat(fixture->folder, "h", O_RDWR | O_CLOEXEC);
    const off_t sizes[] = {(1 << 18) + 8, 1000 * ((1 << 18) + 8), 100, 0};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
        assert_int_equal(ftruncate(root, sizes[i]), 0);
        assert_int_equal(reopen(fixture, "copy", checksum, &opened), STATUS_CORRUPT);
    }
    close(root);
    remove_file(fixture, "copy.root");
    assert_int_equal(reopen(fixture, "copy", checksum, &opened), STATUS_IO);
}

static void check_whole(const struct fixture *fixture, struct trial *trial)
{
    const uint64_t checksum = publish(trial, "copy");
    result_file_destroy(trial->base);
    assert_true(size_of(fixture, "copy") > (off_t)trial->size);
    assert_int_equal(size_of(fixture, "copy.root"), -1);
    check_file(fixture, trial, "copy", checksum);
}

FIXTURE_TEST(all_bytes_are_written_if_the_root_was_deleted)
{
    struct trial trial;
    begin(fixture, &trial);
    remove_file(fixture, "h");
    check_whole(fixture, &trial);
}

FIXTURE_TEST(all_bytes_are_written_if_another_root_has_the_name)
{
    struct trial trial;
    begin(fixture, &trial);
    close(openat(fixture->folder, "copy.root", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    check_whole(fixture, &trial);
}

FIXTURE_TEST(all_bytes_are_written_if_much_has_changed)
{
    struct trial trial;
    begin(fixture, &trial);
    for (uint64_t at = DELTA_PIECE_BYTES; at < trial.size / 3; at += DELTA_PIECE_BYTES) {
        change_byte(&trial, at);
    }
    check_whole(fixture, &trial);
}

FIXTURE_TEST(all_bytes_are_written_if_the_root_is_not_published)
{
    struct trial trial;
    struct result_file *published = publish_grid(fixture);
    uint64_t size;
    const void *bytes = result_file_hierarchy(published, &size);
    assert_int_equal(
        result_file_create(fixture->folder, VERTICES, KIND_I4, RESULT_FORM_HIERARCHY, &trial.base),
        STATUS_OK);
    assert_int_equal(result_file_write_hierarchy(trial.base, bytes, size), STATUS_OK);
    assert_int_equal(result_file_seal(trial.base), STATUS_OK);
    result_file_destroy(published);
    make_copy(fixture, &trial);
    change_byte(&trial, trial.size / 2);
    check_whole(fixture, &trial);
}

/* After a whole copy is published, a copy of it has a root of its own. */
FIXTURE_TEST(a_whole_copy_is_a_root)
{
    struct trial trial;
    begin(fixture, &trial);
    remove_file(fixture, "h");
    uint64_t checksum;
    assert_int_equal(result_file_seal(trial.copy), STATUS_OK);
    assert_int_equal(result_file_publish(trial.copy, "copy", &checksum), STATUS_OK);
    result_file_destroy(trial.base);
    trial.base = trial.copy;
    make_copy(fixture, &trial);
    change_byte(&trial, 0);
    checksum = publish(&trial, "second");
    result_file_destroy(trial.base);
    assert_int_equal(size_of(fixture, "second.root"), size_of(fixture, "copy"));
    check_file(fixture, &trial, "second", checksum);
}

/* Publishes as on a disk that is full after so many bytes. */
static void fail_to_publish(struct trial *trial, rlim_t bytes)
{
    struct rlimit limit;
    uint64_t checksum;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, limit.rlim_max}), 0);
    assert_int_equal(result_file_publish(trial->copy, "copy", &checksum), STATUS_DISK_FULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* After the first failure no link is left, and after the second, the draft has many bytes. The last
 * attempt writes the delta nevertheless. */
FIXTURE_TEST(publishing_can_be_tried_again_on_a_full_disk)
{
    struct trial trial;
    uint64_t checksum;
    begin(fixture, &trial);
    assert_int_equal(result_file_seal(trial.copy), STATUS_OK);
    fail_to_publish(&trial, 10);
    assert_int_equal(size_of(fixture, "copy.root"), -1);
    close(openat(fixture->folder, "copy.root", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    fail_to_publish(&trial, (rlim_t)trial.size / 2);
    assert_int_equal(size_of(fixture, "copy.root"), 0); /* perhaps of a file that is in use */
    remove_file(fixture, "copy.root");
    checksum = publish_sealed(&trial, "copy");
    result_file_destroy(trial.base);
    assert_true(size_of(fixture, "copy.root") > size_of(fixture, "copy"));
    check_file(fixture, &trial, "copy", checksum);
}
