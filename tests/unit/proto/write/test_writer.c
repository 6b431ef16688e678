#include "proto/write/writer.h"

#include <math.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void headers_are_what_numpy_writes(void **state)
{
    unsigned char header[NPY_HEADER_SIZE];
    uint64_t columns;
    uint64_t rows;
    size_t offset;
    enum kind kind;

    (void)state;
    npy_header_write(KIND_F4, 7, 9, header);
    assert_memory_equal(header, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', ", 27);
    assert_int_equal(header[127], '\n');
    assert_int_equal(npy_header_read(header, sizeof header, &kind, &rows, &columns, &offset, NULL),
                     STATUS_OK);
    assert_true(kind == KIND_F4 && rows == 7 && columns == 9 && offset == 128);
    assert_int_equal(npy_header_read(header, 100, &kind, &rows, &columns, &offset, NULL),
                     STATUS_BAD_GRAPH);
    memcpy(header + 21, ">f4", 3);
    assert_int_equal(npy_header_read(header, sizeof header, &kind, &rows, &columns, &offset, NULL),
                     STATUS_BAD_GRAPH);
}

static void elements_print_as_json(void **state)
{
    struct text text = {0};

    (void)state;
    writer_append_distance(&text, KIND_I4, &(int32_t){-7});
    writer_append_distance(&text, KIND_I4, &(int32_t){UNREACHABLE_I4});
    writer_append_distance(&text, KIND_U2, &(uint16_t){65534});
    writer_append_distance(&text, KIND_U2, &(uint16_t){UNREACHABLE_U2});
    writer_append_distance(&text, KIND_F4, &(float){0.1F});
    writer_append_distance(&text, KIND_F8, &(double){INFINITY});
    writer_append_distance(&text, KIND_F8, &(double){NAN});
    assert_string_equal(text.bytes, "-7null65534null0.1nullnull");
    text_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_what_numpy_writes),
        cmocka_unit_test(elements_print_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
