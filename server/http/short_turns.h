/* Short turns on a processor, for threads that answer: an answer takes some hundredths of a
 * millisecond, and who asks for short turns is let in before who computes in long ones. Linux 6.12
 * and newer know it; elsewhere nothing changes.
 *
 * Source: Peter Zijlstra's latency-nice successor in EEVDF, sched_setattr(2), sched_runtime. */
#pragma once

/* Threads that this one starts from now on have short turns, and so has it. */
void short_turns_begin(void);
/* Those started after this have the turns that the system gives. */
void short_turns_end(void);
