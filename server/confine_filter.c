#include "server/confine_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define NAMESPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Memory, threads, time, and what is open already: what any of our processes lives on. */
static const int everywhere[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(preadv2),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev),
    SCMP_SYS(pwritev2),
    SCMP_SYS(close),
    SCMP_SYS(lseek),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(fstatfs),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64),
    SCMP_SYS(sync_file_range),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(msync),
    SCMP_SYS(mlock),
    SCMP_SYS(mlock2),
    SCMP_SYS(munlock),
    SCMP_SYS(futex),
    SCMP_SYS(futex_waitv),
    SCMP_SYS(membarrier),
    SCMP_SYS(rseq),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getpriority),
    SCMP_SYS(setpriority),
    SCMP_SYS(getcpu),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(pipe2),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime),
    SCMP_SYS(shutdown),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    /* Files are opened by what Landlock's rules and the files' own rights say. */
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(getcwd),
};

/* The state directory, and connections that come in. */
static const int front_only[] = {
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(openat2),
    SCMP_SYS(statfs),
    SCMP_SYS(getdents64),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(flock),
    SCMP_SYS(umask),
    /* SQLite gives its files the owner and mode of its database, as root. */
    SCMP_SYS(fchown),
    SCMP_SYS(fchmod),
    SCMP_SYS(utimensat),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(sendfile),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
};

/* CUDA's driver: device nodes, placement of memory, its own compiler and threads. */
static const int with_devices[] = {
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(ioctl),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mbind),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(move_pages),
    SCMP_SYS(memfd_create),
    SCMP_SYS(getdents64),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(statfs),
    SCMP_SYS(unlink),
};

/* A child of this very program, from its exec to its own confinement, and its end. */
static const int with_children[] = {
    SCMP_SYS(execve),
    SCMP_SYS(vfork),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(prctl),
    SCMP_SYS(prlimit64),
    SCMP_SYS(capget),
    SCMP_SYS(capset),
    SCMP_SYS(seccomp),
    SCMP_SYS(landlock_create_ruleset),
    SCMP_SYS(landlock_add_rule),
    SCMP_SYS(landlock_restrict_self),
    SCMP_SYS(close_range),
    SCMP_SYS(memfd_create),
    SCMP_SYS(wait4),
    SCMP_SYS(waitid),
    SCMP_SYS(kill),
    SCMP_SYS(tgkill),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_send_signal),
};

/* Denied loudly: a library that meets EPERM does not look for another way. */
static const int forbidden[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(socket),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kill),
    SCMP_SYS(tkill),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(fsopen),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(setuid),
    SCMP_SYS(setreuid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setregid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setgroups),
    SCMP_SYS(setfsuid),
    SCMP_SYS(setfsgid),
    SCMP_SYS(setsid),
    SCMP_SYS(setrlimit),
    SCMP_SYS(capset),
    SCMP_SYS(chmod),
    SCMP_SYS(chown),
    SCMP_SYS(lchown),
    SCMP_SYS(fchownat),
    SCMP_SYS(fchmodat),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(personality),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(reboot),
    SCMP_SYS(syslog),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(swapon),
    SCMP_SYS(quotactl),
    SCMP_SYS(acct),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(shmget),
    SCMP_SYS(seccomp),
};

/* Of those, what CUDA's driver does as it is opened. */
static const int of_driver[] = {
    SCMP_SYS(socket),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
};

/* Of a worker with a GPU, whose driver's calls nobody has listed, as well: ways out, and names. */
static const int ways_out[] = {
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(process_madvise),
    SCMP_SYS(process_mrelease),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(setpgid),
    SCMP_SYS(msgget),
    SCMP_SYS(semget),
    SCMP_SYS(mq_open),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(truncate),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchown),
    SCMP_SYS(utimensat),
    SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr),
    SCMP_SYS(fsetxattr),
    SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr),
    SCMP_SYS(swapoff),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(vhangup),
};

static bool has(const int *calls, size_t count, int call)
{
    for (size_t i = 0; i < count; i++) {
        if (calls[i] == call) {
            return true;
        }
    }
    return false;
}

static bool is_freed(const struct confine_policy *policy, int call)
{
    return (policy->devices && has(with_devices, COUNT(with_devices), call)) ||
           (policy->spawns && has(with_children, COUNT(with_children), call));
}

