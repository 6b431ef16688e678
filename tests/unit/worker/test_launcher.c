#include "server/worker/launcher.h"
#include "tests/lib/test.h"

TEST(a_launcher_without_apsp_mpi_is_refused)
{
    struct worker_launcher launcher = {.channel = -1};
    struct problem problem = {0};
    assert_int_equal(worker_launcher_start("true", &launcher, &problem), STATUS_CONFIG);
    assert_non_null(strstr(problem.detail, "unit/apsp-mpi"));
    assert_int_equal(launcher.channel, -1);
    worker_launcher_stop(&launcher);
}
