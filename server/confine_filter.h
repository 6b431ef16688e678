/* Which system calls the process may still make, by seccomp: a part of confine.c, and the only user
 * of libseccomp. */
#pragma once

#include "server/confine.h"

/* For every thread. What is allowed is listed; what a confined program has no business with is
 * EPERM, and all else ENOSYS, as on a kernel that does not know it, so that a library falls back.
 * STATUS_NO_MEMORY; ret_filtered false = this kernel has no such filters. */
MUST_CHECK enum status confine_filter(const struct confine_policy *policy, bool *ret_filtered);
