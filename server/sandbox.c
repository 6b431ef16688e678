#include "server/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/securebits.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Bits that describe a process. A row of the tables below applies to every process that has at
 * least one of the row's bits. */
enum {
    BY_ALL = 1 << 0,
    BY_FRONT = 1 << 1,
    BY_WORKER = 1 << 2,
    WITH_GPU = 1 << 3,
    WITH_CHILDREN = 1 << 4,
    WITH_BOTH = 1 << 5, /* the process starts children that open a GPU */
    /* These bits in a row of call_rules say what happens to all other processes. Without them, a
     * call fails with ENOSYS under the allow list, and is allowed under the deny list. */
    REFUSED = 1 << 6,     /* EPERM, so that libraries do not try another call */
    DENY_LISTED = 1 << 7, /* EPERM under the deny list only */
    UNKNOWN = 1 << 8,     /* ENOSYS under the deny list too, so that libraries use an older call */
};

static unsigned bits_of(const struct sandbox_policy *policy)
{
    return (unsigned)BY_ALL | (policy->role == SANDBOX_FRONT ? BY_FRONT : BY_WORKER) |
           (policy->devices ? WITH_GPU : 0U) | (policy->spawns ? WITH_CHILDREN : 0U) |
           (policy->devices && policy->spawns ? WITH_BOTH : 0U);
}

/* Copies the first word of a row's text and returns the rest; NULL if there is no word. */
static const char *next_word(const char *words, char word[static 64])
{
    const size_t length = strcspn(words, " ");
    if (length == 0) {
        return NULL;
    }
    snprintf(word, 64, "%.*s", (int)length, words);
    return words + length + strspn(words + length, " ");
}

/* ---- Capabilities and memory ---- */

/* With these secure bits root has no privileges: neither exec nor setuid restores a capability. */
#define SECURE_BITS                                                                                \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                               \
     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED)

/* Changing the bounding set and the secure bits needs CAP_SETPCAP. A process without it may keep
 * both: because of no_new_privs, an exec gains no capability. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    struct __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3] = {{0}};
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (unsigned long capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0;) {
        capability++;
    }
    (void)prctl(PR_SET_SECUREBITS, SECURE_BITS, 0, 0, 0);
    /* The call may fail if a service manager has dropped all capabilities and forbidden capset. */
    (void)syscall(SYS_capset, &header, none);
    return syscall(SYS_capget, &header, left) == 0 && memcmp(left, none, sizeof(left)) == 0;
}

/* ---- Files, by Landlock ---- */

#define READ_FILE LANDLOCK_ACCESS_FS_READ_FILE
#define READ_DIR LANDLOCK_ACCESS_FS_READ_DIR
#define READ (READ_FILE | READ_DIR)
#define WRITE_FILE LANDLOCK_ACCESS_FS_WRITE_FILE
#define EXECUTE LANDLOCK_ACCESS_FS_EXECUTE
/* Debian 12's linux/landlock.h lacks these two rights; the values are those of Linux 6.12. */
#define TRUNCATE (UINT64_C(1) << 14)
#define IOCTL_DEV (UINT64_C(1) << 15)
/* The rights that Landlock accepts in a rule on a file; the other rights concern folders. */
#define FILE_RIGHTS (EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV)
/* The rights of the daemon beneath the state directory. */
#define STATE_RIGHTS                                                                               \
    (READ | WRITE_FILE | TRUNCATE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                                \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |  \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REFER)

/* The attributes as newer versions of Landlock define them. Older kernels accept the struct if the
 * members that they do not know are 0. */
struct ruleset_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; /* 2 = TCP connections */
    uint64_t scoped;             /* 1 = abstract Unix sockets, 2 = signals */
};

struct ruleset {
    int descriptor;
    uint64_t handled; /* file access rights that the rule set restricts */
    bool failed;      /* a rule could not be added */
};

