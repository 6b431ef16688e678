/* The state directory itself: its folders as open descriptors, its lock, its format, and the repair
 * of its files at start-up.
 *
 * One process at a time: LOCK is held (an open file description lock) until close. FORMAT names the
 * version of the layout and the store, a random word made once. */
#pragma once

#include "server/store/catalogue.h"

#define STORE_ID_SIZE 33
#define STATE_PATH_SIZE 4096

enum store_folder {
    STORE_GRAPHS,
    STORE_RESULTS,
    STORE_ORDERS,
    STORE_COORDINATES,
    STORE_QUARANTINE,
    STORE_FOLDERS
};

struct state_dir {
    int root;
    int lock;
    int folders[STORE_FOLDERS];
    bool has_reserve;
    char store_id[STORE_ID_SIZE];
    char catalogue_path[STATE_PATH_SIZE];
};

/* Creates what is absent (the last folder of the path only, mode 0700). STATUS_CONFIG with words
 * when another process holds the lock, or when the format is another one or not ours: nothing but
 * LOCK has been touched then. To be closed also after a failure. */
MUST_CHECK enum status state_dir_open(const char *path, struct state_dir *ret_folder,
                                      struct problem *reterr);
/* Makes rows and files agree again: damaged rows are set aside, those whose file is gone are
 * dropped, results that are not what their rows say, graphs of damaged rows and damaged coordinates
 * go to quarantine, and files that no row names are removed. ret_found: a list of all
 * that, the caller's, in which a result whose file is gone has an empty word. Starting thread. */
MUST_CHECK enum status state_dir_repair(const struct state_dir *folder, struct catalogue *catalogue,
                                        struct catalogue_damage **ret_found,
                                        struct problem *reterr);
/* False, with errno, when it could not be moved. What is beyond an eighth of the disk goes, the
 * files written longest ago first. */
bool state_dir_quarantine(const struct state_dir *folder, enum store_folder from, const char *name);
/* A file goes only when no row names it: what a later change of a batch wrote again stays. The
 * catalogue's thread. */
void state_dir_sweep_graph(const struct state_dir *folder, struct catalogue *catalogue,
                           const char *graph_id);
void state_dir_sweep_result(const struct state_dir *folder, struct catalogue *catalogue,
                            const char *graph_id, enum kind kind);
void state_dir_forget_damage(struct catalogue_damage *found);
/* RESERVE: some MiB of the disk that the catalogue is given when there is nothing else left. The
 * catalogue's thread. Takes them, if there are so many; does nothing while it has them. */
void state_dir_keep_reserve(struct state_dir *folder);
/* False when it had none. */
bool state_dir_drop_reserve(struct state_dir *folder);
/* Accepts a half-opened one, descriptors of which are -1. */
void state_dir_close(struct state_dir *folder);
