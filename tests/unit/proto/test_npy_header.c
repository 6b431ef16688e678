#include "proto/npy_header.h"
#include "tests/lib/test.h"

/* Parses a header of version 2 of the .npy format that contains this dictionary. */
static enum status parse(const char *dictionary, struct npy_header *header, struct problem *problem)
{
    const size_t length = strlen(dictionary);
    unsigned char bytes[1024] = "\x93NUMPY\2\0";
    size_t size = 0;

    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 12, dictionary, length);
    const enum status status = npy_header_read(bytes, 12 + length, header, &size, problem);

    assert_int_equal(size, 12 + length);
    return status;
}

static size_t wanted(const char *bytes, size_t size)
{
    struct npy_header header;
    size_t wanted = 0;

    assert_int_equal(npy_header_read((const unsigned char *)bytes, size, &header, &wanted, NULL),
                     STATUS_OK);
    return wanted;
}

TEST(the_header_size_depends_on_the_version)
{
    static const char one[] = "\x93NUMPY\1\0\x76\0";
    static const char three[] = "\x93NUMPY\3\0\x76\1\0\0";

    assert_int_equal(wanted(one, 7), 8);
    assert_int_equal(wanted(one, 8), 10);
    assert_int_equal(wanted(one, 10), 10 + 0x76);
    assert_int_equal(wanted(three, 8), 12);
    assert_int_equal(wanted(three, 12), 12 + 0x176);
}

TEST(bytes_that_are_not_an_npy_header_are_refused)
{
    static const unsigned char four[] = "\x93NUMPY\4\0";
    static const unsigned char huge[] = "\x93NUMPY\2\0\1\0\1\0";
    struct npy_header header;
    struct problem problem = {0};
    size_t size = 0;

    assert_int_equal(
        npy_header_read((const unsigned char *)"PK\3\4aaaa", 8, &header, &size, &problem),
        STATUS_BAD_GRAPH);
    assert_int_equal(npy_header_read(four, 8, &header, &size, &problem), STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "version 4.0"));
    assert_int_equal(npy_header_read(huge, 12, &header, &size, &problem), STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, "at most 65536"));
}

TEST(npy_headers_equal_headers_written_by_numpy)
{
    unsigned char bytes[NPY_HEADER_SIZE];
    struct npy_header header;
    size_t size;

    npy_header_write(KIND_F4, 7, 9, bytes);
    assert_memory_equal(bytes, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', ", 27);
    assert_int_equal(bytes[127], '\n');
    assert_int_equal(npy_header_read(bytes, sizeof bytes, &header, &size, NULL), STATUS_OK);
    assert_true(header.type == NPY_F4 && header.rows == 7 && header.columns == 9 && size == 128);
    assert_int_equal(npy_header_read(bytes, 100, &header, &size, NULL), STATUS_OK);
    assert_int_equal(size, 128);
    memcpy(bytes + 21, ">f4", 3);
    assert_int_equal(npy_header_read(bytes, sizeof bytes, &header, &size, NULL), STATUS_BAD_GRAPH);
}

TEST(headers_written_by_any_library_are_parsed)
{
    struct npy_header head = {0};

    assert_int_equal(
        parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }   \n", &head, NULL),
        STATUS_OK);
    assert_int_equal(head.type, NPY_F4);
    assert_int_equal(head.item_size, 4);
    assert_false(head.fortran);
    assert_int_equal(head.rows, 3);
    assert_int_equal(
        parse("{\"shape\":(2L,2L),\"fortran_order\":True,\"descr\":\"<i8\"}", &head, NULL),
        STATUS_OK);
    assert_int_equal(head.type, NPY_I8);
    assert_true(head.fortran);
    assert_string_equal(npy_header_type_name(head.type), "int64");
}

static void refused(const char *dictionary, const char *detail, const char *hint)
{
    struct problem problem = {0};
    struct npy_header head;

    assert_int_equal(parse(dictionary, &head, &problem), STATUS_BAD_GRAPH);
    assert_non_null(strstr(problem.detail, detail));
    assert_non_null(strstr(problem.hint, hint));
}

TEST(unsupported_arrays_are_refused_with_a_hint)
{
    refused("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 3), }", "big-endian",
            "newbyteorder");
    refused("{'descr': '|O', 'fortran_order': False, 'shape': (3, 3), }", "Python objects", "f8");
    refused("{'descr': '<c8', 'fortran_order': False, 'shape': (3, 3), }", "'<c8'", "u4");
    refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", "records",
            "field");
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
