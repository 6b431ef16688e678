/* The GPU's probes: every arithmetic has a limit, and every form of the product equals the naive
 * one. How fast they are is nobody's business here. Exit 77 without a device. */
#include "server/solver/probe.h"

#include <stdio.h>
#include <stdlib.h>

#define EXIT_SKIPPED 77
#define SWEEP_SIZE 512
#define SWEEP_FORMS_LEAST 30

static bool has_limits(struct probe *probe)
{
    struct device_facts facts = {0};
    struct memory_limit memory = {0};
    if (probe_facts(probe, &facts) != STATUS_OK || facts.units == 0 || facts.driver == 0 ||
        facts.runtime == 0 || !(facts.clock_hz > 0)) {
        return false;
    }
    for (int i = 0; i < ARITHMETIC_COUNT; ++i) {
        struct arithmetic_limit limit = {0};
        if (probe_limit(probe, (enum arithmetic)i, &limit) != STATUS_OK ||
            !(limit.relaxations_per_s > limit.relaxations_per_s_unit) ||
            !(limit.relaxations_per_s_unit > 0) || !(limit.clock_hz > 0)) {
            return false;
        }
        printf("arithmetic %d: %.3g per second at %.4g Hz\n", i, limit.relaxations_per_s,
               limit.clock_hz);
    }
    return probe_memory(probe, &memory) == STATUS_OK && memory.copy > 0 && memory.upload > 0 &&
           memory.download > 0;
}

static bool has_right_products(struct probe *probe)
{
    size_t count = 0;
    if (probe_sweep_begin(probe, SWEEP_SIZE, &count) != STATUS_OK || count < SWEEP_FORMS_LEAST) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        struct product_figure figure = {0};
        const enum status status = probe_sweep_next(probe, i, &figure);
        if (status != STATUS_OK || !(figure.seconds > 0)) {
            printf("form %zu: %s\n", i, status_info(status)->title);
            return false;
        }
    }
    return true;
}

int main(void)
{
    char reason[SOLVER_REASON_SIZE];
    const struct solver_device device = {.index = 0};
    struct probe *probe = NULL;
    if (solver_gpu_count(reason) == 0) {
        printf("skipped: %s\n", reason);
        return EXIT_SKIPPED;
    }
    if (probe_gpu_open(&device, &probe) != STATUS_OK) {
        return EXIT_FAILURE;
    }
    const bool right = has_limits(probe) && has_right_products(probe);
    probe_close(probe);
    puts(right ? "all right" : "FAILED");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
