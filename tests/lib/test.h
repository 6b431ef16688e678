/* Every unit test program includes this header. It includes cmocka, the headers that cmocka
 * requires and headers that most tests use, and defines the macros for test functions. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every test function has a state parameter, whether it uses it or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* TEST(name) { ... } is a test function. A program runs its test functions in the order in which
 * the file defines them. */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Defines a test function with functions that are called before and after it. */
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        test_add(#name, name, set_up, tear_down);                                                  \
    }                                                                                              \
    static void name(void **state)

/* Defines a test function whose parameter is the object that set_up creates, for example `struct
 * fixture *fixture`. */
#define TEST_FIXTURE(name, object, set_up, tear_down)                                              \
    static void name(object);                                                                      \
    static void run_##name(void **state)                                                           \
    {                                                                                              \
        name(*state);                                                                              \
    }                                                                                              \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        test_add(#name, run_##name, set_up, tear_down);                                            \
    }                                                                                              \
    static void name(object)

/* Sets functions to call before the first and after the last test function of the program. */
#define TEST_GROUP(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void set_group(void)                                       \
    {                                                                                              \
        test_set_group(set_up, tear_down);                                                         \
    }

void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down);

void test_set_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* Runs the test functions whose names match the pattern in APSPD_TEST_ONLY (fnmatch), or all of
 * them. Returns the exit code of the program, which is 1 if no name matches. */
int test_run(void);
