/* Places of vertices from a body: bytes in any split, in one of three forms, for the vertices of a
 * graph that is there. Belongs to one thread at a time.
 *   co: DIMACS, "p aux sp co N" and lines "v id x y";
 *   csv: a header that names the vertex, and lon and lat or x and y, in any order; without a header
 *     these three, where the system is said;
 *   geojson: a FeatureCollection of points, each named by its id, or by its property vertex, id or
 *     name. */
#pragma once

#include "proto/coordinates.h"
#include "proto/problem.h"
#include "proto/vertex_names.h"

enum coordinates_form {
    COORDINATES_UNSAID, /* the first line tells */
    COORDINATES_CO,
    COORDINATES_CSV,
    COORDINATES_GEOJSON
};

/* Unsaid, a .co file has millionths of degrees where all of its numbers can be that, else points of
 * a plane; a CSV file what its header says; GeoJSON degrees. */
enum coordinates_system { COORDINATES_SYSTEM_UNSAID, COORDINATES_DEGREES, COORDINATES_PLANE };

struct coordinates_reader;

/* names: borrowed, of the graph. */
MUST_CHECK enum status coordinates_reader_create(enum coordinates_form form,
                                                 enum coordinates_system system,
                                                 const struct vertex_names *names,
                                                 struct coordinates_reader **ret_reader);
void coordinates_reader_destroy(struct coordinates_reader *reader);
/* STATUS_BAD_COORDINATES, with line and column, for what is none of these forms, a vertex that the
 * graph does not have, or a second place of one. */
MUST_CHECK enum status coordinates_reader_feed(struct coordinates_reader *reader, const char *bytes,
                                               size_t size, struct problem *reterr);
/* The end of the body. ret_coordinates: completed. STATUS_TRUNCATED where more was announced. */
MUST_CHECK enum status coordinates_reader_end(struct coordinates_reader *reader,
                                              struct coordinates **ret_coordinates,
                                              struct problem *reterr);
