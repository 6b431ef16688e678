/* The coordinates of a graph as one file named by the graph's ID: a header, then x and y of all
 * rows. The file is written as a draft, renamed when complete, and never changed; new coordinates
 * replace the whole file. Any thread; functions block on the disk. */
#pragma once

#include "proto/coordinates.h"
#include "proto/job_document.h"
#include "server/store/draft_file.h"

/* Facts about a stored file; all zero if the graph has no coordinates. */
struct coordinates_info {
    uint64_t bytes; /* size of the file */
    uint64_t tag;   /* checksum of the whole file, which differs after every change */
    uint32_t located;
    bool is_plane;
};

/* Writes the file as a draft in the open folder; the caller publishes the draft under the ID. */
MUST_CHECK enum status coordinates_file_write(int folder, const char *id,
                                              const struct coordinates *coordinates,
                                              struct draft_file *ret_file,
                                              struct coordinates_info *ret_info);
/* Reads only the header; *ret_info is zeroed if there is no file. STATUS_CORRUPT if the header is
 * damaged or belongs to another graph. */
MUST_CHECK enum status coordinates_file_look(int folder, const char *id,
                                             struct coordinates_info *ret_info);
/* Reads the whole file. STATUS_NO_COORDINATES if there is no file; STATUS_CORRUPT if a checksum
 * does not match or the file belongs to another graph. */
MUST_CHECK enum status coordinates_file_read(int folder, const char *id,
                                             struct coordinates **ret_coordinates,
                                             struct coordinates_info *ret_info);
