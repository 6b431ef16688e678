/* Reads coordinates of a stored graph's vertices from a body in pieces that may be cut anywhere. A
 * reader belongs to one thread at a time. The first line decides between two formats:
 *   DIMACS .co: "p aux sp co N" and N lines "v ID X Y". X and Y are millionths of degrees if all of
 *     them are in the range of longitudes and latitudes, else points of a plane.
 *   CSV with a header that contains vertex (or id, name, node, osmid), and either lon and lat or x
 *     and y, in any order. x and y are points of a plane; in a file of OSMnx, which has osmid, they
 *     are degrees if all of them are in the range of longitudes and latitudes. */
#pragma once

#include "proto/coordinates.h"
#include "proto/problem.h"
#include "proto/vertex_names.h"

struct coordinates_reader;

/* Creates a reader. names: the graph's vertex names, borrowed for the life of the reader. */
MUST_CHECK enum status coordinates_reader_create(const struct vertex_names *names,
                                                 struct coordinates_reader **ret_reader);
void coordinates_reader_destroy(struct coordinates_reader *reader);
/* Reads a piece of the body. STATUS_BAD_COORDINATES, with line and column, for a body in neither
 * format, a vertex that the graph does not have, or a vertex that occurs twice. */
MUST_CHECK enum status coordinates_reader_feed(struct coordinates_reader *reader, const char *bytes,
                                               size_t size, struct problem *reterr);
/* Ends the body and returns the coordinates, complete and owned by the caller. */
MUST_CHECK enum status coordinates_reader_end(struct coordinates_reader *reader,
                                              struct coordinates **ret_coordinates,
                                              struct problem *reterr);