static const struct {
    unsigned bits;
    uint64_t rights;
    const char *patterns; /* patterns for glob(3) */
} file_rules[] = {
    /* The C library, the CPU solver and /metrics read facts about the machine and the process. */
    {BY_ALL, READ, "/proc/cpuinfo /proc/meminfo /proc/sys/vm/overcommit_memory /etc/localtime"},
    {BY_ALL, READ, "/sys/devices/system/cpu /sys/devices/system/node /sys/fs/cgroup /dev/urandom"},
    {BY_ALL, READ, "/proc/self/cgroup /proc/self/fd /proc/self/statm"},
    {BY_ALL, READ_FILE | WRITE_FILE, "/dev/null"},
    /* CUDA's driver reads information about the machine, loads its compiler on first use, and
     * finds its device nodes by listing /dev. The nodes must exist before the sandbox starts. */
    {WITH_GPU, READ, "/proc /sys /usr /lib /lib64 /opt /etc/ld.so.cache /etc/nvidia"},
    {WITH_GPU, READ, "/run/opengl-driver"},
    {WITH_GPU, READ_DIR, "/dev"},
    {WITH_GPU, READ | WRITE_FILE | IOCTL_DEV, "/dev/nvidia*"},
    {WITH_GPU, STATE_RIGHTS, "/dev/shm"},
    /* A GPU driver in a child names its threads by writing to /proc/PID; the PID is unknown here.
     */
    {WITH_BOTH, WRITE_FILE | TRUNCATE, "/proc"},
    /* The process may start this program as a child; allow_loaded adds the loader and libraries. */
    {WITH_CHILDREN, EXECUTE | READ_FILE, "/proc/self/exe"},
    {WITH_CHILDREN, READ_FILE, "/etc/ld.so.cache"},
};

/* Adds a rule for a path; a path that does not exist needs no rule. */
static void allow_path(struct ruleset *ruleset, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat about;
    if (rule.parent_fd < 0) {
        return;
    }
    rule.allowed_access = rights & ruleset->handled;
    if (fstat(rule.parent_fd, &about) == 0 && !S_ISDIR(about.st_mode)) {
        rule.allowed_access &= FILE_RIGHTS;
    }
    if (syscall(SYS_landlock_add_rule, ruleset->descriptor, LANDLOCK_RULE_PATH_BENEATH, &rule,
                0U) != 0) {
        ruleset->failed = true;
    }
    close(rule.parent_fd);
}

static int allow_loaded(struct dl_phdr_info *info, size_t size, void *ruleset)
{
    (void)size;
    if (info->dlpi_name != NULL && info->dlpi_name[0] == '/') {
        allow_path(ruleset, info->dlpi_name, EXECUTE | READ_FILE);
    }
    return 0;
}

static void allow_files(struct ruleset *ruleset, const struct sandbox_policy *policy)
{
    const unsigned bits = bits_of(policy);
    for (const char *const *path = policy->writable; path != NULL && *path != NULL; path++) {
        allow_path(ruleset, *path, STATE_RIGHTS);
    }
    for (const char *const *path = policy->readable; path != NULL && *path != NULL; path++) {
        allow_path(ruleset, *path, READ_FILE);
    }
    for (size_t i = 0; i < COUNT(file_rules); i++) {
        const char *patterns = file_rules[i].patterns;
        char pattern[64];
        while ((file_rules[i].bits & bits) != 0 &&
               (patterns = next_word(patterns, pattern)) != NULL) {
            glob_t found;
            if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
                for (size_t k = 0; k < found.gl_pathc; k++) {
                    allow_path(ruleset, found.gl_pathv[k], file_rules[i].rights);
                }
                globfree(&found);
            }
        }
    }
    if (policy->spawns) {
        (void)dl_iterate_phdr(allow_loaded, ruleset);
    }
}

/* Returns the version of Landlock's interface; 0 = unavailable or unusable. Version 1 is unusable
 * because it refuses every rename between folders. */
static int restrict_files(const struct sandbox_policy *policy)
{
    const long abi =
        syscall(SYS_landlock_create_ruleset, NULL, 0UL, LANDLOCK_CREATE_RULESET_VERSION);
    const struct ruleset_attributes attributes = {
        .handled_access_fs = (LANDLOCK_ACCESS_FS_REFER * 2 - 1) | (abi >= 3 ? TRUNCATE : 0) |
                             (abi >= 5 ? IOCTL_DEV : 0),
        .handled_access_net = abi >= 4 ? 2 : 0,
        .scoped = abi >= 6 ? 1 | 2 : 0,
    };
    struct ruleset ruleset = {.descriptor = -1, .handled = attributes.handled_access_fs};

    if (abi >= 2) {
        ruleset.descriptor =
            (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0U);
    }
    if (ruleset.descriptor < 0) {
        return 0;
    }
    allow_files(&ruleset, policy);
    const bool restricted =
        !ruleset.failed && syscall(SYS_landlock_restrict_self, ruleset.descriptor, 0U) == 0;
    close(ruleset.descriptor);
    return restricted ? (int)abi : 0;
}

/* ---- System calls, by seccomp ---- */

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Each call appears once. A call that this architecture lacks gets a pseudo number from libseccomp,
 * which ignores rules for it. */
