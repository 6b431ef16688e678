/* The two clocks: wall time for documents, monotonic time for durations and deadlines. */
#pragma once

double clock_wall_s(void);
double clock_monotonic_s(void);
/* Monotonic time of the last tick, some milliseconds ago: where thousandths do not matter, at a
 * fraction of the cost. */
double clock_coarse_s(void);
