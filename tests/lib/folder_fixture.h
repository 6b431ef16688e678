/* The folder for the files of tests: below TMPDIR, as mktemp(1) does. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes the path of `name`, which must end in XXXXXX (for mkdtemp and mkstemp), under the test
 * folder. Returns false if the path does not fit. */
bool folder_template(const char *name, char *ret_path, size_t size);