static const struct {
    unsigned bits;
    const char *names;
} call_rules[] = {
    /* Calls on files and connections that are already open. */
    {BY_ALL, "read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 close"},
    {BY_ALL, "lseek dup dup2 dup3 fstat newfstatat statx fstatfs fsync fdatasync"},
    {BY_ALL, "fadvise64 poll ppoll select pselect6 epoll_create1"},
    {BY_ALL, "epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2 pipe2 shutdown recvfrom"},
    {BY_ALL, "recvmsg timerfd_create timerfd_settime timerfd_gettime"},
    /* Calls for memory, threads, time and signals. */
    {BY_ALL, "brk munmap mremap madvise mincore msync mlock mlock2 munlock futex futex_waitv"},
    {BY_ALL, "membarrier rseq set_robust_list get_robust_list set_tid_address sched_yield"},
    {BY_ALL, "sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler getpriority"},
    {BY_ALL, "setpriority getcpu getpid getppid gettid getuid geteuid getgid getegid getrandom"},
    {BY_ALL, "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getrusage"},
    {BY_ALL, "getrlimit sysinfo uname exit exit_group rt_sigaction rt_sigprocmask rt_sigreturn"},
    {BY_ALL, "rt_sigtimedwait sigaltstack restart_syscall"},
    /* Landlock and file permissions decide which files these calls can access. */
    {BY_ALL, "access faccessat faccessat2 readlink readlinkat stat lstat getcwd"},
    /* Calls for the state directory and for incoming connections. SQLite needs fchown and fchmod:
     * as root, it gives its other files the owner and mode of the database. */
    {BY_FRONT, "unlinkat flock umask copy_file_range sendfile getsockname getpeername getsockopt"},
    {BY_FRONT, "setsockopt sync_file_range"},
    /* No worker may truncate its result: the daemon, which also maps it, would get a SIGBUS. */
    {BY_FRONT, "ftruncate fallocate"},
    {BY_FRONT | UNKNOWN, "openat2"},
    {BY_FRONT | DENY_LISTED, "mkdir mkdirat rmdir rename renameat renameat2 linkat fchown fchmod"},
    {BY_FRONT | DENY_LISTED, "utimensat accept accept4"},
    /* Calls of CUDA's driver for device nodes, memory placement, its compiler and its threads. */
    {BY_FRONT | WITH_GPU, "open openat statfs getdents64 unlink"},
    {WITH_GPU, "ioctl mbind get_mempolicy set_mempolicy move_pages getresuid getresgid"},
    {WITH_GPU, "sched_get_priority_max sched_get_priority_min"},
    {WITH_BOTH | DENY_LISTED, "socket"},
    {WITH_BOTH | REFUSED, "bind listen"},
    /* Calls that start a child, that the child needs until it enters its sandbox, and that wait for
     * it. */
    {WITH_GPU | WITH_CHILDREN, "mmap mprotect memfd_create"},
    {WITH_CHILDREN, "arch_prctl prctl prlimit64 capget landlock_create_ruleset landlock_add_rule"},
    {WITH_CHILDREN, "landlock_restrict_self close_range wait4 waitid tgkill"},
    {WITH_CHILDREN | REFUSED, "execve vfork capset seccomp kill"},
    {WITH_CHILDREN | DENY_LISTED, "pidfd_open pidfd_send_signal"},
    /* Calls that start programs, open connections, or affect other processes or the machine. */
    {REFUSED, "execveat fork connect ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd"},
    {REFUSED, "tkill bpf perf_event_open userfaultfd io_uring_setup mount umount2 move_mount"},
    {REFUSED, "open_tree fsopen pivot_root chroot unshare setns setuid setreuid setresuid setgid"},
    {REFUSED, "setregid setresgid setgroups setfsuid setfsgid setsid setrlimit chmod chown lchown"},
    {REFUSED, "fchownat fchmodat mknod mknodat link symlink symlinkat personality"},
    {REFUSED, "keyctl add_key request_key init_module finit_module delete_module kexec_load"},
    {REFUSED, "reboot syslog settimeofday clock_settime adjtimex sethostname setdomainname swapon"},
    {REFUSED, "quotactl acct iopl ioperm shmget open_by_handle_at"},
    {DENY_LISTED, "sendmmsg rt_sigqueueinfo rt_tgsigqueueinfo process_madvise process_mrelease"},
    {DENY_LISTED, "migrate_pages setpgid msgget semget mq_open io_uring_enter io_uring_register"},
    {DENY_LISTED, "fsconfig fsmount fspick mount_setattr name_to_handle_at fanotify_init truncate"},
    {DENY_LISTED, "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr swapoff"},
    {DENY_LISTED, "kexec_file_load vhangup"},
    /* A filter cannot read the flags of clone3 in memory. With ENOSYS, the C library uses clone. */
    {UNKNOWN, "clone3"},
};

