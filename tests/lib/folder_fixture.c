#include "tests/lib/folder_fixture.h"

static const char *folder_of_tests(void)
{
    const char *folder = getenv("TMPDIR");
    return folder == NULL || folder[0] == '\0' ? "/tmp" : folder;
}

bool folder_template(const char *name, char *ret_path, size_t size)
{
    const int length = snprintf(ret_path, size, "%s/%s", folder_of_tests(), name);
    return length > 0 && (size_t)length < size;
}
