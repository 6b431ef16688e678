/* The main function of a program of unit tests: it runs the functions that TEST defines. */
#include "tests/lib/test.h"

#include <stdlib.h>

enum { TESTS_MAX = 64 };

/* cmocka passes over the elements without a name. */
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
    const char *pattern = getenv("APSPD_TEST_ONLY");
    if (pattern != NULL && pattern[0] != '\0') {
        cmocka_set_test_filter(pattern);
    }
    return cmocka_run_group_tests(tests, group_set_up, group_tear_down);
}

/* A program that has more to do defines a main function of its own. */
__attribute__((weak)) int main(void)
{
    return test_run();
}
