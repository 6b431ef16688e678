/* Which files the process may still open, by Landlock: a part of confine.c. */
#pragma once

#include "server/confine.h"

/* For the calling thread and what it starts. Returns the version of Landlock's interface; 0 = this
 * kernel has none, or one that cannot move files between folders. */
int confine_files(const struct confine_policy *policy);
