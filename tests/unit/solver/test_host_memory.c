#include "server/solver/host_memory.h"

#include <fcntl.h>
/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

/* What the module reads, by its path; of others there is none. */
struct file {
    const char *path;
    const char *text;
};
#define FILES_MAX 8
static struct file files[FILES_MAX];

/* In place of the C library's. */
FILE *fopen(const char *restrict path, const char *restrict mode)
{
    assert_string_equal(mode, "re");
    for (size_t index = 0; index < FILES_MAX && files[index].path != NULL; ++index) {
        if (strcmp(files[index].path, path) == 0) {
            return fmemopen((void *)(uintptr_t)files[index].text, strlen(files[index].text), "r");
        }
    }
    return NULL;
}

static void put(const char *path, const char *text)
{
    for (size_t index = 0; index < FILES_MAX; ++index) {
        if (files[index].path == NULL || strcmp(files[index].path, path) == 0) {
            files[index] = (struct file){path, text};
            return;
        }
    }
    fail();
}

/* 4 GiB available in the machine, a group with and a group without a limit. */
static int set_up(void **state)
{
    (void)state;
    memset(files, 0, sizeof(files));
    put("/proc/meminfo", "MemTotal:  8388608 kB\nMemFree:  1 kB\nMemAvailable:  4194304 kB\n");
    put("/proc/self/cgroup", "1:name=other:/x\n0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.current", "629145600\n");
    put("/sys/fs/cgroup/a/memory.stat",
        "anon 4096\nfile 999999999\ninactive_file 104857600\nactive_file 52428800\n");
    return 0;
}

static void the_machine_tells_what_is_available(void **state)
{
    (void)state;
    assert_int_equal(host_memory_available(), 4096 * MIB);
    put("/proc/self/cgroup", "1:name=other:/x\n");
    assert_int_equal(host_memory_available(), 4096 * MIB);
    put("/proc/meminfo", "MemFree: 17 kB\n");
    assert_int_equal(host_memory_available(), 0);
}

static void a_group_around_the_process_limits_it(void **state)
{
    (void)state;
    put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
    assert_int_equal(host_memory_available(), (1024 - 600 + 150) * MIB);
    put("/sys/fs/cgroup/a/b/memory.max", "4294967296\n");
    put("/sys/fs/cgroup/a/b/memory.current", "4194304000\n");
    assert_int_equal(host_memory_available(), 96 * MIB);
}

static void the_root_of_a_container_limits_it_too(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "1048576000\n");
    put("/sys/fs/cgroup/memory.current", "1048576\n");
    assert_int_equal(host_memory_available(), 999 * MIB);
}

static void a_confined_child_reads_its_parents_group(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)getppid());
    put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
    assert_string_equal(files[1].path, "/proc/self/cgroup");
    files[1].path = path;
    assert_int_equal(host_memory_available(), (1024 - 600 + 150) * MIB);
}

static void a_group_may_be_full(void **state)
{
    (void)state;
    put("/sys/fs/cgroup/a/memory.max", "1048576\n");
    assert_int_equal(host_memory_available(), 1);
}

static void the_machine_has_what_it_has(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(host_memory_total(), (size_t)sysconf(_SC_PHYS_PAGES) * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_machine_tells_what_is_available, set_up),
        cmocka_unit_test_setup(a_group_around_the_process_limits_it, set_up),
        cmocka_unit_test_setup(the_root_of_a_container_limits_it_too, set_up),
        cmocka_unit_test_setup(a_confined_child_reads_its_parents_group, set_up),
        cmocka_unit_test_setup(a_group_may_be_full, set_up),
        cmocka_unit_test_setup(the_machine_has_what_it_has, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
