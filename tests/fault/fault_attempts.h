/* Simulates a compromised worker process: it tries operations that must be refused or must work.
 * Each outcome is a line on standard error: "attempt NAME", followed by refused, done or broken. */
#pragma once

void fault_attempts_make(void);
