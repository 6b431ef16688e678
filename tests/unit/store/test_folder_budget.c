#include "server/store/folder_budget.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/test.h"

#include <sys/stat.h>

static void put(const struct fixture *fixture, const char *name, off_t size, time_t second)
{
    const struct timespec times[] = {{.tv_sec = second}, {.tv_sec = second}};
    const int file = openat(fixture->folder, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, size), 0);
    assert_int_equal(futimens(file, times), 0);
    close(file);
}

static bool is_there(const struct fixture *fixture, const char *name)
{
    return faccessat(fixture->folder, name, F_OK, 0) == 0;
}

FIXTURE_TEST(the_oldest_files_are_removed_and_folders_are_kept)
{
    put(fixture, "middle", 100000, 20);
    put(fixture, "oldest", 1, 10);
    put(fixture, "newest", 100000, 30);
    assert_int_equal(mkdirat(fixture->folder, "folder", 0700), 0);
    folder_budget_apply(fixture->folder, 65536 + 200000, NULL);
    assert_true(is_there(fixture, "oldest"));
    folder_budget_apply(fixture->folder, 65535 + 200000, NULL);
    assert_false(is_there(fixture, "oldest"));
    folder_budget_apply(fixture->folder, 100000, NULL);
    assert_false(is_there(fixture, "middle"));
    assert_true(is_there(fixture, "newest") && is_there(fixture, "folder"));
}

static bool begins_with_a(const char *name)
{
    return name[0] == 'a';
}

FIXTURE_TEST(files_with_rejected_names_are_removed_and_hidden_files_are_kept)
{
    put(fixture, "a", 1, 10);
    put(fixture, "b", 1, 20);
    put(fixture, ".c", 1, 20);
    folder_budget_apply(fixture->folder, 1000000, begins_with_a);
    assert_true(is_there(fixture, "a") && is_there(fixture, ".c"));
    assert_false(is_there(fixture, "b"));
}
