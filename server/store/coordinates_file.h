/* The coordinates of a graph as one file under the graph's id: header, then x and y of all rows.
 * Written once as a draft, renamed when it is complete, never changed; another one replaces it. */
#pragma once

#include "proto/coordinates.h"
#include "proto/job_document.h"
#include "server/store/draft_file.h"

/* Facts about a file that is stored; zeroed, there is none. */
struct coordinates_info {
    uint64_t bytes; /* of the file */
    uint64_t tag;   /* a checksum of all of it: another one after every change */
    uint32_t located;
    bool is_plane;
};

/* Writes the whole file, as a draft: to be published under the id, and finished by the caller.
 * Blocks on the disk. folder: open directory. */
MUST_CHECK enum status coordinates_file_write(int folder, const char *id,
                                              const struct coordinates *coordinates,
                                              struct draft_file *ret_file,
                                              struct coordinates_info *ret_info);
/* Reads the header alone; zeroed when there is no such file. STATUS_CORRUPT when it is damaged, or
 * that of another graph. */
MUST_CHECK enum status coordinates_file_look(int folder, const char *id,
                                             struct coordinates_info *ret_info);
/* All of it, complete. STATUS_NO_COORDINATES when there is no such file, STATUS_CORRUPT also when
 * its checksum does not hold. */
MUST_CHECK enum status coordinates_file_read(int folder, const char *id,
                                             struct coordinates **ret_coordinates,
                                             struct coordinates_info *ret_info);
