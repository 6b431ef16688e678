/* The plan of faults, in a daemon that is built only for tests. The environment variable FAULT_PLAN
 * names a file with one line per fault:
 *
 *   VERTICES STAGE ACTION ARGUMENT TIMES
 *
 * The fault occurs for graphs of VERTICES vertices (0: any graph), at most TIMES times in all
 * processes together (0: always). For each line of the plan, the file PLAN.tally has a 32-bit
 * number: how often this fault has occurred. Both files are opened before main, because a confined
 * process cannot open files. A process that reads or writes the plan locks it. */
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

/* Looks up the fault that the plan sets for this graph size and stage, and counts its occurrence.
 * Returns false if there is none. */
bool fault_plan_find(uint32_t vertices, const char *stage, struct fault *ret_fault);
/* Reads the file that the environment variable FAULT_CALL names. The file is in a FUSE file system
 * that stuck.py serves, so the read blocks, like a hung driver call, until stuck.py answers it. */
void fault_plan_call(void);
/* Returns whether the descriptor belongs to one of the files of the plan. */
bool fault_plan_has(int descriptor);
