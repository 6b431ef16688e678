#include "server/confine.h"

#include "server/confine_files.h"
#include "server/confine_filter.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A root without its powers: no program that it runs, and no change of its user, gives any back. */
#define SECURE_BITS                                                                                \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                               \
     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED)

static void miss(struct confine_report *report, const char *what)
{
    size_t used = strlen(report->without);

    snprintf(report->without + used, sizeof report->without - used, "%s%s", used > 0 ? ", " : "",
             what);
}

/* The bounding set and the secure bits take CAP_SETPCAP: who has not got it has nothing to drop
 * them for, since without new privileges nothing enters by an exec. */
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
    /* A service manager may have taken them all, and this call too. */
    (void)syscall(SYS_capset, &header, none);
    return syscall(SYS_capget, &header, left) == 0 && memcmp(left, none, sizeof left) == 0;
}

/* What a core holds is other people's graphs, and their keys. */
static bool keep_memory_private(void)
{
    const struct rlimit none = {0, 0};

    return setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

enum status confine_process(const struct confine_policy *policy, struct confine_report *report)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        miss(report, "no new privileges");
    }
    if (!drop_capabilities()) {
        miss(report, "dropped capabilities");
    }
    if (!keep_memory_private()) {
        miss(report, "private memory");
    }
    report->landlock_abi = confine_files(policy);
    if (report->landlock_abi == 0) {
        miss(report, "file system rules (Landlock)");
    }
    return STATUS_OK;
}

enum status confine_calls(const struct confine_policy *policy, struct confine_report *report)
{
    enum status status = confine_filter(policy, &report->filtered);

    if (status == STATUS_OK && !report->filtered) {
        miss(report, "system call filter (seccomp)");
    }
    return status;
}
