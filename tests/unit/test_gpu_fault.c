#include "gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void each_error_has_its_sort(void **state)
{
    (void)state;
    static const struct {
        int code;
        enum gpu_fault fault;
    } cases[] = {
        {0, GPU_FAULT_NONE},      {2, GPU_FAULT_NONE},       {35, GPU_FAULT_SETUP},
        {46, GPU_FAULT_SETUP},    {214, GPU_FAULT_HARDWARE}, {700, GPU_FAULT_KERNEL},
        {702, GPU_FAULT_TIMEOUT}, {710, GPU_FAULT_KERNEL},   {716, GPU_FAULT_KERNEL},
        {717, GPU_FAULT_KERNEL},  {718, GPU_FAULT_KERNEL},   {719, GPU_FAULT_KERNEL},
        {802, GPU_FAULT_SETUP},   {999, GPU_FAULT_OTHER},    {-1, GPU_FAULT_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(gpu_fault_of(cases[i].code), cases[i].fault);
    }
}

static void the_first_that_stays_is_the_one_that_counts(void **state)
{
    (void)state;
    assert_int_equal(gpu_fault_noted(), GPU_FAULT_NONE);
    gpu_fault_note(2);
    assert_int_equal(gpu_fault_noted(), GPU_FAULT_NONE);
    gpu_fault_note(700);
    gpu_fault_note(999);
    assert_int_equal(gpu_fault_noted(), GPU_FAULT_KERNEL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_error_has_its_sort),
        cmocka_unit_test(the_first_that_stays_is_the_one_that_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
