#include "gpu/gpu.h"
#include "tests/lib/test.h"

TEST(each_error_has_its_sort)
{
    static const struct {
        int code;
        enum gpu_fault fault;
        enum status status;
    } cases[] = {
        {0, GPU_FAULT_NONE, STATUS_OK},
        {2, GPU_FAULT_NONE, STATUS_NO_DEVICE_MEMORY},
        {34, GPU_FAULT_SETUP, STATUS_NO_DEVICE},
        {35, GPU_FAULT_SETUP, STATUS_NO_DEVICE},
        {46, GPU_FAULT_SETUP, STATUS_NO_DEVICE},
        {100, GPU_FAULT_SETUP, STATUS_NO_DEVICE},
        {209, GPU_FAULT_SETUP, STATUS_NO_DEVICE},
        {214, GPU_FAULT_HARDWARE, STATUS_DEVICE_LOST},
        {700, GPU_FAULT_KERNEL, STATUS_DEVICE_LOST},
        {702, GPU_FAULT_TIMEOUT, STATUS_DEVICE_LOST},
        {710, GPU_FAULT_KERNEL, STATUS_DEVICE_LOST},
        {716, GPU_FAULT_KERNEL, STATUS_DEVICE_LOST},
        {717, GPU_FAULT_KERNEL, STATUS_DEVICE_LOST},
        {718, GPU_FAULT_KERNEL, STATUS_DEVICE_LOST},
        {719, GPU_FAULT_KERNEL, STATUS_DEVICE_LOST},
        {802, GPU_FAULT_SETUP, STATUS_NO_DEVICE},
        {999, GPU_FAULT_OTHER, STATUS_DEVICE_LOST},
        {-1, GPU_FAULT_OTHER, STATUS_DEVICE_LOST},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(gpu_fault_status(cases[i].code), cases[i].status);
        assert_int_equal(gpu_fault_of(cases[i].code), cases[i].fault);
    }
}

TEST(the_first_that_stays_is_the_one_that_counts)
{
    assert_int_equal(gpu_fault_noted(), GPU_FAULT_NONE);
    gpu_fault_note(2);
    assert_int_equal(gpu_fault_noted(), GPU_FAULT_NONE);
    gpu_fault_note(700);
    gpu_fault_note(999);
    assert_int_equal(gpu_fault_noted(), GPU_FAULT_KERNEL);
}
