/* The thread that asks the driver: fresh answers, none without a driver, and no wait for one that
 * is stuck. */
#include "server/job/device_monitor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

static struct device_monitor *start(const char *library)
{
    struct device_monitor *monitor = NULL;
    assert_int_equal(device_monitor_create(library, &monitor), STATUS_OK);
    return monitor;
}

static void without_a_driver_there_is_nothing(void **state)
{
    struct nvml_reading readings[DEVICE_LIMIT];
    struct device_monitor *monitor = start("libthere-is-none.so.9");
    assert_int_equal(device_monitor_read(monitor, readings), 0);
    assert_int_equal(device_monitor_read(monitor, readings), 0);
    device_monitor_destroy(monitor);
    (void)state;
}

/* On a machine under load an answer may come late: then there is none, and it is asked for again.
 */
static void the_devices_are_read_when_asked(void **state)
{
    struct nvml_reading readings[DEVICE_LIMIT];
    struct device_monitor *monitor = start(getenv("APSPD_TEST_NVML"));
    for (int i = 0; i < 3; i++) {
        uint32_t count = 0;
        while (count == 0) {
            count = device_monitor_read(monitor, readings);
        }
        assert_int_equal(count, 2);
        assert_string_equal(readings[1].uuid, "GPU-1");
    }
    device_monitor_destroy(monitor);
    (void)state;
}

/* Nobody waits at it, as all that was asked has been answered. */
static void close_gate(int descriptor)
{
    char bytes[256];
    int left = 0;
    assert_int_equal(ioctl(descriptor, FIONREAD, &left), 0);
    assert_true(left <= (int)sizeof bytes);
    assert_true(left == 0 || read(descriptor, bytes, (size_t)left) == left);
}

static void a_stuck_driver_keeps_nobody_waiting(void **state)
{
    struct nvml_reading readings[DEVICE_LIMIT];
    char gate[16];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(gate, sizeof gate, "%d", ends[0]);
    setenv("FAKE_NVML_GATE", gate, 1);
    struct device_monitor *monitor = start(getenv("APSPD_TEST_NVML"));
    assert_int_equal(device_monitor_read(monitor, readings), 0);
    assert_int_equal(device_monitor_read(monitor, readings), 0);
    uint32_t count = 0;
    while (count == 0) {
        /* For the question that is waited for still, and for the next. */
        assert_int_equal(write(ends[1], "..", 2), 2);
        count = device_monitor_read(monitor, readings);
    }
    assert_int_equal(count, 2);
    close_gate(ends[0]);
    /* What was read before is no answer. */
    assert_int_equal(device_monitor_read(monitor, readings), 0);
    close(ends[1]); /* for the driver an end of its wait */
    device_monitor_destroy(monitor);
    close(ends[0]);
    unsetenv("FAKE_NVML_GATE");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_driver_there_is_nothing),
        cmocka_unit_test(the_devices_are_read_when_asked),
        cmocka_unit_test(a_stuck_driver_keeps_nobody_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
