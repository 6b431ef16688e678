/* The rows of changes. Catalogue thread. */
#pragma once

#include "server/store/store.h"

/* The rows of all changes whose status is STATUS_OK, in one transaction, which succeeds or fails as
 * a whole. */
MUST_CHECK enum status store_rows_commit(struct catalogue *catalogue,
                                         const struct store_change *batch);
