/* A folder whose files take a limited room. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Removes the files written longest ago until the others are within the budget, and those whose
 * name is not ours. is_ours: NULL for every name. Folders, and names that begin with a dot, stay
 * and do not count. */
void folder_budget_apply(int folder, uint64_t bytes, bool (*is_ours)(const char *name));
