#include "proto/write/writer.h"

#include <math.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
        cmocka_unit_test(elements_print_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
