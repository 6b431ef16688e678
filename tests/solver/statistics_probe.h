/* Runs the GPU's kernels for statistics on a matrix in host memory, without a solve. */
#pragma once

#include "proto/matrix.h"
#include "proto/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether the machine has a usable device. */
bool statistics_probe_usable(void);

/* Computes the statistics. A launch of the first pass reduces rows_at_once rows, and a launch of
 * the second pass counts the bins of bins_at_once rows. ret_seconds gets the device time of each
 * pass. The statuses are those of gpu_solve. */
MUST_CHECK enum status statistics_probe_run(const struct matrix *matrix, uint32_t rows_at_once,
                                            uint32_t bins_at_once, struct statistics *statistics,
                                            double ret_seconds[2]);

#ifdef __cplusplus
}
#endif
