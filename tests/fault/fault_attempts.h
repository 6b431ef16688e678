/* A worker's process that was broken into tries what it must not, and what it must still be able
 * to. Each outcome is a line on standard error: "attempt NAME refused", done or broken. */
#pragma once

void fault_attempts_make(void);
