#include "proto/read/edge_array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define LARGE (UINT64_C(12) << 20)

static void what_was_in_it_stays_however_large_it_becomes(void **state)
{
    static const uint64_t counts[] = {1, 1000, 1 << 20, LARGE, 2 * LARGE, LARGE, 1000, 1};
    uint32_t *array = NULL;
    uint64_t filled = 0;

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_true(edge_array_resize(&array, counts[i], sizeof *array));
        filled = filled < counts[i] ? filled : counts[i];
        for (uint64_t at = 0; at < filled; at += 999) {
            assert_int_equal(array[at], at);
        }
        for (; filled < counts[i]; filled++) {
            array[filled] = (uint32_t)filled;
        }
    }
    free(array);
}

static void what_no_memory_holds_is_refused(void **state)
{
    uint32_t *array = NULL;

    (void)state;
    assert_true(edge_array_resize(&array, 1, sizeof *array));
    array[0] = 7;
    assert_false(edge_array_resize(&array, UINT64_MAX / 2, sizeof *array));
    assert_false(edge_array_resize(&array, UINT64_MAX / sizeof *array, sizeof *array));
    assert_int_equal(array[0], 7);
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_in_it_stays_however_large_it_becomes),
        cmocka_unit_test(what_no_memory_holds_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
