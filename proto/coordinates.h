/* The places of the vertices of a graph: degrees on the sphere, or points of a plane. Built by one
 * thread, immutable once coordinates_complete has been called; any thread may read then. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The mean radius of the Earth, of the sphere on which metres are measured (IUGG 1980, R1). */
#define COORDINATES_EARTH_RADIUS 6371008.8
/* The largest x and y of a plane, in a file and in a question: the square of it is no infinity. */
#define COORDINATES_LIMIT 1e100

struct coordinates {
    uint32_t count;   /* of the vertices of the graph */
    uint32_t located; /* of these have a place */
    bool is_plane;    /* x and y have no unit; else they are longitude and latitude in degrees */
    double *x;        /* by row; not-a-number without a place */
    double *y;
    double *unit; /* of degrees: three arrays, the x, y and z of the point on the unit sphere */
};

/* No vertex has a place. */
MUST_CHECK enum status coordinates_create(uint32_t count, struct coordinates **ret_coordinates);
/* NULL is accepted. */
void coordinates_destroy(struct coordinates *coordinates);

bool coordinates_has(const struct coordinates *coordinates, uint32_t row);
/* Whether these are degrees: a longitude of -180 to 180, a latitude of -90 to 90. */
bool coordinates_are_degrees(double x, double y);
/* All places are there: counts them, and prepares the search. */
MUST_CHECK enum status coordinates_complete(struct coordinates *coordinates);
/* The vertex nearest to a place, the first of those equally near, and how far it is: metres along
 * the great circle, or the distance in the plane. False where no vertex has a place. */
bool coordinates_nearest(const struct coordinates *coordinates, double x, double y,
                         uint32_t *ret_row, double *ret_distance);
