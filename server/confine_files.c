#include "server/confine_files.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h of Debian 12 ends with version 2 of the interface: the names and numbers of the
 * later ones are those of Linux 6.12. */
#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_DIR (UINT64_C(1) << 7)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_MAKE_SOCK (UINT64_C(1) << 9)
#define FS_REFER (UINT64_C(1) << 13)    /* 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14) /* 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define FS_ALL_OF_2 (FS_REFER * 2 - 1)
#define NET_CONNECT_TCP (UINT64_C(1) << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET (UINT64_C(1) << 0)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)
#define VERSION_FLAG 1U
#define RULE_PATH_BENEATH 1

/* Rights that make sense for a rule on a file; the others are those of folders. */
#define FILE_RIGHTS (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)
/* All that happens beneath the state directory. */
#define STATE_RIGHTS                                                                               \
    (FS_WRITE_FILE | FS_READ_FILE | FS_READ_DIR | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |   \
     FS_MAKE_REG | FS_MAKE_SOCK | FS_REFER | FS_TRUNCATE)

/* Rename across folders is refused outright before version 2. */
#define FIRST_ABI 2

/* Older kernels take the longer structure as long as what they do not know is 0. */
struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

struct path_rule {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

struct ruleset {
    int descriptor;
    uint64_t handled; /* access to files */
};

static struct ruleset_attributes attributes_of(int abi)
{
    struct ruleset_attributes attributes = {.handled_access_fs = FS_ALL_OF_2};

    if (abi >= 3) {
        attributes.handled_access_fs |= FS_TRUNCATE;
    }
    if (abi >= 4) {
        attributes.handled_access_net = NET_CONNECT_TCP;
    }
    if (abi >= 5) {
        attributes.handled_access_fs |= FS_IOCTL_DEV;
    }
    if (abi >= 6) {
        attributes.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
    }
    return attributes;
}

/* What is not there needs no rule. */
static bool allow(const struct ruleset *ruleset, const char *path, uint64_t rights)
{
    struct path_rule rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat about;

    if (rule.parent_fd < 0) {
        return true;
    }
    rule.allowed_access = rights & ruleset->handled;
    if (fstat(rule.parent_fd, &about) == 0 && !S_ISDIR(about.st_mode)) {
        rule.allowed_access &= FILE_RIGHTS;
    }
    bool added =
        syscall(SYS_landlock_add_rule, ruleset->descriptor, RULE_PATH_BENEATH, &rule, 0U) == 0;
    close(rule.parent_fd);
    return added;
}

static bool allow_each(const struct ruleset *ruleset, const char *const *paths, uint64_t rights)
{
    bool all = true;

    for (; paths != NULL && *paths != NULL; paths++) {
        all = allow(ruleset, *paths, rights) && all;
    }
    return all;
}

static bool allow_pattern(const struct ruleset *ruleset, const char *pattern, uint64_t rights)
{
    glob_t found;
    bool all = true;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) {
        return true;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        all = allow(ruleset, found.gl_pathv[i], rights) && all;
    }
    globfree(&found);
    return all;
}

/* What the C library and the CPU solver look at whenever they like: the machine, and nothing of
 * anybody's; and what this process tells of itself at /metrics. */
static bool allow_machine(const struct ruleset *ruleset)
{
    static const char *const files[] = {"/proc/cpuinfo",
                                        "/proc/meminfo",
                                        "/proc/sys/vm/overcommit_memory",
                                        "/sys/devices/system/cpu",
                                        "/sys/devices/system/node",
                                        "/sys/fs/cgroup",
                                        "/proc/self/cgroup",
                                        "/proc/self/fd",
                                        "/proc/self/statm",
                                        "/dev/urandom",
                                        "/etc/localtime",
                                        NULL};

    return allow_each(ruleset, files, FS_READ_FILE | FS_READ_DIR) &&
           allow(ruleset, "/dev/null", FS_READ_FILE | FS_WRITE_FILE);
}

/* CUDA's driver reads about the machine, loads its compiler late, and works through its device
 * nodes, which must be there by now and which it looks for by the names in their folder.
 * While it is opened it names threads of its own in /proc, under the number of a process that is
 * not there yet. */
static bool allow_devices(const struct ruleset *ruleset, bool spawns)
{
    static const char *const readable[] = {"/proc",
                                           "/sys",
                                           "/usr",
                                           "/lib",
                                           "/lib64",
                                           "/opt",
                                           "/etc/ld.so.cache",
                                           "/etc/nvidia",
                                           "/run/opengl-driver",
                                           NULL};
    const uint64_t device_rights = FS_READ_FILE | FS_WRITE_FILE | FS_READ_DIR | FS_IOCTL_DEV;

    return allow_each(ruleset, readable, FS_READ_FILE | FS_READ_DIR) &&
           allow(ruleset, "/dev", FS_READ_DIR) &&
           (!spawns || allow(ruleset, "/proc", FS_WRITE_FILE | FS_TRUNCATE)) &&
           allow_pattern(ruleset, "/dev/nvidia*", device_rights) &&
           allow(ruleset, "/dev/shm", STATE_RIGHTS);
}

static int allow_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    if (info->dlpi_name != NULL && info->dlpi_name[0] == '/') {
        (void)allow(context, info->dlpi_name, FS_EXECUTE | FS_READ_FILE);
    }
    return 0;
}

/* This program again: its file, the loader and libraries that it has now, and the loader's list. */
static bool allow_itself(const struct ruleset *ruleset)
{
    struct ruleset copy = *ruleset;

    (void)dl_iterate_phdr(allow_loaded, &copy);
    return allow(ruleset, "/proc/self/exe", FS_EXECUTE | FS_READ_FILE) &&
           allow(ruleset, "/etc/ld.so.cache", FS_READ_FILE);
}

static bool fill(const struct ruleset *ruleset, const struct confine_policy *policy)
{
    return allow_each(ruleset, policy->writable, STATE_RIGHTS) &&
           allow_each(ruleset, policy->readable, FS_READ_FILE) && allow_machine(ruleset) &&
           (!policy->devices || allow_devices(ruleset, policy->spawns)) &&
           (!policy->spawns || allow_itself(ruleset));
}

int confine_files(const struct confine_policy *policy)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0UL, VERSION_FLAG);

    if (abi < FIRST_ABI) {
        return 0;
    }
    const struct ruleset_attributes attributes = attributes_of((int)abi);
    const struct ruleset ruleset = {
        .descriptor = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U),
        .handled = attributes.handled_access_fs,
    };
    if (ruleset.descriptor < 0) {
        return 0;
    }
    bool done =
        fill(&ruleset, policy) && syscall(SYS_landlock_restrict_self, ruleset.descriptor, 0U) == 0;
    close(ruleset.descriptor);
    return done ? (int)abi : 0;
}