/* Failures add up in status, to be looked at once. */
struct filter {
    scmp_filter_ctx context;
    const struct confine_policy *policy;
    int failed;
};

static void allow(struct filter *filter, int call)
{
    filter->failed |= seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, call, 0);
}

static void allow_all(struct filter *filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        allow(filter, calls[i]);
    }
}

/* Of an argument that the kernel takes as 32 bits it does not look at the others. */
static struct scmp_arg_cmp is_word(unsigned argument, uint32_t value)
{
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value);
}

/* Unless the call is allowed outright. */
static void allow_if(struct filter *filter, int call, struct scmp_arg_cmp condition)
{
    if (!is_freed(filter->policy, call)) {
        filter->failed |=
            seccomp_rule_add_array(filter->context, SCMP_ACT_ALLOW, call, 1, &condition);
    }
}

/* Threads, not processes; namespaces never. clone3 keeps its flags in memory, where no filter sees
 * them: it is unknown here, and the C library takes clone. */
static void allow_threads(struct filter *filter)
{
    allow_if(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (filter->policy->spawns) {
        allow_if(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, NAMESPACES, 0));
    }
    allow_if(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    allow_if(filter, SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0));
    allow_if(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    allow_if(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_VMA));
}

/* Of a descriptor, but who gets its signals, of which any may be chosen: those reach other
 * processes. A lease keeps others from a file. */
static void allow_control(struct filter *filter)
{
    static const int commands[] = {
        F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,     F_GETFL,      F_SETFL,     F_GETLK,
        F_SETLK, F_SETLKW,        F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_ADD_SEALS, F_GET_SEALS};

    for (size_t i = 0; i < COUNT(commands); i++) {
        allow_if(filter, SCMP_SYS(fcntl), is_word(1, (uint32_t)commands[i]));
    }
    if (filter->policy->role == CONFINE_FRONT) {
        allow_if(filter, SCMP_SYS(fcntl), is_word(1, F_SETLEASE));
    }
}

/* Nothing that was written is ever run. */
static void allow_memory(struct filter *filter)
{
    allow_if(filter, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    allow_if(filter, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

/* The worker reads about the machine, and that is all. A send can open a connection too. */
static void allow_descriptors(struct filter *filter)
{
    const unsigned writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    static const unsigned long requests[] = {FIONBIO, FIONREAD, SIOCOUTQ, FIOCLEX, TCGETS};

    if (filter->policy->role == CONFINE_WORKER) {
        allow_if(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, writing, 0));
    }
    for (size_t i = 0; i < COUNT(requests); i++) {
        allow_if(filter, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, requests[i]));
    }
    allow_if(filter, SCMP_SYS(sendto), SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));
    allow_if(filter, SCMP_SYS(sendmsg), SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));
    if (filter->policy->spawns) {
        allow_if(filter, SCMP_SYS(socketpair), SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
    }
}

static void forbid(struct filter *filter)
{
    for (size_t i = 0; i < COUNT(forbidden); i++) {
        if (!is_freed(filter->policy, forbidden[i])) {
            filter->failed |=
                seccomp_rule_add(filter->context, SCMP_ACT_ERRNO(EPERM), forbidden[i], 0);
        }
    }
}

/* Which calls a driver makes differs from driver to driver: the process that has nothing else to
 * hide keeps them, and loses what leads out of it. So does the one that starts it, which opens the
 * device under the filter of both. */
static bool is_by_exception(const struct confine_policy *policy)
{
    return policy->devices && (policy->role == CONFINE_WORKER || policy->spawns);
}

static bool is_of_front(const struct confine_policy *policy, int call)
{
    return policy->role == CONFINE_FRONT &&
           (has(front_only, COUNT(front_only), call) || is_freed(policy, call) ||
            has(of_driver, COUNT(of_driver), call));
}

static void deny(struct filter *filter, int call, uint32_t error)
{
    filter->failed |= seccomp_rule_add(filter->context, SCMP_ACT_ERRNO(error), call, 0);
}

static void deny_if(struct filter *filter, int call, struct scmp_arg_cmp condition)
{
    filter->failed |=
        seccomp_rule_add_array(filter->context, SCMP_ACT_ERRNO(EPERM), call, 1, &condition);
}

