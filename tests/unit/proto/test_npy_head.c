#include "proto/npy_head.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static enum status parse(const char *dictionary, struct npy_head *head, struct problem *problem)
{
    return npy_head_parse(dictionary, strlen(dictionary), head, problem);
}

static void sizes_follow_the_version(void **state)
{
    static const unsigned char one[] = "\x93NUMPY\1\0\x76\0";
    static const unsigned char three[] = "\x93NUMPY\3\0\x76\1\0\0";
    size_t size = 0;

    (void)state;
    assert_int_equal(npy_head_size(one, &size, NULL), STATUS_OK);
    assert_int_equal(size, 10);
    assert_int_equal(npy_head_dictionary_size(one, &size, NULL), STATUS_OK);
    assert_int_equal(size, 0x76);
    assert_int_equal(npy_head_size(three, &size, NULL), STATUS_OK);
    assert_int_equal(size, 12);
    assert_int_equal(npy_head_dictionary_size(three, &size, NULL), STATUS_OK);
    assert_int_equal(size, 0x176);
}

static void what_is_no_npy_is_refused(void **state)
{
    static const unsigned char four[] = "\x93NUMPY\4\0";
    static const unsigned char huge[] = "\x93NUMPY\2\0\1\0\1\0";
    struct problem problem = {0};
    size_t size = 0;

    (void)state;
    assert_int_equal(npy_head_size((const unsigned char *)"PK\3\4aaaa", &size, &problem),
                     STATUS_BAD_GRAPH);
    assert_int_equal(npy_head_size(four, &size, &problem), STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "version 4.0"));
    assert_int_equal(npy_head_dictionary_size(huge, &size, &problem), STATUS_BAD_GRAPH);
}

static void dictionaries_of_any_writer_are_read(void **state)
{
    struct npy_head head = {0};

    (void)state;
    assert_int_equal(
        parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }   \n", &head, NULL),
        STATUS_OK);
    assert_int_equal(head.type, NPY_F4);
    assert_int_equal(head.item_size, 4);
    assert_false(head.fortran);
    assert_int_equal(head.count, 3);
    assert_int_equal(
        parse("{\"shape\":(2L,2L),\"fortran_order\":True,\"descr\":\"<i8\"}", &head, NULL),
        STATUS_OK);
    assert_int_equal(head.type, NPY_I8);
    assert_true(head.fortran);
    assert_string_equal(npy_head_type_name(head.type), "int64");
}

static void refused(const char *dictionary, const char *detail, const char *hint)
{
    struct problem problem = {0};
    struct npy_head head;

    assert_int_equal(parse(dictionary, &head, &problem), STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, detail));
    assert_non_null(strstr(problem.hint, hint));
}

static void other_arrays_are_refused_with_what_to_do(void **state)
{
    (void)state;
    refused("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 3), }", "big-endian",
            "newbyteorder");
    refused("{'descr': '|O', 'fortran_order': False, 'shape': (3, 3), }", "Python objects", "f8");
    refused("{'descr': '<c8', 'fortran_order': False, 'shape': (3, 3), }", "'<c8'", "u4");
    refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", "records",
            "field");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", "3 rows and 4 columns",
            "");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }", "1 dimensions", "");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "0 dimensions", "");
    refused("{'descr': '<f4', 'fortran_order': 1, 'shape': (3, 3), }", "damaged", "numpy.save");
    refused("{'descr': '<f4', 'shape': (3, 3), }", "damaged", "numpy.save");
    refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}", "damaged",
            "");
    refused("{'descr': '<f4' 'fortran_order': False, 'shape': (3, 3)}", "damaged", "");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)", "damaged", "");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 99999999999999999999)}",
            "damaged", "");
    refused("", "damaged", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_follow_the_version),
        cmocka_unit_test(what_is_no_npy_is_refused),
        cmocka_unit_test(dictionaries_of_any_writer_are_read),
        cmocka_unit_test(other_arrays_are_refused_with_what_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
