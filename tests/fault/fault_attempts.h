/* Simulates a compromised worker process: it attempts operations, some of which the sandbox must
 * refuse and others it must allow. Prints a line per attempt on standard error: "attempt NAME",
 * followed by refused, done or broken. */
#pragma once

void fault_attempts_make(void);
