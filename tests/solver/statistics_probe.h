/* Runs the GPU's kernels for statistics on a matrix in host memory, without a solve. */
#pragma once

#include "proto/matrix.h"
#include "proto/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns false without a device. */
bool statistics_probe_usable(void);

/* Computes the statistics. Each launch reduces rows_at_once rows, or counts bins_at_once rows.
 * ret_seconds gets the time of each pass on the device. The statuses are those of gpu_solve. */
MUST_CHECK enum status statistics_probe_run(const struct matrix *matrix, uint32_t rows_at_once,
                                            uint32_t bins_at_once, struct statistics *statistics,
                                            double ret_seconds[2]);

#ifdef __cplusplus
}
#endif
