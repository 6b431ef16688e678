/* Coordinates of a graph's vertices: degrees on the sphere, or points of a plane. One thread builds
 * them; they are immutable once coordinates_complete has been called, and any thread may read them
 * then. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The mean radius of the Earth, of the sphere on which metres are measured (IUGG 1980, R1). */
#define COORDINATES_EARTH_RADIUS 6371008.8
/* The largest x and y of a plane, in a file and in a question: their squares are finite. */
#define COORDINATES_LIMIT 1e100

struct coordinates {
    uint32_t count;     /* vertices of the graph */
    uint32_t located;   /* vertices with coordinates */
    bool is_plane;      /* x and y have no unit; else they are longitude and latitude in degrees */
    double *x;          /* by row; not-a-number without coordinates */
    double *y;          /* in the memory of x, after it */
    double (*point)[3]; /* by row, for the search: on the unit sphere, or in the plane at z = 0 */
};

/* No vertex has coordinates. */
MUST_CHECK enum status coordinates_create(uint32_t count, struct coordinates **ret_coordinates);
/* NULL is accepted. */
void coordinates_destroy(struct coordinates *coordinates);

bool coordinates_has(const struct coordinates *coordinates, uint32_t row);
/* Whether these are degrees: a longitude of -180 to 180, a latitude of -90 to 90. */
bool coordinates_are_degrees(double x, double y);
/* After the last change of x and y: counts the located vertices and prepares the search. */
void coordinates_complete(struct coordinates *coordinates);
/* The vertex nearest to a place, the first row of those equally near, and its distance: metres
 * along the great circle, or the distance in the plane. False where no vertex has coordinates. */
bool coordinates_nearest(const struct coordinates *coordinates, double x, double y,
                         uint32_t *ret_row, double *ret_distance);