#define NAMESPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)
#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* Tests of a call's argument. IS_WORD compares only the 32 bits that the kernel reads. */
enum test { IS, IS_NOT, IS_WORD, HAS, LACKS };

#define OWN_PID UINT64_MAX /* as a value in the table: the PID of this process */

static const struct {
    unsigned bits;
    int call;
    unsigned argument;
    enum test test;
    uint64_t values[6]; /* one rule for each value; a 0 after the first value ends the list */
} argument_rules[] = {
    /* The allow list allows these calls only with these arguments: unless a process may start
     * children, it can only start threads and cannot map executable memory. Sends cannot connect,
     * fcntl cannot request signals (F_SETOWN), and a worker can open files only for reading. */
    {BY_ALL, SCMP_SYS(clone), 0, HAS, {CLONE_THREAD}},
    {WITH_CHILDREN, SCMP_SYS(clone), 0, LACKS, {NAMESPACES}},
    {BY_ALL, SCMP_SYS(tgkill), 0, IS, {OWN_PID}},
    {BY_ALL, SCMP_SYS(prlimit64), 2, IS, {0}},
    {BY_ALL, SCMP_SYS(prctl), 0, IS, {PR_SET_NAME, PR_SET_VMA}},
    {BY_ALL, SCMP_SYS(mmap), 2, LACKS, {PROT_EXEC}},
    {BY_ALL, SCMP_SYS(mprotect), 2, LACKS, {PROT_EXEC}},
    {BY_ALL, SCMP_SYS(fcntl), 1, IS_WORD, {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL}},
    {BY_ALL, SCMP_SYS(fcntl), 1, IS_WORD, {F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK}},
    {BY_ALL, SCMP_SYS(fcntl), 1, IS_WORD, {F_OFD_SETLK, F_OFD_SETLKW, F_ADD_SEALS, F_GET_SEALS}},
    {BY_WORKER, SCMP_SYS(openat), 2, LACKS, {WRITING}},
    {BY_ALL, SCMP_SYS(ioctl), 1, IS, {FIONBIO, FIONREAD, SIOCOUTQ, FIOCLEX, TCGETS}},
    {BY_ALL, SCMP_SYS(sendto), 3, LACKS, {MSG_FASTOPEN}},
    {BY_ALL, SCMP_SYS(sendmsg), 2, LACKS, {MSG_FASTOPEN}},
    {WITH_CHILDREN, SCMP_SYS(socketpair), 0, IS, {AF_UNIX}},
    /* The deny list refuses calls with these arguments. A GPU driver binds a local socket while it
     * opens, so AF_UNIX sockets are allowed. */
    {DENY_LISTED | BY_FRONT, SCMP_SYS(socket), 0, IS_NOT, {AF_UNIX}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(fcntl), 1, IS_WORD, {F_SETLEASE}},
    {DENY_LISTED | BY_WORKER, SCMP_SYS(clone), 0, LACKS, {CLONE_THREAD}},
    {DENY_LISTED | BY_WORKER, SCMP_SYS(tgkill), 0, IS_NOT, {OWN_PID}},
    {DENY_LISTED | BY_WORKER, SCMP_SYS(prlimit64), 2, IS_NOT, {0}},
    {DENY_LISTED | BY_WORKER, SCMP_SYS(prctl), 0, IS_WORD, {PR_SET_DUMPABLE, PR_SET_PDEATHSIG}},
    {DENY_LISTED | BY_WORKER, SCMP_SYS(prctl), 0, IS_WORD, {PR_SET_SECUREBITS, PR_CAP_AMBIENT}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(clone), 0, HAS, {CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(clone), 0, HAS, {CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(clone), 0, HAS, {CLONE_NEWCGROUP}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(sendto), 3, HAS, {MSG_FASTOPEN}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(sendmsg), 2, HAS, {MSG_FASTOPEN}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(ioctl), 1, IS_WORD, {TIOCSTI, TIOCLINUX}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(prctl), 0, IS_WORD, {PR_SET_PTRACER, PR_SET_MM}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(prctl), 0, IS_WORD, {PR_SET_KEEPCAPS}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(fcntl), 1, IS_WORD, {F_SETOWN, F_SETOWN_EX, F_SETSIG}},
    {DENY_LISTED | BY_ALL, SCMP_SYS(fcntl), 1, IS_WORD, {F_NOTIFY}},
};

static int add_argument_rules(scmp_filter_ctx filter, unsigned bits, bool deny_list)
{
    const uint32_t action = deny_list ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW;
    int failed = 0;
    for (size_t i = 0; i < COUNT(argument_rules); i++) {
        const unsigned row = argument_rules[i].bits;
        const enum test test = argument_rules[i].test;
        const uint64_t *value = argument_rules[i].values;
        bool more = (row & bits) != 0 && ((row & DENY_LISTED) != 0) == deny_list;
        while (more) {
            const uint64_t wanted = *value == OWN_PID ? (uint64_t)getpid() : *value;
            const struct scmp_arg_cmp condition = {
                .arg = argument_rules[i].argument,
                .op = test == IS       ? SCMP_CMP_EQ
                      : test == IS_NOT ? SCMP_CMP_NE
                                       : SCMP_CMP_MASKED_EQ,
                .datum_a = test == IS_WORD ? UINT32_MAX : wanted,
                .datum_b = test == LACKS ? 0 : wanted,
            };
            /* libseccomp drops an argument rule for a call that is allowed without conditions. */
            failed |= seccomp_rule_add_array(filter, action, argument_rules[i].call, 1, &condition);
            value++;
            more = *value != 0;
        }
    }
    return failed;
}

static int add_call_rules(scmp_filter_ctx filter, unsigned bits, bool deny_list)
{
    int failed = 0;
    for (size_t i = 0; i < COUNT(call_rules); i++) {
        const unsigned row = call_rules[i].bits;
        const char *names = call_rules[i].names;
        const uint32_t by_default = deny_list ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS);
        uint32_t action = by_default;
        char name[64];
        if ((row & bits) != 0) {
            action = SCMP_ACT_ALLOW;
        } else if ((row & REFUSED) != 0 || (deny_list && (row & DENY_LISTED) != 0)) {
            action = SCMP_ACT_ERRNO(EPERM);
        } else if ((row & UNKNOWN) != 0) {
            action = SCMP_ACT_ERRNO(ENOSYS);
        }
        while (action != by_default && (names = next_word(names, name)) != NULL) {
            const int call = seccomp_syscall_resolve_name(name);
            CHECK(call != __NR_SCMP_ERROR);
            failed |= seccomp_rule_add(filter, action, call, 0);
        }
    }
    return failed;
}

/* Allows the sockets of systemd_notify, which opens an unconnected socket for each message. */
static int allow_notifications(scmp_filter_ctx filter)
{
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
                            SCMP_A0_32(SCMP_CMP_EQ, AF_UNIX),
                            SCMP_A1_32(SCMP_CMP_EQ, SOCK_DGRAM | SOCK_CLOEXEC));
}

