/* The state directory: its folders as open descriptors, its lock, its format, and the repair of its
 * files at start-up. The store owns struct state_dir.
 *
 * One process at a time uses the directory: it locks LOCK (an open file description lock) until
 * close. FORMAT contains the version of the layout and the ID of the store, a random word generated
 * when the directory was created. */
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

/* Opens the directory and creates its missing parts. Of the path, only the last folder is created,
 * with mode 0700. STATUS_CONFIG with a problem if another process holds the lock, or if the format
 * is unknown or of another version; then only LOCK has been touched. The caller must call
 * state_dir_close even after a failure. */
MUST_CHECK enum status state_dir_open(const char *path, struct state_dir *ret_folder,
                                      struct problem *reterr);
/* Makes catalogue rows and files consistent. Damaged rows are moved to the table of damaged rows.
 * Rows without a file are deleted. Results that do not match their row, graphs of damaged rows, and
 * damaged coordinates are moved to quarantine. Files without a row are removed. ret_found: a list
 * of all repairs, owned by the caller; a missing result has an empty `what`. Starting thread. */
MUST_CHECK enum status state_dir_repair(const struct state_dir *folder, struct catalogue *catalogue,
                                        struct catalogue_damage **ret_found,
                                        struct problem *reterr);
/* Moves a file to quarantine; false with errno on failure. Quarantine may take an eighth of the
 * disk; its oldest files are removed first. */
bool state_dir_quarantine(const struct state_dir *folder, enum store_folder from, const char *name);
/* These functions remove a file unless a row names it, because a later change of the same batch may
 * have written the row again. Catalogue thread. */
void state_dir_sweep_graph(const struct state_dir *folder, struct catalogue *catalogue,
                           const char *graph_id);
void state_dir_sweep_result(const struct state_dir *folder, struct catalogue *catalogue,
                            const char *graph_id, enum kind kind);
void state_dir_forget_damage(struct catalogue_damage *found);
/* RESERVE is a file of 4 MiB that is deleted when the disk is full, so that the catalogue can still
 * write. Catalogue thread. Creates the file if the disk has space; does nothing if it exists. */
void state_dir_keep_reserve(struct state_dir *folder);
/* Deletes RESERVE; false if it did not exist. */
bool state_dir_drop_reserve(struct state_dir *folder);
/* Closes the directory, which may be partly open: -1 is a descriptor that is not open. */
void state_dir_close(struct state_dir *folder);
