/* The GPU's kernels for statistics, run on a matrix of the host, apart from any solve. */
#pragma once

#include "proto/matrix.h"
#include "proto/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* False without a device. */
bool statistics_probe_usable(void);

/* matrix: rows of `stride` elements, of which vertex_count are in use. The rows are reduced in
 * launches of rows_at_once, the histogram in ones of bins_at_once. ret_seconds: of each of the two
 * passes, on the device; GPU statuses as everywhere. */
MUST_CHECK enum status statistics_probe_run(const struct matrix *matrix, uint64_t stride,
                                            uint32_t rows_at_once, uint32_t bins_at_once,
                                            struct statistics *statistics, double ret_seconds[2]);

#ifdef __cplusplus
}
#endif
