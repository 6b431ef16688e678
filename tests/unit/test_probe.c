#include "server/solver/probe.h"

/* cmocka.h wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct solver *open_cpu(void)
{
    const struct solver_config config = {.choice = SOLVER_CPU, .cpu_threads = 2, .cpu_isa = "auto"};
    struct solver *solver = NULL;
    assert_int_equal(solver_cpu_open(&config, &solver, NULL), STATUS_OK);
    return solver;
}

static void a_solver_of_the_processor_is_measured_by_its_probe(void **state)
{
    (void)state;
    struct solver *solver = open_cpu();
    struct probe *probe = NULL;
    struct device_facts facts = {0};
    struct memory_limit memory = {0};
    size_t count = 1;
    assert_int_equal(probe_open(solver, &probe), STATUS_OK);
    assert_int_equal(probe_facts(probe, &facts), STATUS_OK);
    assert_int_equal(facts.units, 2);
    assert_int_equal(probe_memory(probe, &memory), STATUS_OK);
    assert_true(memory.copy > 0 && memory.upload == 0 && memory.download == 0);
    assert_int_equal(probe_sweep_begin(probe, 1024, &count), STATUS_OK);
    assert_int_equal(count, 0);
    probe_close(probe);
    probe_close(NULL);
    solver_close(solver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solver_of_the_processor_is_measured_by_its_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