static void add_missing(struct sandbox_report *report, const char *layer)
{
    const size_t used = strlen(report->without);
    snprintf(report->without + used, sizeof(report->without) - used, "%s%s", used > 0 ? ", " : "",
             layer);
}

void sandbox_enter(const struct sandbox_policy *policy, struct sandbox_report *report)
{
    const struct rlimit none = {0, 0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        add_missing(report, "no new privileges");
    }
    if (!drop_capabilities()) {
        add_missing(report, "dropped capabilities");
    }
    /* A core dump would contain clients' graphs and keys. */
    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
        add_missing(report, "no core dumps");
    }
    report->landlock_abi = restrict_files(policy);
    if (report->landlock_abi == 0) {
        add_missing(report, "file system rules (Landlock)");
    }
}

/* A worker with a GPU gets a deny list of calls that affect anything outside the process, because
 * the system calls of GPU drivers vary and the worker has no secrets. The parent of such a worker
 * gets a deny list too, because a child inherits its parent's filters. All other processes get an
 * allow list. Calls of another architecture, and calls whose number a tracer has set to -1, fail
 * with ENOSYS. SSB mitigation is off, because all code in the process is trusted, and on old
 * kernels it slows every load. */
enum status sandbox_filter_calls(const struct sandbox_policy *policy, struct sandbox_report *report)
{
    const bool worker = policy->role == SANDBOX_WORKER;
    const bool deny_list = policy->devices && (worker || policy->spawns);
    const unsigned bits = deny_list && worker ? BY_ALL | BY_WORKER : bits_of(policy);
    const scmp_filter_ctx filter =
        seccomp_init(deny_list ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS));

    if (filter == NULL) {
        return STATUS_NO_MEMORY;
    }
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    report->filtered =
        seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)) == 0 &&
        seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
        add_call_rules(filter, bits, deny_list) == 0 &&
        add_argument_rules(filter, bits, deny_list) == 0 &&
        (worker || deny_list || allow_notifications(filter) == 0) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    if (!report->filtered) {
        add_missing(report, "system call filter (seccomp)");
    }
    return STATUS_OK;
}
