#include "server/solver/host_memory.h"
#include "server/solver/solver.h"
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

/* A file that host_memory.c may read. All other files are missing. */
struct file {
    const char *path;
    const char *text;
};
#define FILES_MAX 12
static struct file files[FILES_MAX];

/* Replaces fopen of the C library, so that host_memory.c reads the files of the test. */
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

/* Simulates a machine with 4 GiB of available memory and two cgroups, one of them with a limit. */
static int set_up(void **state)
{
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

TEST_WITH(available_memory_is_read_from_meminfo, set_up, NULL)
{
    assert_int_equal(host_memory_available(), 4096 * MIB);
    put("/proc/self/cgroup", "1:name=other:/x\n");
    assert_int_equal(host_memory_available(), 4096 * MIB);
    put("/proc/meminfo", "MemFree: 17 kB\n");
    assert_int_equal(host_memory_available(), 0);
}

TEST_WITH(a_parent_cgroup_limits_the_memory, set_up, NULL)
{
    put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
    assert_int_equal(host_memory_available(), (1024 - 600 + 150) * MIB);
    put("/sys/fs/cgroup/a/b/memory.max", "4294967296\n");
    put("/sys/fs/cgroup/a/b/memory.current", "4194304000\n");
    assert_int_equal(host_memory_available(), 96 * MIB);
}

TEST_WITH(the_root_cgroup_of_a_container_limits_the_memory, set_up, NULL)
{
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "1048576000\n");
    put("/sys/fs/cgroup/memory.current", "1048576\n");
    assert_int_equal(host_memory_available(), 999 * MIB);
}

TEST_WITH(a_confined_child_reads_the_cgroup_of_its_parent, set_up, NULL)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)getppid());
    put("/sys/fs/cgroup/a/memory.max", "1073741824\n");
    assert_string_equal(files[1].path, "/proc/self/cgroup");
    files[1].path = path;
    assert_int_equal(host_memory_available(), (1024 - 600 + 150) * MIB);
}

TEST_WITH(a_cgroup_of_version_1_limits_the_memory, set_up, NULL)
{
    put("/proc/self/cgroup", "12:cpu,cpuacct:/x\n7:hugetlb,memory:/a\n0::/a/b\n");
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
    put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "629145600\n");
    put("/sys/fs/cgroup/memory/a/memory.stat",
        "inactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file 52428800\n");
    assert_int_equal(host_memory_available(), (1024 - 600 + 150) * MIB);
    assert_int_equal(host_memory_total(), 1024 * MIB);
    /* Simulates a container that sees its own cgroup as the root. */
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
    assert_int_equal(host_memory_total(), 512 * MIB);
}

TEST_WITH(one_byte_is_available_in_a_full_cgroup, set_up, NULL)
{
    put("/sys/fs/cgroup/a/memory.max", "1048576\n");
    assert_int_equal(host_memory_available(), 1);
}

TEST_WITH(the_host_memory_of_this_machine_is_found, set_up, NULL)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(host_memory_total(), (size_t)sysconf(_SC_PHYS_PAGES) * page);
    put("/sys/fs/cgroup/a/memory.max", "2147483648\n");
    assert_int_equal(host_memory_total(), 2048 * MIB);
}

#define SIZE ((size_t)32 << 20)
#define HEADER 128
#define THREADS 3

/* State of the madvise below, which replaces that of the C library and counts the calls. */
static atomic_bool kernel_is_slow; /* madvise blocks while this is set */
static atomic_uint populated;
static atomic_uint advised_huge;

int madvise(void *address, size_t length, int advice)
{
    if (advice == MADV_HUGEPAGE) {
        atomic_fetch_add(&advised_huge, 1);
        errno = EINVAL;
        return -1;
    }
    if (advice == MADV_POPULATE_WRITE) {
        atomic_fetch_add(&populated, 1);
        while (atomic_load(&kernel_is_slow)) {
            sched_yield();
        }
    }
    return (int)syscall(SYS_madvise, address, length, advice);
}

static char *map(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    /* Disables huge pages. With them, using the first page could make the last slice resident. */
    (void)syscall(SYS_madvise, memory, size, MADV_NOHUGEPAGE);
    return memory;
}

static bool is_resident(char *memory, size_t size)
{
    const size_t pages = size / (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *resident = malloc(pages);
    bool all = true;
    assert_non_null(resident);
    assert_int_equal(mincore(memory, size, resident), 0);
    for (size_t i = 0; i < pages; ++i) {
        all = all && (resident[i] & 1) != 0;
    }
    free(resident);
    return all;
}

/* All slices must become resident. Data written before or during the warming must not change. */
TEST(every_page_becomes_resident)
{
    char *const memory = map(SIZE);
    memory[0] = 'a';
    memory[SIZE - 1] = 'z';
    struct host_memory_warmer *warmer = host_memory_warm(memory + HEADER, SIZE - HEADER, THREADS);
    assert_non_null(warmer);
    __atomic_store_n(&memory[SIZE / 2], 'm', __ATOMIC_RELAXED);
    while (!is_resident(memory, SIZE)) {
        sched_yield();
    }
    host_memory_stop_warming(warmer);
    assert_true(memory[0] == 'a' && memory[SIZE / 2] == 'm' && memory[SIZE - 1] == 'z');
    assert_true(memory[1] == 0 && memory[SIZE / 4] == 0);
    assert_int_equal(atomic_load(&populated), 8);
    assert_int_equal(atomic_load(&advised_huge), 1);
    munmap(memory, SIZE);
}

/* Returns how many of the 128 slices were warmed before the stop. After the stop, none may be
 * warmed. */
static unsigned start_and_stop(void)
{
    char *const memory = map(16 * SIZE);
    atomic_store(&populated, 0);
    atomic_store(&kernel_is_slow, true);
    struct host_memory_warmer *warmer = host_memory_warm(memory, 16 * SIZE, 1);
    assert_non_null(warmer);
    atomic_store(&kernel_is_slow, false);
    host_memory_stop_warming(warmer);
    const unsigned before = atomic_load(&populated);
    assert_true(is_resident(memory, 16 * SIZE) == (before == 128));
    assert_int_equal(atomic_load(&populated), before);
    munmap(memory, 16 * SIZE);
    return before;
}

/* The test retries if this thread was so slow that all slices were warm before the stop. */
TEST(prefaulting_can_be_stopped_early)
{
    unsigned warmed = 128;
    for (int i = 0; i < 50 && warmed == 128; ++i) {
        warmed = start_and_stop();
    }
    assert_true(warmed < 128);
}

TEST(memory_that_is_too_small_or_too_large_is_not_prefaulted)
{
    char byte = 'a';
    assert_null(host_memory_warm(&byte, 1, 1));
    assert_null(host_memory_warm(&byte, SIZE_MAX / 2, 1));
    host_memory_stop_warming(NULL);
    assert_int_equal(byte, 'a');
}
