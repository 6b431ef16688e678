/* The folder for the files of tests: below TMPDIR, as mktemp(1) does. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The name ends in XXXXXX, for mkdtemp and mkstemp. Returns false if the path does not fit. */
bool folder_template(const char *name, char *ret_path, size_t size);
