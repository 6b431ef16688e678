/* Where tests keep their files: below TMPDIR, as mktemp(1) does. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline const char *folder_of_tests(void)
{
    const char *folder = getenv("TMPDIR");
    return folder == NULL || folder[0] == '\0' ? "/tmp" : folder;
}

/* The name ends in XXXXXX, for mkdtemp and mkstemp. False when the path does not fit. */
static inline bool folder_template(const char *name, char *ret_path, size_t size)
{
    const int length = snprintf(ret_path, size, "%s/%s", folder_of_tests(), name);
    return length > 0 && (size_t)length < size;
}
