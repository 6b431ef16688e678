/* The folder for the files of tests: TMPDIR if it is set, like for mktemp(1), otherwise /tmp. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes a path for mkdtemp or mkstemp: `name`, which must end in XXXXXX, in the folder for the
 * files of tests. Returns false if the path does not fit. */
bool folder_template(const char *name, char *ret_path, size_t size);
