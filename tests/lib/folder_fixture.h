/* Where tests keep their files: below TMPDIR, as mktemp(1) does. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The name ends in XXXXXX, for mkdtemp and mkstemp. False when the path does not fit. */
bool folder_template(const char *name, char *ret_path, size_t size);