static void deny_all(struct filter *filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_of_front(filter->policy, calls[i])) {
            deny(filter, calls[i], EPERM);
        }
    }
}

/* What a process that starts none does not do either. */
static void deny_to_worker(struct filter *filter)
{
    static const uint32_t options[] = {PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_SECUREBITS,
                                       PR_CAP_AMBIENT};

    deny(filter, SCMP_SYS(openat2), ENOSYS);
    deny_if(filter, SCMP_SYS(fcntl), is_word(1, F_SETLEASE));
    deny_if(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    deny_if(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_NE, (scmp_datum_t)getpid()));
    deny_if(filter, SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_NE, 0));
    for (size_t i = 0; i < COUNT(options); i++) {
        deny_if(filter, SCMP_SYS(prctl), is_word(0, options[i]));
    }
}

/* What keeps its flags in memory, where no filter sees them, is unknown. */
static void deny_ways_out(struct filter *filter)
{
    static const uint32_t requests[] = {TIOCSTI, TIOCLINUX};
    static const uint32_t options[] = {PR_SET_PTRACER, PR_SET_MM, PR_SET_KEEPCAPS};
    static const uint32_t commands[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY};
    static const uint32_t namespaces[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                          CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
                                          CLONE_NEWNET};

    deny_all(filter, forbidden, COUNT(forbidden));
    deny_all(filter, ways_out, COUNT(ways_out));
    deny(filter, SCMP_SYS(clone3), ENOSYS);
    if (filter->policy->role == CONFINE_WORKER) {
        deny_to_worker(filter);
    } else {
        /* A driver gives one a name as it is opened, and connects it to nothing. */
        deny_if(filter, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_NE, AF_UNIX));
    }
    for (size_t i = 0; i < COUNT(namespaces); i++) {
        deny_if(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]));
    }
    deny_if(filter, SCMP_SYS(sendto), SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
    deny_if(filter, SCMP_SYS(sendmsg), SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
    for (size_t i = 0; i < COUNT(requests); i++) {
        deny_if(filter, SCMP_SYS(ioctl), is_word(1, requests[i]));
    }
    for (size_t i = 0; i < COUNT(options); i++) {
        deny_if(filter, SCMP_SYS(prctl), is_word(0, options[i]));
    }
    for (size_t i = 0; i < COUNT(commands); i++) {
        deny_if(filter, SCMP_SYS(fcntl), is_word(1, commands[i]));
    }
}

static void fill(struct filter *filter)
{
    const struct confine_policy *policy = filter->policy;

    if (is_by_exception(policy)) {
        deny_ways_out(filter);
        return;
    }
    allow_all(filter, everywhere, COUNT(everywhere));
    if (policy->role == CONFINE_FRONT) {
        allow_all(filter, front_only, COUNT(front_only));
    }
    if (policy->devices) {
        allow_all(filter, with_devices, COUNT(with_devices));
    }
    if (policy->spawns) {
        allow_all(filter, with_children, COUNT(with_children));
    }
    allow_threads(filter);
    allow_memory(filter);
    allow_control(filter);
    allow_descriptors(filter);
    forbid(filter);
}

/* Calls of another architecture, and those that a tracer has cut out, are unknown too. Without SSB
 * old kernels would slow down every load of memory: no code runs here that is not ours. */
static void set_attributes(struct filter *filter)
{
    filter->failed |=
        seccomp_attr_set(filter->context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    filter->failed |= seccomp_attr_set(filter->context, SCMP_FLTATR_CTL_TSYNC, 1);
    (void)seccomp_attr_set(filter->context, SCMP_FLTATR_CTL_SSB, 1);
    (void)seccomp_attr_set(filter->context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

enum status confine_filter(const struct confine_policy *policy, bool *ret_filtered)
{
    struct filter filter = {
        .context = seccomp_init(is_by_exception(policy) ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS)),
        .policy = policy,
    };

    if (filter.context == NULL) {
        return STATUS_NO_MEMORY;
    }
    set_attributes(&filter);
    fill(&filter);
    *ret_filtered = filter.failed == 0 && seccomp_load(filter.context) == 0;
    seccomp_release(filter.context);
    return STATUS_OK;
}
