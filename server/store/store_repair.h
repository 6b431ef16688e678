/* Repair at start-up, so that rows and files agree again: rows whose file is gone are dropped,
 * damaged results go to quarantine, and files that no row names are removed. Starting thread. */
#pragma once

#include "server/store/catalogue.h"
#include "server/store/state_dir.h"

MUST_CHECK enum status store_repair(const struct state_dir *folder, struct catalogue *catalogue,
                                    struct problem *reterr);
