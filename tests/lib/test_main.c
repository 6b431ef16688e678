/* The main function of a program of unit tests: it runs the functions that TEST defines. */
#include "tests/lib/test.h"

#include <fnmatch.h>

enum { TESTS_MAX = 64 };

static struct CMUnitTest tests[TESTS_MAX];
static unsigned test_count;
static CMFixtureFunction group_set_up;
static CMFixtureFunction group_tear_down;

void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down)
{
    if (test_count == TESTS_MAX) {
        abort();
    }
    tests[test_count++] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
}

void test_set_group(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    group_set_up = set_up;
    group_tear_down = tear_down;
}

int test_run(void)
{
    const char *only = getenv("APSPD_TEST_ONLY");
    const char *pattern = only != NULL && only[0] != '\0' ? only : "*";
    unsigned chosen = 0;
    for (unsigned i = 0; i < test_count; i++) {
        if (fnmatch(pattern, tests[i].name, 0) == 0) {
            tests[chosen++] = tests[i];
        }
    }
    if (chosen == 0) {
        print_error("no test function matches %s\n", pattern);
        return 1;
    }
    /* cmocka skips elements without a name. */
    memset(tests + chosen, 0, (TESTS_MAX - chosen) * sizeof(tests[0]));
    return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}

/* Weak, because a test program with other tasks as well defines its own main function. */
__attribute__((weak)) int main(void)
{
    return test_run();
}
