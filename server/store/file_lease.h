/* Proof that nobody can write a file any more, be it over a descriptor or a mapping, which keeps
 * its file open: only then Linux grants a lease for reading (fcntl(2), F_SETLEASE).
 *
 * Only of file systems of this machine alone: one that lies over another (overlayfs) does not see
 * mappings of that, and of a network's a lease may be refused for any reason. And it does not see
 * pages that a driver has pinned for its device. */
#pragma once

#include "proto/status.h"

/* descriptor: open for reading alone. STATUS_NOT_READY: somebody has the file open for writing.
 * STATUS_OK also where no lease is to be had: then nothing is known. */
MUST_CHECK enum status file_lease_take(int descriptor);
/* Who opens the file for writing waits until then, the one who has taken it too. */
void file_lease_drop(int descriptor);
