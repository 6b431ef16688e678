/* The two clocks: wall time for documents, monotonic time for durations and deadlines. */
#pragma once

double clock_wall_s(void);
double clock_monotonic_s(void);
