/* The plan of what is to fail, in a daemon that is built for tests alone. The file that FAULT_PLAN
 * names has a line per fault:
 *
 *   VERTICES STAGE ACTION ARGUMENT TIMES
 *
 * for graphs of VERTICES vertices (0: any), at most TIMES times over all processes (0: always). The
 * file PLAN.tally has a 32-bit number per line, which counts how often the line has struck. Both
 * files are opened before main, as a confined process opens no file; the plan's writer locks it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fault {
    unsigned vertices;
    char stage[16];
    char action[16];
    char argument[32];
    unsigned times;
};

/* Finds a matching fault and counts it. */
bool fault_plan_find(uint32_t vertices, const char *stage, struct fault *ret_fault);
/* Makes a call that blocks until the file that FAULT_CALL names releases it: stuck.py. */
void fault_plan_call(void);
/* Whether the descriptor belongs to the plan. */
bool fault_plan_has(int descriptor);
