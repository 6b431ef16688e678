/* Chooses the folder for temporary files of tests: TMPDIR, if it is set, or /tmp. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes a path in this folder for mkdtemp or mkstemp. `name` must end in XXXXXX. Returns false if
 * the path does not fit. */
bool folder_template(const char *name, char *ret_path, size_t size);
