#include "tests/lib/scheduler_fixture.h"

SCHEDULER_TEST(a_worker_on_the_cpu_reports_why_no_gpu_is_used)
{
    const struct device_list *devices = scheduler_devices(fixture->scheduler);
    assert_int_equal(devices->count, 1);
    assert_string_equal(devices->devices[0].solver, "cpu");
    assert_true(devices->gpu_reason[0] != '\0');
}

SCHEDULER_TEST(the_smallest_vertex_limit_applies_and_its_source_is_reported)
{
    assert_true(scheduler_admission(fixture->scheduler)->vertex_limit > 1000);
    assert_non_null(strstr(scheduler_admission(fixture->scheduler)->limit_reason, "GiB"));
    stop(fixture);
    fixture->config.vertex_limit = 2;
    start(fixture);
    assert_int_equal(scheduler_admission(fixture->scheduler)->vertex_limit, 2);
    assert_string_equal(scheduler_admission(fixture->scheduler)->limit_reason,
                        "graph.vertex_limit");
    struct question *question = new_upload(CALL_SUBMIT, RING);
    call(fixture, question, STATUS_TOO_LARGE, 413);
    assert_true(question->call.problem.limit == 2);
    forget(question);
}
