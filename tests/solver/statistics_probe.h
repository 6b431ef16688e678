/* Runs the GPU's statistics kernels on a matrix of the host, without a solve. */
#pragma once

#include "proto/matrix.h"
#include "proto/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns false without a device. */
bool statistics_probe_usable(void);

/* Each launch reduces rows_at_once rows, or counts bins_at_once rows. ret_seconds: time of each
 * pass on the device. Statuses as for gpu_solve. */
MUST_CHECK enum status statistics_probe_run(const struct matrix *matrix, uint32_t rows_at_once,
                                            uint32_t bins_at_once, struct statistics *statistics,
                                            double ret_seconds[2]);

#ifdef __cplusplus
}
#endif
