/* The driver's library by name at run time: absent, incomplete, there. */
#include "server/solver/nvml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void no_library_is_no_device(void **state)
{
    struct nvml *nvml = NULL;
    assert_int_equal(nvml_open("libthere-is-none.so.9", &nvml), STATUS_NO_DEVICE);
    assert_null(nvml);
    nvml_close(nvml);
    (void)state;
}

static void a_library_of_something_else_is_no_device(void **state)
{
    struct nvml *nvml = NULL;
    assert_int_equal(nvml_open("libc.so.6", &nvml), STATUS_NO_DEVICE);
    assert_null(nvml);
    (void)state;
}

static void every_device_tells_what_it_knows(void **state)
{
    struct nvml *nvml = NULL;
    struct nvml_reading readings[4];
    assert_int_equal(nvml_open(getenv("APSPD_TEST_NVML"), &nvml), STATUS_OK);
    assert_int_equal(nvml_read(nvml, readings, 4), 2);
    assert_string_equal(readings[0].name, "NVIDIA \"Fake\"");
    assert_string_equal(readings[0].uuid, "GPU-0");
    assert_true(readings[0].memory_bytes == 150.0 * (1 << 30));
    assert_true(readings[0].memory_used_bytes == 50.0 * (1 << 30));
    assert_true(readings[0].utilization == 0.75);
    assert_true(readings[0].temperature_c == 61);
    assert_true(readings[0].power_w == 412.5);
    assert_true(readings[0].energy_j == 9000.5);
    assert_string_equal(readings[1].name, "");
    assert_string_equal(readings[1].uuid, "GPU-1");
    assert_true(readings[1].temperature_c == 61);
    assert_true(readings[1].utilization < 0 && readings[1].power_w < 0 && readings[1].energy_j < 0);
    assert_int_equal(nvml_read(nvml, readings, 1), 1);
    nvml_close(nvml);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_library_is_no_device),
        cmocka_unit_test(a_library_of_something_else_is_no_device),
        cmocka_unit_test(every_device_tells_what_it_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
