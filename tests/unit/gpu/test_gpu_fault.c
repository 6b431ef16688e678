#include "gpu/gpu.h"
#include "tests/lib/test.h"

TEST(each_error_maps_to_its_status)
{
    static const struct {
        int code;
        enum status status;
    } cases[] = {
        {0, STATUS_OK},
        {2, STATUS_NO_DEVICE_MEMORY},
        {34, STATUS_NO_DEVICE},
        {35, STATUS_NO_DEVICE},
        {100, STATUS_NO_DEVICE},
        {209, STATUS_NO_DEVICE},
        {214, STATUS_DEVICE_LOST},
        {700, STATUS_DEVICE_LOST},
        {702, STATUS_DEVICE_LOST},
        {802, STATUS_NO_DEVICE},
        {999, STATUS_DEVICE_LOST},
        {-1, STATUS_DEVICE_LOST},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(gpu_fault_status(cases[i].code), cases[i].status);
    }
}
