/* Limits the disk space that the files of a folder use. Any thread; blocks on the disk. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Removes files whose name is_ours rejects, then the files with the oldest modification time until
 * the rest fits the budget. is_ours: NULL accepts every name. Folders, and names that begin with a
 * dot, are neither removed nor counted. */
void folder_budget_apply(int folder, uint64_t bytes, bool (*is_ours)(const char *name));
