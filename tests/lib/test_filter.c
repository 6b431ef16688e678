/* Runs the test functions alone whose names match the pattern in APSPD_TEST_ONLY ("*" and "?" stand
 * for any text and any character). Linked into each program of unit tests. */
#include "tests/lib/test.h"

#include <stdlib.h>

__attribute__((constructor)) static void set_test_filter(void)
{
    const char *pattern = getenv("APSPD_TEST_ONLY");
    if (pattern != NULL && pattern[0] != '\0') {
        cmocka_set_test_filter(pattern);
    }
}
