#include "server/store/file_lease.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#define SIZE 4096

/* A file without a name, open for writing and for reading. */
struct pair {
    int writer;
    int reader;
};

static struct pair make_pair(const char *folder)
{
    struct pair pair;
    char path[32];
    pair.writer = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_true(pair.writer >= 0);
    assert_int_equal(ftruncate(pair.writer, SIZE), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", pair.writer);
    pair.reader = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(pair.reader >= 0);
    return pair;
}

/* Taken and dropped. */
static enum status try_lease(int descriptor)
{
    const enum status status = file_lease_take(descriptor);
    file_lease_drop(descriptor);
    return status;
}

/* Where the file system grants none, as overlayfs, nothing is ever refused. */
static bool has_leases(const char *folder)
{
    const struct pair pair = make_pair(folder);
    const bool refused = try_lease(pair.reader) == STATUS_NOT_READY;
    close(pair.writer);
    close(pair.reader);
    return refused;
}

static void check_descriptors(const char *folder)
{
    const struct pair pair = make_pair(folder);
    assert_int_equal(try_lease(pair.reader), STATUS_NOT_READY);
    const int second = dup(pair.writer);
    close(pair.writer);
    assert_int_equal(try_lease(pair.reader), STATUS_NOT_READY);
    close(second);
    assert_int_equal(try_lease(pair.reader), STATUS_OK);
    close(pair.reader);
}

/* Also one that is for reading until it is made writable. */
static void check_mappings(const char *folder)
{
    static const int protections[] = {PROT_READ | PROT_WRITE, PROT_READ};
    for (size_t i = 0; i < 2; i++) {
        const struct pair pair = make_pair(folder);
        void *bytes = mmap(NULL, SIZE, protections[i], MAP_SHARED, pair.writer, 0);
        assert_true(bytes != MAP_FAILED);
        close(pair.writer);
        assert_int_equal(try_lease(pair.reader), STATUS_NOT_READY);
        munmap(bytes, SIZE);
        assert_int_equal(try_lease(pair.reader), STATUS_OK);
        close(pair.reader);
    }
}

static void check_both(const char *folder)
{
    if (!has_leases(folder)) {
        skip();
    }
    check_descriptors(folder);
    check_mappings(folder);
}

static void who_can_write_is_noticed_on_disk(void **state)
{
    const struct fixture *fixture = *state;
    check_both(fixture->path);
}

static void and_in_memory(void **state)
{
    (void)state;
    check_both("/dev/shm");
}

static void nobody_gets_to_write_while_it_is_held(void **state)
{
    const struct fixture *fixture = *state;
    char path[32];
    if (!has_leases(fixture->path)) {
        skip();
    }
    const struct pair pair = make_pair(fixture->path);
    close(pair.writer);
    assert_int_equal(file_lease_take(pair.reader), STATUS_OK);
    snprintf(path, sizeof path, "/proc/self/fd/%d", pair.reader);
    assert_true(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) < 0);
    assert_int_equal(errno, EWOULDBLOCK);
    file_lease_drop(pair.reader);
    const int writer = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    assert_true(writer >= 0);
    close(writer);
    close(pair.reader);
}

/* As procfs. */
static void where_there_are_no_leases_nothing_is_refused(void **state)
{
    (void)state;
    const int writer = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    const int reader = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    assert_true(writer >= 0 && reader >= 0);
    assert_int_equal(try_lease(reader), STATUS_OK);
    close(writer);
    close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(who_can_write_is_noticed_on_disk),
        cmocka_unit_test(and_in_memory),
        FIXTURE_TEST(nobody_gets_to_write_while_it_is_held),
        cmocka_unit_test(where_there_are_no_leases_nothing_is_refused),
    };
    /* Whoever holds a lease is told that another wants to write. */
    (void)signal(SIGIO, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
