#include "server/store/file_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/vfs.h>

/* Not among the kernel's own: linux/xfs_fs.h is not for programs. */
#define XFS_MAGIC 0x58465342

static bool is_of_this_machine(int descriptor)
{
    static const long types[] = {EXT4_SUPER_MAGIC, XFS_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
                                 TMPFS_MAGIC};
    struct statfs about;
    if (fstatfs(descriptor, &about) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (about.f_type == types[i]) {
            return true;
        }
    }
    return false;
}

enum status file_lease_take(int descriptor)
{
    if (!is_of_this_machine(descriptor) || fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0) {
        return STATUS_OK;
    }
    return errno == EAGAIN ? STATUS_NOT_READY : STATUS_OK;
}

void file_lease_drop(int descriptor)
{
    (void)fcntl(descriptor, F_SETLEASE, F_UNLCK);
}
